"""Learning from rows that need not fit in memory: files, datasets, lazy frames, clusters."""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tanbark.checks import check_at_least
from tanbark.counts import PartitionedCounts, StreamCounts
from tanbark.counts.partitioned.checkpoint import Checkpoint
from tanbark.counts.partitioned.cluster import Cluster, ClusterCounts, observe
from tanbark.counts.partitioned.dask import DaskCluster, PartitionSource, current_client, is_client
from tanbark.counts.partitioned.spark import SparkCluster, SparkFrame, is_session, is_spark_frame
from tanbark.errors import InputError, OptionError, listed, nearest
from tanbark.estimators import inputs
from tanbark.estimators.encoding import Encoder
from tanbark.estimators.parts.discretizers import Discretizer, find_cutter
from tanbark.estimators.reports import suspicious
from tanbark.estimators.reports.suspicious import Seen
from tanbark.table import Column, Level, Schema
from tanbark.table.discretize import CUTTERS
from tanbark.table.files.reader import RowReader
from tanbark.table.files.remembered import RememberedSource
from tanbark.table.files.sources import FrameSource, Source, open_source
from tanbark.table.observe import Observed

REMEMBERED = 2  # rows that were looked at may take one part in so many of max_memory until they are coded
MAX_MEMORY = 1 << 29
MOST_ROWS, LEAST_ROWS = 1 << 18, 1 << 10


@dataclass(frozen=True, eq=False)
class Scan:
    """Rows that are read in batches, as :func:`scan` describes them; ``fit`` takes it in place of a table."""

    source: Source
    target: str
    features: tuple[str, ...]
    weight: str | None = None
    schema: Schema | None = None
    max_memory: int = MAX_MEMORY
    batch_rows: int = MOST_ROWS
    checkpoint: str | os.PathLike[str] | None = None
    cluster: Cluster | None = None
    scratch: str | os.PathLike[str] | None = None

    def reader(self, *, whole_only: bool = False) -> RowReader:
        """Return what reads the rows."""
        return RowReader(self.source, self.features, self.target, self.weight, self.batch_rows, whole_only)


def scan(
    data: Any, *, target: str, weight: str | None = None, columns: Iterable[str] | None = None,
    schema: Schema | None = None, types: Mapping[str, str] | None = None, max_memory: float = MAX_MEMORY,
    batch_rows: int | None = None, checkpoint: str | os.PathLike[str] | None = None, client: Any = None,
    scratch: str | os.PathLike[str] | bool = True,
) -> Scan:  # fmt: skip
    """Describe rows that need not fit in memory, to learn from them: ``fit(tb.scan("rows.parquet", target="class"))``.

    Parameters
    ----------
    data : path, list of paths, dataset, lazy frame, frame, Dask or Spark frame, reader or function
        Parquet, CSV (``.csv``, ``.tsv``, also gzipped) and Arrow or Feather files, a directory of such files, a pyarrow
        dataset, a polars LazyFrame, any frame, or a function without arguments that gives record batches or frames anew
        at each call. A reader or iterator, which can be read only once, is first written to a temporary file.
    target : str
        The column with the labels.
    weight : str, optional
        A column that says how many times each row counts.
    columns : list of str, optional
        The features; by default all other columns.
    schema : Schema, optional
        Categories and cut points of all columns, the class last, such as ``model.schema_``; then no pass is needed to
        learn them, and a value that it does not know raises an error.
    types : mapping, optional
        Arrow's type names of columns of CSV files that are not to be guessed, such as ``{"zip": "string"}``.
    max_memory : float, default 2**29
        Bytes that rows and tables may take, beside what the program itself takes. More makes for fewer passes.
    batch_rows : int, optional
        Rows that are read at once; by default as many as fit.
    checkpoint : path, optional
        A folder where the schema and counts are kept while a fit runs; a fit that was interrupted then goes on where it
        was, on a cluster with the first pass that was not finished.
    client : dask.distributed.Client or pyspark.sql.SparkSession, optional
        A cluster whose workers read and count the files, which they must see under the same path. A Dask frame uses the
        current client by itself, and a Spark frame its session.
    scratch : bool or path, default True
        Where coded rows are kept, in a temporary file without a name, while a learner goes through them more than
        twice: True for the system's folder of temporary files, or another one; False to read the rows themselves
        every time. A value takes a byte; a disk without room is left alone.

    Examples
    --------
    >>> import tanbark as tb
    >>> rows = tb.scan({"a": [0, 0, 1, 1], "class": ["n", "n", "y", "y"]}, target="class")
    >>> tb.NaiveBayes().fit(rows).classes_.tolist()
    ['n', 'y']
    """
    if isinstance(data, Mapping):
        from tanbark.table.frames import make_frame

        data = make_frame(dict(data), None)
    source, cluster = open_rows(data, types=types, client=client)
    memory = _number("max_memory", max_memory, 1 << 20)
    names = source.names
    for name in (target, *([] if weight is None else [weight])):
        _check_name(name, names)
    features = _features(names, target, weight, columns, schema)
    if batch_rows is None:
        batch_rows = int(min(MOST_ROWS, max(LEAST_ROWS, memory // (16 * 12 * (len(features) + 1)))))
    size = _number("batch_rows", batch_rows, 1)
    return Scan(source, target, features, weight, schema, memory, size, checkpoint, cluster, _scratch_folder(scratch))


def open_rows(
    data: Any, *, types: Mapping[str, str] | None = None, client: Any = None
) -> tuple[Source, Cluster | None]:
    """Open rows, and the cluster that reads them where there is one."""
    if hasattr(data, "to_delayed") and hasattr(data, "map_partitions"):
        if client is not None and not is_client(client):
            raise _wrong_client("with a Dask frame a dask.distributed.Client", client)
        return PartitionSource.of(data), DaskCluster(current_client() if client is None else client)
    if is_spark_frame(data):
        if client is not None and not is_session(client):
            raise _wrong_client("with a Spark frame its SparkSession", client)
        executors = SparkCluster(data.sparkSession)  # raises for sessions that cannot do it, before the frame is read
        return SparkFrame.of(data), executors
    source = open_source(data, types=types)
    if client is None:
        return source, None
    if is_session(client):
        return source, SparkCluster(client)
    if not is_client(client):
        raise _wrong_client("a dask.distributed.Client or a SparkSession", client)
    return source, DaskCluster(client)


def _wrong_client(wanted: str, client: Any) -> InputError:
    return InputError(f"client must be {wanted}; got {type(client).__name__}.")


def is_scan(data: Any) -> bool:
    """Return whether something is rows to be read in batches rather than a table in memory."""
    lazy = ("collect_batches", "get_fragments", "read_next_batch", "map_partitions", "mapInArrow")
    return isinstance(data, (Scan, str, os.PathLike)) or any(hasattr(type(data), name) for name in lazy)


def as_scan(data: Any, target: str | None, y: Any, sample_weight: Any) -> Scan:
    """Make a scan of what ``fit`` was given."""
    if y is not None or (sample_weight is not None and not isinstance(sample_weight, str)):
        msg = (
            "Rows that are read in batches hold their labels and weights: give the names of these columns, target= in "
            "fit, or target= and weight= in scan."
        )
        raise InputError(msg)
    if isinstance(data, Scan):
        return data
    if target is None:
        msg = 'To learn from a file or a lazy frame, name the column with the labels: fit(rows, target="class").'
        raise OptionError(msg)
    return scan(data, target=target, weight=sample_weight)


def _check_name(name: object, names: tuple[str, ...]) -> None:
    if name not in names:
        msg = f"There is no column {name!r}.{nearest(name, names)} The columns are {listed(names)}."
        raise InputError(msg)


def _features(
    names: tuple[str, ...], target: str, weight: str | None, columns: Iterable[str] | None, schema: Schema | None
) -> tuple[str, ...]:
    if schema is not None:
        if schema.columns[-1].name != target:
            msg = f"The last column of the schema must be the class, {target!r}; it is {schema.columns[-1].name!r}."
            raise OptionError(msg)
        if columns is not None and tuple(columns) != schema.names[:-1]:
            msg = "columns and schema name different columns; give one of them."
            raise OptionError(msg)
        columns = schema.names[:-1]
    chosen = tuple(n for n in names if n not in (target, weight)) if columns is None else tuple(columns)
    for name in chosen:
        _check_name(name, names)
    if not chosen or target in chosen or (weight is not None and weight in chosen):
        msg = f"At least one feature is needed beside the class and the weight; got the features {list(chosen)[:10]}."
        raise InputError(msg)
    return chosen


def _scratch_folder(scratch: Any) -> str | os.PathLike[str] | None:
    if isinstance(scratch, (bool, np.bool_)):
        return tempfile.gettempdir() if scratch else None
    if not isinstance(scratch, (str, os.PathLike)) or not os.path.isdir(scratch):
        msg = f"scratch must be True, False or the path of a folder that is there; got {scratch!r}."
        raise OptionError(msg)
    return scratch


def _number(name: str, value: Any, least: int) -> int:
    return int(min(check_at_least(name, value, least), 2**62))


def open_counts(model: Any, rows: Scan) -> PartitionedCounts:
    """Learn the schema of rows for a classifier, note it on the classifier, and give the engine that counts them."""
    missing = getattr(model, "missing", "available-case")
    if getattr(getattr(model, "parameters", None), "unlabelled", None) is not None:
        msg = "Rows without a label (EM(unlabelled=...)) are learnt from in memory only. Give the table itself to fit."
        raise OptionError(msg)
    reader = rows.reader(whole_only=missing == "drop")
    fingerprint = _fingerprint(rows, reader)
    schema, passes, seen = rows.schema, 0, None
    if schema is None and rows.cluster is None and not isinstance(rows.source, FrameSource):
        reader = replace(reader, source=RememberedSource(rows.source, rows.max_memory // REMEMBERED))
    if schema is None:
        schema, passes, seen = _learn_schema(model, rows, reader, fingerprint, missing_states=missing == "category")
        reader = replace(reader, features=schema.names[:-1])
    note_schema(model, schema, rows.source.label_type(rows.target), seen)
    if seen is not None:
        suspicious.report(model, seen)
    inputs.read_class_prior(model.class_prior, model.classes_)
    engine: PartitionedCounts
    checkpoint = _open_checkpoint(rows, f"{fingerprint}|{schema!r}")
    options: dict[str, Any] = {"max_memory": rows.max_memory, "n_jobs": model.n_jobs, "checkpoint": checkpoint}
    if rows.cluster is None:
        engine = StreamCounts(reader, schema, scratch=rows.scratch, **options)
    else:
        engine = ClusterCounts(rows.cluster, reader, schema, **options)
    engine.passes.schema = passes
    return engine


def _fingerprint(rows: Scan, reader: RowReader) -> str:
    """Return a text that identifies rows with a checkpoint."""
    if rows.checkpoint is None:
        return ""
    fingerprint = rows.source.fingerprint()
    if not fingerprint:
        msg = "A checkpoint needs files, whose changes can be detected. Write the rows to Parquet first."
        raise OptionError(msg)
    return f"{fingerprint}|{rows.weight}|{reader.whole_only}"


def _open_checkpoint(rows: Scan, key: str) -> Checkpoint | None:
    if rows.checkpoint is None:
        return None
    return Checkpoint(rows.checkpoint, hashlib.sha256(key.encode()).hexdigest())


def _learn_schema(
    model: Any, rows: Scan, reader: RowReader, fingerprint: str, *, missing_states: bool
) -> tuple[Schema, int, Seen]:
    """Return the schema, the number of passes that it took (none where a checkpoint has it), and what was seen."""
    discretize = model.discretize
    if not isinstance(discretize, (str, Discretizer)):
        msg = (
            f"Rows that are read in batches are cut by {', '.join(map(repr, CUTTERS))}, one of Tanbark's "
            f"discretisers, or a given schema; got discretize={discretize!r}."
        )
        raise OptionError(msg)
    cutter, few = find_cutter(discretize)
    name = discretize
    if isinstance(discretize, Discretizer):
        name = f"{type(discretize).__name__} {sorted(discretize.get_params().items())}"
    forced = forced_categories(model.categorical_features, reader.features)
    checkpoint = _open_checkpoint(
        rows, f"{fingerprint}|{reader.features}|{reader.target}|{name}|{forced}|{missing_states}|{model.suspicious}"
    )
    kept = None if checkpoint is None else checkpoint.open_schema()
    if kept is not None:
        schema, model.sketch_errors_, document = kept
        return schema, 0, suspicious.read_document(document)
    seen = _look(reader, forced, model.n_jobs) if rows.cluster is None else observe(rows.cluster, reader, forced)
    if seen is None or seen.n_rows == 0:
        msg = "There are no rows to learn from. Check how the files were written or filtered."
        raise InputError(msg)
    seen = seen.settle()
    known = suspicious.observed(model, seen, few)
    seen = seen.without(known.left_out)
    model.sketch_errors_ = seen.errors
    features = seen.columns(cutter, missing_states=missing_states, few=few)
    schema = Schema((*features, class_column(reader.target, seen.classes())))
    if checkpoint is not None:
        checkpoint.keep_schema(schema, seen.errors, suspicious.document(known))
    return schema, 1, known


def _look(reader: RowReader, forced: list[bool | None], n_jobs: int | None) -> Observed | None:
    """Look at all rows once."""
    seen: Observed | None = None
    for piece in reader.pieces():
        part = reader.observe(piece, forced, n_jobs)
        seen = part if seen is None else seen.merge(part)
    return seen


def forced_categories(wanted: Any, features: tuple[str, ...]) -> list[bool | None]:
    """Say for each feature whether the user makes it a category; None leaves it to the values."""
    mask = inputs.categorical_mask(wanted, features)
    return [None] * len(features) if mask is None else mask.tolist()


def class_column(name: str, labels: list[Level]) -> Column:
    """Describe the class by its labels."""
    kinds = {"boolean" if isinstance(x, bool) else "text" if isinstance(x, str) else "number" for x in labels}
    if len(kinds) > 1:
        msg = f"The class {name!r} holds labels of different types, {sorted(kinds)}. Convert them to one."
        raise InputError(msg)
    return Column(name, "category", kinds.pop(), tuple(labels))


def note_schema(model: Any, schema: Schema, labels: np.dtype[Any] | None = None, seen: Seen | None = None) -> None:
    """Return a classifier what fitting a table gives it; ``seen`` lists columns that were left out, too."""
    names = schema.names[:-1] if seen is None else seen.names
    model.schema_ = schema
    model.encoder_ = Encoder(schema.features, left_out=() if seen is None else seen.left_out)
    model.classes_ = label_array(schema.columns[-1].levels, labels)
    model.n_features_in_ = len(names)
    model.feature_names_in_ = np.array(names, object)
    model.__dict__.pop("_seen", None)


def label_array(labels: tuple[Level, ...], dtype: np.dtype[Any] | None = None) -> NDArray[Any]:
    """Make the array of labels that reading them from memory would give."""
    if isinstance(labels[0], str):
        found = np.empty(len(labels), object)
        found[:] = labels
        return found
    return np.array(labels, dtype=dtype if dtype is not None and dtype.kind in "biuf" else None)
