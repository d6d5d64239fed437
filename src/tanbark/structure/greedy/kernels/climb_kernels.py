"""Compiled hill climbing and search over orders that count on their own, from rows in memory.

Both return early where the lists of parent sets need more room, and after a while, so that a caller may report and look
at the clock; called again, they go on where they were.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tanbark.arrays import ROUNDING, TIE, Array
from tanbark.counts.bitsets import PackedRows
from tanbark.kernel import kernel, tiered
from tanbark.stopping import stopping
from tanbark.structure.greedy.kernels.family_kernels import Cells, Scoring, family_gains, score_family
from tanbark.structure.greedy.kernels.move_kernels import best_graph_move, connect, disconnect
from tanbark.structure.greedy.kernels.order_kernels import search_orders
from tanbark.structure.greedy.kernels.pair_kernels import pair_gains
from tanbark.structure.greedy.kernels.set_kernels import (
    SetList,
    copy_to,
    has_members,
    insert_neighbours,
    list_promising,
    members_of,
    toggle_member,
)
from tanbark.structure.greedy.moves import ADD, REVERSE

DONE, FULL, PAUSED = range(3)  # why a kernel returned: nothing is left to do, lists are full, or it took a while
WHILE = 1 << 25  # codes that are looked at before a pause; less than a tenth of a second


class Counter(NamedTuple):
    """What counts and scores the families: the rows, the score, room for cells, and the limits of families."""

    data: PackedRows
    scoring: Scoring
    cells: Cells
    allowed: Array
    max_parents: int
    max_cells: int


class Climb(NamedTuple):
    """A graph under change, with the gain of toggling each arc, and the score and members of each parent set.

    ``stale`` marks the columns whose gains belong to other parents. A step is (kind, x, y, moves tried), and the score
    after it is in ``scores``.
    """

    arcs: Array
    reach: Array
    toggle: Array
    score: Array
    mask: Array
    stale: Array
    steps: Array
    scores: Array


def _work(counter: Counter, *_: Any) -> float:
    """Estimate the work of a search that counts: each column once with each other one, and some with more."""
    return float(counter.data.codes.size * len(counter.allowed))


@tiered(_work)
def enter_columns(counter: Counter, sets: SetList, bound: Array, roots: Array, scores: Array) -> None:
    """Enter all columns without parents, but those that are ``bound`` to some, with the gains of first parents."""
    n = len(roots)
    free = counter.allowed.copy()
    for y in range(n):
        if bound[y]:
            free[:, y] = False
    pair_gains(counter.data, counter.scoring, free, counter.max_cells, roots, scores)
    for y in range(n):
        if not bound[y]:
            sets.score[y, 0], sets.counted[y, 0] = scores[y], True
            insert_neighbours(sets, y, sets.bits[y, 0].copy(), scores[y], roots[y], counter.max_parents)


@kernel
def expand(counter: Counter, sets: SetList, y: int, mask: Array, score: float, gains: Array) -> None:
    """Count the neighbours of a parent set, and add them; ``gains`` becomes the gain of toggling each parent."""
    parents = members_of(mask, len(gains))
    family_gains(
        counter.data, counter.scoring, counter.cells, y, parents, counter.allowed, counter.max_cells, gains
    )  # fmt: skip
    insert_neighbours(sets, y, mask, score, gains, counter.max_parents)


@kernel
def _roomy(sets: SetList, y: int) -> bool:
    """Return whether the list of a column has room for the neighbours of one more set."""
    return bool(sets.size[y] + len(sets.size) < sets.score.shape[1])


@tiered(_work)
def climb(counter: Counter, sets: SetList, graph: Climb, roots: Array) -> tuple[int, int]:
    """Make the best legal move as long as it gains; return the number of steps made, and why no more were.

    ``roots[y]`` has the gains of first parents of y. Ties within 1e-9 go to additions, then deletions, then reversals,
    and to the lowest x, y.
    """
    n, steps, seen = len(graph.arcs), 0, 0
    gains, best = np.empty(n), 0.0
    for y in range(n):
        best += graph.score[y]
    while not stopping():
        for y in range(n):
            if graph.stale[y]:
                if not _roomy(sets, y):
                    return steps, FULL
                if has_members(graph.mask[y]):
                    expand(counter, sets, y, graph.mask[y], graph.score[y], gains)
                    seen += counter.data.codes.size
                else:
                    copy_to(gains, roots[y])
                copy_to(graph.toggle[:, y], gains)
                graph.stale[y] = False
        if steps == len(graph.steps) or seen > WHILE:
            return steps, PAUSED
        gain, kind, x, y, tried = best_graph_move(
            graph.arcs, graph.reach, graph.toggle, counter.allowed, sets.fixed, counter.max_parents
        )
        if kind < 0 or gain <= max(TIE, ROUNDING * abs(best)):
            return steps, DONE
        _make_move(graph, kind, x, y)
        best += gain
        step = graph.steps[steps]
        step[0], step[1], step[2], step[3] = kind, x, y, tried
        graph.scores[steps] = best
        steps += 1
    return steps, DONE


@kernel
def _make_move(graph: Climb, kind: int, x: int, y: int) -> None:
    """Add, delete or reverse the arc x -> y."""
    graph.score[y] += graph.toggle[x, y]
    graph.stale[y] = True
    toggle_member(graph.mask[y], x)
    if kind == ADD:
        connect(graph.arcs, graph.reach, x, y)
    else:
        disconnect(graph.arcs, graph.reach, x, y)
    if kind == REVERSE:
        connect(graph.arcs, graph.reach, y, x)
        graph.score[x] += graph.toggle[y, x]
        graph.stale[x] = True
        toggle_member(graph.mask[x], y)


@tiered(_work)
def expand_rows(counter: Counter, sets: SetList, rows: Array) -> bool:
    """Count the neighbours of one set of each column, ``rows[y]``, unless that is below 0; return whether all fitted.

    A list without room is left as it is.
    """
    gains, fitted = np.empty(len(rows)), True
    for y in range(len(rows)):
        if rows[y] >= 0 and not sets.counted[y, rows[y]] and not stopping():
            if _roomy(sets, y):
                mask, score = sets.bits[y, rows[y]].copy(), sets.score[y, rows[y]]
                sets.counted[y, rows[y]] = True
                expand(counter, sets, y, mask, score, gains)
            else:
                fitted = False
    return fitted


@tiered(_work)
def grow(
    counter: Counter, sets: SetList, columns: Array, perturbations: int, strength: int, least: float, state: Array
) -> tuple[int, float, Array, Array]:  # fmt: skip
    """Search the orders, count the neighbours of newly chosen parent sets, and repeat until none is new.

    Returns why it stopped, and the score, the order and the chosen sets of the last search.
    """
    most = max(1, WHILE // max(1, counter.data.codes.size * len(columns)))
    best, order, chosen = search_orders(sets, columns, perturbations, strength, least, state)
    for _ in range(most):
        fresh = False
        for y in range(len(chosen)):
            fresh |= not sets.counted[y, chosen[y]]
        if not fresh or stopping():
            return DONE, best, order, chosen
        fitted = expand_rows(counter, sets, chosen)
        best, order, chosen = search_orders(sets, order, 0, strength, least, state)
        if not fitted:
            return FULL, best, order, chosen
    return PAUSED, best, order, chosen


@tiered(_work)
def score_graph(counter: Counter, arcs: Array, table: Array, scores: Array) -> bool:
    """Fill in the score of every family of a graph; return whether ``table`` has room for all of them.

    The rows must have no weights. Scores are the same to the last digit as those from counted tables.
    """
    n, place = len(arcs), np.empty(counter.data.codes.shape[1], np.int64)
    for y in range(n):
        parents, size, cells = np.empty(n, np.int64), 0, float(counter.data.n_states[y])
        for x in range(n):
            if arcs[x, y]:
                parents[size] = x
                size += 1
                cells *= counter.data.n_states[x]
        if cells > len(table) or stopping():
            return False
        scores[y] = score_family(counter.data, counter.scoring, y, parents[:size], table, place)
    return True


@tiered(_work)
def expand_promising(counter: Counter, sets: SetList, chosen: Array) -> bool:
    """Count the neighbours of the best set of each column that its order does not allow; return whether all fitted."""
    return bool(expand_rows(counter, sets, list_promising(sets, chosen)))
