"""A source whose first reading is kept in memory for the second, where it fits."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from tanbark.table.files.sources import Piece, Source
from tanbark.table.raw import NumberBlock, RawTable

BYTE = np.iinfo(np.int8)


@dataclass(eq=False)
class RememberedSource:
    """Rows that are looked at and then coded: parsed once, as long as they take at most ``max_bytes``.

    Whole numbers of one column that fit into a byte are kept, and handed out, as bytes. What is read the second time is
    forgotten; rows that do not fit are read from the source again.
    """

    source: Source
    max_bytes: int
    _pieces: dict[str, list[RawTable] | None] = field(default_factory=dict)
    _columns: tuple[str, ...] = ()
    _taken: int = 0

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns."""
        return self.source.names

    def pieces(self) -> list[Piece]:
        """List the pieces of the source."""
        return self.source.pieces()

    def label_type(self, name: str) -> np.dtype[Any]:
        """Return the type that an array of a column's values has in memory."""
        return self.source.label_type(name)

    def fingerprint(self) -> str:
        """Return the text of the source."""
        return self.source.fingerprint()

    def read(self, piece: Piece, columns: Sequence[str], size: int) -> Iterator[RawTable]:
        """Read a piece from the source, or what was kept of it."""
        key = repr(piece)
        if key not in self._pieces:
            yield from self._keep(key, self.source.read(piece, columns, size), tuple(columns))
            return
        kept, self._pieces[key] = self._pieces[key], None
        if kept is None or not set(columns) <= set(self._columns):
            yield from self.source.read(piece, columns, size)
            return
        places = [self._columns.index(name) for name in columns]
        kept.reverse()
        while kept:
            table = kept.pop()
            yield table if tuple(columns) == self._columns else table.take(places)

    def _keep(self, key: str, tables: Iterator[RawTable], columns: tuple[str, ...]) -> Iterator[RawTable]:
        kept: list[RawTable] = []
        for table in tables:
            small = _in_bytes(table)
            if self._taken <= self.max_bytes:
                self._taken += _size(small)
                kept.append(small)
            else:
                kept.clear()
            yield small
        self._columns = columns
        whole = self._taken <= self.max_bytes
        self._pieces[key] = kept if whole else None
        if not whole:
            self._pieces = dict.fromkeys(self._pieces)


def _size(table: RawTable) -> int:
    return sum(block.values.nbytes for block in table.blocks) + sum(item.codes.nbytes for item in table.coded)


def _in_bytes(table: RawTable) -> RawTable:
    return replace(table, blocks=tuple(map(_narrow, table.blocks)))


def _narrow(block: NumberBlock) -> NumberBlock:
    """Bring whole numbers of one column to bytes, where they fit."""
    values = block.values
    if len(block.columns) > 1 or values.dtype != np.int64 or not values.size:
        return block
    fits = values.min() >= BYTE.min and values.max() <= BYTE.max
    return NumberBlock(block.columns, values.astype(np.int8)) if fits else block
