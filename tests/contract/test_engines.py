"""Every engine gives every learner what the engine for rows in memory gives it, with batches of three rows."""

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import tanbark as tb
from engines import LEARNERS, mixed_table, saved, saved_without_report
from tanbark.table.files.reader import RowReader
from tanbark.table.files.sources import open_source


@pytest.fixture(scope="module", params=[False, True], ids=["whole", "gaps"])
def frame(request):
    return mixed_table(gaps=request.param)


@pytest.fixture(scope="module")
def parquet(frame, tmp_path_factory):
    path = tmp_path_factory.mktemp("rows") / "rows.parquet"
    pq.write_table(pa.Table.from_pandas(frame, preserve_index=False), path, row_group_size=7)
    return path


@pytest.mark.filterwarnings("ignore::tanbark.errors.NaiveStructureWarning")  # thirty rows are few for BIC
@pytest.mark.parametrize("name", LEARNERS)
def test_a_model_from_a_file_has_the_bytes_of_one_from_memory(name, frame, parquet, tmp_path):
    make = LEARNERS[name]
    ours = make().fit(tb.scan(parquet, target="class", batch_rows=3))
    theirs = make().fit(frame.drop(columns="class"), frame["class"])
    assert saved(ours, tmp_path / "a.json") == saved(theirs, tmp_path / "b.json")
    assert ours.passes_ >= 2


@pytest.mark.parametrize(
    "name", ["TAN", "KDB", "SelectiveKDB", "AODE", "RAIANB", "RAIGBN", "GBN", "BAN", "ChowLiuTree"]
)
def test_little_memory_takes_more_passes_and_changes_nothing(name, frame, parquet, tmp_path, monkeypatch):
    rows = replace(tb.scan(parquet, target="class", batch_rows=3), max_memory=0)
    monkeypatch.setattr("tanbark.counts.partitioned.base.MIN_CELLS", 300)
    ours = LEARNERS[name]().fit(rows)
    theirs = LEARNERS[name]().fit(frame.drop(columns="class"), frame["class"])
    assert saved(ours, tmp_path / "a.json") == saved(theirs, tmp_path / "b.json")


def test_all_kinds_of_sources_give_one_model(frame, tmp_path):
    import polars as pl

    frame = frame.drop(columns="kind")
    table = pa.Table.from_pandas(frame, preserve_index=False)
    pq.write_table(table.slice(0, 20), tmp_path / "part-0.parquet")
    pq.write_table(table.slice(20), tmp_path / "part-1.parquet")
    frame.to_csv(tmp_path / "rows.csv", index=False)
    frame.to_csv(tmp_path / "rows.csv.gz", index=False)
    with pa.ipc.new_file(tmp_path / "rows.arrow", table.schema) as file:
        file.write_table(table, max_chunksize=5)
    pl.from_arrow(table).write_ipc(tmp_path / "rows.feather")
    import pyarrow.dataset as ds

    parts = [tmp_path / "part-0.parquet", tmp_path / "part-1.parquet"]
    (tmp_path / "folder").mkdir()
    for part in parts:
        (tmp_path / "folder" / part.name).write_bytes(part.read_bytes())
    sources = {
        "list": parts, "folder": tmp_path / "folder", "csv": str(tmp_path / "rows.csv"),
        "gzip": tmp_path / "rows.csv.gz", "arrow": tmp_path / "rows.arrow", "feather": tmp_path / "rows.feather",
        "lazy": pl.from_arrow(table).lazy(), "dataset": ds.dataset(parts), "pandas": frame,
        "reader": table.to_reader(max_chunksize=4), "iterator": iter(table.to_batches(max_chunksize=4)),
        "function": lambda: table.to_batches(max_chunksize=9), "table": table, "tables": lambda: [table],
    }  # fmt: skip
    wanted = saved(tb.TAN().fit(frame.drop(columns="class"), frame["class"]), tmp_path / "m.json")
    for name, source in sources.items():
        model = tb.TAN().fit(tb.scan(source, target="class", batch_rows=3))
        assert saved(model, tmp_path / "s.json") == wanted, name
    for source in (sources["lazy"], sources["csv"], parts[0].parent / "folder"):
        assert saved(tb.TAN().fit(source, target="class"), tmp_path / "s.json") == wanted


def test_a_given_schema_saves_the_first_pass(frame, parquet, tmp_path):
    first = tb.TAN().fit(parquet, target="class")
    again = tb.TAN().fit(tb.scan(parquet, target="class", schema=first.schema_))
    assert saved_without_report(first, tmp_path / "a.json") == saved_without_report(again, tmp_path / "b.json")
    assert (first.passes_, again.passes_) == (2, 1)


def test_weights_come_from_a_column(frame, tmp_path):
    heavy = frame.assign(w=np.arange(len(frame)) % 3)
    pq.write_table(pa.Table.from_pandas(heavy, preserve_index=False), tmp_path / "w.parquet")
    rows = tb.scan(tmp_path / "w.parquet", target="class", weight="w", batch_rows=3)
    ours = tb.TAN().fit(rows)
    theirs = tb.TAN().fit(frame.drop(columns="class"), frame["class"], sample_weight=heavy["w"])
    assert saved(ours, tmp_path / "a.json") == saved(theirs, tmp_path / "b.json")


def test_whole_number_labels_keep_their_type(tmp_path):
    table = pa.table({"x": [0, 1, 0, 1], "y": pa.array([1, 2, 1, 2], pa.uint8())})
    pq.write_table(table, tmp_path / "n.parquet")
    model = tb.NaiveBayes().fit(tmp_path / "n.parquet", target="y")
    assert model.classes_.dtype == np.uint8
    assert model.predict(table.select(["x"])).tolist() == [1, 2, 1, 2]


@pytest.mark.parametrize("ending", ["parquet", "csv", "arrow"])
def test_prediction_goes_from_file_to_file(ending, frame, parquet, tmp_path):
    model = tb.TAN().fit(parquet, target="class")
    out = tmp_path / f"out.{ending}"
    assert model.predict_file(parquet, out, proba=True, keep=["level", "text"]) == len(frame)
    (got,) = (pa.Table.from_batches(_read(out)),)
    expected = model.predict_proba(frame.drop(columns="class"))
    assert got["predicted"].to_pylist() == model.predict(frame.drop(columns="class")).tolist()
    for code, label in enumerate(model.classes_):
        np.testing.assert_allclose(got[f"P({label})"].to_numpy(), expected[:, code], rtol=1e-12)
    assert got["level"].to_pylist() == frame["level"].tolist()
    assert [p.name for p in tmp_path.iterdir()] == [out.name]


def _read(path):
    import pyarrow.dataset as ds

    kind = {".parquet": "parquet", ".csv": "csv", ".arrow": "arrow"}[path.suffix]
    return ds.dataset(path, format=kind).to_table().to_batches()


def test_a_reader_that_was_spooled_leaves_no_file(frame, tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    source = open_source(pa.Table.from_pandas(frame).to_reader())
    assert len(list(tmp_path.iterdir())) == 1
    del source
    import gc

    gc.collect()
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("scratch", [True, False])
@pytest.mark.parametrize("name", ["RAIANB", "GBN"])
def test_rows_that_are_read_often_are_kept_in_a_file(name, scratch, frame, tmp_path, monkeypatch):
    """The first three counting passes read the source, the others the coded rows; without a file all read it."""
    parquet, read = tmp_path / "rows.parquet", []
    pq.write_table(pa.Table.from_pandas(frame, preserve_index=False), parquet, row_group_size=25)  # read many times
    plain = RowReader.coded
    monkeypatch.setattr(RowReader, "coded", lambda self, *rest: (read.append(1), plain(self, *rest))[1])
    monkeypatch.setattr("tanbark.counts.partitioned.base.MIN_CELLS", 60)
    rows = replace(tb.scan(parquet, target="class", batch_rows=9, scratch=scratch), max_memory=0)
    ours = LEARNERS[name]().fit(rows)
    theirs = LEARNERS[name]().fit(frame.drop(columns="class"), frame["class"])
    assert saved(ours, tmp_path / "a.json") == saved(theirs, tmp_path / "b.json")
    pieces = len(rows.source.pieces())
    assert ours.passes_ > 5
    assert len(read) == pieces * (3 if scratch else ours.passes_ - 1)


def test_a_bad_folder_for_scratch_is_refused(frame):
    with pytest.raises(tb.errors.OptionError, match="scratch must be True, False or the path of a folder"):
        tb.scan(frame, target="class", scratch="no such folder")
