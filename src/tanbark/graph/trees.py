"""Spanning trees and forests over weighted pairs of columns."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import breadth_first_order

from tanbark.arrays import TIE


def pair_indices(n: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """List the pairs i < j of ``range(n)`` in order: (0, 1), (0, 2), …

    >>> [part.tolist() for part in pair_indices(3)]
    [[0, 0, 1], [1, 2, 2]]
    """
    sizes = np.arange(n - 1, -1, -1, dtype=np.int64)
    first = np.repeat(np.arange(n, dtype=np.int64), sizes)
    ends = np.cumsum(sizes)
    second = np.arange(len(first), dtype=np.int64) - np.repeat(ends - sizes, sizes) + first + 1
    return first, second


def falling_order(values: NDArray[np.float64]) -> NDArray[np.int64]:
    """Order positions by falling value; values within 1e-9 of the next are ties, which go to the earlier position.

    >>> falling_order(np.array([1.0, 3.0, 3.0 + 1e-12, 2.0])).tolist()
    [1, 2, 3, 0]
    """
    order = np.argsort(-values)
    falling = values[order]
    tied = falling[:-1] - falling[1:] <= TIE * np.maximum(1.0, np.abs(falling[:-1]))
    if tied.any():
        group = np.concatenate([[0], np.cumsum(~tied)])
        member = np.flatnonzero(np.concatenate([[False], tied]) | np.concatenate([tied, [False]]))
        order[member] = order[member][np.lexsort((order[member], group[member]))]
    return np.asarray(order, dtype=np.int64)


def maximum_spanning_forest(weights: NDArray[np.float64], n: int, *, at_least: float = 0.0) -> list[tuple[int, int]]:
    """Join ``n`` nodes by the heaviest pairs that close no circle, leaving out weights under ``at_least``.

    ``weights`` runs over the pairs i < j in the order of :func:`pair_indices`. Kruskal's algorithm: pairs are taken by
    falling weight, ties by (i, j).

    >>> maximum_spanning_forest(np.array([1.0, 3.0, 2.0]), 3)
    [(0, 2), (1, 2)]
    """
    from tanbark.graph import kernels

    first, second = pair_indices(n)
    keep = np.flatnonzero(weights >= at_least - TIE)
    taken = kernels.join_pairs(first, second, keep[falling_order(weights[keep])], n)
    return sorted(zip(first[taken].tolist(), second[taken].tolist(), strict=True))


def direct_forest(edges: list[tuple[int, int]], n: int, root: int | None = None) -> list[tuple[int, ...]]:
    """Point every edge away from the root of its component and give each node's parents.

    The root of a component is ``root`` where it lies there, else its lowest node.

    >>> direct_forest([(0, 2), (1, 2)], 4, root=1)
    [(2,), (), (1,), ()]
    """
    parents: list[tuple[int, ...]] = [()] * n
    if not edges:
        return parents
    first, second = np.array(edges).T
    graph = coo_array((np.ones(len(edges)), (first, second)), shape=(n, n)).tocsr()
    seen = np.zeros(n, bool)
    for start in [*([] if root is None else [root]), *range(n)]:
        if seen[start]:
            continue
        order, before = breadth_first_order(graph, start, directed=False)
        seen[order] = True
        for node in order[1:]:
            parents[int(node)] = (int(before[node]),)
    return parents
