"""The compiled search for candidate parent sets, one size after another.

Sets of m columns out of n are numbered in lexicographic order. A *family* is a set and the place of its child in it;
the other members are the parents. So the families of one size are the cells of a (sets, m) array.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tanbark.arrays import TIE, Array
from tanbark.machine import kernel
from tanbark.scores.dirichlet_kernels import add_column, find_terms, rank_keys, sum_of_keys, term
from tanbark.structure.constraint.kernels import next_combination


@kernel
def set_number(members: Array, skip: int, binomials: Array) -> int:
    """Return the lexicographic number of a set, one place of it left out where ``skip`` is not negative."""
    n = len(binomials) - 1
    size = len(members) - (skip >= 0)
    number, left = binomials[n, size] - 1, size
    for place in range(len(members)):
        if place != skip:
            number -= binomials[n - 1 - members[place], left]
            left -= 1
    return number  # type: ignore[no-any-return]  # an element of an array


@kernel
def open_families(chosen: Array, start: int, stop: int, binomials: Array, alive: Array, opened: Array) -> None:
    """Mark the families of which no smaller one is closed: ``alive`` are the families of one column less."""
    size = len(chosen)
    numbers = np.empty(size, np.int64)
    for number in range(start, stop):
        for place in range(size):
            numbers[place] = set_number(chosen, place, binomials)
        for child in range(size):
            able = True
            for place in range(size):
                able = able and (place == child or alive[numbers[place], child - (place < child)])
            opened[number, child] = able
        next_combination(chosen, len(binomials) - 1)


@kernel
def sets_below(chosen: Array, start: int, stop: int, binomials: Array, opened: Array, wanted: Array) -> None:
    """Mark the parents of open families: the sets without the child."""
    for number in range(start, stop):
        for child in range(len(chosen)):
            if opened[number, child]:
                wanted[set_number(chosen, child, binomials)] = True
        next_combination(chosen, len(binomials) - 1)


@kernel
def score_families(
    chosen: Array, start: int, stop: int, binomials: Array, h_below: Array, best_below: Array, h: Array, cells: Array,
    opened: Array, log_states: Array, prune: bool, best: Array, alive: Array, kept: Array,
) -> None:  # fmt: skip
    """Score open families, and say which are better than all smaller ones and which may have better larger ones.

    ``best`` is the best score of a child over all subsets of its parents. No family with further parents scores above
    -cells * log(states of the child), the number of observed cells being that of the set; with ``prune`` a family
    whose best is above that is closed.
    """
    size = len(chosen)
    numbers = np.empty(size, np.int64)
    for number in range(start, stop):
        for place in range(size):
            numbers[place] = set_number(chosen, place, binomials)
        for child in range(size):
            if not opened[number, child]:
                continue
            below = -np.inf
            for place in range(size):
                if place != child:
                    below = max(below, best_below[numbers[place], child - (place < child)])
            score = h[number] - h_below[numbers[child]]
            kept[number, child] = score > below + TIE
            best[number, child] = max(score, below)
            most = -cells[number] * log_states[chosen[child]]
            alive[number, child] = not prune or best[number, child] <= most
        next_combination(chosen, len(binomials) - 1)


@kernel
def bound_larger(
    chosen: Array,
    start: int,
    stop: int,
    n: int,
    alive: Array,
    cells: Array,
    log_states: Array,
    prune: bool,
    most: Array,
) -> None:
    """Raise ``most[child]`` to what a family with more parents than an open one may score."""
    for number in range(start, stop):
        for place in range(len(chosen)):
            if alive[number, place]:
                child = chosen[place]
                most[child] = max(most[child], -cells[number] * log_states[child] if prune else 0.0)
        next_combination(chosen, n)


@kernel
def count_sets(
    chosen: Array, start: int, stop: int, wanted: Array, codes: Array, weights: Array, states: Array, given: Array,
    n_given: int, ess: float, store: Any, h: Array, cells: Array,
) -> None:  # fmt: skip
    """Fill in h and the number of observed cells of wanted sets; ``given`` is in every set besides.

    Rows get a key for the members before the last, kept from set to set as far as those stay; the last is counted
    beside it.
    """
    size, n_rows = len(chosen), codes.shape[1]
    room = 64
    while room < 2 * n_rows:
        room *= 2
    slots, ranks, sums = np.empty(room, np.int64), np.empty(room, np.int64), np.empty(room)
    keys, n_keys, qs = np.empty((size + 1, n_rows), np.int64), np.empty(size + 1, np.int64), np.empty(size + 1)
    keys[0], n_keys[0], qs[0] = given, n_given, float(n_given)
    dense, built = np.zeros(8 * n_rows + 4096), 0
    for number in range(start, stop):
        if wanted[number]:
            for place in range(built, size - 1):
                column = chosen[place]
                n_keys[place + 1] = add_column(
                    keys[place], n_keys[place], codes[column], states[column], slots, ranks, keys[place + 1]
                )
                qs[place + 1] = qs[place] * states[column]
            built = size - 1
            last = chosen[built]
            q = qs[built] * states[last]
            if n_keys[built] * states[last] <= len(dense):
                _count_dense(keys[built], n_keys[built], codes[last], states[last], weights, dense)
                h[number], cells[number] = _sum_dense(
                    dense[: n_keys[built] * states[last]], q, ess, len(weights) == 0, store
                )
            else:
                add_column(keys[built], n_keys[built], codes[last], states[last], slots, ranks, keys[size])
                h[number] = sum_of_keys(keys[size], weights, q, ess, slots, sums, store)
                cells[number] = rank_keys(keys[size], slots, ranks)
        built = min(built, next_combination(chosen, codes.shape[0]))


@kernel
def _count_dense(keys: Array, n_keys: int, codes: Array, n_states: int, weights: Array, dense: Array) -> None:
    """Count the rows by key and code."""
    dense[: n_keys * n_states] = 0.0
    if len(weights):
        for row in range(len(keys)):
            dense[keys[row] * n_states + codes[row]] += weights[row]
    else:
        for row in range(len(keys)):
            dense[keys[row] * n_states + codes[row]] += 1.0


@kernel
def _sum_dense(dense: Array, q: float, ess: float, whole: bool, store: Any) -> tuple[float, int]:
    """Add up the terms of the counts; give the sum and how many counts are above 0."""
    row = find_terms(q, ess, store) if whole else -1
    a, terms, total, cells = ess / q, store[1], 0.0, 0
    for n in dense:
        if n > 0:
            total += term(n, a, row, terms)
            cells += 1
    return total, cells
