"""Networks and their tables."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from typing import Any

import numpy as np

from tanbark.arrays import Floats
from tanbark.display import short
from tanbark.draw.axes import text_width
from tanbark.draw.layout import Layout, layered_layout
from tanbark.draw.svg import ARC, CLASS_ARC, NOTE, arc_widths, curve, hidden_note, node_colours
from tanbark.errors import InputError, find
from tanbark.estimators.reports.arc_report import MEASURES, ArcReport
from tanbark.graph import Dag, Network
from tanbark.plot.canvas import INCH, LONGEST, MUTED, SMALL, axes, bare, inner_width, room

PIXELS = 72.0  # of a layout, per inch
MOST_ROWS = 60  # parent configurations in a chart of a CPT
MOST_LISTED = 30  # states in a column of the legend
NAME = 9.0  # points of a node's name
STATE = 28  # characters of a state in the legend
BARS = 4.0  # inches of the bars of a CPT


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
    from matplotlib.patches import PathPatch, Polygon
    from matplotlib.path import Path

    network = network_of(model)
    dag, target = network.dag, network.target
    layout = layered_layout(dag, target, class_arcs=class_arcs)
    widths = arc_widths(dag, arc_weights(weights, measure))
    note = hidden_note(dag, layout, target)
    across = max(layout.size[0], text_width(note, SMALL) + 24)
    down = layout.size[1] + (18 if note else 0)
    mine = ax is None
    ax = axes(ax, max(2.0, across / PIXELS), max(1.0, down / PIXELS))
    box = ax.get_position()
    inches = ax.figure.get_size_inches() * (1.0 if mine else (box.width, box.height))
    scale = min(1.0, inches[0] * PIXELS / across, inches[1] * PIXELS / down)
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
    for node in range(len(dag.names)):
        _draw_node(ax, dag, layout, node, target, scale)
    if note:
        ax.text(8, down - 6, note, fontsize=SMALL * scale, color=NOTE, va="bottom", parse_math=False)
    ax.set(xlim=(0, across), ylim=(down, 0), aspect="equal")
    ax.axis("off")
    return ax


def _draw_node(ax: Any, dag: Dag, layout: Layout, node: int, target: int, scale: float) -> None:
    """Draw the box of a node and its name, smaller where its letters are wide."""
    from matplotlib.patches import FancyBboxPatch

    (x, y), bold = layout.centers[node], node == target
    width, height = layout.widths[node], layout.heights[node]
    fill, edge = node_colours(dag, node, target)
    box = FancyBboxPatch(
        (x - width / 2 + 6, y - height / 2 + 6), width - 12, height - 12, boxstyle="round,pad=6",
        facecolor=fill, edgecolor=edge, zorder=2,
    )  # fmt: skip
    ax.add_patch(box)
    fits = (width - 8) / max(text_width(layout.labels[node], NAME, bold=bold), 1.0)
    ax.text(
        x, y, layout.labels[node], ha="center", va="center", fontsize=NAME * scale * min(1.0, fits),
        fontweight="bold" if bold else "normal", zorder=3, parse_math=False,
    )  # fmt: skip


def plot_cpt(model: Any, node: str | int, *, ax: Any = None) -> Any:
    """Draw the CPT of a column: a bar for every parent configuration, divided into the column's states.

    The parents are named above their states. For a classifier, the training rows of every configuration are beside its
    bar (their weight, or expected number, where rows are weighted or completed).

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
    network = network_of(model)
    index = network.dag.index(node)
    columns, order = network.schema.columns, network.axes(index)
    parents = [axis for axis in order if axis != index]
    flat = _configurations(network.tables[index], order.index(index))
    if len(flat) > MOST_ROWS:
        name = columns[index].name
        msg = f"The CPT of {name!r} has {len(flat):,} rows; a chart shows at most {MOST_ROWS}. Use table_frame."
        raise InputError(msg)
    longest = max(10, LONGEST // max(len(parents), 1))
    rows = [", ".join(short(s, longest) for s in states) for states in product(*(columns[p].labels() for p in parents))]
    states = [short(state, STATE) for state in columns[index].labels()]
    names = [short(columns[p].name, longest) for p in parents]
    counts = _family_counts(model, index, order)
    heads = ["rows", *(_count(n) for n in counts)] if counts is not None else []
    listed = -(-len(states) // MOST_LISTED)
    left, right = room([*rows, ", ".join(names)]), room(heads) + listed * (room(states) + 0.45)
    height = max(1.2 + 0.32 * len(flat), 1.0 + 0.165 * -(-len(states) // listed))
    title = f"P({short(columns[index].name)}{' | ' + ', '.join(names) if names else ''})"
    if room([title], 10) > BARS:
        title = title.replace(" | ", "\n| ")
    mine = ax is None
    ax = axes(ax, left + max(BARS, room(title.split("\n"), 10)) + right + 0.3, height)
    _draw_bars(ax, flat, states, BARS if mine else inner_width(ax))
    ax.set_yticks(range(len(flat)), rows, fontsize=SMALL, parse_math=False)
    ax.tick_params(axis="y", length=0)
    ax.set(xlim=(0, 1), ylim=(len(flat) - 0.5, -1.2 if names or heads else -0.5), xlabel="probability")
    ax.set_title(title, fontsize=10, parse_math=False)
    _draw_heads(ax, ", ".join(names), heads)
    legend = ax.legend(
        loc="upper left", bbox_to_anchor=(1.02 + room(heads) / BARS, 1), fontsize=SMALL, frameon=False,
        title=short(columns[index].name, STATE), title_fontsize=SMALL, ncols=listed, columnspacing=1.0,
    )  # fmt: skip
    for text in (legend.get_title(), *legend.get_texts()):
        text.set_parse_math(False)
    bare(ax, "bottom")
    return ax


def _configurations(table: Floats, axis: int) -> Floats:
    """Bring a table to a row per parent configuration and a column per state."""
    return np.moveaxis(table, axis, -1).reshape(-1, table.shape[axis])


def _family_counts(model: Any, index: int, order: tuple[int, ...]) -> Floats | None:
    """Return the rows of every parent configuration that a classifier was fitted to, where it keeps them."""
    families = getattr(model, "family_counts_", None)
    if families is None or isinstance(model, Network):
        return None
    counts: Floats = _configurations(np.asarray(families[index], float), order.index(index)).sum(axis=1)
    return counts


def _count(n: float) -> str:
    return f"{n:,.0f}" if abs(n - round(n)) < 1e-9 else f"{n:,.1f}"


def _draw_bars(ax: Any, flat: Floats, states: list[str], inches: float) -> None:
    """Draw the stacked bars; a number is written where it fits into its part."""
    from matplotlib import colormaps

    left = np.zeros(len(flat))
    shades = colormaps["viridis"](np.linspace(0.25, 0.92, len(states)))
    least = (room(["0.00"]) + 0.04) / inches
    for state, (label, shade) in enumerate(zip(states, shades, strict=True)):
        bars = ax.barh(range(len(flat)), flat[:, state], left=left, color=shade, height=0.72)
        bars.set_label(label if label[:1] != "_" else f"\u200b{label}")  # a legend leaves out what begins with _
        dark = float(np.dot(shade[:3], (0.3, 0.6, 0.1))) < 0.5
        texts = [f"{p:.2f}" if p >= least else "" for p in flat[:, state]]
        ax.bar_label(bars, texts, label_type="center", fontsize=SMALL, color="white" if dark else "#222222")
        left += flat[:, state]


def _draw_heads(ax: Any, names: str, counts: list[str]) -> None:
    """Write the parents above their states, and the rows of every configuration beside the bars."""
    words: dict[str, Any] = {"fontsize": SMALL, "va": "center", "parse_math": False, "annotation_clip": False}
    if names:
        ax.annotate(
            names, (0, -0.85), (-5, 0), xycoords="data", textcoords="offset points", ha="right", weight="bold", **words
        )
    for place, text in enumerate(counts):
        ax.annotate(
            text, (1, place - 1 if place else -0.85), (6 + room(counts) * INCH, 0), xycoords="data",
            textcoords="offset points", ha="right", color=MUTED, **words,
        )  # fmt: skip
