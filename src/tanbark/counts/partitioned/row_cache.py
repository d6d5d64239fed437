"""Coded rows kept after a pass, so that later passes need not read and code the source again."""

from __future__ import annotations

import os
import shutil
import tempfile
import weakref
from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO, Any

import numpy as np

from tanbark.table import CodedTable, Schema

SPARE = 1 << 30  # bytes that are left free on the disk


@dataclass(frozen=True, eq=False)
class _Written:
    """Where a coded table stands in the file."""

    start: int
    shape: tuple[int, int]
    dtype: np.dtype[Any]
    weighted: bool


class CodedStore:
    """Coded tables that go by, piece by piece: in memory as far as they may, and the rest in a temporary file.

    A code takes a byte where columns have fewer than 255 states, so that reading them back is many times as fast as
    reading and coding the source. The file has no name and is gone with the process. Where there is no more room, in
    memory or on the disk, nothing is kept at all.

    Parameters
    ----------
    schema : Schema
    room : int
        Bytes in memory.
    folder : path, optional
        Where the file is made; None for none.
    """

    def __init__(self, schema: Schema, room: int, folder: str | os.PathLike[str] | None = None) -> None:
        self._schema, self._room, self._folder = schema, room, folder
        self._file: IO[bytes] | None = None
        self._pieces: list[list[CodedTable | _Written]] | None = []

    @property
    def whole(self) -> bool:
        """Whether all that went by is kept."""
        return self._pieces is not None

    @property
    def in_memory(self) -> bool:
        """Whether all of it is in memory."""
        return self.whole and self._file is None

    def watch(self, tables: Iterator[CodedTable]) -> Iterator[CodedTable]:
        """Let the tables of the next piece go by."""
        mine: list[CodedTable | _Written] = []
        if self._pieces is not None:
            self._pieces.append(mine)
        for table in tables:
            if self._pieces is not None:
                found = self._keep(table)
                if found is None:
                    self.close()
                    mine.clear()
                else:
                    mine.append(found)
            yield table

    def pieces(self, done: int = 0) -> Iterator[Iterator[CodedTable]]:
        """Return the tables of each piece again, from number ``done`` on."""
        for piece in (self._pieces or [])[done:]:
            yield (self._read(item) if isinstance(item, _Written) else item for item in piece)

    def close(self) -> None:
        """Return up what is kept."""
        self._pieces = None
        if self._file is not None:
            self._file.close()
            self._file = None

    def _keep(self, table: CodedTable) -> CodedTable | _Written | None:
        size = table.codes.nbytes + (0 if table.weights is None else table.weights.nbytes)
        if self._file is None and size <= self._room:
            self._room -= size
            return table
        return None if self._folder is None else self._write(table, size)

    def _write(self, table: CodedTable, size: int) -> _Written | None:
        """Append a table to the file; None where the disk has no room."""
        try:
            if self._file is None:
                self._file = tempfile.TemporaryFile(dir=self._folder, buffering=0)  # noqa: SIM115  # lives on
                weakref.finalize(self, self._file.close)
            if shutil.disk_usage(self._folder or ".").free < size + SPARE:
                return None
            start = self._file.seek(0, os.SEEK_END)
            for array in (table.codes, table.weights):
                if array is not None and array.size:
                    _write_all(self._file, np.ascontiguousarray(array).view(np.uint8).data.cast("B"))
        except OSError:
            return None
        return _Written(start, table.codes.shape, table.codes.dtype, table.weights is not None)

    def _read(self, written: _Written) -> CodedTable:
        assert self._file is not None
        self._file.seek(written.start)
        codes = np.empty(written.shape, written.dtype)
        weights = np.empty(written.shape[1]) if written.weighted else None
        for array in (codes, weights):
            if array is not None and array.size:
                _read_all(self._file, array.view(np.uint8).data.cast("B"))
        return CodedTable(self._schema, codes, weights)


def _write_all(file: IO[bytes], content: memoryview) -> None:
    while len(content):
        content = content[file.write(content) :]


def _read_all(file: IO[bytes], room: memoryview) -> None:
    while len(room):
        found = file.readinto(room)  # type: ignore[attr-defined]  # raw files have it
        if not found:
            msg = "The temporary file of coded rows ended early. Was it cut from outside?"
            raise OSError(msg)
        room = room[found:]
