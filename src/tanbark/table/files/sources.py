"""Rows that are read more than once, batch by batch: files, datasets, lazy frames, readers and frames.

A source names its columns, consists of pieces that can be read independently (by other processes too), and reads a
piece as raw tables of a few rows.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import narwhals as nw
import numpy as np

from tanbark.errors import InputError
from tanbark.table.files.arrow_files import Piece as Piece
from tanbark.table.files.arrow_files import cut_batches, is_record_batch, label_type_of, open_files, raw_batch, spool
from tanbark.table.raw import RawTable


class Source(Protocol):
    """Rows that can be read more than once, in pieces and batches."""

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns."""

    def pieces(self) -> list[Piece]:
        """List parts of the rows that can be read on their own, in order; they can be sent to other processes."""

    def read(self, piece: Piece, columns: Sequence[str], size: int) -> Iterator[RawTable]:
        """Read a piece: the chosen columns in batches of at most ``size`` rows."""

    def label_type(self, name: str) -> np.dtype[Any]:
        """Return the type that an array of a column's values has in memory."""

    def fingerprint(self) -> str:
        """Return a text that changes when the rows change; empty where changes cannot be detected."""


@dataclass(frozen=True, eq=False)
class FrameSource:
    """Frames or record batches that a function yields anew at every call."""

    make: Callable[[Sequence[str] | None, int], Iterable[Any]]
    columns: tuple[str, ...] | None = None

    @cached_property
    def _first(self) -> Any:
        for frame in self.make(None, 1 << 16):
            return frame
        msg = "There are no rows to read."
        raise InputError(msg)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns."""
        if self.columns is not None:
            return self.columns
        first = self._first
        return tuple(map(str, first.schema.names if is_record_batch(first) else nw.from_native(first).columns))

    def label_type(self, name: str) -> np.dtype[Any]:
        """Return the type that an array of a column's values has in memory."""
        first = self._first
        if hasattr(first, "column_names") and hasattr(first, "schema"):
            return label_type_of(first.schema.field(name).type)
        found = np.asarray(nw.from_native(first, eager_only=True)[name].to_numpy()).dtype
        return found if found.kind in "biuf" else np.dtype(object)

    def fingerprint(self) -> str:
        """Return an empty text: changes of frames cannot be detected."""
        return ""

    def pieces(self) -> list[Piece]:
        """Return one piece: all of it."""
        return [None]

    def read(self, piece: Piece, columns: Sequence[str], size: int) -> Iterator[RawTable]:
        """Read the frames one after another."""
        for frame in cut_batches(self.make(columns, size), size):
            yield raw_batch(frame, columns)


def open_source(data: Any, *, types: Mapping[str, str] | None = None) -> Source:
    """Open files, a directory of files, a dataset, a lazy frame, a reader or frames.

    Parameters
    ----------
    data : path, list of paths, pyarrow dataset, polars LazyFrame, frame, function, or reader
        A function without arguments returns frames or record batches anew at every call. A reader or an iterator, which
        can be read only once, is first written to a temporary file.
    types : mapping, optional
        Arrow's type names of columns of CSV files.
    """
    if isinstance(data, (str, os.PathLike)) or (isinstance(data, (list, tuple)) and data):
        return open_files(data, dict(types or {}))
    if types:
        msg = "types is for CSV files; other sources have types of their own."
        raise InputError(msg)
    if hasattr(data, "get_fragments"):
        return FrameSource(lambda columns, size: data.to_batches(columns=columns, batch_size=size, batch_readahead=2))
    if hasattr(data, "collect_batches"):  # a lazy frame of polars
        return FrameSource(
            lambda columns, size: _lazy_batches(data, columns, size), tuple(data.collect_schema().names())
        )
    if callable(data):
        return FrameSource(lambda columns, size: data())
    if hasattr(data, "read_next_batch") or hasattr(data, "__next__"):
        return spool(data)
    frame = nw.from_native(data, eager_only=True, pass_through=True)
    if isinstance(frame, nw.DataFrame):
        return FrameSource(lambda columns, size: slices(data, columns, size), tuple(map(str, frame.columns)))
    msg = (
        f"Rows must be a path, a list of paths, a pyarrow dataset, a polars LazyFrame, a frame, a reader of record "
        f"batches, or a function that returns frames; got {type(data).__name__}."
    )
    raise InputError(msg)


def _lazy_batches(lazy: Any, columns: Sequence[str] | None, size: int) -> Iterable[Any]:
    chosen = lazy if columns is None else lazy.select(list(columns))
    return chosen.collect_batches(chunk_size=size, maintain_order=True)  # type: ignore[no-any-return]  # polars


def slices(data: Any, columns: Sequence[str] | None, size: int) -> Iterator[Any]:
    """Cut a frame into frames of at most ``size`` rows."""
    frame = nw.from_native(data, eager_only=True)
    chosen = frame if columns is None else frame.select(list(columns))
    for low in range(0, len(frame), size):
        yield chosen[low : low + size].to_native()
