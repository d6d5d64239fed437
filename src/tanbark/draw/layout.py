"""Where the nodes of a drawing stand: layers from parents down to children, few crossings, short and straight arcs.

The method is that of Sugiyama, Tagawa and Toda (1981): nodes are put on layers, arcs over several layers get a bend on
each layer in between, the layers are put in order by sweeps of medians and swaps of neighbours, and at last everything
on a layer moves as near to what it is joined to as the others there allow, which is an isotonic regression.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tanbark.display import short, text_pixels
from tanbark.draw.layers import Graph, place, sort_layers
from tanbark.graph.dag import Dag

Point = tuple[float, float]

MANY = 15  # children of the class beyond which its arcs are not drawn
LONGEST = 24  # characters of a name in a drawing
LETTER, PADDING, HEIGHT = 7.0, 22.0, 28.0  # the box of a name, in pixels
SPARE = 12.0  # pixels of the padding that wide letters may take
BEND = 10.0  # room for an arc between two boxes
ACROSS, DOWN = 18.0, 46.0  # gaps between the boxes of a layer, and between layers
MARGIN = 8.0  # around all
NARROWEST = 720.0  # a layer is not broken into several below this width


@dataclass(frozen=True)
class Layout:
    """A drawing to be: boxes by node, arcs as chains of points, all in pixels from the upper left corner.

    Attributes
    ----------
    labels : tuple of str
        The names, shortened where they are long.
    centers : tuple of (x, y)
    widths, heights : tuple of float
    routes : dict of (parent, child) to tuple of (x, y)
        From the lower edge of the parent's box to the upper edge of the child's; arcs that are not drawn are not there.
    size : (width, height)
    hidden : tuple of int
        The children of the class whose arcs are not drawn, because there are too many.
    """

    labels: tuple[str, ...]
    centers: tuple[Point, ...]
    widths: tuple[float, ...]
    heights: tuple[float, ...]
    routes: dict[tuple[int, int], tuple[Point, ...]]
    size: Point
    hidden: tuple[int, ...] = ()


def layered_layout(
    dag: Dag, target: int = -1, *, class_arcs: bool | None = None, boxes: Sequence[Point] | None = None
) -> Layout:
    """Lay a graph out in layers, parents above children.

    Parameters
    ----------
    dag : Dag
    target : int
        The class, or -1.
    class_arcs : bool, optional
        Whether arcs from the class are drawn; by default where it has at most 15 children.
    boxes : sequence of (width, height), optional
        The boxes, by default as large as the names are long.

    Examples
    --------
    >>> layout = layered_layout(Dag.from_arcs([("C", "A"), ("C", "B"), ("A", "B")], "ABC"), 2)
    >>> [y for _, y in layout.centers] == [layout.centers[2][1] + 74, layout.centers[2][1] + 148, 22.0]
    True
    """
    children = dag.children[target] if target >= 0 else ()
    drawn = len(children) <= MANY if class_arcs is None else class_arcs
    hidden = () if drawn else children
    labels = tuple(shortened(name) for name in dag.names)
    sizes = [name_box(label) for label in labels] if boxes is None else list(boxes)
    widths, heights = tuple(width for width, _ in sizes), tuple(height for _, height in sizes)
    layers = _broken(dag, _layers(dag, target), sizes)
    arcs = [(p, c) for c, found in enumerate(dag.parents) for p in found if p != target or drawn]
    graph = Graph.with_bends(layers, arcs, [*widths], bend=BEND, gap=ACROSS)
    sort_layers(graph, last=target)
    x = place(graph)
    centers, routes, size = _laid_out(graph, x, heights)
    return Layout(labels, centers, widths, heights, routes, size, hidden)


def shortened(name: str) -> str:
    """Return a name on one line, shortened in the middle where it is long."""
    return short(name, LONGEST)


def name_box(label: str) -> Point:
    """Return the width and the height of the box of a name."""
    return PADDING + max(LETTER * max(3, len(label)), text_pixels(label) - SPARE), HEIGHT


def _layers(dag: Dag, target: int) -> list[list[int]]:
    """Put every node below its parents, then as low as its children allow where that shortens arcs."""
    depth = [0] * len(dag.names)
    for node in dag.order:
        depth[node] = max((depth[p] + 1 for p in dag.parents[node]), default=0)
    for node in reversed(dag.order):
        children, parents = dag.children[node], [p for p in dag.parents[node] if p != target]
        if len(children) > len(parents):
            depth[node] = min(depth[c] for c in children) - 1
    alone = {node for node in dag.order if not dag.parents[node] and not dag.children[node]}
    layers: list[list[int]] = [[] for _ in range(max(depth, default=0) + 1)]
    for node, level in enumerate(depth):
        if node not in alone:
            layers[level].append(node)
    return [layer for layer in (*layers, sorted(alone)) if layer]


def _broken(dag: Dag, layers: list[list[int]], boxes: Sequence[Point]) -> list[list[int]]:
    """Break layers that are too wide into several; what has children goes to the lower ones."""
    room = sum((width + ACROSS) * (height + DOWN) for width, height in boxes)
    limit = max(NARROWEST, 1.5 * room**0.5)
    rows: list[list[int]] = []
    for layer in layers:
        total = sum(boxes[node][0] + ACROSS for node in layer)
        pieces = -(-int(total) // int(limit)) if total > limit else 1
        filled = total
        for node in sorted(layer, key=lambda node: (bool(dag.children[node]), node)):
            if filled >= total / pieces:
                rows.append([])
                filled = 0.0
            rows[-1].append(node)
            filled += boxes[node][0] + ACROSS
    return rows


def _laid_out(
    graph: Graph, x: list[float], heights: tuple[float, ...]
) -> tuple[tuple[Point, ...], dict[tuple[int, int], tuple[Point, ...]], Point]:
    """Bring the places to pixels from the upper left corner; return centres, routes and size."""
    items = range(len(x))
    left = min((x[v] - graph.widths[v] / 2 for v in items), default=0.0) - MARGIN
    right = max((x[v] + graph.widths[v] / 2 for v in items), default=0.0) + MARGIN
    upper, lower = [(0.0, 0.0)] * len(x), [(0.0, 0.0)] * len(x)
    top = MARGIN
    for layer in graph.layers:
        tallest = max((heights[v] for v in layer if v < graph.n_nodes), default=HEIGHT)
        for v in layer:
            across, height = round(x[v] - left, 1), heights[v] if v < graph.n_nodes else tallest
            upper[v], lower[v] = (across, top), (across, top + height)
        top += tallest + DOWN
    routes = {
        (parent, child): (lower[parent], *(point for v in chain for point in (upper[v], lower[v])), upper[child])
        for (parent, child), chain in graph.chains.items()
    }
    centers = tuple((upper[v][0], (upper[v][1] + lower[v][1]) / 2) for v in range(graph.n_nodes))
    return centers, routes, (round(right - left, 1), max(top - DOWN, MARGIN) + MARGIN)
