"""Rows in Parquet, CSV and Arrow files, read batch by batch with pyarrow, which is imported when a file is opened."""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
import weakref
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np

from tanbark.errors import InputError, MissingPackageError, find
from tanbark.table.raw import (
    CodedColumn,
    NumberBlock,
    RawTable,
    plain_numbers,
    raw_table,
    read_series,
    read_table,
    same_names,
)

PIECE_ROWS = 1 << 20  # row groups are read together up to this many rows
FORMATS = {
    ".parquet": "parquet", ".pq": "parquet", ".csv": "csv", ".gz": "csv", ".tsv": "tsv", ".arrow": "arrow",
    ".feather": "arrow", ".ipc": "arrow",
}  # fmt: skip

PLAIN_TYPES = {"int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "float", "double"}

Piece = Any


def arrow() -> Any:
    """Import pyarrow, or raise an error with the command that installs it."""
    try:
        import pyarrow
    except ImportError:
        msg = 'Reading files needs pyarrow. Install it with: pip install "tanbark[big]"'
        raise MissingPackageError(msg) from None
    return pyarrow


@contextmanager
def _reading(what: str) -> Iterator[None]:
    """Convert pyarrow's errors to an InputError that names the file."""
    pa = arrow()
    try:
        yield
    except (pa.ArrowException, OSError) as error:
        first = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        hint = "Is it whole, and of the format that its name says?"
        if "conversion error" in first.lower():
            hint = "A column changes its type; read it as strings with types={name: 'string'}, or correct the file."
        msg = f"{what} cannot be read: {first.rstrip('.')}. {hint}"
        raise InputError(msg) from error


def is_record_batch(frame: Any) -> bool:
    """Return whether something is a record batch of pyarrow."""
    return hasattr(frame, "to_struct_array") and not hasattr(frame, "combine_chunks")  # which tables have


def read_batch(batch: Any) -> RawTable:
    """Read a record batch of pyarrow; numbers without missing values are read from its buffers."""
    names = tuple(map(str, batch.schema.names))
    if len(set(names)) != len(names):
        raise same_names(names)
    parts = [_read_column(array, column, names[column]) for column, array in enumerate(batch.columns)]
    return raw_table(names, batch.num_rows, parts)


def _read_column(array: Any, column: int, name: str) -> NumberBlock | CodedColumn:
    if str(array.type) in PLAIN_TYPES and array.null_count == 0:
        values = array.to_numpy()
        return NumberBlock((column,), (values if values.dtype.itemsize == 1 else plain_numbers(values)).reshape(-1, 1))
    return read_series(nw.from_native(arrow().chunked_array([array]), series_only=True), column, name)


def raw_batch(frame: Any, columns: Sequence[str], plain_text: frozenset[str] = frozenset()) -> RawTable:
    """Turn a record batch or a frame into a raw table with the columns in order."""
    raw = read_batch(frame) if is_record_batch(frame) else read_table(frame)
    place = {name: column for column, name in enumerate(raw.names or ())}
    if list(place) != list(columns):
        lacking = [name for name in columns if name not in place]
        if lacking:
            msg = f"A part of the rows lacks the columns {lacking[:10]}; every part must have the same columns."
            raise InputError(msg)
        raw = raw.take([place[name] for name in columns])
    if plain_text:
        raw = replace(raw, coded=tuple(_undeclared(item, raw.name(item.column) in plain_text) for item in raw.coded))
    return raw


def _undeclared(item: CodedColumn, plain: bool) -> CodedColumn:
    return replace(item, declared=False) if plain else item


def cut_batches(frames: Iterable[Any], size: int) -> Iterator[Any]:
    """Cut record batches or frames that are longer than ``size`` rows."""
    for frame in frames:
        rows = frame.num_rows if hasattr(frame, "num_rows") else len(frame)
        for low in range(0, rows, size):
            if rows <= size:
                yield frame
            else:
                yield frame.slice(low, size) if hasattr(frame, "slice") else frame.iloc[low : low + size]


def label_type_of(kind: Any) -> np.dtype[Any]:
    """Return the type that an array of values of an Arrow type has in memory."""
    pa = arrow()
    if pa.types.is_boolean(kind) or pa.types.is_integer(kind) or pa.types.is_floating(kind):
        return np.dtype(str(np.dtype(kind.to_pandas_dtype())))
    if pa.types.is_dictionary(kind):
        return label_type_of(kind.value_type)
    return np.dtype(object)


def _state(path: str) -> tuple[int, int]:
    status = os.stat(path)
    return status.st_size, status.st_mtime_ns


@dataclass(frozen=True)
class FileSource:
    """Parquet, CSV or Arrow files with the same columns.

    Parameters
    ----------
    paths : tuple of str
    format : {"parquet", "csv", "tsv", "arrow"}
    types : mapping of names to Arrow's type names, optional
        Types of columns of CSV files that are not to be guessed from the first rows.
    """

    paths: tuple[str, ...]
    format: str
    types: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def _states(self) -> dict[str, tuple[int, int]]:
        """Size and time of modification of every file when it was first used."""
        return {path: _state(path) for path in self.paths}

    def _check_unchanged(self, path: str) -> None:
        """Raise an error for a file that is not the one of the first pass: a model must rest on one data set."""
        if self._states[path] != _state(path):
            msg = f"{path} changed while it was being read, so that passes over it saw different rows. Start again."
            raise InputError(msg)

    @cached_property
    def _schema(self) -> Any:
        pa = arrow()
        self._check_unchanged(self.paths[0])
        with _reading(self.paths[0]):
            if self.format == "parquet":
                import pyarrow.parquet as parquet

                return parquet.read_schema(self.paths[0])
            if self.format == "arrow":
                return self._open_arrow(self.paths[0]).schema
            guessed = self._open_csv(
                self.paths[0], None, {name: pa.type_for_alias(t) for name, t in self.types.items()}
            )
            strange = sorted(set(self.types) - set(guessed.schema.names))
            if strange:
                msg = f"types names columns that {self.paths[0]} does not have: {strange}."
                raise InputError(msg)
            return guessed.schema

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns."""
        return tuple(self._schema.names)

    def label_type(self, name: str) -> np.dtype[Any]:
        """Return the type that an array of a column's values has in memory."""
        return label_type_of(self._schema.field(name).type)

    def fingerprint(self) -> str:
        """Return a digest of the names, sizes and modification times of the files."""
        states = []
        for path in self.paths:
            size, time = _state(path)
            states.append(f"{path}|{size}|{time}")
        return hashlib.sha256("\n".join([self.format, repr(dict(self.types)), *states]).encode()).hexdigest()

    def pieces(self) -> list[Piece]:
        """List the files, large Parquet files by their row groups."""
        if self.format != "parquet":
            return [(path, None) for path in self.paths]
        import pyarrow.parquet as parquet

        found: list[Piece] = []
        for path in self.paths:
            with _reading(path):
                known = parquet.read_metadata(path)
            groups: list[int] = []
            rows = 0
            for group in range(known.num_row_groups):
                groups.append(group)
                rows += known.row_group(group).num_rows
                if rows >= PIECE_ROWS:
                    found.append((path, tuple(groups)))
                    groups, rows = [], 0
            if groups:
                found.append((path, tuple(groups)))
        return found

    def read(self, piece: Piece, columns: Sequence[str], size: int) -> Iterator[RawTable]:
        """Read the chosen columns of a file or of some of its row groups."""
        path, groups = piece
        pa = arrow()
        texts = frozenset(
            name for name in columns if pa.types.is_string(kind := self._schema.field(name).type)
            or pa.types.is_large_string(kind)
        )  # fmt: skip
        self._check_unchanged(path)
        with _reading(path):
            batches = self._batches(path, groups, columns, size, texts)
            yield from (raw_batch(batch, columns, texts) for batch in cut_batches(batches, size))
        self._check_unchanged(path)

    def _batches(
        self, path: str, groups: Any, columns: Sequence[str], size: int, texts: frozenset[str]
    ) -> Iterator[Any]:
        if self.format == "parquet":
            import pyarrow.parquet as parquet

            with parquet.ParquetFile(path, read_dictionary=sorted(texts), buffer_size=1 << 20) as file:
                lacking = sorted(set(columns) - set(file.schema_arrow.names))
                if lacking:
                    msg = f"{path} lacks the columns {lacking[:10]}, which {self.paths[0]} has."
                    raise InputError(msg)
                yield from file.iter_batches(size, row_groups=list(groups), columns=list(columns), use_threads=True)
        elif self.format == "arrow":
            reader = self._open_arrow(path)
            if hasattr(reader, "num_record_batches"):
                yield from (reader.get_batch(k).select(list(columns)) for k in range(reader.num_record_batches))
            else:
                yield from (batch.select(list(columns)) for batch in reader)
        else:
            yield from self._open_csv(path, columns, {name: self._schema.field(name).type for name in columns})

    def _open_arrow(self, path: str) -> Any:
        """Open Arrow's file format by mapping it, or else its stream format."""
        pa = arrow()
        mapped = pa.memory_map(path)
        try:
            return pa.ipc.open_file(mapped)
        except pa.ArrowInvalid:
            mapped.seek(0)
            return pa.ipc.open_stream(mapped)

    def _open_csv(self, path: str, columns: Sequence[str] | None, types: Mapping[str, Any]) -> Any:
        from pyarrow import csv

        convert = csv.ConvertOptions(
            column_types=dict(types),
            include_columns=None if columns is None else list(columns),
            strings_can_be_null=True,
        )
        parse = csv.ParseOptions(delimiter="\t" if self.format == "tsv" else ",", newlines_in_values=True)
        return csv.open_csv(
            path, read_options=csv.ReadOptions(block_size=1 << 22), convert_options=convert, parse_options=parse
        )


def open_files(data: Any, types: dict[str, str]) -> FileSource:
    """Open a file, a directory of files or a list of both."""
    given = [data] if isinstance(data, (str, os.PathLike)) else list(data)
    paths: list[str] = []
    for item in given:
        path = Path(item)
        if path.is_dir():
            inner = sorted(
                found for found in path.rglob("*")
                if found.is_file() and found.suffix in FORMATS and not found.name.startswith((".", "_"))
            )  # fmt: skip
            paths += map(str, inner)
        elif path.is_file():
            paths.append(str(path))
        else:
            msg = f"There is no file or directory {str(path)!r}."
            raise InputError(msg)
    if not paths:
        msg = f"{given[0]} holds no file of a known kind: {sorted(FORMATS)}."
        raise InputError(msg)
    kinds = {find("the ending of a file", Path(path).suffix, FORMATS) for path in paths}
    if len(kinds) > 1:
        msg = f"All files must be of one format; here are {sorted(kinds)}. Give the paths of one of them."
        raise InputError(msg)
    return FileSource(tuple(paths), kinds.pop(), types)


def spool(batches: Any) -> FileSource:
    """Write batches that can be read only once to a temporary Arrow file, which is removed with the source."""
    pa = arrow()
    folder = tempfile.mkdtemp(prefix="tanbark-")
    path = os.path.join(folder, "rows.arrow")
    writer = None
    try:
        for batch in batches:
            record = is_record_batch(batch)
            table = pa.Table.from_batches([batch]) if record else nw.from_native(batch, eager_only=True).to_arrow()
            writer = writer or pa.ipc.new_stream(path, table.schema)
            writer.write_table(table)
        if writer is None:
            msg = "The reader returns no rows."
            raise InputError(msg)
        writer.close()
    except BaseException as error:
        shutil.rmtree(folder, ignore_errors=True)
        if isinstance(error, pa.ArrowException):
            msg = f"The reader cannot be read or changes its columns: {error}"
            raise InputError(msg) from error
        raise
    source = FileSource((path,), "arrow")
    weakref.finalize(source, shutil.rmtree, folder, True)
    return source
