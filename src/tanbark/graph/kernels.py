"""The compiled loops over graphs."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tanbark.machine import kernel

Array = NDArray[Any]


@kernel
def join_pairs(first: Array, second: Array, order: Array, n: int) -> Array:
    """Take pairs in order, leaving out those that close a circle; give the positions of the taken ones (Kruskal)."""
    head = np.arange(n)
    taken = np.empty(max(n - 1, 0), np.int64)
    found = 0
    for position in range(len(order)):
        if found == n - 1:
            break
        pair = order[position]
        a, b = first[pair], second[pair]
        while head[a] != a:
            head[a] = head[head[a]]
            a = head[a]
        while head[b] != b:
            head[b] = head[head[b]]
            b = head[b]
        if a != b:
            head[max(a, b)] = min(a, b)
            taken[found] = pair
            found += 1
    return taken[:found]
