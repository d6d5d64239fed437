"""The compiled propagation of evidence in a junction tree, row by row.

Cliques are factors, children before parents. A row is propagated by one pass of messages to the roots and one back,
through the separators; only the entries that agree with the row's observed values are ever read or written, so that a
row costs the joint states of the missing columns of each clique.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tanbark.arrays import Array, Floats, Integers
from tanbark.inference.layout import Factors
from tanbark.kernel import kernel
from tanbark.stopping import stopping


class Tree(NamedTuple):
    """A junction tree in flat arrays.

    The cliques are laid out as :class:`Factors`, with their potentials. Clique k has the clique ``parent[k]`` above it
    (-1 at a root); the separator between them begins at ``separator_starts[k]``, where the columns of k have the
    strides ``up`` (aligned with the cliques' columns), and those of the clique above ``above[above_starts[k]:]``. The
    family of column i is in clique ``home[i]``, whose columns have the strides ``family[family_starts[i]:]`` in the
    counts of the family, which begin at ``count_starts[i]``.
    """

    cliques: Factors
    sizes: Integers
    parent: Integers
    up: Integers
    above: Integers
    above_starts: Integers
    separator_starts: Integers
    home: Integers
    family: Integers
    family_starts: Integers
    count_starts: Integers


class Room(NamedTuple):
    """What a propagation writes to: the cliques, the messages up and down, and two lists of places."""

    work: Floats
    message: Floats
    update: Floats
    left: Integers
    right: Integers


@kernel
def expect_families(codes: Array, weights: Array, top: int, bottom: int, tree: Tree, out: Array) -> tuple[float, int]:
    """Add P(family | row) times the row's weight to ``out``.

    Returns the weighted log-probability of the rows, and the number of impossible ones, which are left out.
    """
    potentials, starts, columns, strides, bounds, _ = tree.cliques
    sizes, home, family, family_starts = tree.sizes, tree.home, tree.family, tree.family_starts
    largest = np.diff(starts).max()
    room = Room(
        np.empty(starts[-1]), np.empty(tree.separator_starts[-1]), np.empty(tree.separator_starts[-1]),
        np.empty(largest, np.int64), np.empty(largest, np.int64),
    )  # fmt: skip
    work, left, right = room.work, room.left, room.right
    total, impossible = 0.0, 0
    for row in range(top, bottom):
        if stopping():
            break
        for k in range(len(starts) - 1):
            low, high, start = bounds[k], bounds[k + 1], starts[k]
            own = strides[low:high]
            for entry in range(_agreeing(codes, row, columns[low:high], sizes, own, own, left, right)):
                work[start + left[entry]] = potentials[start + left[entry]]
        likelihood = _collect(codes, row, tree, room)
        if likelihood == -np.inf:
            impossible += 1
            continue
        total += weights[row] * likelihood
        _distribute(codes, row, tree, room)
        for node in range(len(home)):
            low, high, start = bounds[home[node]], bounds[home[node] + 1], starts[home[node]]
            steps = family[family_starts[node] : family_starts[node + 1]]
            there = tree.count_starts[node]
            for entry in range(_agreeing(codes, row, columns[low:high], sizes, strides[low:high], steps, left, right)):
                out[there + right[entry]] += weights[row] * work[start + left[entry]]
    return total, impossible


@kernel
def _agreeing(
    codes: Array, row: int, scope: Array, sizes: Array, first: Array, second: Array, left: Array, right: Array
) -> int:
    """List the entries of a factor that agree with a row, as places by two sets of strides; return their number."""
    size, base_left, base_right = 1, 0, 0
    left[0], right[0] = 0, 0
    for position in range(len(scope)):
        column = scope[position]
        code, states = np.int64(codes[column, row]), sizes[column]
        if code < states:
            base_left += code * first[position]
            base_right += code * second[position]
            continue
        for state in range(1, states):
            for entry in range(size):
                left[state * size + entry] = left[entry] + state * first[position]
                right[state * size + entry] = right[entry] + state * second[position]
        size *= states
    for entry in range(size):
        left[entry] += base_left
        right[entry] += base_right
    return size


@kernel
def _collect(codes: Array, row: int, tree: Tree, room: Room) -> float:
    """Send messages from the leaves to the roots, each scaled to sum to one; return the log-probability of the row."""
    _, starts, columns, strides, bounds, _ = tree.cliques
    work, message, _, left, right = room
    # Children come before parents, so that a clique has all its messages when its turn comes.
    likelihood = 0.0
    for k in range(len(tree.parent)):
        low, high, start, there = bounds[k], bounds[k + 1], starts[k], tree.separator_starts[k]
        up = tree.up[low:high]
        size = _agreeing(codes, row, columns[low:high], tree.sizes, strides[low:high], up, left, right)
        mass = 0.0
        for entry in range(size):
            mass += work[start + left[entry]]
        if not mass > 0.0:
            return -np.inf
        likelihood += np.log(mass)
        for entry in range(size):
            work[start + left[entry]] /= mass
            message[there + right[entry]] = 0.0
        over = tree.parent[k]
        if over < 0:
            continue
        for entry in range(size):
            message[there + right[entry]] += work[start + left[entry]]
        low, high, start = bounds[over], bounds[over + 1], starts[over]
        steps = tree.above[tree.above_starts[k] : tree.above_starts[k] + high - low]
        size = _agreeing(codes, row, columns[low:high], tree.sizes, strides[low:high], steps, left, right)
        for entry in range(size):
            work[start + left[entry]] *= message[there + right[entry]]
    return likelihood


@kernel
def _distribute(codes: Array, row: int, tree: Tree, room: Room) -> None:
    """Send messages from the roots back to the leaves, so that every clique holds its posterior."""
    _, starts, columns, strides, bounds, _ = tree.cliques
    work, message, update, left, right = room
    for k in range(len(tree.parent) - 1, -1, -1):
        over = tree.parent[k]
        if over < 0:
            continue
        low, high, start, there = bounds[over], bounds[over + 1], starts[over], tree.separator_starts[k]
        steps = tree.above[tree.above_starts[k] : tree.above_starts[k] + high - low]
        size = _agreeing(codes, row, columns[low:high], tree.sizes, strides[low:high], steps, left, right)
        for entry in range(size):
            update[there + right[entry]] = 0.0
        for entry in range(size):
            update[there + right[entry]] += work[start + left[entry]]
        low, high, start = bounds[k], bounds[k + 1], starts[k]
        up = tree.up[low:high]
        size = _agreeing(codes, row, columns[low:high], tree.sizes, strides[low:high], up, left, right)
        for entry in range(size):
            sent = message[there + right[entry]]
            work[start + left[entry]] *= update[there + right[entry]] / sent if sent > 0.0 else 0.0
