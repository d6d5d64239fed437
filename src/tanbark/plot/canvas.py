"""Axes and colours of the charts."""

from __future__ import annotations

from typing import Any

from tanbark.draw.axes import make_axes

FOR, AGAINST, TOTAL, MUTED = "#4c8c5a", "#c0504d", "#f4a259", "#7a7a7a"


def axes(ax: Any, width: float, height: float) -> Any:
    """Return the axes, or those of a new figure of a size in inches."""
    return make_axes(ax, figsize=(width, height), layout="constrained")


def bare(ax: Any, *keep: str) -> None:
    """Hide the frame except for some sides."""
    for side in ("left", "right", "top", "bottom"):
        ax.spines[side].set_visible(side in keep)
