"""The axes of matplotlib that plots are drawn on; matplotlib is imported here only, and when it is needed."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from tanbark.errors import MissingPackageError


def pyplot() -> Any:
    """Import matplotlib.pyplot, or raise an error with the pip command that installs it."""
    try:
        return import_module("matplotlib.pyplot")
    except ImportError:
        msg = 'Plots need matplotlib, which is not installed: pip install "tanbark[plot]"'
        raise MissingPackageError(msg) from None


def make_axes(ax: Any = None, **figure: Any) -> Any:
    """Return the given axes, or those of a new figure with the given options."""
    return pyplot().subplots(**figure)[1] if ax is None else ax
