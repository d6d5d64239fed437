"""The cluster engine on a real Spark: its frames, and files that its executors read."""

import os

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

import tanbark as tb
from engines import LEARNERS, mixed_table, saved
from sparkling import DyingSource, spark_session
from tanbark.counts import MemoryCounts, spark
from tanbark.counts.cluster import ClusterCounts
from tanbark.estimators.encoding import Encoder
from tanbark.table import CodedTable
from tanbark.table.raw import read_table

pytestmark = [
    pytest.mark.xdist_group("spark"),
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas"),
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
    """The rows in ten partitions, so that answers are merged twice; one of the partitions is empty."""
    rows = [tuple(None if pd.isna(value) else value for value in row) for row in heavy.itertuples(index=False)]
    rows = [(*row[:1], int(row[1]), row[2], int(row[3]), *row[4:6], int(row[6])) for row in rows]
    parts = [session.createDataFrame(session.sparkContext.parallelize(rows[:50], 8), KINDS)]
    parts.append(session.createDataFrame(session.sparkContext.parallelize([], 1), KINDS))
    parts.append(session.createDataFrame(session.sparkContext.parallelize(rows[50:], 1), KINDS))
    return parts[0].union(parts[1]).union(parts[2]).cache()


@pytest.fixture(scope="module")
def paths(frame, tmp_path_factory):
    table = pa.Table.from_pandas(frame, preserve_index=False)
    parts = [table.slice(0, 20), table.slice(20, 0), table.slice(20, 20), table.slice(40)]  # the second is empty
    found = [tmp_path_factory.mktemp("rows") / f"part-{k}.parquet" for k in range(len(parts))]
    for part, path in zip(parts, found, strict=True):
        pq.write_table(part, path, row_group_size=7)
    return found


@pytest.mark.parametrize("name", LEARNERS)
def test_a_model_from_a_spark_frame_has_the_bytes_of_one_from_memory(name, frame, lazy, tmp_path):
    ours = LEARNERS[name]().fit(tb.scan(lazy.drop("w"), target="class", batch_rows=3))
    theirs = LEARNERS[name]().fit(frame.drop(columns="class"), frame["class"])
    assert saved(ours, tmp_path / "a.json") == saved(theirs, tmp_path / "b.json")
