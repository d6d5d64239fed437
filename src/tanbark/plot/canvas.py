"""Figures: made where none is given."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from tanbark.errors import MissingPackageError

FOR, AGAINST, TOTAL, MUTED = "#4c8c5a", "#c0504d", "#f4a259", "#7a7a7a"


def pyplot() -> Any:
    """Import matplotlib, or say how to get it."""
    try:
        return import_module("matplotlib.pyplot")
    except ImportError:
        msg = 'Pictures need matplotlib, which is not installed: pip install "tanbark[plot]"'
        raise MissingPackageError(msg) from None


def axes(ax: Any, width: float, height: float) -> Any:
    """Return the axes, or those of a new figure of a size in inches."""
    return pyplot().subplots(figsize=(width, height), layout="constrained")[1] if ax is None else ax


def bare(ax: Any, *keep: str) -> None:
    """Take away the frame, but for some sides."""
    for side in ("left", "right", "top", "bottom"):
        ax.spines[side].set_visible(side in keep)
