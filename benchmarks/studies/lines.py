"""Results in a file of JSON lines, one per result, which a stopped run leaves usable."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path


def read(path: Path) -> Iterator[dict]:
    """Yield the results of a file, if it exists; skip a line that a killed run left incomplete."""
    if path.exists():
        for line in path.read_text().split("\n"):
            try:
                yield json.loads(line)
            except ValueError:
                continue


def append(path: Path, result: dict) -> None:
    """Add a result to the file: one write of whole lines, on the disk before the next result is computed."""
    path.parent.mkdir(parents=True, exist_ok=True)
    torn = False
    if path.exists() and path.stat().st_size > 0:
        with path.open("rb") as file:
            file.seek(-1, os.SEEK_END)
            torn = file.read(1) != b"\n"
    with path.open("ab") as file:
        file.write((("\n" if torn else "") + json.dumps(result) + "\n").encode())
        file.flush()
        os.fsync(file.fileno())
