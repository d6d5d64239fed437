"""The whole drawing of a network: trees as tidy trees, other graphs in layers, and what has no arcs in a tray.

Where the class is a parent of many features its arcs are not drawn: it stands above the others. Features without any
other arc go to a tray, a grid of boxes. Trees stand in rows. They grow downwards, to the right, or to both sides of
their roots, and the tray lies below or beside them, whichever can be shown larger on a screen. Their levels are closer
together where names would be small otherwise.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from functools import partial

from tanbark.draw.layout import MANY, MARGIN, Point, layered_layout
from tanbark.draw.tree import tidy_tree
from tanbark.graph.dag import Dag

Route = tuple[Point, ...]
Place = tuple[float, float, float, float]  # x and y of the upper left corner, width, height

SCREEN = (1000.0, 520.0)  # pixels that a drawing is made for
BESIDE = 8.0  # the gap between the boxes of a level of a tree
BELOW = (40.0, 30.0, 22.0)  # gaps between levels; the first with which a drawing is legible, or else the last
LEGIBLE = 0.65  # the scale from which on names are read with ease
PARTS = 30.0  # the gap between parts of a drawing
CELLS = 8.0  # the gap between the boxes of a tray
TRAY_EDGE, TRAY_HEAD = 12.0, 24.0  # room around the boxes of a tray, and for its heading
ROW_WIDTHS = 12  # how many widths of a row of trees are tried


class Growth(Enum):
    """Where a tree grows to from its root."""

    DOWN = "down"
    RIGHT = "right"
    BOTH = "both"


@dataclass(frozen=True)
class Arrangement:
    """Where everything is drawn, in pixels from the upper left corner.

    Attributes
    ----------
    places : dict of node to (x, y, width, height)
    routes : dict of (parent, child) to tuple of (x, y)
        From the edge of the parent's box to the edge of the child's; arcs that are not drawn are not there.
    size : (width, height)
    sideways : bool
        Whether arcs leave and enter boxes at their sides, not below and above.
    hidden : tuple of int
        The children of the class whose arcs are not drawn, because there are too many.
    tray : (x, y, width, height), optional
        The frame around the nodes that have no arcs.
    lone : tuple of int
        The nodes in the tray.
    """

    places: dict[int, Place]
    routes: dict[tuple[int, int], Route]
    size: Point
    sideways: bool = False
    hidden: tuple[int, ...] = ()
    tray: Place | None = None
    lone: tuple[int, ...] = ()

    @property
    def scale(self) -> float:
        """How large it can be shown on a screen, at most 1."""
        return min(1.0, SCREEN[0] / max(self.size[0], 1.0), SCREEN[1] / max(self.size[1], 1.0))


def arrange(dag: Dag, target: int, boxes: Sequence[Point], *, class_arcs: bool | None = None) -> Arrangement:
    """Arrange a network for a screen.

    Parameters
    ----------
    dag : Dag
    target : int
        The class, or -1.
    boxes : sequence of (width, height)
    class_arcs : bool, optional
        Whether arcs from the class are drawn; by default where it has at most 15 children.

    Examples
    --------
    >>> dag = Dag.from_arcs([("A", "B"), ("A", "C")], "ABCD")
    >>> found = arrange(dag, -1, [(60.0, 28.0)] * 4)
    >>> found.lone, found.routes[0, 1]
    ((3,), ((123.0, 36.0), (89.0, 76.0)))
    """
    children = dag.children[target] if target >= 0 else ()
    drawn = len(children) <= MANY if class_arcs is None else class_arcs
    hidden = () if drawn else children
    arcs = [(p, c) for c, parents in enumerate(dag.parents) for p in parents if drawn or p != target]
    linked = sorted({node for arc in arcs for node in arc})
    apart = target >= 0 and target not in linked
    lone = tuple(sorted(set(range(len(dag.names))) - {*linked, target}))
    for gap in BELOW:
        whole = []
        for main in _bodies(linked, arcs, boxes, target if drawn and children else -1, gap):
            crowned = _crowned(main, target, boxes) if apart else main
            whole += [_with_tray(crowned, lone, boxes, below=below) for below in (True, False)] if lone else [crowned]
        best = max(whole, key=lambda found: found.scale)  # the first among equals
        if best.scale >= LEGIBLE:
            break
    width, height = best.size
    return replace(_moved(best, MARGIN, MARGIN), size=(width + 2 * MARGIN, height + 2 * MARGIN), hidden=hidden)


def _bodies(
    linked: list[int], arcs: list[tuple[int, int]], boxes: Sequence[Point], fan: int, gap: float
) -> Iterator[Arrangement]:
    """Yield the ways to draw everything that has arcs; ``fan`` is the class if its arcs are among them."""
    n_parents = {node: sum(child == node for _, child in arcs) for node in linked}
    forest = all(count <= 1 for count in n_parents.values())
    if forest:
        for growth in Growth:
            yield from _forests(linked, arcs, boxes, growth, gap)
    if not forest or fan >= 0:
        yield _layers(linked, arcs, boxes, fan)


def _layers(linked: list[int], arcs: list[tuple[int, int]], boxes: Sequence[Point], fan: int) -> Arrangement:
    """Lay the linked nodes out in layers."""
    number = {node: k for k, node in enumerate(linked)}
    parents: list[list[int]] = [[] for _ in linked]
    for parent, child in arcs:
        parents[number[child]].append(number[parent])
    part = Dag(tuple(map(str, linked)), tuple(map(tuple, parents)))
    found = layered_layout(part, number.get(fan, -1), class_arcs=True, boxes=[boxes[node] for node in linked])
    places = {}
    for node, (x, y) in zip(linked, found.centers, strict=True):
        width, height = boxes[node]
        places[node] = (x - width / 2, y - height / 2, width, height)
    routes = {(linked[p], linked[c]): route for (p, c), route in found.routes.items()}
    body = Arrangement(places, routes, (found.size[0] - 2 * MARGIN, found.size[1] - 2 * MARGIN))
    return _moved(body, -MARGIN, -MARGIN)


def _forests(
    linked: list[int], arcs: list[tuple[int, int]], boxes: Sequence[Point], growth: Growth, gap: float
) -> Iterator[Arrangement]:
    """Yield trees in rows of several widths."""
    children: list[list[int]] = [[] for _ in boxes]
    for parent, child in arcs:
        children[parent].append(child)
    below = {child for _, child in arcs}
    grow = partial(_tree, sideways=growth is Growth.RIGHT, gap=gap)
    if growth is Growth.BOTH:
        grow = partial(_both_sides, gap=gap)
    trees = [grow(children, root, boxes) for root in linked if root not in below]
    trees.sort(key=lambda tree: -tree.size[1])  # stable: equal ones stay in the order of the columns
    least = max((tree.size[0] for tree in trees), default=0.0)
    most = sum(tree.size[0] + PARTS for tree in trees)
    steps = ROW_WIDTHS if len(trees) > 1 else 1
    for step in range(steps):
        yield _rows(trees, least * (most / least) ** (step / max(1, steps - 1)) if trees else 0.0)


def _tree(
    children: Sequence[Sequence[int]], root: int, boxes: Sequence[Point], *, sideways: bool, gap: float
) -> Arrangement:
    """Draw one tree; levels are as deep as their deepest box, with a gap between them."""
    breadths = [height if sideways else width for width, height in boxes]
    across, levels = tidy_tree(children, root, breadths, gap=BESIDE)
    places: dict[int, Place] = {}
    ends: dict[int, float] = {}
    start = 0.0
    for level in levels:
        end = start + max(boxes[node][0 if sideways else 1] for node in level)
        for node in level:
            first = across[node] - breadths[node] / 2
            places[node] = (start, first, *boxes[node]) if sideways else (first, start, *boxes[node])
            ends[node] = end
        start = end + gap
    extent = max(across[node] + breadths[node] / 2 for node in across)
    along = start - gap
    routes = {
        (node, child): _link(places[node], places[child], ends[node], sideways=sideways)
        for node in across
        for child in children[node]
    }
    return Arrangement(places, routes, (along, extent) if sideways else (extent, along), sideways)


def _both_sides(children: Sequence[Sequence[int]], root: int, boxes: Sequence[Point], *, gap: float) -> Arrangement:
    """Draw one tree to both sides of its root: the first children to the right, the last to the left.

    The sides are divided where they differ least in their number of nodes.
    """
    sizes = [_size(children, child) for child in children[root]]
    total = sum(sizes)
    cut = min(range(1, len(sizes) + 1), key=lambda k: abs(2 * sum(sizes[:k]) - total), default=0)
    halves = [[*children] for _ in range(2)]
    halves[0][root], halves[1][root] = children[root][:cut], children[root][cut:]
    right, left = (_tree(half, root, boxes, sideways=True, gap=gap) for half in halves)
    left = _mirrored(left)
    across = left.places[root][0] - right.places[root][0], left.places[root][1] - right.places[root][1]
    right = _moved(right, across[0], max(0.0, across[1]))
    left = _moved(left, 0.0, max(0.0, -across[1]))
    return _joined([left, right], sideways=True)


def _size(children: Sequence[Sequence[int]], root: int) -> int:
    """Count the nodes of a subtree."""
    waiting, found = [root], 0
    while waiting:
        waiting += children[waiting.pop()]
        found += 1
    return found


def _mirrored(part: Arrangement) -> Arrangement:
    """Turn left and right round."""
    wide = part.size[0]
    places = {node: (wide - x - width, y, width, height) for node, (x, y, width, height) in part.places.items()}
    routes = {arc: tuple((wide - x, y) for x, y in route) for arc, route in part.routes.items()}
    return replace(part, places=places, routes=routes)


def _link(parent: Place, child: Place, end: float, *, sideways: bool) -> Route:
    """Return the way to a box of the next level: straight to the end of the own level, so that it passes no box."""
    if sideways:
        middle = parent[1] + parent[3] / 2
        route = ((parent[0] + parent[2], middle), (end, middle), (child[0], child[1] + child[3] / 2))
    else:
        middle = parent[0] + parent[2] / 2
        route = ((middle, parent[1] + parent[3]), (middle, end), (child[0] + child[2] / 2, child[1]))
    return route if route[0] != route[1] else route[1:]


def _rows(parts: Sequence[Arrangement], width: float) -> Arrangement:
    """Put parts beside one another, in a new row where one would pass the width."""
    x = y = tallest = 0.0
    moved: list[Arrangement] = []
    for part in parts:
        if x > 0 and x + part.size[0] > width + 1e-6:
            x, y, tallest = 0.0, y + tallest + PARTS, 0.0
        moved.append(_moved(part, x, y))
        x += part.size[0] + PARTS
        tallest = max(tallest, part.size[1])
    return _joined(moved, sideways=any(part.sideways for part in parts))


def _crowned(main: Arrangement, target: int, boxes: Sequence[Point]) -> Arrangement:
    """Put the class above everything else: over the first root of a tree that grows sideways, or in the middle."""
    width, height = boxes[target]
    wide = max(width, main.size[0])
    roots = {parent for parent, _ in main.routes} - {child for _, child in main.routes}
    middle = wide / 2
    if main.sideways and roots:
        x, _, long, _ = min(main.places[root] for root in roots)
        middle = min(max(x + long / 2, width / 2), wide - width / 2)
    top = Arrangement({target: (middle - width / 2, 0.0, width, height)}, {}, (wide, height))
    if not main.places:
        return top
    return _joined([top, _moved(main, (wide - main.size[0]) / 2, height + PARTS)], sideways=main.sideways)


def _with_tray(main: Arrangement, lone: tuple[int, ...], boxes: Sequence[Point], *, below: bool) -> Arrangement:
    """Put the nodes without arcs into a grid below or beside the others, in the order of the columns."""
    cell = max(boxes[node][0] for node in lone) + CELLS
    tall = max(boxes[node][1] for node in lone) + CELLS
    room = main.size[0] if below else SCREEN[0] * max(main.size[1], 1.0) / SCREEN[1] - main.size[0]
    square = (len(lone) * cell * tall * SCREEN[0] / SCREEN[1]) ** 0.5
    wide = max(room, square, 260.0) if below else max(1.0, len(lone) * tall / max(main.size[1], tall)) * cell
    columns = min(len(lone), max(1, int((wide - 2 * TRAY_EDGE + CELLS) // cell)))
    x = 0.0 if below else main.size[0] + PARTS
    y = main.size[1] + PARTS if below and main.places else 0.0
    places = {}
    for k, node in enumerate(lone):
        row, column = divmod(k, columns)
        places[node] = (x + TRAY_EDGE + column * cell, y + TRAY_HEAD + row * tall, *boxes[node])
    frame_width = max(columns * cell - CELLS + 2 * TRAY_EDGE, 230.0)
    frame = (x, y, frame_width, TRAY_HEAD - CELLS + -(-len(lone) // columns) * tall + TRAY_EDGE)
    size = max(main.size[0], x + frame[2]), max(main.size[1], y + frame[3])
    main = _moved(main, (size[0] - main.size[0]) / 2, 0.0) if below else main
    return replace(main, places=main.places | places, size=size, tray=frame, lone=lone)


def _joined(parts: Sequence[Arrangement], *, sideways: bool) -> Arrangement:
    places: dict[int, Place] = {}
    routes: dict[tuple[int, int], Route] = {}
    for part in parts:
        places |= part.places
        routes |= part.routes
    right = max((x + width for x, _, width, _ in places.values()), default=0.0)
    bottom = max((y + height for _, y, _, height in places.values()), default=0.0)
    return Arrangement(places, routes, (right, bottom), sideways)


def _moved(part: Arrangement, right: float, down: float) -> Arrangement:
    places = {node: (x + right, y + down, width, height) for node, (x, y, width, height) in part.places.items()}
    routes = {arc: tuple((x + right, y + down) for x, y in route) for arc, route in part.routes.items()}
    tray = part.tray and (part.tray[0] + right, part.tray[1] + down, *part.tray[2:])
    return replace(part, places=places, routes=routes, tray=tray)
