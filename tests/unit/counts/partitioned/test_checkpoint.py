"""Files of results: complete, partial, damaged, and of the schema."""

import numpy as np
import pytest

from strategies import make_schema
from tanbark.counts.partitioned.checkpoint import Checkpoint
from tanbark.errors import InputError


def test_results_come_back(tmp_path):
    kept = Checkpoint(tmp_path / "new", "key", every=0.0)
    assert kept.open("tables") is None
    kept.save("tables", [np.arange(3), np.ones((2, 2))], 5)
    saved = kept.open("tables")
    assert (saved.pieces, saved.done, len(saved.result)) == (5, False, 2)
    kept.finish("tables", [np.arange(4)])
    saved = Checkpoint(tmp_path / "new", "key").open("tables")
    assert saved.done
    np.testing.assert_array_equal(saved.result[0], np.arange(4))
    assert Checkpoint(tmp_path / "new", "other").open("tables") is None


def test_partial_results_are_written_once_in_a_while(tmp_path):
    kept = Checkpoint(tmp_path, "key", every=1000.0)
    kept.save("tables", [np.arange(3)], 1)
    assert not list(tmp_path.iterdir())


def test_the_schema_comes_back(tmp_path):
    schema = make_schema((2, 3, 2))
    kept = Checkpoint(tmp_path, "key")
    assert kept.open_schema() is None
    kept.keep_schema(schema, {"x0": 0.25})
    assert kept.open_schema() == (schema, {"x0": 0.25}, None)


def test_a_damaged_file_is_an_error(tmp_path):
    kept = Checkpoint(tmp_path, "key")
    kept.finish("tables", [np.arange(3)])
    (path,) = tmp_path.iterdir()
    path.write_bytes(path.read_bytes()[:50])
    with pytest.raises(InputError, match="is damaged"):
        kept.open("tables")
