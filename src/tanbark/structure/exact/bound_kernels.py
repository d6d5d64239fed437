"""Scores of parent sets of one child, and bounds on those of larger sets, from the tables of ``group_kernels``."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from tanbark.arrays import Array
from tanbark.kernel import kernel
from tanbark.structure.exact.group_kernels import Plain

FEW = 64  # whole counts below have their terms looked up, and leave the table where they are a group of their own
NOW, NOW_CHILD, LATER, LATER_CHILD = range(4)  # rows of terms: of a set and its family, and with a column more


class Child(NamedTuple):
    """The child: its states, the bits of a key that they take, the equivalent sample size, a table of n ln n.

    ``whole`` counts have all bounds; ``unit`` counts are at least 1.
    """

    n_states: int
    bits: int
    n_labels: int
    total: float
    ess: float
    whole: bool
    unit: bool
    products: Array


class Terms(NamedTuple):
    """What the scores of a set are made of, and of a set with a column more, by the rows NOW to LATER_CHILD.

    ``table[row, n]`` is lgamma(masses[row] + n) - lgamma(masses[row]) for whole counts below ``FEW``. ``strong`` bounds
    hold for sets of one column more, which have at least ``masses[LATER]`` a cell.
    """

    strong: bool
    masses: Array
    table: Array


@kernel
def _n_log_n(n: float, products: Array) -> float:
    """Return n ln n, looked up where the table reaches so far."""
    if n < len(products):
        return products[np.int64(n)]  # type: ignore[no-any-return]  # an element of an array
    return n * math.log(n)


@kernel
def find_terms(q: float, more: float, child: Child) -> Terms:
    """Find the terms of a set with q configurations, of which supersets have at least ``more`` times as many."""
    ess, r = child.ess, child.n_states
    alpha = ess / (q * more)
    strong = child.whole and more > 1 and alpha <= 0.25 and alpha * (1 + math.log(child.total)) <= 1
    masses = np.array([ess / q, ess / (q * r), alpha, alpha / r])
    table = np.zeros((4, FEW if child.whole else 0))
    for row in range(4 if strong else 2):
        for n in range(1, table.shape[1]):
            table[row, n] = table[row, n - 1] + math.log(masses[row] + (n - 1))
    return Terms(strong, masses, table)


@kernel
def term(n: float, row: int, masses: Array, table: Array) -> float:
    """Return lgamma(a + n) - lgamma(a) for the mass a of a row."""
    if n < table.shape[1]:
        return table[row, np.int64(n)]  # type: ignore[no-any-return]  # an element of an array
    return math.lgamma(masses[row] + n) - math.lgamma(masses[row])


@kernel
def _cost_of_mixed(
    pure: Array, mixed: Array, n_mixed: int, entropy: float, excess: float, log_r: float, masses: Array, table: Array
) -> float:
    """Return the least that a group with mixed cells costs in any superset: see ``bounded_sets`` for the proof.

    ``pure`` and ``mixed`` count the child's states in cells with one and with several of them; ``n_mixed`` cells have
    several, which cost ``entropy`` together, and at most ``excess`` more in the worst of them.
    """
    r, total, cost = len(pure), 0.0, 0.0
    for k in range(r):
        if mixed[k] > 0:
            total += mixed[k]
            cost -= term(mixed[k], LATER_CHILD, masses, table)
    here = term(total, LATER, masses, table)
    cost += here
    for k in range(r):
        if pure[k] > 0:
            apart = log_r
            if mixed[k] > 0:
                joined = term(total + pure[k], LATER, masses, table) - here
                joined -= term(mixed[k] + pure[k], LATER_CHILD, masses, table)
                apart = min(apart, joined + term(mixed[k], LATER_CHILD, masses, table))
            cost += apart
    if n_mixed > 1:
        a = masses[LATER]
        cost = min(cost, entropy + excess + log_r + math.log(r * (a + 1) / a) - 2 * math.log(2.0))
    return cost  # type: ignore[no-any-return]  # a term of an array


@kernel
def _of_alone(alone: Array, log_r: float, masses: Array, table: Array) -> tuple[float, float]:
    """Return what groups that have left the table add to bound and score."""
    bound, score = 0.0, 0.0
    for n in range(1, len(alone)):
        if alone[n]:
            bound -= alone[n] * log_r
            score += alone[n] * (term(n, NOW_CHILD, masses, table) - term(n, NOW, masses, table))
    return bound, score


@kernel
def bound_and_score(
    groups: Array, keys: Array, counts: Array, alone: Array, child: Child, terms: Terms
) -> tuple[float, float]:
    """Return a bound on the scores of all larger sets that the node may lead to, and the score of its own set."""
    # One pass over the table: groups are runs, and the cells of a group are runs within it. Tuples are unpacked once:
    # an attribute in a loop costs a reference count per round.
    strong, masses, table = terms
    r, bits, products, size, unit = child.n_states, child.bits, child.products, len(groups), child.unit
    states, log_r = (1 << bits) - 1, math.log(r)
    pure, mixed = np.zeros(r, counts.dtype), np.zeros(r, counts.dtype)
    bound, score = _of_alone(alone, log_r if unit else 0.0, masses, table)
    i = 0
    while i < size:
        group, n_mixed, entropy, excess = groups[i], 0, 0.0, 0.0
        pure[:], mixed[:] = 0, 0
        while i < size and groups[i] == group:
            cell = keys[i] >> bits
            if i + 1 == size or groups[i + 1] != group or keys[i + 1] >> bits != cell:
                pure[keys[i] & states] += counts[i]
                i += 1
                continue
            n_mixed += 1
            total, lost, likelihood = 0.0, 0.0, 0.0
            while i < size and groups[i] == group and keys[i] >> bits == cell:
                n = counts[i]
                total += n
                mixed[keys[i] & states] += n
                likelihood += _n_log_n(n, products)
                lost += term(n, LATER_CHILD, masses, table) if strong else 0.0
                i += 1
            likelihood -= _n_log_n(total, products)
            entropy -= likelihood
            if strong:
                excess = max(excess, likelihood - lost + term(total, LATER, masses, table))
        total, observed = 0.0, 0
        for k in range(r):
            n = pure[k] + mixed[k]
            if n > 0:
                total += n
                observed += 1
                score += term(n, NOW_CHILD, masses, table)
        score -= term(total, NOW, masses, table)
        cost = entropy
        if n_mixed and strong:
            cost = _cost_of_mixed(pure, mixed, n_mixed, entropy, excess, log_r, masses, table)
        bound -= max(cost, observed * log_r if unit else 0.0)
    return bound, score


@kernel
def plain_bound_and_score(
    groups: Array, rows: Array, plain: Plain, alone: Array, child: Child, terms: Terms
) -> tuple[float, float]:
    """Return what ``bound_and_score`` does for a table of row numbers, where no cell has several states."""
    _, _, _, counts, states = plain
    _, masses, table = terms
    r, size, log_r = child.n_states, len(groups), math.log(child.n_states) if child.unit else 0.0
    held = np.zeros(r, counts.dtype)
    bound, score = _of_alone(alone, log_r, masses, table)
    i = 0
    while i < size:
        group, total = groups[i], 0.0
        held[:] = 0
        while i < size and groups[i] == group:
            held[states[rows[i]]] += counts[rows[i]]
            i += 1
        for k in range(r):
            n = held[k]
            if n > 0:
                total += n
                bound -= log_r
                score += term(n, NOW_CHILD, masses, table)
        score -= term(total, NOW, masses, table)
    return bound, score
