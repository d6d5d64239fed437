"""The cluster engine on a real Spark: its frames, and files that its executors read."""

import threading
from dataclasses import replace

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

import tanbark as tb
from engines import LEARNERS, mixed_table, saved, saved_without_report
from sparkling import DyingSource, spark_session
from tanbark.counts import MemoryCounts
from tanbark.counts.partitioned import spark
from tanbark.counts.partitioned.cluster import ClusterCounts
from tanbark.table import CodedTable
from tanbark.table.encode import encode
from tanbark.table.raw import read_table

pytestmark = [
    pytest.mark.xdist_group("spark"),
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas"),
    pytest.mark.filterwarnings("ignore:distutils Version classes"),  # of Spark 3.5
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]
KINDS = "text string, level bigint, number double, few int, flag boolean, class string, w bigint"


@pytest.fixture(scope="module")
def session(tmp_path_factory):
    with spark_session(tmp_path_factory.mktemp("spark")) as session:
        yield session


@pytest.fixture(scope="module")
def frame():
    return mixed_table(rows=61).drop(columns="kind")


@pytest.fixture(scope="module")
def heavy(frame):
    return frame.assign(w=np.arange(len(frame)) % 3)


@pytest.fixture(scope="module")
def lazy(session, heavy):
    """The rows in three partitions, of which one is empty."""
    rows = [tuple(None if pd.isna(value) else value for value in row) for row in heavy.astype(object).to_numpy()]
    parts = [rows[:40], [], rows[40:]]
    first, empty, last = (session.createDataFrame(session.sparkContext.parallelize(p, 1), KINDS) for p in parts)
    return first.union(empty).union(last).cache()


@pytest.fixture
def by_two(monkeypatch):
    """Merge answers two by two, so that few partitions make a tree."""
    monkeypatch.setattr(spark, "FAN_IN", 2)


@pytest.fixture(scope="module")
def paths(frame, tmp_path_factory):
    table = pa.Table.from_pandas(frame, preserve_index=False)
    parts = [table.slice(0, 20), table.slice(20, 0), table.slice(20, 20), table.slice(40)]  # the second is empty
    found = [tmp_path_factory.mktemp("rows") / f"part-{k}.parquet" for k in range(len(parts))]
    for part, path in zip(parts, found, strict=True):
        pq.write_table(part, path, row_group_size=7)
    return found


def tan(frame, **options):
    return tb.TAN().fit(frame.drop(columns="class"), frame["class"], **options)


@pytest.mark.parametrize("name", ["TAN", "RAIANB", "WANBIA"])
def test_a_model_from_a_spark_frame_has_the_bytes_of_one_from_memory(name, frame, lazy, by_two, tmp_path):
    ours = LEARNERS[name]().fit(tb.scan(lazy.drop("w"), target="class", batch_rows=3))
    theirs = LEARNERS[name]().fit(frame.drop(columns="class"), frame["class"])
    assert saved(ours, tmp_path / "a.json") == saved(theirs, tmp_path / "b.json")


def test_a_model_from_files_has_the_bytes_of_one_from_memory(session, frame, paths, tmp_path):
    ours = tb.TAN(missing="category").fit(tb.scan(paths, target="class", batch_rows=3, client=session))
    theirs = tb.TAN(missing="category").fit(frame.drop(columns="class"), frame["class"])
    assert saved(ours, tmp_path / "a.json") == saved(theirs, tmp_path / "b.json")


def test_weights_come_from_a_column(frame, heavy, lazy, tmp_path):
    ours = tb.TAN().fit(lazy, target="class", sample_weight="w")
    assert saved(ours, tmp_path / "a.json") == saved(tan(frame, sample_weight=heavy["w"]), tmp_path / "b.json")


def test_folds_by_row_reach_the_rows_on_the_executors(frame, heavy, lazy, tmp_path):
    model = tb.SelectiveNaiveBayes(cv=np.arange(len(frame)) % 4, missing="drop")
    rows = tb.scan(lazy, target="class", weight="w", batch_rows=5)
    ours = saved(model.fit(replace(rows, max_memory=100)), tmp_path / "a.json")
    theirs = model.fit(frame.drop(columns="class"), frame["class"], heavy["w"])
    assert saved(theirs, tmp_path / "b.json") == ours


def test_tables_cells_and_rows_are_equal(frame, lazy, by_two):
    model = tan(frame)
    rows = tb.scan(lazy.drop("w"), target="class", batch_rows=3)
    ours = ClusterCounts(rows.cluster, rows.reader(), model.schema_, max_memory=1 << 20)
    codes = encode(read_table(frame), model.schema_.columns).codes
    theirs = MemoryCounts(CodedTable(model.schema_, codes))
    sets = [(0,), (5,), (2, 0), (4, 1, 5), (0, 1, 2, 3, 4, 5)]
    for mine, other in zip(ours.tables(sets), theirs.tables(sets), strict=True):
        assert mine.dtype == other.dtype
        np.testing.assert_array_equal(mine, other)
    for mine, other in zip(ours.cells(sets), theirs.cells(sets), strict=True):
        np.testing.assert_array_equal(mine[0], other[0])
        np.testing.assert_array_equal(mine[1], other[1])
    np.testing.assert_array_equal(np.concatenate([part for part, _ in ours.batches()], axis=1), codes)


def test_labels_keep_their_type_and_names_may_hold_anything(session):
    odd = session.createDataFrame([(0, 1, 2.5), (1, 2, 3.5)] * 4, "`a.b` int, `c``d` short, `x y` float").coalesce(1)
    model = tb.NaiveBayes().fit(odd, target="c`d")
    assert model.classes_.dtype == np.int16
    assert model.classes_.tolist() == [1, 2]
    assert model.feature_names_in_.tolist() == ["a.b", "x y"]


def test_prediction_writes_a_file_for_each_part(session, frame, lazy, paths, tmp_path):
    model = tan(frame)
    features = frame.drop(columns="class")
    for rows, client, parts in ((lazy, None, [0, 2]), (paths, session, [0, 2, 3])):
        out = tmp_path / f"out-{client is None}"
        assert model.predict_file(rows, out, proba=True, keep=["level"], client=client) == len(frame)
        assert sorted(path.name for path in out.iterdir()) == [f"part-{k:06d}.parquet" for k in parts]
        got = ds.dataset(out).to_table()
        assert got["predicted"].to_pylist() == model.predict(features).tolist()
        assert got["level"].to_pylist() == frame["level"].tolist()
        np.testing.assert_allclose(got["P(yes)"].to_numpy(), model.predict_proba(features)[:, 2], rtol=1e-12)


def test_what_is_wrong_on_an_executor_is_told_here(session, frame, lazy, by_two):
    schema = tan(frame.iloc[:5]).schema_
    with pytest.raises(tb.errors.InputError, match="schema does not know, such as"):
        tb.TAN().fit(tb.scan(lazy, target="class", schema=schema))
    broken = session.sql("select id, if(id < 4, 'a', raise_error('no such row')) as class from range(5)")
    with pytest.raises(tb.errors.ClusterError, match=r"Spark gave the job up: .*no such row"):
        tb.NaiveBayes().fit(broken, target="class")


def test_columns_that_cannot_be_read_are_named(session):
    nested = session.sql("select array(id) as many, id as one, 'a' as class from range(0, 4, 1, 1)")
    with pytest.raises(tb.errors.InputError, match="'many' holds array; a column must hold one plain value"):
        tb.NaiveBayes().fit(nested, target="class")
    assert tb.NaiveBayes().fit(tb.scan(nested, target="class", columns=["one"])).n_features_in_ == 1
    twice = session.sql("select id, id, 'a' as class from range(0, 4, 1, 1)")
    with pytest.raises(tb.errors.InputError, match=r"\['id'\] occur more than once"):
        tb.NaiveBayes().fit(twice, target="class")
    dates = session.sql("select current_date() as day, 'a' as class from range(0, 4, 1, 1)")
    with pytest.raises(tb.errors.InputError, match="'day' holds dates or times"):
        tb.NaiveBayes().fit(dates, target="class")


def test_rows_that_cannot_be_sent_are_refused(session, frame):
    lock = threading.Lock()

    def frames():
        with lock:
            return [frame]

    with pytest.raises(tb.errors.InputError, match="cannot be sent to Spark's executors"):
        tb.TAN().fit(tb.scan(frames, target="class", client=session))


def test_wrong_clients_are_refused(session, frame, lazy, paths):
    with pytest.raises(tb.errors.InputError, match=r"a dask\.distributed\.Client or a SparkSession; got object"):
        tb.scan(paths, target="class", client=object())
    with pytest.raises(tb.errors.InputError, match="with a Spark frame its SparkSession; got object"):
        tb.scan(lazy, target="class", client=object())
    dask = pytest.importorskip("dask.dataframe")
    with pytest.raises(tb.errors.InputError, match=r"with a Dask frame a dask\.distributed\.Client; got SparkSession"):
        tb.scan(dask.from_pandas(frame, npartitions=2), target="class", client=session)
    kind = {"__module__": "pyspark.sql.connect.session", "createDataFrame": None, "sql": None}
    with pytest.raises(tb.errors.InputError, match="Spark Connect"):
        tb.scan(paths, target="class", client=type("SparkSession", (), kind)())


def test_packages_that_spark_needs_are_named(lazy, monkeypatch):
    monkeypatch.setattr(spark, "find_spec", lambda name: None if name == "pyarrow" else name)
    with pytest.raises(tb.errors.MissingPackageError, match=r'needs pyarrow too.*pip install "tanbark\[spark\]"'):
        tb.scan(lazy, target="class")


def dying(rows, paths, folder, deaths):
    folder.mkdir()
    source = DyingSource(tuple(map(str, paths)), "parquet", marks=str(folder), deaths=deaths)
    return replace(rows, source=source)


def test_a_task_that_dies_is_done_again_and_counts_once(session, frame, paths, tmp_path):
    theirs = tan(frame)
    rows = tb.scan(paths, target="class", batch_rows=3, schema=theirs.schema_, client=session)
    ours = tb.TAN().fit(dying(rows, paths, tmp_path / "once", 1))
    assert len(list((tmp_path / "once").iterdir())) == 1
    assert saved_without_report(ours, tmp_path / "a.json") == saved_without_report(theirs, tmp_path / "b.json")
    with pytest.raises(tb.errors.ClusterError, match="again and again, most likely for lack of memory"):
        tb.TAN().fit(dying(rows, paths[:1], tmp_path / "often", 99))


def test_finished_passes_are_kept(session, frame, paths, tmp_path, monkeypatch):
    rows = tb.scan(paths, target="class", client=session, checkpoint=tmp_path / "kept")
    real, asked = spark.SparkCluster.reduce, []

    def interrupted(*args):
        asked.append(1)
        if len(asked) == 3:
            raise KeyboardInterrupt
        return real(*args)

    monkeypatch.setattr(spark.SparkCluster, "reduce", interrupted)
    with pytest.raises(KeyboardInterrupt):
        tb.KDB().fit(rows)
    ours = tb.KDB().fit(rows)
    theirs = tb.KDB().fit(frame.drop(columns="class"), frame["class"])
    assert saved(ours, tmp_path / "a.json") == saved(theirs, tmp_path / "b.json")
    assert (ours.passes_, len(asked)) == (1, 4)  # the schema and all pairs were there
    assert tb.KDB().fit(tb.scan(paths, target="class", checkpoint=tmp_path / "kept")).passes_ == 0
    with pytest.raises(tb.errors.OptionError, match="checkpoint needs files"):
        tb.KDB().fit(tb.scan(session.range(3).selectExpr("id", "id as x"), target="x", checkpoint=tmp_path))


def test_a_stopped_session_is_said(session, lazy, paths):
    """The last test, for it ends the session of all others."""
    frames, files = tb.scan(lazy, target="class"), tb.scan(paths, target="class", client=session)
    session.stop()
    for rows in (frames, files):
        with pytest.raises(tb.errors.ClusterError, match="session is stopped"):
            tb.TAN().fit(rows)
