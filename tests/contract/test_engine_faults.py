"""What is wrong with rows that are read in batches is said, and never counted wrongly."""

import gzip

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import tanbark as tb
from engines import mixed_table, saved
from tanbark.counts.partitioned.checkpoint import Checkpoint


@pytest.fixture
def frame():
    return mixed_table(rows=50, gaps=False).drop(columns="kind")


def write(frame, path, **options):
    pq.write_table(pa.Table.from_pandas(frame, preserve_index=False), path, **options)
    return path


@pytest.mark.parametrize("share", [0.3, 0.9])
def test_a_truncated_parquet_file_is_refused(share, frame, tmp_path):
    path = write(frame, tmp_path / "rows.parquet")
    whole = path.read_bytes()
    path.write_bytes(whole[: int(share * len(whole))])
    with pytest.raises(tb.errors.InputError, match=r"rows\.parquet cannot be read"):
        tb.TAN().fit(path, target="class")


def test_damage_inside_a_parquet_file_is_refused(frame, tmp_path):
    path = write(pd.concat([frame] * 40), tmp_path / "rows.parquet", compression="gzip", row_group_size=500)
    whole = bytearray(path.read_bytes())
    middle = len(whole) // 3
    whole[middle : middle + 400] = bytes(400)
    path.write_bytes(bytes(whole))
    with pytest.raises(tb.errors.InputError, match="cannot be read"):
        tb.TAN().fit(path, target="class")


def test_truncated_arrow_and_gzip_files_are_refused(frame, tmp_path):
    table = pa.Table.from_pandas(frame, preserve_index=False)
    with pa.ipc.new_file(tmp_path / "rows.arrow", table.schema) as file:
        file.write_table(table)
    frame.to_csv(tmp_path / "rows.csv", index=False)
    (tmp_path / "rows.csv.gz").write_bytes(gzip.compress((tmp_path / "rows.csv").read_bytes())[:-60])
    for name in ("rows.arrow", "rows.csv.gz"):
        path = tmp_path / name
        path.write_bytes(path.read_bytes()[:-40])
        with pytest.raises(tb.errors.InputError, match="cannot be read"):
            tb.TAN().fit(path, target="class")


def test_a_csv_row_with_too_few_values_is_refused(frame, tmp_path):
    frame.to_csv(tmp_path / "rows.csv", index=False)
    with (tmp_path / "rows.csv").open("a") as file:
        file.write("red,1\n")
    with pytest.raises(tb.errors.InputError, match="cannot be read"):
        tb.TAN().fit(tmp_path / "rows.csv", target="class")


def test_a_column_that_changes_its_type_is_refused(frame, tmp_path):
    write(frame, tmp_path / "a.parquet")
    write(frame.assign(level=frame["level"].map({0: "low", 1: "mid", 2: "high"})), tmp_path / "b.parquet")
    with pytest.raises(tb.errors.InputError, match="'level' holds numbers in some rows and strings in others"):
        tb.TAN().fit(tmp_path, target="class")
    schema = tb.TAN().fit(tmp_path / "a.parquet", target="class").schema_
    with pytest.raises(tb.errors.InputError, match="'level' held numbers in training and now holds strings"):
        tb.TAN().fit(tb.scan(tmp_path, target="class", schema=schema))


def test_a_csv_column_that_changes_its_type_is_refused_or_read_as_told(tmp_path):
    rows = ["zip,class"] + [f"{k % 3},{k % 2}" for k in range(1_500_000)] + ["A,1"]
    (tmp_path / "rows.csv").write_text("\n".join(rows) + "\n")
    with pytest.raises(tb.errors.InputError, match="types="):
        tb.NaiveBayes().fit(tmp_path / "rows.csv", target="class")
    model = tb.NaiveBayes().fit(tb.scan(tmp_path / "rows.csv", target="class", types={"zip": "string"}))
    assert model.schema_.columns[0].levels == ("0", "1", "2", "A")


def test_categories_that_come_late_are_learnt_and_with_a_schema_refused(frame, tmp_path):
    late = frame.copy()
    late.loc[late.index[-1], "text"] = "violet"
    path = write(late, tmp_path / "rows.parquet", row_group_size=10)
    ours = tb.TAN().fit(tb.scan(path, target="class", batch_rows=3))
    theirs = tb.TAN().fit(late.drop(columns="class"), late["class"])
    assert saved(ours, tmp_path / "a.json") == saved(theirs, tmp_path / "b.json")
    schema = tb.TAN().fit(frame.drop(columns="class"), frame["class"]).schema_
    with pytest.raises(
        tb.errors.InputError, match=r"'text' holds 1 values that the schema does not know, such as \['violet'\]"
    ):
        tb.TAN().fit(tb.scan(path, target="class", schema=schema))


def test_numbers_and_labels_that_come_late_are_learnt(tmp_path):
    late = pd.DataFrame({"n": [0, 1] * 30 + list(range(40)), "class": ["a", "b"] * 49 + ["c", "c"]})
    path = write(late, tmp_path / "rows.parquet", row_group_size=10)
    ours = tb.NaiveBayes(discretize="quantile").fit(tb.scan(path, target="class", batch_rows=3))
    theirs = tb.NaiveBayes(discretize="quantile").fit(late[["n"]], late["class"])
    assert saved(ours, tmp_path / "a.json") == saved(theirs, tmp_path / "b.json")


def test_empty_parts_count_nothing(frame, tmp_path):
    write(frame.iloc[:0].astype(frame.dtypes), tmp_path / "a.parquet")
    write(frame, tmp_path / "b.parquet")
    write(frame.iloc[:0], tmp_path / "c.parquet")
    ours = tb.TAN().fit(tmp_path, target="class")
    theirs = tb.TAN().fit(frame.drop(columns="class"), frame["class"])
    assert saved(ours, tmp_path / "x.json") == saved(theirs, tmp_path / "y.json")
    with pytest.raises(tb.errors.InputError, match="no rows to learn from"):
        tb.TAN().fit(tmp_path / "a.parquet", target="class")


def test_columns_that_a_part_lacks_are_named(frame, tmp_path):
    write(frame, tmp_path / "a.parquet")
    write(frame.drop(columns="level"), tmp_path / "b.parquet")
    with pytest.raises(tb.errors.InputError, match=r"b\.parquet lacks the columns \['level'\]"):
        tb.TAN().fit(tmp_path, target="class")


def test_gaps_in_the_class_and_wrong_names_are_refused(frame, tmp_path):
    broken = frame.copy()
    broken.loc[7, "class"] = None
    path = write(broken, tmp_path / "rows.parquet")
    with pytest.raises(tb.errors.InputError, match="NaN or None in 1 rows"):
        tb.TAN().fit(path, target="class")
    with pytest.raises(tb.errors.InputError, match="Did you mean 'class'"):
        tb.TAN().fit(path, target="clas")
    with pytest.raises(tb.errors.OptionError, match="target="):
        tb.TAN().fit(path)
    with pytest.raises(tb.errors.InputError, match="no file or directory"):
        tb.TAN().fit(tmp_path / "none.parquet", target="class")


def test_a_learner_that_needs_all_rows_says_what_they_take(frame, tmp_path):
    path = write(pd.concat([frame] * 9000), tmp_path / "rows.parquet")
    with pytest.raises(tb.errors.InputError, match="must see each row many times"):
        tb.ExactANB().fit(tb.scan(path, target="class", max_memory=1 << 20))


class _StopError(Exception):
    pass


def test_an_interrupted_fit_goes_on_where_it_was(frame, tmp_path, monkeypatch):
    from tanbark.counts.partitioned import stream

    monkeypatch.setattr("tanbark.table.files.arrow_files.PIECE_ROWS", 1)
    monkeypatch.setattr(Checkpoint.__init__, "__kwdefaults__", {"every": 0.0})
    path = write(frame, tmp_path / "rows.parquet", row_group_size=5)
    wanted = saved(tb.KDB().fit(path, target="class"), tmp_path / "a.json")
    rows = tb.scan(path, target="class", checkpoint=tmp_path / "kept", max_memory=1 << 20)
    asked, real = [], stream.query_parts

    def interrupted(*args, **options):
        asked.append(1)
        if len(asked) == 7:
            raise _StopError
        return real(*args, **options)

    monkeypatch.setattr(stream, "query_parts", interrupted)
    with pytest.raises(_StopError):
        tb.KDB().fit(rows)
    model = tb.KDB().fit(rows)
    assert saved(model, tmp_path / "b.json") == wanted
    assert len(asked) < 7 + 20  # the first six pieces were not counted again
    before = len(asked)
    again = tb.KDB().fit(rows)
    assert saved(again, tmp_path / "b.json") == wanted
    assert len(asked) == before  # every answer was kept
    assert (model.passes_ > 0, again.passes_) == (True, 0)  # and the schema
    other = tb.KDB(discretize="median").fit(rows)
    assert saved(other, tmp_path / "b.json") == saved(
        tb.KDB(discretize="median").fit(path, target="class"), tmp_path / "c.json"
    )
    write(frame.iloc[:40], path)
    changed = tb.KDB().fit(tb.scan(path, target="class", checkpoint=tmp_path / "kept"))
    assert changed.network_.schema.columns[-1].levels == ("maybe", "no", "yes")
    assert int(np.sum(changed.family_counts_[-1])) == 40
    damaged = next(iter((tmp_path / "kept").glob("*.npz")))
    for damaged in (tmp_path / "kept").glob("*.npz"):
        damaged.write_bytes(damaged.read_bytes()[:50])
    with pytest.raises(tb.errors.InputError, match="damaged"):
        tb.KDB().fit(tb.scan(path, target="class", checkpoint=tmp_path / "kept"))
