"""The compiled search for the parent sets of one child: branch and bound over which columns are in and which are out.

The columns are decided in a fixed order, first out, then in; ``group_kernels`` has the tables, ``bound_kernels`` the
bounds.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tanbark.arrays import TIE, Array
from tanbark.counts.kernels import popcount
from tanbark.kernel import kernel
from tanbark.stopping import stopping
from tanbark.structure.exact.bound_kernels import Child, bound_and_score, find_terms, plain_bound_and_score
from tanbark.structure.exact.group_kernels import Columns, Plain, Walk, decide

ENTER, LEFT_OUT, TAKEN_IN = 0, 1, 2  # stages of a node of the search
DEPTH, NODES, LISTED = 0, 1, 2  # places of a walk's numbers


class Goal(NamedTuple):
    """Which sets are wanted: of at most ``most`` parents, whose score less their penalties is at least ``floor``.

    A set pays ``penalties[k]`` if it has at least ``orders[k]`` members in the set ``clusters[k]``.
    """

    most: int
    floor: float
    clusters: Array
    orders: Array
    penalties: Array


class Listed(NamedTuple):
    """The sets found, by falling score."""

    words: Array
    scores: Array


@kernel
def _is_within(small: Array, large: Array) -> bool:
    outside = np.uint64(0)
    for word in range(len(small)):
        outside |= small[word] & ~large[word]
    return outside == 0  # type: ignore[no-any-return]  # an element of an array


@kernel
def penalty_of(members: Array, goal: Goal) -> float:
    """Return what a set pays for the clusters that it counts in."""
    total = 0.0
    for k in range(len(goal.penalties)):
        within = 0
        for word in range(len(members)):
            within += int(popcount(members[word] & goal.clusters[k, word]))
        if within >= goal.orders[k]:
            total += goal.penalties[k]
    return total


@kernel
def _best_within(members: Array, known: float, listed: Listed, n_listed: int) -> float:
    """Return the best score of the listed subsets of a set, of which one of score ``known`` was found before."""
    for k in range(n_listed):
        if listed.scores[k] <= known:
            return known
        if _is_within(listed.words[k], members):
            return listed.scores[k]  # type: ignore[no-any-return]  # an element of an array
    return known


@kernel
def _insert(members: Array, score: float, listed: Listed, n_listed: int) -> None:
    """Put a set in its place among the listed ones."""
    words, scores = listed
    place = n_listed
    while place > 0 and scores[place - 1] < score:
        scores[place] = scores[place - 1]
        words[place] = words[place - 1]
        place -= 1
    scores[place] = score
    words[place] = members


@kernel
def walk_sets(
    walk: Walk, columns: Columns, plain: Plain, child: Child, more: Array, goal: Goal, listed: Listed, budget: int
) -> bool:
    """Go on with a walk for some nodes, or until there is no room to list more; return whether it is finished.

    Subsets come before supersets, so a set is listed if it beats all listed subsets. ``more[d]`` is the least number
    of states of columns not decided at depth d, 1 if none is left.
    """
    deepest, numbers = len(columns.n_states), walk.numbers
    stop = numbers[NODES] + budget
    while numbers[DEPTH] >= 0 and numbers[NODES] < stop and numbers[LISTED] < len(listed.scores):
        if stopping():
            return False
        d = numbers[DEPTH]
        if walk.stages[d] == ENTER:
            numbers[NODES] += 1
            numbers[LISTED] += _enter(walk, d, plain, child, more[d], goal, listed)
            bound, penalty = walk.bounds[d], penalty_of(walk.members[d], goal)
            within = bound > walk.best[d] + TIE and bound - penalty >= goal.floor - TIE
            if d == deepest or walk.parents[d] >= goal.most or not within:
                numbers[DEPTH] -= 1
                continue
        elif walk.stages[d] == TAKEN_IN:
            numbers[DEPTH] -= 1
            continue
        walk.stages[d] += 1
        taken = walk.stages[d] == TAKEN_IN
        decide(walk, d, taken, columns, plain, child.bits)
        walk.stages[d + 1], walk.best[d + 1], walk.bounds[d + 1] = ENTER, walk.best[d], walk.bounds[d]
        walk.members[d + 1] = walk.members[d]
        walk.qs[d + 1], walk.parents[d + 1] = walk.qs[d], walk.parents[d]
        if taken:
            walk.members[d + 1] |= columns.words[d]
            walk.qs[d + 1] *= columns.n_states[d]
            walk.parents[d + 1] += 1
        numbers[DEPTH] = d + 1
    return numbers[DEPTH] < 0  # type: ignore[no-any-return]  # an element of an array


@kernel
def _enter(walk: Walk, d: int, plain: Plain, child: Child, more: float, goal: Goal, listed: Listed) -> int:
    """Bound a node, and if its set is new, score it; return 1 if that is listed, else 0."""
    new = d == 0 or walk.stages[d - 1] == TAKEN_IN
    if d < plain.depth and not new:
        return 0  # all is as it was
    terms, table = find_terms(walk.qs[d], more, child), walk.tables[d]
    size = walk.sizes[table]
    groups, keys = walk.groups[table, :size], walk.keys[table, :size]
    if d < plain.depth:
        bound, score = plain_bound_and_score(groups, keys, plain, walk.alone[d], child, terms)
    else:
        bound, score = bound_and_score(groups, keys, walk.counts[table, :size], walk.alone[d], child, terms)
    walk.bounds[d] = min(walk.bounds[d], bound)
    if not new:
        return 0
    known = _best_within(walk.members[d], walk.best[d], listed, walk.numbers[LISTED])
    walk.best[d] = max(known, score)
    value = score - penalty_of(walk.members[d], goal)
    if score <= known + TIE or value < goal.floor - TIE:
        return 0
    _insert(walk.members[d], score, listed, walk.numbers[LISTED])
    return 1
