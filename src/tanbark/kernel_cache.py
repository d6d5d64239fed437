"""Where compiled kernels are kept, and what happens where they cannot be kept or read.

Numba keeps them beside the modules, or in a cache folder of the user's. Containers and clusters often have neither: the
installation is read-only and there is no home. Then kernels that are beside the modules already (``tanbark warm-up``)
are read, new ones go to a temporary folder that belongs to the user alone, and if there is none, they are compiled in
every process. A damaged entry is compiled and written again; a full disk costs the entry, never the fit.

Compiled code holds the kernels that it calls and the constants that it reads, also those of other modules. Numba looks
at the kernel's own module only, so that kernels would outlive a change of what they call; here all of it counts.
"""

from __future__ import annotations

import hashlib
import os
import re
import stat
import sys
import tempfile
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from threading import Lock
from typing import Any

from tanbark.errors import KernelCacheWarning, warn

IMPORT = re.compile(r"^ *from (tanbark[\w.]*) import (?:\(([^)]*)\)|(.+))$", re.MULTILINE)

_lock = Lock()
_warned = False
_announced = False


class KernelCache:
    """A cache of compiled signatures for one dispatcher of Numba: the first that has an entry, the last for new ones.

    Parameters
    ----------
    caches : list
        Caches of Numba, in the order in which they are read.
    writable : bool
        Whether new entries go to the last of them.
    """

    def __init__(self, caches: list[Any], *, writable: bool) -> None:
        self._caches, self._writable = caches, writable

    @property
    def cache_path(self) -> str | None:
        """Folder of the last cache, or None if there is none."""
        return self._caches[-1].cache_path if self._caches else None

    @property
    def kept(self) -> bool:
        """Whether there are entries on disk."""
        files = (getattr(getattr(each, "_cache_file", None), "_index_path", "") for each in self._caches)
        return any(os.path.exists(path) for path in files)

    def load_overload(self, signature: Any, context: Any) -> Any:
        """Read the compiled code of a signature; None where there is none or it is damaged."""
        for each in self._caches:
            with suppress(Exception):  # whatever a damaged file raises when it is unpickled
                found = _read(each, signature, context)
                if found is not None:
                    return found
        if not self.kept:
            _announce()
        return None

    def save_overload(self, signature: Any, compiled: Any) -> None:
        """Keep the compiled code of a signature, over an index that is damaged if need be."""
        if not self._writable:
            return
        try:
            try:
                self._caches[-1].save_overload(signature, compiled)
            except OSError:
                raise
            except Exception:  # the index cannot be unpickled
                self._caches[-1].flush()
                self._caches[-1].save_overload(signature, compiled)
        except OSError as error:
            _warn_once(f"Compiled kernels cannot be written to {self.cache_path} ({error.strerror or error})")

    def enable(self) -> None:
        """Use the caches."""
        for each in self._caches:
            each.enable()

    def disable(self) -> None:
        """Do not use the caches."""
        for each in self._caches:
            each.disable()

    def flush(self) -> None:
        """Forget the entries of the last cache."""
        if self._writable:
            self._caches[-1].flush()


def _read(cache: Any, signature: Any, context: Any) -> Any:
    """Read compiled code without what only the compiler needs.

    Numba's own ``load_overload`` first registers every function that it can compile, which takes longer than to read
    all kernels of a fit; the compiler does so itself, when there is something to compile.
    """
    from numba.core.runtime import rtsys

    if not hasattr(cache, "_load_overload"):  # no promise of Numba's
        return cache.load_overload(signature, context)
    rtsys.initialize(context)
    return cache._load_overload(signature, context)


def open_cache(function: Callable[..., Any]) -> KernelCache:
    """Find the caches of a kernel: Numba's place; else those beside the modules, and a temporary folder."""
    from numba.core.caching import FunctionCache

    with suppress(RuntimeError):  # no place is writable
        return KernelCache([_stamped(FunctionCache(function), function)], writable=True)
    caches = []
    with suppress(RuntimeError):  # nothing is kept beside the modules
        caches.append(_stamped(_read_only_cache()(function), function))
    temporary = _temporary_cache(function)
    if temporary is not None:
        return KernelCache([*caches, temporary], writable=True)
    if not caches:
        _warn_once("There is no folder that compiled kernels can be kept in")
    return KernelCache(caches, writable=False)


def _stamped(cache: Any, function: Callable[..., Any]) -> Any:
    """Return a cache whose entries count only while no module that the kernel rests on has changed."""
    file: Any = getattr(cache, "_cache_file", None)
    if hasattr(file, "_source_stamp"):  # no promise of Numba's
        file._source_stamp = (file._source_stamp, fingerprint(function.__code__.co_filename))
    return cache


@cache
def fingerprint(path: str) -> str:
    """Return a digest of a module and of the modules of this package that its kernels may rest on.

    These are the modules that it imports, those that they import if they hold kernels themselves, and so on.
    """
    root = Path(__file__).parents[1]
    digest, waiting, seen = hashlib.blake2b(digest_size=16), [Path(path)], {Path(path)}
    while waiting:
        file = waiting.pop()
        try:
            text = file.read_text(encoding="utf-8")
        except OSError:  # in an archive, where nothing changes
            continue
        digest.update(text.encode())
        if file == Path(path) or file.stem.endswith("kernels"):
            found = [each for each in _imported(text, root) if each not in seen]
            waiting += found
            seen.update(found)
    return digest.hexdigest()


def _imported(text: str, root: Path) -> list[Path]:
    """List the files of this package that a module imports, a name of a package as its module too."""
    found: dict[Path, None] = {}
    for module, several, one in IMPORT.findall(text):
        folder = root.joinpath(*module.split("."))
        names = re.findall(r"\w+", several or one)
        for file in (folder.with_suffix(".py"), folder / "__init__.py", *(folder / f"{name}.py" for name in names)):
            if file.exists():
                found[file] = None
    return list(found)


def _temporary_cache(function: Callable[..., Any]) -> Any:
    """Return a cache in a temporary folder of the user's own; None where there can be none."""
    from numba.core import config
    from numba.core.caching import FunctionCache

    folder = _own_folder()
    if folder is None:
        return None
    with _lock:
        before, config.CACHE_DIR = config.CACHE_DIR, str(folder)
        try:
            return _stamped(FunctionCache(function), function)
        except RuntimeError:
            return None
        finally:
            config.CACHE_DIR = before


def _own_folder() -> Path | None:
    """Return a temporary folder that only this user can write to; compiled code of others must never be run."""
    user = os.getuid() if hasattr(os, "getuid") else 0
    try:
        folder = Path(tempfile.gettempdir()) / f"tanbark-kernels-{user}"
        with suppress(FileExistsError):
            folder.mkdir(mode=0o700)
        found = folder.lstat()
    except OSError:
        return None
    own = stat.S_ISDIR(found.st_mode) and (os.name == "nt" or (found.st_uid, found.st_mode & 0o077) == (user, 0))
    return folder if own else None


@cache
def _read_only_cache() -> Any:
    """Make the class of Numba's caches that only read: in NUMBA_CACHE_DIR, or beside the module."""
    from numba.core import caching

    class Read:
        def ensure_cache_path(self) -> None:
            folder = Path(self.get_cache_path())  # type: ignore[attr-defined]  # the locator has it
            if not any(folder.glob(f"{Path(self._py_file).stem}.*.nbi")):  # type: ignore[attr-defined]
                raise FileNotFoundError

    # their names begin with a "_" in Numba 0.61
    provided, in_tree = (
        getattr(caching, name, None) or getattr(caching, f"_{name}")
        for name in ("UserProvidedCacheLocator", "InTreeCacheLocator")
    )
    given, beside = type("Given", (Read, provided), {}), type("Beside", (Read, in_tree), {})
    implementation = type("Kept", (caching.CompileResultCacheImpl,), {"_locator_classes": [given, beside]})
    return type("ReadOnlyCache", (caching.FunctionCache,), {"_impl_class": implementation})


def _announce() -> None:
    """Print one line, once per process, when a kernel is about to be compiled for the first time."""
    global _announced
    if not _announced and not os.environ.get("TANBARK_QUIET"):
        _announced = True
        print("tanbark: compiling its kernels for this machine, once; this takes up to a minute.", file=sys.stderr)


def _warn_once(reason: str) -> None:
    """Warn, once per process, that kernels are compiled again by every process."""
    global _warned
    if not _warned:
        _warned = True
        warn(
            f"{reason}, so every process compiles those that it needs. Set NUMBA_CACHE_DIR to a folder that can be "
            "written to, or run `tanbark warm-up` when the installation is made.",
            KernelCacheWarning,
        )
