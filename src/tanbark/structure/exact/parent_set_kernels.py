"""The compiled search for candidate parent sets, one size after another.

Sets of m columns out of n are numbered in lexicographic order. A *family* is a set and the place of its child in it;
the other members are the parents. So the families of one size are the cells of a (sets, m) array. A kernel goes
through the sets numbered ``start`` to ``stop``, of which ``chosen`` is the first, and steps ``chosen`` along.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tanbark.arrays import TIE, Array
from tanbark.counts.kernels import LabelledRows, next_combination
from tanbark.kernel import kernel
from tanbark.scores.dirichlet import TermCache
from tanbark.scores.dirichlet_kernels import add_column, h_of_counts, h_of_keys, make_key_table, rank_keys
from tanbark.stopping import stopping


class Level(NamedTuple):
    """The sets and families of one size.

    By set: ``h`` (NaN where unknown) and the number of observed cells. By family: whether it is scored (``opened``),
    the best score of the child over all subsets of its parents, whether larger families may be better (``alive``), and
    whether it is a candidate, better than all smaller ones (``kept``).
    """

    h: Array
    cells: Array
    opened: Array
    best: Array
    alive: Array
    kept: Array


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


class Floors(NamedTuple):
    """The least value of a set that is wanted, by child: its score less a penalty for every cluster that it counts in.

    The clusters of child v, words of members, are ``starts[v]`` to ``starts[v + 1]``; all of them have v as a member.
    A set counts in those where it has as many members as their order.
    """

    values: Array
    starts: Array
    clusters: Array
    orders: Array
    penalties: Array


@kernel
def open_families(
    chosen: Array, start: int, stop: int, binomials: Array, alive: Array, wanted: Array, opened: Array, counts: Array
) -> None:
    """Mark the families of wanted children of which no smaller one is closed, and count them by child.

    ``alive`` is that of the families of one column less.
    """
    size = len(chosen)
    numbers = np.empty(size, np.int64)
    for number in range(start, stop):
        if stopping():
            return
        for place in range(size):
            numbers[place] = set_number(chosen, place, binomials)
        for child in range(size):
            able = wanted[chosen[child]]
            for place in range(size):
                able = able and (place == child or alive[numbers[place], child - (place < child)])
            opened[number, child] = able
            counts[chosen[child]] += able
        next_combination(chosen, len(binomials) - 1)


@kernel
def sets_below(chosen: Array, start: int, stop: int, binomials: Array, opened: Array, wanted: Array) -> None:
    """Mark the sets of parents of open families: the sets without the child."""
    for number in range(start, stop):
        if stopping():
            return
        for child in range(len(chosen)):
            if opened[number, child]:
                wanted[set_number(chosen, child, binomials)] = True
        next_combination(chosen, len(binomials) - 1)


@kernel
def score_families(
    chosen: Array, start: int, stop: int, binomials: Array, below: Level, level: Level, log_states: Array, prune: bool,
    floors: Floors,
) -> None:  # fmt: skip
    """Score open families; mark those better than all smaller ones, and those that may have better larger ones.

    No family with further parents scores above -cells * log(states of the child), the number of observed cells being
    that of the set; with ``prune`` a family is closed whose best is above that, or for which that less the penalties,
    which only grow with the set, is below the floor of the child.
    """
    # Score of a family: h(set) - h(set without the child), both looked up by number. Linear in the size per family.
    size, best_below, h_below = len(chosen), below.best, below.h
    h, cells, opened, best, alive, kept = level
    numbers = np.empty(size, np.int64)
    for number in range(start, stop):
        if stopping():
            return
        for place in range(size):
            numbers[place] = set_number(chosen, place, binomials)
        for child in range(size):
            if not opened[number, child]:
                continue
            smaller = -np.inf
            for place in range(size):
                if place != child:
                    smaller = max(smaller, best_below[numbers[place], child - (place < child)])
            score = h[number] - h_below[numbers[child]]
            kept[number, child] = score > smaller + TIE
            best[number, child] = max(score, smaller)
            most = -cells[number] * log_states[chosen[child]]
            alive[number, child] = not prune or (best[number, child] <= most and _reaches(chosen, child, most, floors))
        next_combination(chosen, len(binomials) - 1)


@kernel
def _reaches(chosen: Array, child: int, most: float, floors: Floors) -> bool:
    """Return whether a score less the penalties of a family is not below the floor of its child."""
    node = chosen[child]
    floor = floors.values[node] - TIE
    for k in range(floors.starts[node], floors.starts[node + 1]):
        if most < floor:
            return False
        within = 0
        for place in range(len(chosen)):
            column = chosen[place]
            if place != child and floors.clusters[k, column >> 6] >> np.uint64(column & 63) & np.uint64(1):
                within += 1
        if within >= floors.orders[k]:
            most -= floors.penalties[k]
    return most >= floor  # type: ignore[no-any-return]  # an element of an array


@kernel
def h_of_sets(
    chosen: Array, start: int, stop: int, wanted: Array, rows: LabelledRows, ess: float, cache: TermCache, h: Array,
    cells: Array,
) -> None:  # fmt: skip
    """Fill in h and the number of observed cells of wanted sets; the label is in every set besides."""
    # keys[k, row] numbers the joint state of the first k members; the keys are kept from set to set as far as those
    # members stay. The last member is counted beside them: one pass over the rows per set, most of the time.
    codes, weights, n_states = rows.codes, rows.weights, rows.n_states
    size, n_rows = len(chosen), codes.shape[1]
    table = make_key_table(n_rows)
    keys, n_keys, qs = np.empty((size + 1, n_rows), np.int64), np.empty(size + 1, np.int64), np.empty(size + 1)
    keys[0], n_keys[0], qs[0] = rows.labels, rows.n_labels, float(rows.n_labels)
    dense, built = np.zeros(8 * n_rows + 4096), 0
    for number in range(start, stop):
        if stopping():
            return
        if wanted[number]:
            for place in range(built, size - 1):
                column = chosen[place]
                n_keys[place + 1] = add_column(
                    keys[place], n_keys[place], codes[column], n_states[column], table, keys[place + 1]
                )
                qs[place + 1] = qs[place] * n_states[column]
            built = size - 1
            last = chosen[built]
            q, n_cells = qs[built] * n_states[last], n_keys[built] * n_states[last]
            if n_cells <= len(dense):
                _count_dense(keys[built], codes[last], n_states[last], weights, dense[:n_cells])
                h[number], cells[number] = h_of_counts(dense[:n_cells], q, ess, len(weights) == 0, cache)
            else:
                add_column(keys[built], n_keys[built], codes[last], n_states[last], table, keys[size])
                h[number] = h_of_keys(keys[size], weights, q, ess, table, cache)
                cells[number] = rank_keys(keys[size], table)
        built = min(built, next_combination(chosen, codes.shape[0]))


@kernel
def _count_dense(keys: Array, codes: Array, n_states: int, weights: Array, dense: Array) -> None:
    """Count the rows by key and code."""
    dense[:] = 0.0
    if len(weights):
        for row in range(len(keys)):
            dense[keys[row] * n_states + codes[row]] += weights[row]
    else:
        for row in range(len(keys)):
            dense[keys[row] * n_states + codes[row]] += 1.0
