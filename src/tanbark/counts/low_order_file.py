"""Files of counts: what one machine counted, for another to add; nothing in them is run when they are read."""

from __future__ import annotations

import json
import os
import zipfile
from pathlib import Path

import numpy as np

from tanbark.counts.low_order import StoredCounts, stored_cells
from tanbark.errors import ModelFileError, TanbarkError
from tanbark.files import atomic_path
from tanbark.table import Schema
from tanbark.table.schema_json import column_document, demand, read_column, read_list

FORMAT, VERSION = "tanbark-counts", 1


def save_counts(counts: StoredCounts, path: str | os.PathLike[str]) -> None:
    """Write counts; the file appears under its name only when it is whole."""
    columns = [column_document(column) for column in counts.schema.columns]
    head = {"format": FORMAT, "version": VERSION, "order": counts.order, "columns": columns}
    told = np.frombuffer(json.dumps(head, ensure_ascii=True).encode(), np.uint8)
    with atomic_path(path) as partial, partial.open("xb") as file:
        np.savez_compressed(file, head=told, counts=counts.flat)


def load_counts(path: str | os.PathLike[str]) -> StoredCounts:
    """Read counts that ``counts.save`` wrote; they add, subtract, and teach a classifier by ``fit_counts``."""
    try:
        with Path(path).open("rb") as file, np.load(file, allow_pickle=False) as found:
            head, flat = json.loads(bytes(found["head"])), found["counts"]
        demand(isinstance(head, dict) and head.get("format") == FORMAT, "this is no file of counts of Tanbark")
        demand(head.get("version") == VERSION, f"the version {head.get('version')!r} is unknown to this Tanbark")
        schema = Schema(tuple(read_column(item) for item in read_list(head["columns"], "columns")))
        order = head["order"]
        demand(order in (1, 2, 3) and len(schema.columns) >= 2, "the order of the counts is none")
        good = flat.ndim == 1 and flat.dtype in (np.int64, np.float64) and len(flat) == stored_cells(schema, order)
        demand(good, "the counts do not fit the columns")
        demand(bool(np.isfinite(flat).all() and (flat >= 0).all()), "a count is no number of at least 0")
        return StoredCounts(schema, order, flat)
    except (ValueError, KeyError, TypeError, EOFError, RecursionError, zipfile.BadZipFile, TanbarkError) as error:
        msg = f"{path} is no file of counts of Tanbark, or damaged: {str(error).rstrip('.')}. Save the counts again."
        raise ModelFileError(msg) from error
