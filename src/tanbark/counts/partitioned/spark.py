"""Jobs on Spark's executors: the partitions of a Spark frame, or files that the executors read themselves.

A partition goes through ``mapInArrow``, which turns it into one row with the pickled result; results are merged in a
tree of tasks. Only results of tasks are counted, so that a task that Spark runs twice counts once. An error that is
raised on purpose is a result too: Spark would retry its task, and in the end show it inside an error of its own.
"""

from __future__ import annotations

import pickle
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from typing import Any

import numpy as np

from tanbark.counts.partitioned.base import rows_changed
from tanbark.counts.partitioned.cluster import FAN_IN, OUT_OF_MEMORY, Job, fold
from tanbark.errors import ClusterError, InputError, MissingPackageError, TanbarkError
from tanbark.table.files.arrow_files import arrow, raw_batch
from tanbark.table.raw import RawTable

RESULT_SCHEMA = "number long, result binary"
LABEL_TYPES = {
    "boolean": "bool", "byte": "int8", "short": "int16", "integer": "int32", "long": "int64", "float": "float32",
    "double": "float64",
}  # fmt: skip
READ_TYPES = {*LABEL_TYPES, "string", "char", "varchar", "decimal", "void"}
READER_TYPES = {"date", "timestamp", "timestamp_ntz", "binary"}  # the reader raises on them, as in memory

PYTHON_ERROR = re.compile(r"[\w.]*(Error|Exception): ")


@dataclass(frozen=True, eq=False)
class SparkFrame:
    """The partitions of a Spark frame, which are read on the executors that hold them.

    Parameters
    ----------
    frame : pyspark.sql.DataFrame, optional
        None on an executor, which receives its partition.
    types : dict
        Spark's type name of every column.
    """

    frame: Any
    types: dict[str, str]

    @classmethod
    def of(cls, frame: Any) -> SparkFrame:
        """Take a Spark DataFrame, without computing any of it."""
        fields = frame.schema.fields
        names = [field.name for field in fields]
        if len(set(names)) != len(names):
            twice = sorted({name for name in names if names.count(name) > 1})
            msg = f"Column names must be different; {twice} occur more than once. Rename them."
            raise InputError(msg)
        return cls(frame, {field.name: field.dataType.typeName() for field in fields})

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns."""
        return tuple(self.types)

    def label_type(self, name: str) -> np.dtype[Any]:
        """Return the type that an array of a column's values has in memory."""
        return np.dtype(LABEL_TYPES.get(self.types[name], "object"))

    def fingerprint(self) -> str:
        """Return an empty text: changes of a frame cannot be detected."""
        return ""

    def pieces(self) -> list[Any]:
        """Raise InputError: only Spark knows where partitions are."""
        msg = "The partitions of a Spark frame are read by Spark's executors only."
        raise InputError(msg)

    def select(self, columns: Sequence[str]) -> Any:
        """Select columns, or raise InputError for one that cannot be read; ``mapInArrow`` needs names without dots."""
        for name in columns:
            if self.types[name] not in READ_TYPES | READER_TYPES:
                msg = (
                    f"Column {name!r} holds {self.types[name]}; a column must hold one plain value per row. Spread it "
                    "over columns, cast it to string, or leave it out (columns=)."
                )
                raise InputError(msg)
        quoted = ("`" + name.replace("`", "``") + "`" for name in columns)
        return self.frame.selectExpr(*(f"{name} as column{k}" for k, name in enumerate(quoted)))

    def read(self, piece: Iterable[Any], columns: Sequence[str], size: int) -> Iterator[RawTable]:
        """Read a partition, which comes as record batches of Spark's size with the selected columns."""
        for table in _regrouped(piece, size):
            yield raw_batch(table.rename_columns(list(columns)), columns)

    def __reduce__(self) -> tuple[Any, ...]:
        return SparkFrame, (None, self.types)


def _regrouped(batches: Iterable[Any], size: int) -> Iterator[Any]:
    """Regroup record batches into tables of ``size`` rows; the last may be shorter."""
    held: list[Any] = []
    rows = 0
    for batch in batches:
        low = 0
        while low < batch.num_rows:
            part = batch.slice(low, size - rows)
            held.append(part)
            low, rows = low + part.num_rows, rows + part.num_rows
            if rows == size:
                yield arrow().Table.from_batches(held)
                held, rows = [], 0
    if held:
        yield arrow().Table.from_batches(held)


@dataclass(frozen=True)
class _Failure:
    """An error in place of a result."""

    error: TanbarkError


def _packed(work: Callable[[], Any]) -> bytes:
    """Run work on an executor and pickle its result, or the error that it raises on purpose."""
    try:
        return pickle.dumps(work(), 5)
    except TanbarkError as error:
        return pickle.dumps(_Failure(error), 5)
    except MemoryError:
        return pickle.dumps(_Failure(ClusterError(OUT_OF_MEMORY)), 5)


def _unpacked(packed: bytes | bytearray) -> Any:
    found = pickle.loads(packed)
    if isinstance(found, _Failure):
        raise found.error
    return found


@dataclass(frozen=True, eq=False)
class _OnPartition:
    """Run a job on a partition of a frame; the arguments of all partitions were broadcast."""

    job: Job
    arguments: Any

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        from pyspark import TaskContext

        number = TaskContext.get().partitionId()
        packed = _packed(lambda: self.job((self._argument(number), batches)))
        yield arrow().RecordBatch.from_pydict({"number": [number], "result": [packed]})

    def _argument(self, number: int) -> Any:
        if self.arguments is None:
            return number
        if number >= len(self.arguments.value):
            raise rows_changed()
        return self.arguments.value[number]


@dataclass(frozen=True, eq=False)
class _OnPiece:
    """Run a job on a numbered piece of files and its argument."""

    job: Job

    def __call__(self, numbered: tuple[int, tuple[Any, Any]]) -> tuple[int, bytes]:
        return numbered[0], _packed(lambda: self.job(numbered[1]))


@dataclass(frozen=True, eq=False)
class _MergeGroup:
    """Merge the results of a group, which shuffling put in any order, in the order of their numbers."""

    merge: Callable[[Any, Any], Any]

    def __call__(self, rows: Iterator[tuple[int, tuple[int, bytes]]]) -> Iterator[tuple[int, bytes]]:
        group = sorted(rows, key=_number)
        if group:
            yield group[0][0], _packed(lambda: fold((_unpacked(packed) for _, (_, packed) in group), self.merge))


def _number(row: tuple[int, tuple[int, bytes]]) -> int:
    return row[1][0]


def _grouped(size: int, row: tuple[int, bytes]) -> tuple[int, tuple[int, bytes]]:
    return row[0] // size, (row[0], row[1])


def _same(number: int) -> int:
    return number


class SparkCluster:
    """Run a job on every piece of rows, on the executors of a Spark session.

    Parameters
    ----------
    session : pyspark.sql.SparkSession
    """

    def __init__(self, session: Any) -> None:
        for package in ("pyspark", "pyarrow", "pandas"):  # mapInArrow needs pandas too
            if find_spec(package) is None:
                msg = f'Spark needs {package} too. Install all it takes with: pip install "tanbark[spark]"'
                raise MissingPackageError(msg)
        if ".connect." in type(session).__module__:
            msg = (
                "This is a session of Spark Connect, which has no way to merge counts on the executors. Use a classic "
                "session (SparkSession.builder.master(...)), or write the rows to Parquet and scan these."
            )
            raise InputError(msg)
        self._session = session

    def each(self, job: Job) -> Iterator[Any]:
        """Run a job on one piece after another."""
        with self._explained():
            for _, packed in self._results(job).toLocalIterator(prefetchPartitions=True):
                yield _unpacked(packed)

    def n_pieces(self, job: Job) -> int:
        """Number of pieces that the rows of a job come in."""
        if not isinstance(job.source, SparkFrame):
            return len(job.source.pieces())
        with self._explained():
            return int(self._results(job).getNumPartitions())

    def reduce(self, job: Job, merge: Callable[[Any, Any], Any], arguments: Sequence[Any] | None = None) -> Any:
        """Run a job on every piece and merge the results in a tree, in the order of the pieces."""
        with self._explained():
            results = self._results(job, arguments)
            size = results.getNumPartitions()
            while size > 1:
                size = -(-size // FAN_IN)
                results = (
                    results.map(partial(_grouped, FAN_IN)).partitionBy(size, _same).mapPartitions(_MergeGroup(merge))
                )
            return fold((_unpacked(packed) for _, packed in results.collect()), merge)

    def _results(self, job: Job, arguments: Sequence[Any] | None = None) -> Any:
        """Return the numbered results of all pieces, at most one in a partition, not computed yet."""
        source, context = job.source, self._session.sparkContext
        if isinstance(source, SparkFrame):
            known = None if arguments is None else context.broadcast(list(arguments))
            return source.select(job.columns).mapInArrow(_OnPartition(job, known), RESULT_SCHEMA).rdd
        pieces = source.pieces()
        pairs = list(enumerate(zip(arguments or range(len(pieces)), pieces, strict=True)))
        return context.parallelize(pairs, max(1, len(pairs))).map(_OnPiece(job))

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Turn errors of Spark into errors that explain what to do."""
        from py4j.protocol import Py4JError
        from pyspark.errors import PySparkException

        if self._stopped():
            raise _lost()
        try:
            yield
        except TanbarkError:
            raise
        except pickle.PicklingError as error:
            msg = f"These rows cannot be sent to Spark's executors ({_first_line(error)}). Write them to Parquet first."
            raise InputError(msg) from error
        except Exception as error:
            if self._stopped():
                raise _lost() from error
            if isinstance(error, (Py4JError, PySparkException)):
                raise _failed(error) from error
            raise

    def _stopped(self) -> bool:
        from py4j.protocol import Py4JError

        context = self._session.sparkContext._jsc
        try:
            return context is None or bool(context.sc().isStopped())
        except (Py4JError, OSError):  # Java itself is gone
            return True


def is_session(client: Any) -> bool:
    """Return whether an object is a Spark session."""
    return hasattr(type(client), "createDataFrame") and hasattr(type(client), "sql")


def is_spark_frame(data: Any) -> bool:
    """Return whether an object is a Spark DataFrame."""
    return hasattr(type(data), "mapInArrow")


def _lost() -> ClusterError:
    return ClusterError(
        "The Spark session is stopped or its Java process is gone, and with it the counts of this pass. Start a "
        "session and fit again; nothing was learnt from a part of the rows."
    )


def _failed(error: Exception) -> ClusterError:
    text = str(error)
    if "No module named 'tanbark'" in text:
        return ClusterError(
            "Spark's executors do not find tanbark. Install it into the Python that they run (PYSPARK_PYTHON), or send "
            "it along (spark.archives)."
        )
    if "exited unexpectedly" in text or "ExecutorLostFailure" in text or "OutOfMemory" in text:
        return ClusterError(
            f"A part of the rows ended its executor or its Python again and again, most likely for lack of memory "
            f"({_first_line(error)}). Give executors more memory (spark.executor.memory, "
            "spark.executor.memoryOverhead), or make partitions, row groups or batch_rows smaller."
        )
    return ClusterError(f"Spark gave the job up: {_first_line(error)}. Its whole report is the cause of this error.")


def _first_line(error: Exception) -> str:
    """Return the line of Spark's report that names the reason."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    raised = [line for line in lines if PYTHON_ERROR.match(line)]
    found = raised or [line for line in lines if "failure:" in line] or lines or [type(error).__name__]
    return found[0][:300].rstrip(".:")
