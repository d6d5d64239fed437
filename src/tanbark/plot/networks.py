"""Networks and their tables."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from typing import Any

import numpy as np

from tanbark.draw.layout import layered_layout
from tanbark.draw.svg import ARC, CLASS_ARC, NOTE, arc_widths, curve, hidden_note, node_colours
from tanbark.errors import InputError, find
from tanbark.estimators.reports.arc_report import MEASURES, ArcReport
from tanbark.graph import Network
from tanbark.plot.canvas import axes

PIXELS = 72.0  # of a layout, per inch
MOST_ROWS = 60  # parent configurations in a chart of a CPT


def network_of(model: Any) -> Network:
    """Return the network of a classifier, or the network itself."""
    found = model if isinstance(model, Network) else getattr(model, "network_", None)
    if found is None:
        msg = f"This needs a network or a fitted classifier with one network, such as TAN; got {type(model).__name__}."
        raise InputError(msg)
    return found


def arc_weights(weights: Any, measure: str = "cmi") -> dict[tuple[str, str], float] | None:
    """Return the weights of arcs, from a mapping or from a measure of an arc report."""
    if weights is None or isinstance(weights, Mapping):
        return None if weights is None else dict(weights)
    if isinstance(weights, ArcReport):
        find("measure", measure, dict.fromkeys(MEASURES))
        return {(arc.parent, arc.child): float(getattr(arc, measure)) for arc in weights if arc.kept}
    msg = (
        f"weights must be a mapping from (parent, child) to numbers, or the result of arc_report; got {weights!r:.60}."
    )
    raise InputError(msg)


def plot_network(
    model: Any, *, weights: Any = None, measure: str = "cmi", class_arcs: bool | None = None, ax: Any = None
) -> Any:
    """Draw a network in layers, parents above children: the class in orange, its children in blue.

    Parameters
    ----------
    model : Network, or a fitted classifier with one
    weights : ArcReport, or mapping of (parent, child) to numbers, optional
        Weights of the arcs, shown as widths.
    measure : str, default "cmi"
        Which measure of an arc report the widths show.
    class_arcs : bool, optional
        Whether arcs from the class are drawn; by default where it has at most 15 children.
    ax : matplotlib axes, optional

    Examples
    --------
    >>> import tanbark as tb
    >>> clf = tb.TAN().fit([[0, 0, 1], [0, 0, 0], [1, 1, 1], [1, 1, 0]], [0, 1, 0, 1])
    >>> ax = tb.plot.plot_network(clf)
    >>> [text.get_text() for text in ax.texts]
    ['x0', 'x1', 'x2', 'class']
    """
    from matplotlib.patches import FancyBboxPatch, PathPatch, Polygon
    from matplotlib.path import Path

    network = network_of(model)
    dag, target = network.dag, network.target
    layout = layered_layout(dag, target, class_arcs=class_arcs)
    widths = arc_widths(dag, arc_weights(weights, measure))
    ax = axes(ax, max(2.0, layout.size[0] / PIXELS), max(1.0, layout.size[1] / PIXELS))
    for (parent, child), route in sorted(layout.routes.items(), key=lambda item: item[0][0] != target):
        width = widths.get((dag.names[parent], dag.names[child]), 1.2)
        colour = CLASS_ARC if parent == target else ARC
        (x, y), half, reach = route[-1], 2.2 + 0.7 * width, 5.0 + 1.2 * width
        pieces = curve((*route[:-1], (x, y - reach + 1)))
        path = Path(
            [route[0], *(p for piece in pieces for p in piece)], [Path.MOVETO, *[Path.CURVE4] * 3 * len(pieces)]
        )
        ax.add_patch(PathPatch(path, fill=False, edgecolor=colour, linewidth=width, zorder=1))
        ax.add_patch(
            Polygon([(x, y), (x - half, y - reach), (x + half, y - reach)], color=colour, linewidth=0, zorder=1)
        )
    for node, ((x, y), width, height) in enumerate(zip(layout.centers, layout.widths, layout.heights, strict=True)):
        fill, edge = node_colours(dag, node, target)
        corner = (x - width / 2 + 6, y - height / 2 + 6)
        box = FancyBboxPatch(
            corner, width - 12, height - 12, boxstyle="round,pad=6", facecolor=fill, edgecolor=edge, zorder=2
        )
        ax.add_patch(box)
        bold = "bold" if node == target else "normal"
        ax.text(
            x, y, layout.labels[node], ha="center", va="center", fontsize=9, fontweight=bold, zorder=3, parse_math=False
        )
    ax.set(xlim=(0, layout.size[0]), ylim=(layout.size[1], 0), aspect="equal")
    ax.axis("off")
    note = hidden_note(dag, layout, target)
    if note:
        ax.set_title(note, fontsize=8, color=NOTE, loc="left", y=-0.04)
    return ax


def plot_cpt(model: Any, node: str | int, *, ax: Any = None) -> Any:
    """Draw the CPT of a column: a bar for every parent configuration, divided into the column's states.

    Parameters
    ----------
    model : Network, or a fitted classifier with one
    node : str or int
    ax : matplotlib axes, optional

    Examples
    --------
    >>> import tanbark as tb
    >>> clf = tb.NaiveBayes().fit([["a"], ["b"], ["b"]], ["no", "yes", "yes"])
    >>> ax = tb.plot.plot_cpt(clf, "x0")
    >>> ax.get_title()
    'P(x0 | class)'
    """
    from matplotlib import colormaps

    network = network_of(model)
    index = network.dag.index(node)
    columns, order = network.schema.columns, network.axes(index)
    parents = [axis for axis in order if axis != index]
    table = np.moveaxis(network.tables[index], order.index(index), -1)
    flat = table.reshape(-1, table.shape[-1])
    if len(flat) > MOST_ROWS:
        name = columns[index].name
        msg = f"The CPT of {name!r} has {len(flat):,} rows; a chart shows at most {MOST_ROWS}. Use table_frame."
        raise InputError(msg)
    rows = [", ".join(states) for states in product(*(columns[p].labels() for p in parents))]
    labels = columns[index].labels()
    ax = axes(ax, 6.5, 1.2 + 0.32 * len(flat))
    left = np.zeros(len(flat))
    shades = colormaps["viridis"](np.linspace(0.25, 0.92, len(labels)))
    for state, (label, shade) in enumerate(zip(labels, shades, strict=True)):
        bars = ax.barh(range(len(flat)), flat[:, state], left=left, color=shade, label=label, height=0.72)
        dark = float(np.dot(shade[:3], (0.3, 0.6, 0.1))) < 0.5
        texts = [f"{p:.2f}" if p >= 0.07 else "" for p in flat[:, state]]
        ax.bar_label(bars, texts, label_type="center", fontsize=8, color="white" if dark else "#222222")
        left += flat[:, state]
    ax.set_yticks(range(len(flat)), rows, fontsize=8)
    ax.invert_yaxis()
    ax.set(xlim=(0, 1), xlabel="probability")
    given = ", ".join(columns[p].name for p in parents)
    ax.set_title(f"P({columns[index].name}{' | ' + given if given else ''})", fontsize=10)
    ax.legend(loc="upper left", bbox_to_anchor=(1.01, 1), fontsize=8, frameon=False, title=columns[index].name)
    for side in ("right", "top", "left"):
        ax.spines[side].set_visible(False)
    return ax
