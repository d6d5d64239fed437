"""Names that are imported when they are first asked for: nobody waits for what is not used.

A module with such names lists its imports under ``if TYPE_CHECKING:`` for type checkers, and again as a mapping for
:func:`lazy_names`; a test compares the two.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
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
