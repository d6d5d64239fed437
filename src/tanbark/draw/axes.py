"""The axes of matplotlib that plots are drawn on; matplotlib is imported here only, and when it is needed."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from tanbark.errors import MissingPackageError

HINTED = 1.06  # letters on a raster of pixels are up to this much wider


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


def text_width(text: str, size: float, *, bold: bool = False) -> float:
    """Bound the width of a line in points, in the font that matplotlib uses, without drawing it."""
    pyplot()
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import TextToPath

    font = FontProperties(size=size, weight="bold" if bold else "normal")
    width, _, _ = TextToPath().get_text_width_height_descent(text, font, ismath=False)
    return HINTED * float(width)
