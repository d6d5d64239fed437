"""Writing rows batch by batch to Parquet, CSV or Arrow files, atomically."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tanbark.arrays import Integers
from tanbark.errors import InputError, find
from tanbark.files import atomic_path
from tanbark.table.files.arrow_files import arrow
from tanbark.table.raw import RawTable

ENDINGS = {".parquet": "parquet", ".csv": "csv", ".arrow": "arrow", ".feather": "arrow"}


class NoRowsError(InputError):
    """There is nothing to write."""


def write_batches(path: str | os.PathLike[str], batches: Iterable[Mapping[str, Any]]) -> int:
    """Write batches of columns to a file, whose format is that of its suffix; return the number of rows."""
    pa = arrow()
    kind = find("the ending of the file to write", Path(path).suffix, ENDINGS)
    writer, rows = None, 0
    with atomic_path(path) as partial:
        for columns in batches:
            arrays = [item if isinstance(item, pa.Array) else pa.array(item) for item in columns.values()]
            batch = pa.record_batch(arrays, names=list(columns))
            writer = writer or _writer(kind, partial, batch.schema)
            writer.write_batch(batch.cast(writer.schema) if hasattr(writer, "schema") else batch)
            rows += batch.num_rows
        if writer is None:
            msg = "There are no rows to predict. Check how the files were written or filtered."
            raise NoRowsError(msg)
        writer.close()
    return rows


def _writer(kind: str, path: Path, schema: Any) -> Any:
    if kind == "parquet":
        import pyarrow.parquet as parquet

        return parquet.ParquetWriter(path, schema)
    if kind == "csv":
        from pyarrow import csv

        return csv.CSVWriter(path, schema)
    return arrow().ipc.new_file(str(path), schema)


def chosen_values(values: NDArray[Any], places: Integers) -> Any:
    """Return ``values[places]`` as an array of Arrow, for which each of the values is converted only once."""
    pa = arrow()
    return pa.array(values.tolist() if values.dtype.kind in "OUT" else values).take(pa.array(places))


def column_values(raw: RawTable, column: int) -> NDArray[Any] | list[Any]:
    """Return the values of a column as they came, None for a missing one."""
    for block in raw.blocks:
        if column in block.columns:
            return np.ascontiguousarray(block.values[:, block.columns.index(column)])
    (item,) = (item for item in raw.coded if item.column == column)
    levels = [*item.levels, None]
    return [levels[code] for code in item.codes.tolist()]
