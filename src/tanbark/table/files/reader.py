"""Rows of a source as coded tables, batch by batch, for the counting engines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tanbark.arrays import MOST_WEIGHT, Floats
from tanbark.errors import InputError
from tanbark.machine import read_ahead, thread_count
from tanbark.table.coded import CodedTable, missing_code
from tanbark.table.column_view import ColumnView
from tanbark.table.encode import encode
from tanbark.table.files.sources import Piece, Source
from tanbark.table.observe import Observed
from tanbark.table.raw import RawTable
from tanbark.table.schema import Column, Level, Schema
from tanbark.table.written import as_numbers


@dataclass(frozen=True, eq=False)
class RowReader:
    """The rows of a source: which columns are features, the class and the weight.

    Parameters
    ----------
    source : Source
    features : tuple of str
    target : str
    weight : str, optional
    size : int
        Rows in a batch.
    whole_only : bool
        Whether rows with a missing value are left out.
    """

    source: Source
    features: tuple[str, ...]
    target: str
    weight: str | None = None
    size: int = 65536
    whole_only: bool = False

    def pieces(self) -> list[Piece]:
        """List the pieces of the source."""
        return self.source.pieces()

    @property
    def columns(self) -> list[str]:
        """Names of the columns that are read: the features, the class and the weight."""
        return [*self.features, self.target, *([] if self.weight is None else [self.weight])]

    def read(self, piece: Piece) -> Iterator[tuple[RawTable, Floats | None]]:
        """Read features and, last, the class; rows of weight zero are left out."""
        for raw, weights, keep in self._read(piece):
            if not keep.all():
                raw, weights = raw.rows(keep), None if weights is None else weights[keep]
            if raw.n_rows:
                yield raw, weights

    @property
    def leaves_out(self) -> bool:
        """Whether some rows may be left out."""
        return self.weight is not None or self.whole_only

    def kept(self, piece: Piece) -> NDArray[np.bool_]:
        """Return for every row of a piece whether it is read or left out."""
        return np.concatenate([np.zeros(0, np.bool_), *(keep for _, _, keep in self._read(piece))])

    def _read(self, piece: Piece) -> Iterator[tuple[RawTable, Floats | None, NDArray[np.bool_]]]:
        for raw in self.source.read(piece, self.columns, self.size):
            weights = None
            if self.weight is not None:
                weights = _weights(raw, self.weight)
                raw = raw.take(range(len(self.features) + 1))
            keep = np.ones(raw.n_rows, bool) if weights is None else weights > 0
            if self.whole_only:
                keep &= ~raw.take(range(len(self.features))).missing_mask().any(axis=0)
            yield raw, weights, keep

    def observe(self, piece: Piece, forced: Sequence[bool | None], n_jobs: int | None = None) -> Observed:
        """Summarise the columns in one pass over a piece."""
        views = [ColumnView(name, known) for name, known in zip(self.features, forced, strict=True)]
        seen = Observed(views)
        batches = self.read(piece)
        for raw, weights in read_ahead(batches) if thread_count(n_jobs) > 1 else batches:
            codes, levels = _labels(raw, self.target)
            seen.add(raw.take(range(len(self.features))), codes, levels, weights, n_jobs=n_jobs)
        return seen

    def coded(self, piece: Piece, schema: Schema, n_jobs: int | None = None) -> Iterator[CodedTable]:
        """Encode all rows of a piece; raise an error for a value that the schema does not know."""
        for raw, weights in self.read(piece):
            found = encode(raw, schema.columns, n_jobs=n_jobs)
            if found.unseen:
                self._refuse(raw, found.unseen, schema)
            if (found.codes[-1] == missing_code(found.codes)).any():
                _raise_missing_labels(int((found.codes[-1] == missing_code(found.codes)).sum()), self.target)
            yield CodedTable(schema, found.codes, weights)

    def _refuse(self, raw: RawTable, unseen: dict[str, int], schema: Schema) -> None:
        """Raise an error for values that the schema does not know, not for texts among written numbers."""
        for name, count in unseen.items():
            column = schema.columns[schema.index(name)]
            strange = [value for value in _distinct(raw, column, schema.index(name)) if value not in set(column.levels)]
            if column.written and (column.kind == "interval" or not strange):
                continue
            msg = (
                f"Column {name!r} holds {count} values that the schema does not know, such as {strange[:3]}. Correct "
                "them, or learn the schema from all rows."
            )
            raise InputError(msg)


def _distinct(raw: RawTable, column: Column, place: int) -> list[Any]:
    """List the different values of a column, written numbers as numbers, without missing ones."""
    values: list[Any] = []
    for item in raw.coded:
        if item.column == place:
            values += as_numbers(item, column.written).levels
    for block in raw.blocks:
        if place in block.columns:
            values += np.unique(block.values[:, block.columns.index(place)]).tolist()
    return [value for value in values if value == value]


def _weights(raw: RawTable, name: str) -> Floats:
    """Read the last column as weights."""
    column = raw.n_columns - 1
    for block in raw.blocks:
        if column in block.columns:
            weights = block.values[:, block.columns.index(column)].astype(np.float64)
            if (weights >= 0).all() and (weights <= MOST_WEIGHT).all():
                return np.asarray(weights)
    msg = f"The column of weights, {name!r}, must hold a number from 0 to {MOST_WEIGHT:g} in every row."
    raise InputError(msg)


def _labels(raw: RawTable, name: str) -> tuple[NDArray[np.int64], list[Level]]:
    """Return the labels, the last column, as codes and their different values."""
    column = raw.n_columns - 1
    for item in raw.coded:
        if item.column == column:
            if (item.codes < 0).any():
                _raise_missing_labels(int((item.codes < 0).sum()), name)
            used, codes = np.unique(item.codes, return_inverse=True)
            return codes.astype(np.int64), [item.levels[code] for code in used.tolist()]
    (values,) = (block.values[:, block.columns.index(column)] for block in raw.blocks if column in block.columns)
    if values.dtype.kind in "iu":
        values = values.astype(np.int64)
    if values.dtype == np.float64:
        if np.isnan(values).any():
            _raise_missing_labels(int(np.isnan(values).sum()), name)
        odd = values[values != np.floor(values)]
        if len(odd) or np.isinf(values).any():
            msg = (
                f"The class {name!r} is continuous (it holds {odd[0] if len(odd) else 'infinity'}); labels must be "
                "strings, whole numbers or booleans. Cut it into classes first."
            )
            raise InputError(msg)
    elif values.dtype == np.int64 and len(values):
        low, high = int(values.min()), int(values.max())
        if high - low < 65536:
            there = np.bincount(values - low) > 0
            levels: list[Level] = list((np.flatnonzero(there) + low).tolist())
            return (np.cumsum(there) - 1)[values - low], levels
    found, codes = np.unique(values, return_inverse=True)
    return codes.astype(np.int64), found.tolist()


def _raise_missing_labels(count: int, name: str) -> None:
    msg = (
        f"The class {name!r} contains NaN or None in {count} rows; a classifier learns from rows with a label. "
        "Drop those rows first."
    )
    raise InputError(msg)
