"""A compiled search from beginning to end: hill climbing, then rounds of search over orders of the columns.

It returns early where the lists of parent sets need more room, where something is asked of the caller, and after a
while, so that a caller may report and look at the clock; called again, it goes on where it was.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tanbark.arrays import TIE, Array
from tanbark.kernel import kernel, tiered
from tanbark.stopping import stopping
from tanbark.structure.greedy.kernels.climb_kernels import (
    DONE,
    FULL,
    PAUSED,
    Climb,
    Counter,
    Counting,
    Log,
    begin_counting,
    climb,
    enter_columns,
    expand,
    is_roomy,
    list_by_ancestors,
    score_graph,
    total_of,
    write_step,
)
from tanbark.structure.greedy.kernels.order_kernels import search_orders
from tanbark.structure.greedy.kernels.set_kernels import SetList, copy_to, list_promising

ASKED, LOST = range(3, 5)  # more reasons to return: the caller is to count sets, or to enter another graph
ENTER, CLIMB, GROW, EXPAND, ROUND = range(5)  # stages of a search
STAGE, IDLE, PERTURBATIONS, SEEN, STEPS = range(5)  # places in ``Search.state``
BEST, BEFORE = range(2)  # places in ``Search.score``
START, NEW_PARENTS = range(3, 5)  # steps that are no moves: the score of the graph begun from; x columns, from y sets

ROUND_PERTURBATIONS = 10  # of the best order, in a round
STRENGTH = 4  # most columns that a perturbation moves; rounds in vain add to it
STAY, STRAY = 4, 4  # rounds in vain near the best order before one from another graph, and from there before returning
MOVES_TRIED = 16  # places that a search over orders looks at, by columns and columns: what its work is estimated by
MOST_CELLS = 1 << 12  # of a family that is scored from rows, one by one; more are counted as the engine does


class Search(NamedTuple):
    """A search in progress.

    ``graph.mask`` has the parents in the best graph so far. ``order`` is the order of the columns at hand, ``best``
    that of the best graph, and ``chosen[y]`` the row of the set that column y takes. The neighbours of the sets in the
    rows ``wanted`` are asked for; -1 is none. ``state`` and ``score`` are read by the places above: the stage, the
    rounds without a new best (-1 before the first), the perturbations of the next search, codes looked at and steps
    since the last call; the score of the best graph, and what it was before the round. ``random`` is the state of the
    random numbers. ``final`` has the scores of all families of the best graph at the end, or NaN; with length 0 nobody
    asks for them.
    """

    graph: Climb
    order: Array
    best: Array
    chosen: Array
    wanted: Array
    state: Array
    score: Array
    random: Array
    final: Array


def _work(counter: Counter, *_: Any) -> float:
    """Estimate the work of a search that counts: each column some times with each other one."""
    return 8.0 * float(counter.data.codes.size) * len(counter.allowed)


@tiered(_work)
def search(
    counter: Counter, sets: SetList, task: Search, log: Log, patience: float, most: int
) -> tuple[int, int]:  # fmt: skip
    """Search until ``patience`` rounds in a row find nothing better; return why it stopped, and the number of steps.

    A pause is made where about ``most`` codes and places were looked at.
    """
    return _go_on(begin_counting(counter), sets, task, log, patience, most)  # type: ignore[no-any-return]


@kernel
def search_listed(sets: SetList, task: Search, log: Log, patience: float, most: int) -> tuple[int, int]:
    """Search as ``search`` does, but begin after the climb, and ask the caller for the neighbours of sets."""
    return _go_on(None, sets, task, log, patience, most)  # type: ignore[no-any-return]


@kernel
def _go_on(
    counting: Counting | None, sets: SetList, task: Search, log: Log, patience: float, most: int
) -> tuple[int, int]:  # fmt: skip
    state = task.state
    state[SEEN] = state[STEPS] = 0
    if counting is not None:
        why = _climb(counting, sets, task, log, most)
        if why != DONE:
            return why, state[STEPS]
    while not stopping():
        if state[STAGE] == ROUND:
            turn = state[IDLE] % (STAY + STRAY)
            state[STAGE], state[PERTURBATIONS], task.score[BEFORE] = GROW, ROUND_PERTURBATIONS, task.score[BEST]
            if state[IDLE] and turn == 0:
                copy_to(task.order, task.best)
            elif turn == STAY:
                return LOST, state[STEPS]
        if state[STAGE] == GROW:
            why = _grow(counting, sets, task, log, most)
            if why != DONE:
                return why, state[STEPS]
            first = state[IDLE] < 0
            state[IDLE] = 0 if task.score[BEST] > task.score[BEFORE] else state[IDLE] + 1
            if state[IDLE] >= patience:
                break
            state[STAGE] = ROUND if first else EXPAND
        if state[STAGE] == EXPAND:
            copy_to(task.wanted, list_promising(sets, task.chosen))
            if counting is None:
                state[STAGE] = ROUND
                return ASKED, state[STEPS]
            if not _expand_rows(counting, sets, task.wanted, state):
                return FULL, state[STEPS]
            state[STAGE] = ROUND
        if state[SEEN] > most or state[STEPS] == len(log.steps):
            return PAUSED, state[STEPS]
    if counting is not None and len(task.final):
        score_graph(counting, task.graph.mask, MOST_CELLS, task.final)
    return DONE, state[STEPS]


@kernel
def _climb(counting: Counting, sets: SetList, task: Search, log: Log, most: int) -> int:
    """Enter all columns, and climb from the graph to a local optimum; the order becomes that of its ancestors."""
    state, graph = task.state, task.graph
    if state[STAGE] == ENTER:
        enter_columns(counting, sets, graph)
        state[STAGE] = CLIMB
        write_step(log, 0, (START, 0, 0, 1), total_of(graph.score))
        state[STEPS] = 1
    if state[STAGE] == CLIMB:
        first = state[STEPS]
        rest = Log(log.steps[first:], log.scores[first:])
        why, steps, seen = climb(counting, sets, graph, rest, most)
        state[STEPS] += steps
        state[SEEN] += seen
        if why != DONE:
            return int(why)
        list_by_ancestors(graph.reach, task.order)
        state[STAGE] = GROW
    return DONE


@kernel
def _grow(counting: Counting | None, sets: SetList, task: Search, log: Log, most: int) -> int:
    """Search the orders, count the neighbours of newly chosen parent sets, and repeat until none is new."""
    state, n = task.state, len(task.order)
    strength = STRENGTH + max(state[IDLE], 0) % (STAY + STRAY)
    least, why = TIE * max(1.0, abs(_floor(sets))), DONE
    while True:
        total, order, chosen = search_orders(sets, task.order, state[PERTURBATIONS], strength, least, task.random)
        state[SEEN] += (1 + state[PERTURBATIONS]) * n * n * MOVES_TRIED
        state[PERTURBATIONS] = 0
        copy_to(task.order, order)
        copy_to(task.chosen, chosen)
        fresh = False
        for y in range(n):
            known = sets.counted[y, chosen[y]]
            task.wanted[y] = -1 if known else chosen[y]
            fresh |= not known
        if why != DONE or not fresh or stopping():
            break
        if counting is None:
            why = ASKED
            break
        if not _expand_rows(counting, sets, task.wanted, state):
            why = FULL
        elif state[SEEN] > most:
            why = PAUSED
    if total > task.score[BEST] + least:
        _note_best(sets, task, log)
    return int(why)


@kernel
def _note_best(sets: SetList, task: Search, log: Log) -> None:
    """Note the graph of the chosen sets as the best one, and write a step."""
    mask, changed, scored, best = task.graph.mask, 0, 0, 0.0
    for y in range(len(mask)):
        mine, differs = sets.bits[y, task.chosen[y]], False
        for word in range(len(mine)):
            differs |= mine[word] != mask[y, word]
            mask[y, word] = mine[word]
        changed += differs
        scored += sets.size[y]
        best += sets.score[y, task.chosen[y]]
    copy_to(task.best, task.order)
    task.score[BEST] = best
    write_step(log, task.state[STEPS], (NEW_PARENTS, changed, 0, scored), best)
    task.state[STEPS] += 1


@kernel
def _expand_rows(counting: Counting, sets: SetList, rows: Array, state: Array) -> bool:
    """Count the neighbours of one set of each column, ``rows[y]``, unless that is below 0; return whether all fitted.

    A list without room is left as it is.
    """
    gains, fitted = np.empty(len(rows)), True
    for y in range(len(rows)):
        if rows[y] >= 0 and not sets.counted[y, rows[y]] and not stopping():
            if is_roomy(sets, y):
                mask, score = sets.bits[y, rows[y]].copy(), sets.score[y, rows[y]]
                sets.counted[y, rows[y]] = True
                expand(counting, sets, y, mask, score, gains)
                state[SEEN] += counting.data.codes.size
            else:
                fitted = False
    return fitted


@kernel
def _floor(sets: SetList) -> float:
    """Return the score of the graph with the required arcs only."""
    total = 0.0
    for y in range(len(sets.size)):
        total += sets.score[y, sets.size[y] - 1]
    return total
