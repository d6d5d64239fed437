"""Counts kept on disk while a long fit runs, so that an interrupted one goes on where it was."""

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


@dataclass(frozen=True, eq=False)
class Saved:
    """The sum over the first pieces of the rows, or over all."""

    answer: list[NDArray[Any]]
    pieces: int
    done: bool


class Checkpoint:
    """A folder with the schema and the sum of every question that a fit asked, under names that tell rows and question.

    Parameters
    ----------
    folder : path
        Made where it is not there. Files of other rows or schemas may lie there too; they are never mixed up.
    key : str
        What tells the rows and their coding.
    every : float
        Seconds between two writings within one pass.
    """

    def __init__(self, folder: str | os.PathLike[str], key: str, *, every: float = 30.0) -> None:
        self._folder, self._key, self._every = Path(folder), key, every
        self._folder.mkdir(parents=True, exist_ok=True)
        self._written = time.monotonic()

    def _path(self, name: str) -> Path:
        return self._folder / f"{hashlib.sha256(f'{self._key}|{name}'.encode()).hexdigest()[:40]}.npz"

    def open(self, name: str) -> Saved | None:
        """Read what is kept of a question, if anything."""
        path = self._path(name)
        if not path.exists():
            return None
        try:
            with path.open("rb") as file, np.load(file, allow_pickle=False) as found:
                pieces, done, size = (int(number) for number in found["told"])
                return Saved([found[f"answer{k}"] for k in range(size)], pieces, bool(done))
        except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
            raise _damaged(path, error) from error

    def save(self, name: str, answer: list[NDArray[Any]], pieces: int) -> None:
        """Keep the sum over the first pieces, if the last writing is long enough ago."""
        if time.monotonic() - self._written >= self._every:
            self._write(name, answer, pieces, done=False)

    def finish(self, name: str, answer: list[NDArray[Any]]) -> None:
        """Keep the sum over all rows."""
        self._write(name, answer, 0, done=True)

    def keep_schema(self, schema: Schema, errors: dict[str, float]) -> None:
        """Keep what the first pass learnt: the columns, and how far the summaries of numbers may be wrong."""
        told = {"columns": [column_document(column) for column in schema.columns], "errors": errors}
        self.finish(SCHEMA, [np.frombuffer(json.dumps(told).encode(), np.uint8)])

    def open_schema(self) -> tuple[Schema, dict[str, float]] | None:
        """Read what the first pass learnt, if it was finished."""
        saved = self.open(SCHEMA)
        if saved is None:
            return None
        try:
            told = json.loads(saved.answer[0].tobytes())
            return Schema(tuple(map(read_column, told["columns"]))), {**told["errors"]}
        except (ValueError, KeyError, IndexError, TypeError) as error:
            raise _damaged(self._path(SCHEMA), error) from error

    def _write(self, name: str, answer: list[NDArray[Any]], pieces: int, *, done: bool) -> None:
        arrays = {f"answer{k}": array for k, array in enumerate(answer)}
        with atomic_path(self._path(name)) as partial, partial.open("xb") as file:
            np.savez(file, told=np.array([pieces, done, len(answer)]), **arrays)  # type: ignore[arg-type]
        self._written = time.monotonic()


def _damaged(path: Path, error: Exception) -> InputError:
    return InputError(f"The checkpoint {path} is damaged ({error}). Delete it; its pass is then made again.")
