import os
import stat
import threading

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


def test_a_link_stays_and_the_file_it_points_to_is_replaced(tmp_path):
    (tmp_path / "models").mkdir()
    target, link = tmp_path / "models" / "of_today.json", tmp_path / "latest.json"
    target.write_bytes(b"before")
    link.symlink_to("models/of_today.json")
    write_atomic(link, b"after")
    assert link.is_symlink()
    assert target.read_bytes() == b"after"
    assert list(target.parent.iterdir()) == [target]


def test_a_link_to_a_file_that_is_not_there_yet_creates_it(tmp_path):
    link = tmp_path / "latest.json"
    link.symlink_to("today.json")
    write_atomic(link, b"content")
    assert link.is_symlink()
    assert (tmp_path / "today.json").read_bytes() == b"content"


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o664])
def test_a_replaced_file_keeps_its_mode_also_while_it_is_written(tmp_path, mode):
    path = tmp_path / "model.json"
    path.write_bytes(b"before")
    path.chmod(mode)
    with atomic_path(path) as partial:
        partial.write_bytes(b"after")
        assert stat.S_IMODE(partial.stat().st_mode) == mode
    assert path.read_bytes() == b"after"
    assert stat.S_IMODE(path.stat().st_mode) == mode


def test_a_new_file_has_the_mode_of_the_umask(tmp_path):
    before = os.umask(0o027)
    try:
        write_atomic(tmp_path / "model.json", b"")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "model.json").stat().st_mode) == 0o640


def test_a_device_is_written_to_and_stays(tmp_path):
    before = os.stat("/dev/null")
    link = tmp_path / "nowhere.json"
    link.symlink_to("/dev/null")
    for path in ("/dev/null", link):
        write_atomic(path, b"content")
    after = os.stat("/dev/null")
    assert stat.S_ISCHR(after.st_mode)
    assert (after.st_ino, after.st_rdev) == (before.st_ino, before.st_rdev)


def test_a_pipe_and_an_open_descriptor_get_the_content(tmp_path):
    pipe, found = tmp_path / "rows.csv", []
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: found.append(pipe.read_bytes()))
    reader.start()
    write_atomic(pipe, b"a,b\n")
    reader.join(10)
    assert found == [b"a,b\n"]
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    with (tmp_path / "redirected").open("w+b") as file:
        inode = os.fstat(file.fileno()).st_ino
        write_atomic(f"/dev/fd/{file.fileno()}", b"to the descriptor")
        assert (tmp_path / "redirected").stat().st_ino == inode
        assert file.read() == b"to the descriptor"


def test_a_file_is_on_the_disk_before_it_has_its_name(tmp_path, monkeypatch):
    path, flushed = tmp_path / "model.json", []
    monkeypatch.setattr(os, "fsync", lambda handle: flushed.append((os.fstat(handle).st_ino, path.exists())))
    write_atomic(path, b"content")
    assert flushed[0] == (path.stat().st_ino, False)


def test_a_directory_is_no_file(tmp_path):
    with pytest.raises(IsADirectoryError, match="Give the name of a file"):
        write_atomic(tmp_path, b"")
