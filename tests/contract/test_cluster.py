"""The cluster engine, on a real scheduler and two real workers."""

import threading
from dataclasses import replace

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

import tanbark as tb
from engines import LEARNERS, mixed_table, saved
from loopback import loopback
from slow_source import SlowSource, allow_no_failures, hungry
from tanbark.counts.partitioned.dask import DaskCluster

pytest.importorskip("distributed")
pytestmark = [
    pytest.mark.xdist_group("cluster"),
    pytest.mark.filterwarnings("ignore:::distributed"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("cluster")


@pytest.fixture(scope="module")
def frame():
    return mixed_table(rows=61)


@pytest.fixture(scope="module")
def paths(frame, folder):
    table = pa.Table.from_pandas(frame, preserve_index=False)
    parts = [table.slice(0, 20), table.slice(20, 0), table.slice(20, 20), table.slice(40)]  # the second is empty
    found = [folder / f"part-{k}.parquet" for k in range(len(parts))]
    for part, path in zip(parts, found, strict=True):
        pq.write_table(part, path, row_group_size=7)
    return found


@pytest.fixture(scope="module")
def client(folder):
    with loopback(folder) as (client, _):
        yield client


@pytest.mark.parametrize("name", ["TAN", "RAIANB", "category", "WANBIA", "tempered", "SelectiveKDB tempered"])
def test_models_have_the_bytes_of_those_from_memory(name, client, frame, paths, tmp_path):
    ours = LEARNERS[name]().fit(tb.scan(paths, target="class", batch_rows=3, client=client))
    theirs = LEARNERS[name]().fit(frame.drop(columns="class"), frame["class"])
    assert saved(ours, tmp_path / "a.json") == saved(theirs, tmp_path / "b.json")


def test_a_dask_frame_is_counted_where_it_is(client, frame, tmp_path):
    import dask.dataframe as dd

    frame = frame.drop(columns="kind")
    lazy = dd.from_pandas(frame, npartitions=4)
    ours = tb.TAN().fit(tb.scan(lazy, target="class", client=client, batch_rows=3))
    here = tb.TAN().fit(lazy, target="class")
    theirs = tb.TAN().fit(frame.drop(columns="class"), frame["class"])
    assert saved(ours, tmp_path / "a.json") == saved(theirs, tmp_path / "b.json")
    assert saved(here, tmp_path / "a.json") == saved(theirs, tmp_path / "b.json")


def test_prediction_maps_over_the_pieces(client, frame, paths, tmp_path):
    model = tb.TAN().fit(frame.drop(columns="class"), frame["class"])
    rows = model.predict_file(paths, tmp_path / "out", proba=True, client=client)
    assert rows == len(frame)
    got = ds.dataset(tmp_path / "out").to_table()
    assert got["predicted"].to_pylist() == model.predict(frame.drop(columns="class")).tolist()
    np.testing.assert_allclose(got["P(yes)"].to_numpy(), model.predict_proba(frame.drop(columns="class"))[:, 2])


def test_a_bad_value_on_a_worker_is_told_here(client, frame, paths):
    schema = tb.TAN().fit(frame.iloc[:5].drop(columns="class"), frame["class"].iloc[:5]).schema_
    with pytest.raises(tb.errors.InputError, match="schema does not know"):
        tb.TAN().fit(tb.scan(paths, target="class", schema=schema, client=client))


def slow(rows, paths, seconds):
    object.__setattr__(rows, "source", SlowSource(tuple(map(str, paths)), "parquet", seconds=seconds))
    return rows


def test_lost_workers_and_a_lost_scheduler_change_no_count_or_are_said(frame, paths, tmp_path, monkeypatch):
    import dask
    import dask.dataframe as dd

    theirs = tb.KDB().fit(frame.drop(columns="class"), frame["class"])
    (tmp_path / "own").mkdir()
    with loopback(tmp_path / "own") as (client, cluster):
        rows = slow(tb.scan(paths, target="class", batch_rows=3, client=client), paths, 0.3)
        killer = threading.Timer(0.8, cluster.workers[0].kill)
        killer.start()
        ours = tb.KDB().fit(rows)
        killer.join()
        assert cluster.workers[0].wait(5) is not None
        assert saved(ours, tmp_path / "a.json") == saved(theirs, tmp_path / "b.json")

        client.run_on_scheduler(allow_no_failures)
        lazy = dd.from_delayed([dask.delayed(hungry)()], meta=pd.DataFrame({"x": [0], "class": ["a"]}))
        greedy = tb.scan(lazy, target="class", client=client)
        with pytest.raises(tb.errors.ClusterError, match="ended several workers, most likely for lack of memory"):
            tb.NaiveBayes().fit(greedy)
        monkeypatch.setattr("tanbark.counts.partitioned.dask.PATIENCE", 1.0)
        with pytest.raises(tb.errors.ClusterError, match="no worker left"):
            tb.NaiveBayes().fit(rows)
        killer = threading.Timer(0.5, cluster.scheduler.kill)
        killer.start()
        monkeypatch.setattr("tanbark.counts.partitioned.dask.PATIENCE", 5.0)
        with pytest.raises(tb.errors.ClusterError, match="scheduler is lost"):
            tb.NaiveBayes().fit(rows)
        killer.join()


@pytest.mark.parametrize("name", ["HillClimbTAN", "FSSJ"])
def test_a_search_over_rows_that_stay_on_the_workers_has_the_bytes_of_one_in_memory(
    name, client, frame, paths, tmp_path
):
    model = getattr(tb, name)(cv=3, random_state=1, tol=0)
    rows = replace(tb.scan(paths, target="class", batch_rows=3, client=client), max_memory=200)
    ours = saved(model.fit(rows), tmp_path / "a.json")
    assert model.passes_ >= len(model.history_) + 3  # families of both directions are counted once for all steps
    assert saved(model.fit(frame.drop(columns="class"), frame["class"]), tmp_path / "b.json") == ours


def test_folds_by_row_reach_the_rows_on_the_workers(client, frame, tmp_path):
    import dask.dataframe as dd

    frame = frame.drop(columns="kind").assign(w=np.arange(len(frame)) % 3)
    X, folds = frame.drop(columns=["class", "w"]), np.arange(len(frame)) % 4
    model = tb.SelectiveNaiveBayes(cv=folds, missing="drop")
    lazy = tb.scan(dd.from_pandas(frame, npartitions=4), target="class", weight="w", client=client, batch_rows=5)
    ours = saved(model.fit(replace(lazy, max_memory=100)), tmp_path / "a.json")
    assert saved(model.fit(X, frame["class"], frame["w"]), tmp_path / "b.json") == ours
    assert saved(model.fit(lazy), tmp_path / "b.json") == ours


class _Waiting:
    """A client whose one future is never done, and what its scheduler tells of the workers."""

    status = "running"

    def __init__(self, *workers):
        self.workers = dict(enumerate(workers))

    def compute(self, task):
        return self

    def result(self, timeout):
        raise TimeoutError

    def done(self):
        return False

    def release(self):
        pass

    def scheduler_info(self, n_workers):
        return {"workers": self.workers}


@pytest.mark.parametrize("others", [[], [{"status": "running", "metrics": {"task_counts": {}}}]])
def test_a_worker_that_is_paused_for_ever_is_told(others, monkeypatch):
    monkeypatch.setattr("tanbark.counts.partitioned.dask.PATIENCE", 0.05)
    with pytest.raises(tb.errors.ClusterError, match="paused for lack of memory"):
        DaskCluster(_Waiting({"status": "paused", "metrics": {}}, *others)).compute(None)
