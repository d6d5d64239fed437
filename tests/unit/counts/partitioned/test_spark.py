"""What runs on Spark's executors, without Spark: batches regrouped, results and errors packed, groups merged."""

import operator

import pyarrow as pa
import pytest

from tanbark.counts.partitioned.spark import SparkFrame, _first_line, _MergeGroup, _packed, _regrouped, _unpacked
from tanbark.errors import ClusterError, InputError


def test_record_batches_are_regrouped():
    batches = pa.table({"a": list(range(11))}).to_batches(max_chunksize=4)
    tables = list(_regrouped(batches, 5))
    assert [table.num_rows for table in tables] == [5, 5, 1]
    assert pa.concat_tables(tables)["a"].to_pylist() == list(range(11))


def test_results_and_errors_are_packed():
    assert _unpacked(_packed(lambda: {"n": 3})) == {"n": 3}

    def fail(error):
        raise error

    with pytest.raises(InputError, match="wrong"):
        _unpacked(_packed(lambda: fail(InputError("wrong"))))
    with pytest.raises(ClusterError, match="ran out of memory"):
        _unpacked(_packed(lambda: fail(MemoryError())))


def test_a_group_is_merged_in_the_order_of_its_numbers():
    rows = [(0, (number, _packed(lambda number=number: [number]))) for number in (2, 0, 1)]
    ((group, packed),) = _MergeGroup(operator.add)(iter(rows))
    assert (group, _unpacked(packed)) == (0, [0, 1, 2])
    assert list(_MergeGroup(operator.add)(iter([]))) == []


def test_columns_that_cannot_be_read_are_named():
    frame = SparkFrame(None, {"a": "integer", "list": "array"})
    assert (frame.names, frame.label_type("a")) == (("a", "list"), "int32")
    with pytest.raises(InputError, match="'list' holds array"):
        frame.select(["a", "list"])
    with pytest.raises(InputError, match="executors only"):
        frame.pieces()


def test_the_reason_is_found_in_a_report():
    report = "Job aborted\n  at java\nsome.Module.ValueError: no such row.\n"
    assert _first_line(RuntimeError(report)) == "some.Module.ValueError: no such row"
