"""Compiled lists of scored parent sets, one list for each column, the highest score first.

The sets of column y are the first ``size[y]`` rows of ``bits[y]`` (their members, 64 columns to a word), ``score[y]``
and ``counted[y]`` (whether the neighbours of the set were counted too). The last one has the required parents only.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tanbark.arrays import TIE, Array
from tanbark.kernel import kernel


class SetList(NamedTuple):
    """Scored parent sets of all columns, in lists with room for more; and the arcs that are required."""

    size: Array
    bits: Array
    score: Array
    counted: Array
    fixed: Array


@kernel
def has(mask: Array, column: int) -> bool:
    """Return whether a column is a member of a set."""
    return bool((mask[column >> 6] >> np.uint64(column & 63)) & np.uint64(1))


@kernel
def toggle_member(mask: Array, column: int) -> None:
    """Put a column into a set, or take it out."""
    mask[column >> 6] ^= np.uint64(1) << np.uint64(column & 63)


@kernel
def write_members(mask: Array, member: Array) -> None:
    """Make a set of the columns that are marked."""
    for word in range(len(mask)):
        mask[word] = np.uint64(0)
    for column in range(len(member)):
        if member[column]:
            toggle_member(mask, column)


@kernel
def has_members(mask: Array) -> bool:
    """Return whether a set is not empty."""
    word = 0
    while word < len(mask) and not mask[word]:
        word += 1
    return word < len(mask)


@kernel
def copy_to(target: Array, source: Array) -> None:
    """Copy an array by a loop: Numba compiles two seconds for an assignment of arrays."""
    for place in range(len(target)):
        target[place] = source[place]


@kernel
def is_subset(mine: Array, other: Array) -> bool:
    """Return whether all members of a set are in another."""
    word = 0
    while word < len(mine) and mine[word] & ~other[word] == np.uint64(0):
        word += 1
    return word == len(mine)


@kernel
def _lower(mine: Array, other: Array) -> bool:
    """Return whether a set comes before another one in the order of their masks."""
    for word in range(len(mine) - 1, -1, -1):
        if mine[word] != other[word]:
            return bool(mine[word] < other[word])
    return False


@kernel
def members_of(mask: Array, n: int) -> Array:
    """List the members of a set in ascending order."""
    found, size = np.empty(n, np.int64), 0
    for column in range(n):
        if has(mask, column):
            found[size] = column
            size += 1
    return found[:size]


@kernel
def insert_set(sets: SetList, y: int, mask: Array, score: float, counted: bool) -> None:
    """Add a parent set, unless it never is the best: a better subset of it fits wherever it does.

    Sets that score alike within 1e-9 are listed by their members. There must be room for one more.
    """
    # Cost: one comparison of masks for each set of the column.
    bits, scores, size = sets.bits[y], sets.score[y], sets.size[y]
    edge, last, place = TIE * max(1.0, abs(score)), size - 1, 0
    if score <= scores[last] + 3 * edge:
        return
    while place < last and scores[place] >= score - edge:
        if is_subset(bits[place], mask):  # or the same
            if counted and is_subset(mask, bits[place]):
                sets.counted[y, place] = True
            return
        if scores[place] <= score + edge and _lower(mask, bits[place]):
            break
        place += 1
    at = _drop_supersets(sets, y, mask, place)
    for row in range(at, place, -1):
        copy_to(bits[row], bits[row - 1])
        scores[row], sets.counted[y, row] = scores[row - 1], sets.counted[y, row - 1]
    copy_to(bits[place], mask)
    scores[place], sets.counted[y, place] = score, counted
    sets.size[y] = at + 1


@kernel
def _drop_supersets(sets: SetList, y: int, mask: Array, place: int) -> int:
    """Drop the supersets of a set from a place on; return how many sets are left. The last one stays."""
    bits, size, at = sets.bits[y], sets.size[y], place
    for row in range(place, size):
        if row == size - 1 or not is_subset(mask, bits[row]):
            copy_to(bits[at], bits[row])
            sets.score[y, at], sets.counted[y, at] = sets.score[y, row], sets.counted[y, row]
            at += 1
    return at


@kernel
def insert_neighbours(sets: SetList, y: int, mask: Array, score: float, gains: Array, max_parents: int) -> None:
    """Add a parent set whose neighbours were counted, and those of them that may be best in some order.

    These are the sets without one of its parents, and the sets with one more parent that gains. There must be room for
    as many sets as there are columns.
    """
    insert_set(sets, y, mask, score, True)
    other, members = mask.copy(), 0
    for x in range(len(gains)):
        members += has(mask, x)
    for x in range(len(gains)):
        inside = has(mask, x)
        if gains[x] == -np.inf or (inside and sets.fixed[x, y]):
            continue
        if inside or (members < max_parents and gains[x] > TIE):
            toggle_member(other, x)
            insert_set(sets, y, other, score + gains[x], False)
            toggle_member(other, x)


@kernel
def list_promising(sets: SetList, chosen: Array) -> Array:
    """Return for each column the best set above the chosen one whose neighbours were not counted, or -1."""
    found = np.full(len(chosen), -1)
    for y in range(len(chosen)):
        for row in range(chosen[y] - 1, -1, -1):
            if not sets.counted[y, row]:
                found[y] = row
    return found
