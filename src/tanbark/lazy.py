"""Names and modules that are imported when they are first asked for: nobody waits for what is not used.

A module with such names lists its imports under ``if TYPE_CHECKING:`` for type checkers, and again as a mapping for
:func:`lazy_names`; a test compares the two.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from importlib.util import find_spec
from threading import RLock
from types import ModuleType
from typing import Any


def lazy_names(
    package: str, places: Mapping[str, str], *, module: str | None = None
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Make ``__getattr__`` and ``__dir__`` of a module from the names that each part of a package defines.

    Parameters
    ----------
    package : str
    places : mapping
        Names, with blanks between them, by the module of the package that they are in.
    module : str, optional
        The module that gets the names, where it is not the package.
    """
    own = module or package
    where = {name: part for part, names in places.items() for name in names.split()}

    def find(name: str) -> Any:
        if name not in where:
            msg = f"module {own!r} has no attribute {name!r}"
            raise AttributeError(msg, name=name)
        found = getattr(import_module(f"{package}.{where[name]}"), name)
        setattr(sys.modules[own], name, found)
        return found

    return find, lambda: sorted({*vars(sys.modules[own]), *where})


def postpone(name: str) -> None:
    """Have a module loaded when the first of its attributes is asked for, unless it is loaded already."""
    spec = None if name in sys.modules else find_spec(name)
    if spec is not None and spec.loader is not None:
        sys.modules[name] = _Postponed(spec)


class _Postponed(ModuleType):
    """A module that runs its code when it is first asked for an attribute; threads wait until it has run.

    Unlike ``importlib.util.LazyLoader``, it stays unloaded where another module merely imports it.
    """

    def __init__(self, spec: Any) -> None:
        super().__init__(spec.name)
        self.__spec__, self.__loader__, self.__package__ = spec, spec.loader, spec.parent
        self.__dict__["_postponed"] = RLock()

    def __getattr__(self, name: str) -> Any:
        lock = self.__dict__.get("_postponed")
        if lock is not None:
            with lock:
                if self.__dict__.get("_postponed") is lock and "__path__" not in self.__dict__:
                    self._load()
        if name in self.__dict__:
            return self.__dict__[name]
        found = self.__dict__.get("__getattr__")
        if found is not None:
            return found(name)
        msg = f"module {self.__name__!r} has no attribute {name!r}"
        raise AttributeError(msg, name=name)

    def _load(self) -> None:
        spec = self.__spec__
        assert spec is not None
        assert spec.loader is not None
        self.__path__ = list(spec.submodule_search_locations or ())
        self.__file__ = spec.origin
        try:
            spec.loader.exec_module(self)
        except BaseException:
            del self.__path__  # the next to ask tries again
            raise
        del self.__dict__["_postponed"]
