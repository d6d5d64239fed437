"""Low-order counts kept without the rows: they add, subtract, are written to files, and serve learners as an engine."""

from __future__ import annotations

import io
import json
import math
import os
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tanbark.arrays import MOST_WEIGHT, Counts
from tanbark.counts.column_sets import ColumnSet
from tanbark.counts.engine import CodedRows, CountEngine, PairInformation
from tanbark.counts.information import measure_tables
from tanbark.errors import InputError, ModelFileError
from tanbark.files import atomic_path
from tanbark.graph.spanning import pair_indices
from tanbark.machine import thread_count
from tanbark.table import Column, Schema
from tanbark.table.schema_json import column_document, demand, read_column, read_list

FORMAT, VERSION = "tanbark-counts", 1
ROUNDING = 1e-9  # relative to a count
MOST_HEAD, MOST_NPY_HEAD = 1 << 26, 1 << 10  # bytes
MIN_THREADED_CELLS = 1 << 18  # fewer cells are measured on one thread


def pair_sizes(schema: Schema) -> NDArray[np.int64]:
    """Number of cells of (i, j, class) for every pair of features i < j."""
    states = np.array(schema.cardinalities, np.int64)
    first, second = pair_indices(schema.target)
    return np.asarray(states[first] * states[second] * states[schema.target])


def stored_cells(schema: Schema, order: int) -> int:
    """Number of cells that :class:`StoredCounts` of an order would hold."""
    single = schema.cardinalities[-1] * (1 + sum(schema.cardinalities[:-1]))
    total = single + (int(pair_sizes(schema).sum()) if order >= 2 else 0)
    if order == 3:
        sizes = np.array(schema.cardinalities[:-1], dtype=float)  # elementary symmetric polynomial by power sums
        first, second, third = sizes.sum(), (sizes**2).sum(), (sizes**3).sum()
        total += round((first**3 - 3 * first * second + 2 * third) / 6 * schema.cardinalities[-1])
    return total


@dataclass(frozen=True, eq=False)
class StoredCounts(CountEngine):
    """The tables of the class with no feature, one feature, and up to ``order`` features.

    Parameters
    ----------
    schema : Schema
    order : {1, 2, 3}
        How many features a table may hold beside the class.
    flat : array
        All tables, one after another: (class), (i, class) for every i, (i, j, class) for every i < j, and so on.
    """

    schema: Schema
    order: int
    flat: Counts

    @cached_property
    def _pair_starts(self) -> NDArray[np.int64]:
        """Where the table of each pair i < j begins."""
        sizes = pair_sizes(self.schema)
        return np.asarray(self._single_starts[-1] + np.cumsum(sizes) - sizes)

    @cached_property
    def _single_starts(self) -> NDArray[np.int64]:
        """Where the table of each feature with the class begins, and the end of the last one."""
        states = np.array(self.schema.cardinalities, np.int64)
        return np.concatenate([states[-1:], states[:-1] * states[-1]]).cumsum()

    @cached_property
    def _triple_starts(self) -> dict[ColumnSet, int]:
        """Where the table of each triple i < j < k begins."""
        states = self.schema.cardinalities
        starts: dict[ColumnSet, int] = {}
        end = int(self._single_starts[-1] + pair_sizes(self.schema).sum())
        for triple in combinations(range(self.schema.target), 3):
            starts[triple] = end
            end += math.prod(states[c] for c in triple) * states[-1]
        return starts

    def _start(self, columns: ColumnSet) -> int | None:
        """Find a stored table by its sorted columns."""
        target = self.schema.target
        if not columns or columns[-1] != target or len(set(columns)) != len(columns) or len(columns) > self.order + 1:
            return None
        if len(columns) == 1:
            return 0
        if len(columns) == 2:
            return int(self._single_starts[columns[0]])
        if len(columns) == 4:
            return self._triple_starts[columns[:3]]
        i, j = columns[:2]
        return int(self._pair_starts[i * target - i * (i + 1) // 2 + j - i - 1])

    @property
    def total(self) -> float:
        """Number of rows, or the sum of their weights."""
        return float(self.tables([(self.schema.target,)])[0].sum())

    def tables(self, sets: Sequence[ColumnSet]) -> list[Counts]:
        """Look up stored tables, in any order of their columns."""
        return [self._table(columns) for columns in sets]

    def _table(self, columns: ColumnSet) -> Counts:
        stored = tuple(sorted(columns))
        start = self._start(stored)
        if start is None and self._start((*stored, self.schema.target)) is not None:
            return np.asarray(self._table((*columns, self.schema.target)).sum(axis=-1))  # the class is never missing
        if start is None:
            names = [self.schema.names[c] for c in columns]
            msg = f"These counts do not hold the table of {names}; learn from rows, or keep counts of a higher order."
            raise InputError(msg)
        states = self.schema.cardinalities
        shape = [states[c] for c in stored]
        table = self.flat[start : start + math.prod(shape)].reshape(shape)
        return table if stored == columns else table.transpose([stored.index(c) for c in columns])

    def feature_tables(self) -> Counts:
        """Return the table of the class and those of (i, class) for all features i, which come first."""
        return self.flat[: self._single_starts[-1]]

    def stack(self, sets: NDArray[np.int64]) -> Counts:
        """Look up the tables of sets of columns, one a row, that have one shape."""
        target = self.schema.target
        by_pair = self.order >= 2 and sets.shape[1] == 3
        if sets.shape[1] == 2 and (sets[:, 1] == target).all() and (sets[:, 0] != target).all():
            size = self.schema.cardinalities[sets[0, 0]] * self.schema.cardinalities[target]
            found = self.flat[self._single_starts[sets[:, 0]][:, None] + np.arange(size)]
            return found.reshape(len(sets), -1, self.schema.cardinalities[target])
        if by_pair and (sets[:, 2] == target).all() and (sets[:, :2] != target).all():
            return self._pair_stack(sets)
        return np.stack(self.tables([tuple(columns) for columns in sets.tolist()]))

    def _pair_stack(self, sets: NDArray[np.int64]) -> Counts:
        """Look up many tables (feature, feature, class) of one shape at once."""
        from tanbark.counts import kernels

        states = np.array(self.schema.cardinalities, np.int64)
        left, right, target = sets[:, 0], sets[:, 1], self.schema.target
        first, second = np.minimum(left, right), np.maximum(left, right)
        start = self._pair_starts[first * target - first * (first + 1) // 2 + second - first - 1]
        n_left, n_right, n_classes = states[sets[0]].tolist()
        left_stride = np.where(left < right, n_right, 1) * n_classes
        right_stride = np.where(left < right, 1, n_left) * n_classes
        found = np.empty((len(sets), n_left, n_right, n_classes), self.flat.dtype)
        kernels.gather_tables(self.flat, start, left_stride, right_stride, found)
        return found

    def cells(self, sets: Sequence[ColumnSet]) -> list[tuple[NDArray[np.int64], Counts]]:
        """Return the cells that occur in stored tables."""
        found = []
        for table in self.tables(sets):
            states = np.argwhere(table)
            found.append((states, table[tuple(states.T)]))
        return found

    def pair_information(self) -> PairInformation:
        """Measure the dependence of every two features given the class."""
        states = np.array(self.schema.cardinalities, np.int64)
        first, second = pair_indices(self.schema.target)
        threads = thread_count(None) if self.flat.size >= MIN_THREADED_CELLS else 1
        return PairInformation(
            *measure_tables(self.flat, self._pair_starts, states[first], states[second], int(states[-1]), threads)
        )

    def batches(self, size: int = 65536) -> Iterator[CodedRows]:
        """Raise InputError: the rows are not kept."""
        msg = "Stored counts hold no rows; this learner must see the rows themselves. Use fit."
        raise InputError(msg)

    def _sets(self) -> Iterator[ColumnSet]:
        """List the stored sets of columns in the order of their tables."""
        target = self.schema.target
        yield (target,)
        yield from ((i, target) for i in range(target))
        for size in range(2, self.order + 1):
            yield from ((*columns, target) for columns in combinations(range(target), size))

    def grown(self, schema: Schema) -> StoredCounts:
        """Return the counts for a schema with categories appended."""
        if schema.cardinalities == self.schema.cardinalities:
            return replace(self, schema=schema)
        larger = StoredCounts(schema, self.order, np.zeros(0, self.flat.dtype))
        parts = []
        for columns in larger._sets():
            old = self._table(columns)
            new = np.zeros([schema.cardinalities[c] for c in columns], self.flat.dtype)
            new[tuple(slice(0, size) for size in old.shape)] = old
            parts.append(new.ravel())
        return replace(larger, flat=np.concatenate(parts))

    def stored(self, order: int) -> StoredCounts:
        """Return the counts of an order of at most ours."""
        if order > self.order:
            msg = f"Counts of order {self.order} hold no tables of order {order}; learn from rows."
            raise InputError(msg)
        return StoredCounts(self.schema, order, self.flat[: stored_cells(self.schema, order)])

    def aligned(self, schema: Schema) -> StoredCounts:
        """Return the counts for a schema with the same columns, whose categories are ours or more, in any order."""
        if schema == self.schema:
            return self
        places = [_places(mine, theirs) for mine, theirs in zip(self.schema.columns, schema.columns, strict=True)]
        wider = StoredCounts(schema, self.order, np.zeros(0, self.flat.dtype))
        parts = []
        for columns in wider._sets():
            table = np.zeros([schema.cardinalities[c] for c in columns], self.flat.dtype)
            table[np.ix_(*(places[c] for c in columns))] = self._table(columns)
            parts.append(table.ravel())
        return replace(wider, flat=np.concatenate(parts))

    def __add__(self, other: StoredCounts) -> StoredCounts:
        if self.schema == other.schema and self.order == other.order:
            return StoredCounts(self.schema, self.order, self.flat + other.flat)
        schema = joined_schema(self.schema, other.schema)
        if self.order != other.order:
            msg = (
                f"Counts of order {self.order} and of order {other.order} cannot be added; count both for one learner."
            )
            raise InputError(msg)
        return StoredCounts(schema, self.order, self.aligned(schema).flat + other.aligned(schema).flat)

    def __sub__(self, other: StoredCounts) -> StoredCounts:
        self._check_alike(other)
        rest = self.flat - other.flat
        rounding = ROUNDING * np.maximum(self.flat, other.flat)  # of sums of weights, whatever their size
        if (rest < -rounding).any():
            msg = "These counts hold rows that were never added, so they cannot be subtracted."
            raise InputError(msg)
        return StoredCounts(self.schema, self.order, np.where(rest > rounding, rest, 0).astype(rest.dtype))

    def _check_alike(self, other: StoredCounts) -> None:
        if self.schema != other.schema or self.order != other.order:
            msg = "Only counts of the same columns, states and order can be added or subtracted."
            raise InputError(msg)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the counts to a file for :func:`load_counts`; the file is written atomically."""
        columns = [column_document(column) for column in self.schema.columns]
        head = {"format": FORMAT, "version": VERSION, "order": self.order, "columns": columns}
        header = np.frombuffer(json.dumps(head, ensure_ascii=True).encode(), np.uint8)
        with atomic_path(path) as partial, partial.open("wb") as file:
            np.savez_compressed(file, head=header, counts=self.flat)


def joined_schema(left: Schema, right: Schema) -> Schema:
    """Return a schema with the categories of both, sorted where those of both are."""
    if left.names != right.names:
        msg = f"Only counts of the same columns can be added; these have {left.names[:10]} and {right.names[:10]}."
        raise InputError(msg)
    return Schema(tuple(_joined(mine, other) for mine, other in zip(left.columns, right.columns, strict=True)))


def _joined(mine: Column, other: Column) -> Column:
    if mine == other:
        return mine
    alike = replace(mine, levels=()) == replace(other, levels=())
    if mine.kind != "category" or not (alike or not mine.levels or not other.levels):
        msg = (
            f"The counts of column {mine.name!r} rest on different states (cut points, types or missing values) and "
            "cannot be added. Count both parts with one schema: scan(..., schema=...)."
        )
        raise InputError(msg)
    both = mine.with_levels(other.levels)
    sort = list(mine.levels) == sorted(mine.levels) and list(other.levels) == sorted(other.levels)
    known = mine if mine.levels else other
    return replace(known, levels=tuple(sorted(both.levels)) if sort else both.levels)


def _places(mine: Column, theirs: Column) -> list[int]:
    """Return the codes that our states have in another column."""
    if mine == theirs:
        return list(range(mine.n_states))
    if (
        mine.kind != "category"
        or mine.missing_state != theirs.missing_state
        or not set(mine.levels) <= set(theirs.levels)
    ):
        msg = f"The states of column {mine.name!r} are not all among those it is to have."
        raise InputError(msg)
    shift = int(mine.missing_state)
    return [*range(shift), *(theirs.levels.index(level) + shift for level in mine.levels)] or [0]


def load_counts(path: str | os.PathLike[str]) -> StoredCounts:
    """Read counts that ``counts.save`` wrote; they add, subtract, and teach a classifier by ``fit_counts``."""
    raw = Path(path).read_bytes()
    try:
        return _read_counts(raw)
    except MemoryError:
        raise
    except Exception as error:  # a damaged archive raises errors of zipfile, zlib, numpy, ast and others
        msg = f"{path} is no file of counts of Tanbark, or damaged: {str(error).rstrip('.')}. Save the counts again."
        raise ModelFileError(msg) from error


def _read_counts(raw: bytes) -> StoredCounts:
    """Read an archive; its parts are as large as the columns demand before they are decompressed."""
    sizes = {part.filename: part.file_size for part in zipfile.ZipFile(io.BytesIO(raw)).infolist()}
    demand(sizes.get("head.npy", MOST_HEAD) < MOST_HEAD, "the head of the counts is missing or too long")
    with np.load(io.BytesIO(raw), allow_pickle=False) as found:
        head = json.loads(bytes(found["head"]))
        demand(isinstance(head, dict) and head.get("format") == FORMAT, "this is no file of counts of Tanbark")
        demand(head.get("version") == VERSION, f"the version {head.get('version')!r} is unknown to this Tanbark")
        schema = Schema(tuple(read_column(item) for item in read_list(head["columns"], "columns")))
        order = head["order"]
        demand(order in (1, 2, 3) and len(schema.columns) >= 2, "the order of the counts is none")
        cells = stored_cells(schema, order)
        demand(0 <= sizes["counts.npy"] - 8 * cells <= MOST_NPY_HEAD, "the counts do not fit the columns")
        flat = found["counts"]
    good = flat.ndim == 1 and flat.dtype in (np.int64, np.float64) and len(flat) == cells
    demand(good, "the counts do not fit the columns")
    demand(bool((flat >= 0).all() and (flat <= MOST_WEIGHT).all()), f"a count is none from 0 to {MOST_WEIGHT:g}")
    return StoredCounts(schema, order, flat)
