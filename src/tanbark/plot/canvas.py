"""Axes, colours and the room for labels of the charts."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tanbark.draw.axes import make_axes, text_width

FOR, AGAINST, TOTAL, MUTED = "#4c8c5a", "#c0504d", "#f4a259", "#7a7a7a"
SMALL = 8.0  # points of the labels
INCH = 72.0  # points
LONGEST = 40  # characters of a label


def axes(ax: Any, width: float, height: float) -> Any:
    """Return the axes, or those of a new figure of a size in inches."""
    return make_axes(ax, figsize=(width, height), layout="constrained")


def room(texts: Iterable[str], size: float = SMALL) -> float:
    """Return the width of the widest text in inches."""
    return max((text_width(text, size) for text in texts), default=0.0) / INCH


def inner_width(ax: Any) -> float:
    """Return the width of the axes in inches, as they are before anything is drawn."""
    return float(ax.get_position().width * ax.figure.get_size_inches()[0])


def bare(ax: Any, *keep: str) -> None:
    """Hide the frame except for some sides."""
    for side in ("left", "right", "top", "bottom"):
        ax.spines[side].set_visible(side in keep)
