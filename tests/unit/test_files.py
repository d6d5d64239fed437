import pytest

from tanbark.files import atomic_path, write_atomic


def test_the_content_replaces_the_previous_one(tmp_path):
    path = tmp_path / "model.json"
    path.write_bytes(b"before")
    write_atomic(path, b"after")
    assert path.read_bytes() == b"after"
    assert list(tmp_path.iterdir()) == [path]


def test_a_streamed_file_appears_when_it_is_complete(tmp_path):
    path = tmp_path / "rows.csv"
    with atomic_path(path) as partial:
        partial.write_text("a\n")
        assert partial.parent == tmp_path
        assert not path.exists()
    assert path.read_text() == "a\n"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_after_an_error_the_previous_content_stays(tmp_path, error):
    path = tmp_path / "model.json"
    path.write_bytes(b"before")

    def write():
        with atomic_path(path) as partial:
            partial.write_bytes(b"half")
            raise error

    with pytest.raises(error):
        write()
    assert path.read_bytes() == b"before"
    assert list(tmp_path.iterdir()) == [path]


def test_an_error_before_anything_is_written_is_the_one_that_is_raised(tmp_path):
    def write():
        with atomic_path(tmp_path / "x"):
            raise ValueError("no rows")

    with pytest.raises(ValueError, match="no rows"):
        write()
    assert list(tmp_path.iterdir()) == []


def test_a_directory_that_is_not_there_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match="no directory"):
        write_atomic(tmp_path / "none" / "model.json", b"")
