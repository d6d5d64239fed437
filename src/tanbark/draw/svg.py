"""Networks as SVG: a picture that needs no program and no package."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from itertools import pairwise

from tanbark.draw.layout import Layout, Point, layered_layout
from tanbark.graph.dag import Dag

CLASS_FILL, CLASS_EDGE = "#f4a259", "#b5651d"
LINKED_FILL, LINKED_EDGE = "#dbe9f6", "#5b84b1"
PLAIN_FILL, PLAIN_EDGE = "#eeeeee", "#8a8a8a"
ARC, CLASS_ARC, NOTE = "#5c6670", "#d9b48f", "#7a7a7a"
THINNEST, WIDEST = 1.0, 6.0  # pixels of an arc
MOST_DRAWN = 400  # nodes beyond which a notebook shows no picture


@dataclass(frozen=True)
class Svg:
    """A picture: ``text`` is its SVG; notebooks show it, ``str`` is the text."""

    text: str

    def _repr_svg_(self) -> str:
        return self.text

    def __str__(self) -> str:
        return self.text


def network_svg(
    dag: Dag, target: int = -1, *, weights: Mapping[tuple[str, str], float] | None = None,
    class_arcs: bool | None = None,
) -> Svg:  # fmt: skip
    """Draw a graph: the class in orange, its children in blue, others in grey.

    Parameters
    ----------
    dag : Dag
    target : int
        The class, or -1.
    weights : dict of (parent, child) names to numbers, optional
        How much each arc is worth; the widest arc is the worthiest. Without them all are alike.
    class_arcs : bool, optional
        Whether arcs from the class are drawn; by default where it has at most 15 children.

    Examples
    --------
    >>> network_svg(Dag.from_arcs([("C", "A")], "AC"), 1).text.count("<path")
    1
    """
    layout = layered_layout(dag, target, class_arcs=class_arcs)
    widths = arc_widths(dag, weights)
    note = hidden_note(dag, layout, target)
    height = layout.size[1] + (18 if note else 0)
    width = max(layout.size[0], 8 + 6.2 * len(note))
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" width="{width:g}" '
        f'height="{height:g}" style="max-width:100%;height:auto" font-family="Helvetica, Arial, sans-serif" '
        'font-size="12">',
    ]
    for (parent, child), route in sorted(layout.routes.items(), key=lambda item: item[0][0] != target):
        parts.append(_arc(dag, (parent, child), route, widths, of_class=parent == target))
    parts += [_node(dag, layout, node, target) for node in range(len(dag.names))]
    if note:
        parts.append(f'<text x="8" y="{height - 6:g}" fill="{NOTE}" font-size="11">{escape(note)}</text>')
    return Svg("\n".join([*parts, "</svg>"]))


def arc_widths(dag: Dag, weights: Mapping[tuple[str, str], float] | None) -> dict[tuple[str, str], float]:
    """Turn what arcs are worth into widths of lines."""
    if not weights:
        return {}
    top = max((abs(value) for value in weights.values()), default=0.0) or 1.0
    return {arc: THINNEST + (WIDEST - THINNEST) * max(value, 0.0) / top for arc, value in weights.items()}


def hidden_note(dag: Dag, layout: Layout, target: int) -> str:
    """Return which arcs are not drawn."""
    if not layout.hidden:
        return ""
    return f"{layout.labels[target]} is also a parent of all {len(layout.hidden)} columns in blue (arcs not drawn)"


def node_colours(dag: Dag, node: int, target: int) -> tuple[str, str]:
    """Return the fill and the edge of a node."""
    if node == target:
        return CLASS_FILL, CLASS_EDGE
    return (LINKED_FILL, LINKED_EDGE) if target in dag.parents[node] else (PLAIN_FILL, PLAIN_EDGE)


def curve(route: tuple[Point, ...]) -> list[tuple[Point, Point, Point]]:
    """Return cubic pieces through a route: upright at every bend, so that neighbouring pieces meet smoothly."""
    pieces = []
    for (x0, y0), (x1, y1) in pairwise(route):
        third = (y1 - y0) / 2.2 if x0 != x1 else 0.0
        pieces.append(((x0, y0 + third), (x1, y1 - third), (x1, y1)))
    return pieces


def _arc(
    dag: Dag, arc: tuple[int, int], route: tuple[Point, ...], widths: Mapping[tuple[str, str], float], *, of_class: bool
) -> str:
    names = (dag.names[arc[0]], dag.names[arc[1]])
    width = widths.get(names, 1.0 if of_class else 1.4)
    x, y = route[-1]
    reach = 5.0 + 1.2 * width
    short = (*route[:-1], (x, y - reach + 1))
    path = f"M{route[0][0]:g} {route[0][1]:g} " + " ".join(
        f"C{a[0]:g} {a[1]:.1f} {b[0]:g} {b[1]:.1f} {c[0]:g} {c[1]:g}" for a, b, c in curve(short)
    )
    colour, half = CLASS_ARC if of_class else ARC, 2.2 + 0.7 * width
    head = f"{x:g},{y:g} {x - half:.1f},{y - reach:.1f} {x + half:.1f},{y - reach:.1f}"
    title = escape(f"{names[0]} → {names[1]}")
    return (
        f'<g><title>{title}</title><path d="{path}" fill="none" stroke="{colour}" stroke-width="{width:.2f}"/>'
        f'<polygon points="{head}" fill="{colour}"/></g>'
    )


def _node(dag: Dag, layout: Layout, node: int, target: int) -> str:
    (x, y), width, height = layout.centers[node], layout.widths[node], layout.heights[node]
    fill, edge = node_colours(dag, node, target)
    weight = ' font-weight="bold"' if node == target else ""
    return (
        f"<g><title>{escape(dag.names[node])}</title>"
        f'<rect x="{x - width / 2:g}" y="{y - height / 2:g}" width="{width:g}" height="{height:g}" rx="8" '
        f'fill="{fill}" stroke="{edge}" stroke-width="1.2"/>'
        f'<text x="{x:g}" y="{y + 4:g}" text-anchor="middle" fill="#222222"{weight}>'
        f"{escape(layout.labels[node])}</text></g>"
    )
