"""Results of passes kept on disk, so that an interrupted fit resumes where it was."""

from __future__ import annotations

import hashlib
import json
import os
import time
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tanbark.errors import InputError
from tanbark.files import atomic_path
from tanbark.table import Schema
from tanbark.table.schema_json import column_document, read_column

SCHEMA = "schema"
PROGRESS, ARRAY = "told", "answer"  # names within a file


@dataclass(frozen=True, eq=False)
class Saved:
    """The sum over the first pieces of the rows, or over all."""

    result: list[NDArray[Any]]
    pieces: int
    done: bool


class Checkpoint:
    """A folder with the schema and the result of every query of a fit, in files named after the rows and the query.

    Parameters
    ----------
    folder : path
        Created if it does not exist. Files of other rows or schemas may be there too; they are never confused.
    key : str
        Identifies the rows and their coding.
    every : float
        Seconds between two writes within one pass.
    """

    def __init__(self, folder: str | os.PathLike[str], key: str, *, every: float = 30.0) -> None:
        self._folder, self._key, self._every = Path(folder), key, every
        self._folder.mkdir(parents=True, exist_ok=True)
        self._written = time.monotonic()

    def _path(self, name: str) -> Path:
        return self._folder / f"{hashlib.sha256(f'{self._key}|{name}'.encode()).hexdigest()[:40]}.npz"

    def open(self, name: str) -> Saved | None:
        """Read the saved result of a query, if there is one."""
        path = self._path(name)
        if not path.exists():
            return None
        try:
            with path.open("rb") as file, np.load(file, allow_pickle=False) as found:
                pieces, done, size = (int(number) for number in found[PROGRESS])
                return Saved([found[f"{ARRAY}{k}"] for k in range(size)], pieces, bool(done))
        except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
            raise _damaged(path, error) from error

    def save(self, name: str, result: list[NDArray[Any]], pieces: int) -> None:
        """Save the sum over the first pieces, if the last write is long enough ago."""
        if time.monotonic() - self._written >= self._every:
            self._write(name, result, pieces, done=False)

    def finish(self, name: str, result: list[NDArray[Any]]) -> None:
        """Save the sum over all rows."""
        self._write(name, result, 0, done=True)

    def keep_schema(self, schema: Schema, errors: dict[str, float], seen: dict[str, Any] | None = None) -> None:
        """Save what the first pass learnt: the columns, the error bounds of the quantile sketches, and what it saw."""
        columns = [column_document(column) for column in schema.columns]
        document = {"columns": columns, "errors": errors, "seen": seen}
        self.finish(SCHEMA, [np.frombuffer(json.dumps(document).encode(), np.uint8)])

    def open_schema(self) -> tuple[Schema, dict[str, float], dict[str, Any] | None] | None:
        """Read what the first pass learnt and saw, if it was completed."""
        saved = self.open(SCHEMA)
        if saved is None:
            return None
        try:
            document = json.loads(saved.result[0].tobytes())
            schema = Schema(tuple(map(read_column, document["columns"])))
            return schema, {**document["errors"]}, document.get("seen")
        except (ValueError, KeyError, IndexError, TypeError) as error:
            raise _damaged(self._path(SCHEMA), error) from error

    def _write(self, name: str, result: list[NDArray[Any]], pieces: int, *, done: bool) -> None:
        arrays = {f"{ARRAY}{k}": array for k, array in enumerate(result)}
        progress = np.array([pieces, done, len(result)])
        with atomic_path(self._path(name)) as partial, partial.open("wb") as file:
            np.savez(file, **{PROGRESS: progress}, **arrays)  # type: ignore[arg-type]  # arrays, not allow_pickle
        self._written = time.monotonic()


def _damaged(path: Path, error: Exception) -> InputError:
    return InputError(f"The checkpoint {path} is damaged ({error}). Delete it; its pass is then repeated.")
