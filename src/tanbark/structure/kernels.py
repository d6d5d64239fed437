"""The compiled dynamic programme over subsets."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tanbark.counts.kernels import popcount
from tanbark.machine import kernel

Array = NDArray[Any]


@kernel
def best_families(h: Array, node: int, n: int, most: int, out: Array) -> None:
    """Fill ``out[P]`` with the best score of a node over the subsets of P with at most ``most`` members.

    P is a set of the other nodes, its mask without the node's bit. The score of a family is h(P + node) - h(P).
    """
    bit = np.int64(1) << node
    below = bit - 1
    half = np.int64(1) << (n - 1)
    for place in range(half):
        mask = (place >> node << (node + 1)) | (place & below)
        few = most >= n or np.int64(popcount(np.uint64(mask))) <= most
        out[place] = h[mask | bit] - h[mask] if few else -np.inf
    step = np.int64(1)
    while step < half:
        for high in range(0, half, 2 * step):
            without, with_it = out[high : high + step], out[high + step : high + 2 * step]
            for place in range(step):
                with_it[place] = max(with_it[place], without[place])
        step *= 2


@kernel
def best_sinks(best: Array, n: int, total: Array, sink: Array) -> None:
    """Fill the best score of every set of nodes as a network of its own, and its last node; ties go to the lowest."""
    total[0] = 0.0
    for mask in range(1, np.int64(1) << n):
        found, where = -np.inf, 0
        for node in range(n):
            bit = np.int64(1) << node
            if mask & bit:
                place = (mask >> (node + 1) << node) | (mask & (bit - 1))
                value = total[mask ^ bit] + best[node, place]
                if value > found:
                    found, where = value, node
        total[mask], sink[mask] = found, where


@kernel
def find_parents(h: Array, node: int, above: int, goal: float, most: int) -> int:
    """Find the smallest subset of ``above`` that reaches a score: the fewest members, then the lowest mask."""
    bit = np.int64(1) << node
    found, members, part = -1, 64, above
    while True:
        if h[part | bit] - h[part] >= goal:
            size = int(popcount(np.uint64(part)))
            if size <= most and (size < members or (size == members and part < found)):
                found, members = part, size
        if part == 0:
            return found
        part = (part - 1) & above
