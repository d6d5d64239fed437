"""Atomic writing of files: a file appears under its name only when it is complete.

Every file of Tanbark is written through :func:`atomic_path`; whatever should hold for all of them (permissions, links,
flushing to the disk) belongs there.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def atomic_path(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield a temporary path beside ``path``; move it there if the block succeeds, delete it otherwise.

    Raises
    ------
    FileNotFoundError
        If the directory does not exist.
    """
    target = Path(path)
    if not target.parent.is_dir():
        msg = f"There is no directory {str(target.parent)!r} to write {target.name!r} to. Make it first."
        raise FileNotFoundError(msg)
    partial = target.parent / f".{secrets.token_hex(8)}.tmp"
    try:
        yield partial
        partial.replace(target)
    except BaseException:
        partial.unlink(missing_ok=True)
        raise


def write_atomic(path: str | os.PathLike[str], content: bytes) -> None:
    """Write a file atomically: readers see the previous content or all of ``content``, never a part of it."""
    with atomic_path(path) as partial, partial.open("xb") as file:
        file.write(content)
