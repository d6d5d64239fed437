"""Compiled hill climbing that counts on its own, from rows in memory, and lists the parent sets that it scores."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tanbark.arrays import ROUNDING, TIE, Array
from tanbark.counts.bitsets import PackedRows
from tanbark.kernel import kernel
from tanbark.stopping import stopping
from tanbark.structure.greedy.kernels.cell_kernels import MOST_BIT_CELLS, Cells, make_cells
from tanbark.structure.greedy.kernels.family_kernels import family_gains, score_family
from tanbark.structure.greedy.kernels.move_kernels import best_graph_move, connect, disconnect
from tanbark.structure.greedy.kernels.pair_kernels import pair_gains
from tanbark.structure.greedy.kernels.scoring_kernels import Scoring, make_scoring
from tanbark.structure.greedy.kernels.set_kernels import (
    SetList,
    copy_to,
    has_members,
    insert_neighbours,
    members_of,
    toggle_member,
    write_members,
)
from tanbark.structure.greedy.moves import ADD, REVERSE

DONE, FULL, PAUSED = range(3)  # why a kernel returned: nothing is left to do, lists are full, or it took a while


class Counter(NamedTuple):
    """What counts and scores the families: the rows, the score, the limits of families.

    ``kind`` and ``penalty`` are those of ``Scoring``, ``total`` is the weight of the rows, and ``buffer`` has two rows
    of as many counts as a column has states at most.
    """

    data: PackedRows
    kind: int
    penalty: int
    ess: float
    total: float
    n_log_n: Array
    buffer: Array
    allowed: Array
    max_parents: int
    max_cells: int


class Counting(NamedTuple):
    """A counter at work: with the terms of the score, and room for cells."""

    data: PackedRows
    scoring: Scoring
    cells: Cells
    allowed: Array
    max_parents: int
    max_cells: int


class Log(NamedTuple):
    """The steps of a search: (kind, x, y, candidates) of each, and the score after it."""

    steps: Array
    scores: Array


class Climb(NamedTuple):
    """A graph under change, with the gain of toggling each arc, and the score and members of each parent set.

    ``roots[y]`` has the gains of first parents of y. ``stale`` marks the columns whose gains belong to other parents.
    """

    arcs: Array
    reach: Array
    toggle: Array
    score: Array
    mask: Array
    stale: Array
    roots: Array


@kernel
def begin_counting(counter: Counter) -> Counting:
    """Reserve the memory that counting and scoring need."""
    scoring = make_scoring(counter.kind, counter.penalty, counter.ess, counter.total, counter.n_log_n)
    cells = make_cells(counter.data, counter.buffer, MOST_BIT_CELLS)
    return Counting(counter.data, scoring, cells, counter.allowed, counter.max_parents, counter.max_cells)


@kernel
def enter_columns(counting: Counting, sets: SetList, graph: Climb) -> None:
    """Enter the sets of required parents and their neighbours, and the parent sets of the graph.

    The scores of sets that are not empty are known. A column of the graph with required parents only, whose score is
    NaN, has the score of these.
    """
    n = len(graph.roots)
    for y in range(n):
        write_members(sets.bits[y, 0], sets.fixed[:, y])
        write_members(graph.mask[y], graph.arcs[:, y])
        sets.size[y], graph.stale[y] = 1, True
    free, scores, gains = counting.allowed.copy(), np.empty(n), np.empty(n)
    for y in range(n):
        if has_members(sets.bits[y, 0]):
            free[:, y] = False
    pair_gains(counting.data, counting.scoring, free, counting.max_cells, graph.roots, scores)
    for y in range(n):
        mask = sets.bits[y, 0].copy()
        sets.counted[y, 0] = True
        if has_members(mask):
            expand(counting, sets, y, mask, sets.score[y, 0], gains)
        else:
            sets.score[y, 0] = scores[y]
            insert_neighbours(sets, y, mask, scores[y], graph.roots[y], counting.max_parents)
        if np.isnan(graph.score[y]):
            graph.score[y] = sets.score[y, sets.size[y] - 1]


@kernel
def expand(counting: Counting, sets: SetList, y: int, mask: Array, score: float, gains: Array) -> None:
    """Count the neighbours of a parent set, and add them; ``gains`` becomes the gain of toggling each parent."""
    parents = members_of(mask, len(gains))
    family_gains(
        counting.data, counting.scoring, counting.cells, y, parents, counting.allowed, counting.max_cells, gains
    )  # fmt: skip
    insert_neighbours(sets, y, mask, score, gains, counting.max_parents)


@kernel
def is_roomy(sets: SetList, y: int) -> bool:
    """Return whether the list of a column has room for the neighbours of one more set."""
    return bool(sets.size[y] + len(sets.size) < sets.score.shape[1])


@kernel
def climb(counting: Counting, sets: SetList, graph: Climb, log: Log, most: int) -> tuple[int, int, int]:
    """Make the best legal move as long as it gains, until ``most`` codes were looked at.

    Returns why it stopped, the number of steps, and the codes. Ties within 1e-9 go to additions, then deletions, then
    reversals, and to the lowest x, y.
    """
    n, steps, seen = len(graph.arcs), 0, 0
    gains, best = np.empty(n), total_of(graph.score)
    while not stopping():
        for y in range(n):
            if graph.stale[y]:
                if not is_roomy(sets, y):
                    return FULL, steps, seen
                if has_members(graph.mask[y]):
                    expand(counting, sets, y, graph.mask[y], graph.score[y], gains)
                    seen += counting.data.codes.size
                else:
                    copy_to(gains, graph.roots[y])
                copy_to(graph.toggle[:, y], gains)
                graph.stale[y] = False
        if steps == len(log.steps) or seen > most:
            return PAUSED, steps, seen
        gain, kind, x, y, tried = best_graph_move(
            graph.arcs, graph.reach, graph.toggle, counting.allowed, sets.fixed, counting.max_parents
        )
        if kind < 0 or gain <= max(TIE, ROUNDING * abs(best)):
            return DONE, steps, seen
        _make_move(graph, kind, x, y)
        best += gain
        write_step(log, steps, (kind, x, y, tried), best)
        steps += 1
    return DONE, steps, seen


@kernel
def total_of(scores: Array) -> float:
    """Add up scores from the first to the last."""
    total = 0.0
    for y in range(len(scores)):
        total += scores[y]
    return total


@kernel
def write_step(log: Log, place: int, step: tuple[int, int, int, int], score: float) -> None:
    """Write a step into a log."""
    mine = log.steps[place]
    mine[0], mine[1], mine[2], mine[3] = step
    log.scores[place] = score


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


@kernel
def list_by_ancestors(reach: Array, order: Array) -> None:
    """List the columns by the number of their ancestors, so that parents come before children."""
    n, at = len(order), 0
    ancestors = np.zeros(n, np.int64)
    for x in range(n):
        for y in range(n):
            ancestors[y] += reach[x, y]
    for number in range(n):
        for y in range(n):
            if ancestors[y] == number:
                order[at] = y
                at += 1


@kernel
def score_graph(counting: Counting, masks: Array, most_cells: int, scores: Array) -> None:
    """Fill in the score of every family of a graph, unless one has more than ``most_cells``: then the first is NaN.

    The rows must have no weights. Scores are the same to the last digit as those from counted tables.
    """
    n, data = len(scores), counting.data
    place, table = np.empty(data.codes.shape[1], np.int64), np.empty(most_cells)
    for y in range(n):
        parents, cells = members_of(masks[y], n), float(data.n_states[y])
        for x in parents:
            cells *= data.n_states[x]
        if cells > most_cells:
            scores[0] = np.nan
            return
        scores[y] = score_family(data, counting.scoring, counting.cells, y, parents, table, place)
