"""The two hard steps of a layered drawing: the order within each layer, and the places."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

SWEEPS = 12  # passes over the layers in search of an order
SETTLING = 40  # passes over the layers in search of places
STIFF = 8.0  # how much more than others an arc between two bends is kept upright


@dataclass
class Graph:
    """Layers whose arcs join neighbouring layers only: nodes first, then the bends of longer arcs."""

    layers: list[list[int]]
    up: list[list[int]]
    down: list[list[int]]
    widths: list[float]
    gap: float
    n_nodes: int
    chains: dict[tuple[int, int], tuple[int, ...]]

    @classmethod
    def with_bends(
        cls, layers: list[list[int]], arcs: Sequence[tuple[int, int]], widths: list[float], *, bend: float, gap: float
    ) -> Graph:
        """Return every arc a bend on each layer that it crosses."""
        n = len(widths)
        level = {node: row for row, layer in enumerate(layers) for node in layer}
        graph = cls(
            [list(layer) for layer in layers], [[] for _ in range(n)], [[] for _ in range(n)], list(widths), gap, n, {}
        )
        for parent, child in arcs:
            chain = []
            above = parent
            for row in range(level[parent] + 1, level[child]):
                new = len(graph.widths)
                graph.widths.append(bend)
                graph.up.append([above])
                graph.down.append([])
                graph.down[above].append(new)
                graph.layers[row].append(new)
                chain.append(new)
                above = new
            graph.down[above].append(child)
            graph.up[child].append(above)
            graph.chains[parent, child] = tuple(chain)
        return graph


def crossings(upper: Sequence[int], lower: Sequence[int], down: Sequence[Sequence[int]]) -> int:
    """Count the crossings between two neighbouring layers: the pairs of arcs in opposite orders.

    >>> crossings([0, 1], [2, 3], [[3], [2], [], []])
    1
    """
    rank = {node: k for k, node in enumerate(lower)}
    seen: list[int] = []
    total = 0
    for node in upper:
        ends = sorted(rank[child] for child in down[node])
        for end in ends:
            total += len(seen) - bisect_left(seen, end + 1)
        for end in ends:
            insort(seen, end)
    return total


def total_crossings(graph: Graph) -> int:
    """Count the crossings of a whole drawing."""
    return sum(crossings(upper, lower, graph.down) for upper, lower in pairwise(graph.layers))


def sort_layers(graph: Graph, *, last: int = -1) -> None:
    """Put every layer in an order with few crossings; the best of all sweeps is kept, the earliest on ties.

    The first order is that of a walk down from the roots, which leaves a forest without crossings; ``last`` is a root
    to walk from after the others (the class, which has arcs to everything).
    """
    _walk(graph, last)
    best, fewest = [list(layer) for layer in graph.layers], total_crossings(graph)
    rows = range(len(graph.layers))
    for sweep in range(SWEEPS):
        if fewest == 0:
            break
        downward = sweep % 2 == 0
        for row in rows[1:] if downward else rows[-2::-1]:
            _by_medians(graph, row, downward=downward)
        _swap(graph)
        found = total_crossings(graph)
        if found < fewest:
            best, fewest = [list(layer) for layer in graph.layers], found
    graph.layers[:] = best


def _walk(graph: Graph, last: int) -> None:
    """Order the layers by a walk in depth from the roots."""
    order: dict[int, int] = {}
    roots = [v for layer in graph.layers for v in layer if v < graph.n_nodes and set(graph.up[v]) <= {last}]
    for root in (*(v for v in roots if v != last), *([last] if last >= 0 else []), *range(len(graph.widths))):
        stack = [root]
        while stack:
            v = stack.pop()
            if v not in order:
                order[v] = len(order)
                stack += [child for child in reversed(graph.down[v]) if child not in order]
    for layer in graph.layers:
        layer.sort(key=order.__getitem__)


def _by_medians(graph: Graph, row: int, *, downward: bool) -> None:
    """Sort a layer by the medians of the neighbours above or below; what has none stays where it is."""
    beside = graph.up if downward else graph.down
    rank = {v: k for k, v in enumerate(graph.layers[row + (-1 if downward else 1)])}
    layer = graph.layers[row]
    keys = {v: _median(sorted(rank[w] for w in beside[v])) for v in layer if beside[v]}
    moved = iter(sorted(keys, key=lambda v: keys[v]))
    graph.layers[row] = [next(moved) if v in keys else v for v in layer]


def _median(ranks: list[int]) -> float:
    """Return the median; of an even number, the mean of the two in the middle weighted by how far the others spread."""
    half = len(ranks) // 2
    if len(ranks) % 2:
        return float(ranks[half])
    if len(ranks) == 2:
        return (ranks[0] + ranks[1]) / 2
    left, right = ranks[half - 1] - ranks[0], ranks[-1] - ranks[half]
    if left + right == 0:
        return (ranks[half - 1] + ranks[half]) / 2
    return (ranks[half - 1] * right + ranks[half] * left) / (left + right)


def _swap(graph: Graph) -> None:
    """Swap neighbours on a layer while that removes crossings, a few times over."""
    for _ in range(4):
        better = False
        for row, layer in enumerate(graph.layers):
            sides = []
            if row > 0:
                sides.append((graph.up, {v: k for k, v in enumerate(graph.layers[row - 1])}))
            if row + 1 < len(graph.layers):
                sides.append((graph.down, {v: k for k, v in enumerate(graph.layers[row + 1])}))
            ranks = {v: [sorted(rank[w] for w in beside[v]) for beside, rank in sides] for v in layer}
            for k in range(len(layer) - 1):
                left, right = layer[k], layer[k + 1]
                pairs = list(zip(ranks[left], ranks[right], strict=True))
                now = sum([_inversions(a, b) for a, b in pairs])
                if now and sum([_inversions(b, a) for a, b in pairs]) < now:
                    layer[k], layer[k + 1] = right, left
                    better = True
        if not better:
            return


def _inversions(left: list[int], right: list[int]) -> int:
    """Count the pairs in which the end of a left arc lies beyond the end of a right one."""
    if len(left) == 1 and len(right) == 1:  # as between bends, which most of a large drawing consists of
        return int(left[0] > right[0])
    return sum(len(left) - bisect_left(left, end + 1) for end in right)


def place(graph: Graph) -> list[float]:
    """Return every node and bend its place on its layer.

    The sum of the squared shifts along all arcs is made small, layer by layer: each time the layer takes the places
    nearest to the means of its neighbours that keep the order and the gaps.
    """
    x = [0.0] * len(graph.widths)
    for layer in graph.layers:
        offsets = _offsets(graph, layer)
        for v, offset in zip(layer, offsets, strict=True):
            x[v] = offset - offsets[-1] / 2
    for step in range(SETTLING):
        rows = graph.layers if step % 2 == 0 else graph.layers[::-1]
        moved = max((_settle(graph, layer, x) for layer in rows), default=0.0)
        if moved < 0.25:
            break
    return x


def _offsets(graph: Graph, layer: list[int]) -> list[float]:
    """Return the nearest that each box may stand to the first of its layer."""
    offsets = [0.0]
    for left, right in pairwise(layer):
        offsets.append(offsets[-1] + (graph.widths[left] + graph.widths[right]) / 2 + graph.gap)
    return offsets


def _settle(graph: Graph, layer: list[int], x: list[float]) -> float:
    offsets = _offsets(graph, layer)
    wanted, weights = [], []
    for v in layer:
        pulls = [(x[w], _stiffness(graph, v, w)) for w in (*graph.up[v], *graph.down[v])] or [(x[v], 0.01)]
        weight = sum(pull for _, pull in pulls)
        wanted.append(sum(at * pull for at, pull in pulls) / weight)
        weights.append(weight)
    rising = _isotonic([at - offset for at, offset in zip(wanted, offsets, strict=True)], weights)
    moved = 0.0
    for v, at, offset in zip(layer, rising, offsets, strict=True):
        moved = max(moved, abs(at + offset - x[v]))
        x[v] = at + offset
    return moved


def _stiffness(graph: Graph, v: int, w: int) -> float:
    bends = (v >= graph.n_nodes) + (w >= graph.n_nodes)
    return (1.0, 2.0, STIFF)[bends]


def _isotonic(wanted: list[float], weights: list[float]) -> list[float]:
    """Return the rising numbers nearest to the wanted ones by weighted squares, by pooling neighbours out of order.

    >>> _isotonic([1.0, 3.0, 2.0], [1.0, 1.0, 1.0])
    [1.0, 2.5, 2.5]
    """
    pools: list[tuple[float, float, int]] = []
    for at, weight in zip(wanted, weights, strict=True):
        mean, mass, size = at, weight, 1
        while pools and pools[-1][0] > mean:
            earlier, more, count = pools.pop()
            mean = (mean * mass + earlier * more) / (mass + more)
            mass, size = mass + more, size + count
        pools.append((mean, mass, size))
    return [mean for mean, _, size in pools for _ in range(size)]
