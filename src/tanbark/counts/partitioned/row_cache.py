"""A cache of coded rows, so that later passes need not read and code the source again."""

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

DISK_RESERVE = 1 << 30  # bytes that are left free on the disk


@dataclass(frozen=True, eq=False)
class _Written:
    """Where a coded table is in the file."""

    start: int
    shape: tuple[int, int]
    dtype: np.dtype[Any]
    weighted: bool


class RowCache:
    """Coded tables of one pass, piece by piece: in memory up to a limit, and the rest in a temporary file.

    A code takes a byte where columns have fewer than 255 states, so that reading codes back is many times as fast as
    reading and coding the source. The file has no name and is gone with the process. Once neither memory nor disk has
    room, nothing is kept at all.

    Parameters
    ----------
    schema : Schema
    max_bytes : int
        Bytes in memory.
    folder : path, optional
        Folder of the temporary file; None for no file.
    """

    def __init__(self, schema: Schema, max_bytes: int, folder: str | os.PathLike[str] | None = None) -> None:
        self._schema, self._free, self._folder = schema, max_bytes, folder
        self._file: IO[bytes] | None = None
        self._pieces: list[list[CodedTable | _Written]] | None = []

    @property
    def whole(self) -> bool:
        """Whether all rows are cached."""
        return self._pieces is not None

    @property
    def in_memory(self) -> bool:
        """Whether all rows are cached in memory."""
        return self.whole and self._file is None

    def watch(self, tables: Iterator[CodedTable]) -> Iterator[CodedTable]:
        """Pass on the tables of the next piece, keeping them."""
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
        """Iterate over the cached tables of each piece from number ``done`` on."""
        for piece in (self._pieces or [])[done:]:
            yield (self._read(item) if isinstance(item, _Written) else item for item in piece)

    def close(self) -> None:
        """Drop what is cached."""
        self._pieces = None
        if self._file is not None:
            self._file.close()
            self._file = None

    def _keep(self, table: CodedTable) -> CodedTable | _Written | None:
        size = table.codes.nbytes + (0 if table.weights is None else table.weights.nbytes)
        if self._file is None and size <= self._free:
            self._free -= size
            return table
        return None if self._folder is None else self._write(table, size)

    def _write(self, table: CodedTable, size: int) -> _Written | None:
        """Append a table to the file; None where the disk has no room."""
        try:
            if self._file is None:
                self._file = tempfile.TemporaryFile(dir=self._folder, buffering=0)  # noqa: SIM115  # lives on
                weakref.finalize(self, self._file.close)
            if shutil.disk_usage(self._folder or ".").free < size + DISK_RESERVE:
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


def _read_all(file: IO[bytes], target: memoryview) -> None:
    while len(target):
        found = file.readinto(target)  # type: ignore[attr-defined]  # raw files have it
        if not found:
            msg = "The temporary file of coded rows is shorter than what was written. Was it truncated?"
            raise OSError(msg)
        target = target[found:]
