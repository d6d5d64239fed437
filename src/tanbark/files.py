"""Writing of files: a regular file appears under its name only when it is complete.

Every file of Tanbark is written through :func:`atomic_path`, and these hold for all of them: a symbolic link stays and
the file it points to is replaced; a file that is replaced keeps its mode and, where the system allows it, its owner;
the content is on the disk before the name points to it; devices and pipes are written to, never replaced.
"""

from __future__ import annotations

import os
import secrets
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

STREAMS = ("/dev/stdout", "/dev/stderr")
DESCRIPTORS = "/proc/[0-9]*/fd/*"  # where /dev/fd leads


@contextmanager
def atomic_path(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield the path of an empty temporary file; its content goes to ``path`` if the block succeeds.

    For a regular file the temporary one is beside it and is renamed; a device or a pipe gets a copy of it.

    Raises
    ------
    FileNotFoundError
        If the directory does not exist.
    IsADirectoryError
        If ``path`` is a directory.
    """
    named = Path(path)
    if named.is_dir():
        msg = f"{str(named)!r} is a directory, so no file can be written under that name. Give the name of a file."
        raise IsADirectoryError(msg)
    if _is_stream(named):
        with tempfile.TemporaryDirectory() as folder:
            partial = Path(folder) / f"content{named.suffix}"
            partial.touch()
            yield partial
            with partial.open("rb") as content, named.open("wb") as stream:
                shutil.copyfileobj(content, stream)
        return
    target = Path(os.path.realpath(named))
    if not target.parent.is_dir():
        msg = f"There is no directory {str(target.parent)!r} to write {target.name!r} to. Make it first."
        raise FileNotFoundError(msg)
    partial = target.parent / f".{secrets.token_hex(8)}.tmp"
    try:
        _create_like(partial, target)
        yield partial
        _flush(partial)
        partial.replace(target)
    except BaseException:
        partial.unlink(missing_ok=True)
        raise
    with suppress(OSError):  # some systems cannot flush a directory; the content is on the disk in any case
        _flush(target.parent)


def write_atomic(path: str | os.PathLike[str], content: bytes) -> None:
    """Write a file atomically: readers see the previous content or all of ``content``, never a part of it."""
    with atomic_path(path) as partial:
        partial.write_bytes(content)


def _is_stream(named: Path) -> bool:
    """Whether a path is a device, a pipe or an open descriptor, which must be written to rather than replaced."""
    opened = Path(os.path.realpath(named.parent)) / named.name
    if str(named) in STREAMS or opened.match(DESCRIPTORS):
        return True
    try:
        return not stat.S_ISREG(named.stat().st_mode)
    except FileNotFoundError:
        return False


def _create_like(partial: Path, target: Path) -> None:
    """Create an empty file with the mode and owner of the file to replace, or with the defaults if there is none."""
    try:
        old = target.stat()
    except FileNotFoundError:
        os.close(os.open(partial, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
        return
    os.close(os.open(partial, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))  # never more readable than its target
    if hasattr(os, "chown"):
        with suppress(PermissionError):
            os.chown(partial, old.st_uid, old.st_gid)
    partial.chmod(stat.S_IMODE(old.st_mode))


def _flush(path: Path) -> None:
    """Wait until a file or a directory is on the disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
