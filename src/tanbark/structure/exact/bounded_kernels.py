"""The compiled search for the parent sets of one child: branch and bound over which columns are in and which are out.

The columns are decided in a fixed order, first out, then in. At depth d the set P of those that are in splits the rows
into *groups*, one per configuration of P and the label; P and the columns not decided yet, d and later, split them
into *cells*. A cell of the table is a group, a key (the number of the rest of the row, and the child's state) and a
count, sorted in this order. Taking a column in splits groups and leaves the cells; leaving it out merges cells.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from tanbark.arrays import TIE, Array
from tanbark.counts.kernels import popcount
from tanbark.kernel import kernel
from tanbark.scores.dirichlet import TermCache
from tanbark.scores.dirichlet_kernels import NOT_CACHED, find_terms, h_term
from tanbark.stopping import stopping

ENTER, LEFT_OUT, TAKEN_IN = 0, 1, 2  # stages of a node of the search
DEPTH, NODES, LISTED = 0, 1, 2  # places of a walk's numbers
PAST = np.int64(1 << 60)  # above every key: the end of a run


class Columns(NamedTuple):
    """The columns by depth, and the rows by what they hold from a depth on.

    What rows hold in the columns d, d + 1, ... is numbered in lexicographic order: number s has the state
    ``states[d, s]`` in column d, and the number ``rests[d, s]`` from d + 1 on. ``words[d]`` is column d as a set.
    """

    states: Array
    rests: Array
    n_states: Array
    words: Array


class Child(NamedTuple):
    """The child: its states, the bits of a key that they take, the equivalent sample size, tables of terms.

    ``whole`` counts have all bounds; ``unit`` counts are at least 1. ``products`` holds n ln n.
    """

    n_states: int
    bits: int
    n_labels: int
    total: float
    ess: float
    whole: bool
    unit: bool
    cache: TermCache
    products: Array


class Goal(NamedTuple):
    """Which sets are wanted: of at most ``most`` parents, whose score less their penalties is at least ``floor``.

    A set pays ``penalties[k]`` if it has at least ``orders[k]`` members in the set ``clusters[k]``.
    """

    most: int
    floor: float
    clusters: Array
    orders: Array
    penalties: Array


class Walk(NamedTuple):
    """The nodes from the root to the current one, by depth, and three numbers: depth, nodes so far, sets listed."""

    groups: Array
    keys: Array
    counts: Array
    sizes: Array
    stages: Array
    members: Array
    parents: Array
    qs: Array
    best: Array
    bounds: Array
    numbers: Array


class Listed(NamedTuple):
    """The sets found, by falling score."""

    words: Array
    scores: Array


class Terms(NamedTuple):
    """Rows of the cache for groups and families of a set, and of one with a column more; or NOT_CACHED."""

    q: float
    more: float
    strong: bool
    now: int
    now_child: int
    later: int
    later_child: int


@kernel
def _n_log_n(n: float, products: Array) -> float:
    """Return n ln n, looked up where the table reaches so far."""
    if n < len(products):
        return products[np.int64(n)]  # type: ignore[no-any-return]  # an element of an array
    return n * math.log(n)


@kernel
def _find_all_terms(q: float, more: float, child: Child) -> Terms:
    """Find the terms of a set with q configurations, of which supersets have at least ``more`` times as many."""
    ess, r, cache = child.ess, child.n_states, child.cache
    alpha = ess / (q * more)
    strong = child.whole and more > 1 and alpha <= 0.25 and alpha * (1 + math.log(child.total)) <= 1
    if not child.whole:
        return Terms(q, more, strong, NOT_CACHED, NOT_CACHED, NOT_CACHED, NOT_CACHED)
    now, now_child = find_terms(q, ess, cache), find_terms(q * r, ess, cache)
    if not strong:
        return Terms(q, more, strong, now, now_child, NOT_CACHED, NOT_CACHED)
    return Terms(
        q, more, strong, now, now_child, find_terms(q * more, ess, cache), find_terms(q * more * r, ess, cache)
    )


@kernel
def _cost_of_group(
    pure: Array, mixed: Array, n_mixed: int, entropy: float, excess: float, child: Child, terms: Terms
) -> float:
    """Return the least that a group costs in any superset: see ``bounded_sets.bounded_families`` for the proof.

    ``pure`` and ``mixed`` count the child's states in cells with one and with several of them; ``n_mixed`` cells have
    several, which cost ``entropy`` together, and at most ``excess`` more in the worst of them.
    """
    r, table = child.n_states, child.cache.terms
    log_r = math.log(r)
    observed = 0
    for k in range(r):
        observed += pure[k] + mixed[k] > 0
    by_states = observed * log_r if child.unit else 0.0
    if n_mixed == 0 or not terms.strong:
        return max(by_states, entropy)
    q = terms.q * terms.more
    a, b = child.ess / q, child.ess / (q * r)
    total, cost = 0.0, 0.0
    for k in range(r):
        total += mixed[k]
        cost -= h_term(mixed[k], b, terms.later_child, table) if mixed[k] > 0 else 0.0
    here = h_term(total, a, terms.later, table)
    cost += here
    for k in range(r):
        if pure[k] > 0:
            apart = log_r
            if mixed[k] > 0:
                joined = h_term(total + pure[k], a, terms.later, table) - here
                joined -= h_term(mixed[k] + pure[k], b, terms.later_child, table)
                apart = min(apart, joined + h_term(mixed[k], b, terms.later_child, table))
            cost += apart
    if n_mixed > 1:
        cost = min(cost, entropy + excess + log_r + math.log(r * (a + 1) / a) - 2 * math.log(2.0))
    return max(cost, by_states)  # type: ignore[no-any-return]  # a term of an array


@kernel
def bound_and_score(
    groups: Array, keys: Array, counts: Array, size: int, child: Child, terms: Terms
) -> tuple[float, float]:
    """Return a bound on the scores of all larger sets that the node may lead to, and the score of its own set."""
    # One pass over the table: groups are runs, and the cells of a group are runs within it.
    r, bits, table, products = child.n_states, child.bits, child.cache.terms, child.products
    later, a, b = terms.q * terms.more, child.ess / terms.q, child.ess / (terms.q * r)
    a_later, b_later, states = child.ess / later, child.ess / (later * r), (1 << bits) - 1
    pure, mixed = np.zeros(r, counts.dtype), np.zeros(r, counts.dtype)
    bound, score, i = 0.0, 0.0, 0
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
                lost += h_term(n, b_later, terms.later_child, table) if terms.strong else 0.0
                i += 1
            likelihood -= _n_log_n(total, products)
            entropy -= likelihood
            if terms.strong:
                excess = max(excess, likelihood - lost + h_term(total, a_later, terms.later, table))
        bound -= _cost_of_group(pure, mixed, n_mixed, entropy, excess, child, terms)
        total = 0.0
        for k in range(r):
            n = pure[k] + mixed[k]
            if n > 0:
                total += n
                score += h_term(n, b, terms.now_child, table)
        score -= h_term(total, a, terms.now, table)
    return bound, score


@kernel
def _leave_out(walk: Walk, d: int, columns: Columns, bits: int) -> None:
    """Make the table of depth d + 1 where column d is out: within a group merge the runs of its states."""
    # Each state of the column is a run of the group, sorted by the rest. Linear in the cells times the runs.
    states, rests, low = columns.states[d], columns.rests[d], (1 << bits) - 1
    groups, keys, counts, size = walk.groups[d], walk.keys[d], walk.counts[d], walk.sizes[d]
    groups_out, keys_out, counts_out = walk.groups[d + 1], walk.keys[d + 1], walk.counts[d + 1]
    n_states = columns.n_states[d]
    heads, tails, fronts = np.empty(n_states, np.int64), np.empty(n_states, np.int64), np.empty(n_states, np.int64)
    out, start = 0, 0
    while start < size:
        group, runs, stop, state = groups[start], 0, start, -1
        while stop < size and groups[stop] == group:
            key = keys[stop]
            here, rest = states[key >> bits], np.int64(rests[key >> bits]) << bits | key & low
            if here != state:
                heads[runs], fronts[runs], state = stop, rest, here
                runs += 1
            tails[runs - 1] = stop + 1
            if runs == 1:  # kept as it is if there is no other run
                groups_out[out], keys_out[out], counts_out[out] = group, rest, counts[stop]
                out += 1
            stop += 1
        if runs > 1:
            out -= tails[0] - start
        left, last = runs if runs > 1 else 0, np.int64(-1)
        while left:
            best, least = 0, fronts[0]
            for run in range(1, runs):
                if fronts[run] < least:
                    best, least = run, fronts[run]
            i = heads[best]
            if least == last:
                counts_out[out - 1] += counts[i]
            else:
                groups_out[out], keys_out[out], counts_out[out], last = group, least, counts[i], least
                out += 1
            i += 1
            heads[best] = i
            if i == tails[best]:
                fronts[best], left = PAST, left - 1
            else:
                fronts[best] = np.int64(rests[keys[i] >> bits]) << bits | keys[i] & low
        start = stop
    walk.sizes[d + 1] = out


@kernel
def _take_in(walk: Walk, d: int, columns: Columns, bits: int) -> None:
    """Make the table of depth d + 1 where column d is in: its states split the groups."""
    states, rests, low = columns.states[d], columns.rests[d], (1 << bits) - 1
    groups, keys = walk.groups[d], walk.keys[d]
    groups_out, keys_out, counts_out = walk.groups[d + 1], walk.keys[d + 1], walk.counts[d + 1]
    group, last_group, last_state = -1, -1, -1
    for i in range(walk.sizes[d]):
        rest = keys[i] >> bits
        if groups[i] != last_group or states[rest] != last_state:
            group, last_group, last_state = group + 1, groups[i], states[rest]
        groups_out[i], keys_out[i] = group, rests[rest] << bits | keys[i] & low
        counts_out[i] = walk.counts[d, i]
    walk.sizes[d + 1] = walk.sizes[d]


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
def walk_sets(walk: Walk, columns: Columns, child: Child, more: Array, goal: Goal, listed: Listed, budget: int) -> bool:
    """Go on with a walk for some nodes, or until there is no room to list more; return whether it is finished.

    Subsets come before supersets, so a set is listed if it beats all listed subsets. ``more[d]`` is the least number
    of states of columns not decided at depth d, 1 if none is left.
    """
    deepest, numbers, bits = len(columns.n_states), walk.numbers, child.bits
    stop = numbers[NODES] + budget
    while numbers[DEPTH] >= 0 and numbers[NODES] < stop and numbers[LISTED] < len(listed.scores):
        if stopping():
            return False
        d = numbers[DEPTH]
        if walk.stages[d] == ENTER:
            numbers[NODES] += 1
            numbers[LISTED] += _enter(walk, d, child, more[d], goal, listed)
            bound, penalty = walk.bounds[d], penalty_of(walk.members[d], goal)
            within = bound > walk.best[d] + TIE and bound - penalty >= goal.floor - TIE
            if d == deepest or walk.parents[d] >= goal.most or not within:
                numbers[DEPTH] -= 1
                continue
            _leave_out(walk, d, columns, bits)
        elif walk.stages[d] == LEFT_OUT:
            _take_in(walk, d, columns, bits)
        else:
            numbers[DEPTH] -= 1
            continue
        walk.stages[d] += 1
        taken = walk.stages[d] == TAKEN_IN
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
def _enter(walk: Walk, d: int, child: Child, more: float, goal: Goal, listed: Listed) -> int:
    """Bound a node, and if its set is new, score it; return 1 if that is listed, else 0."""
    new = d == 0 or walk.stages[d - 1] == TAKEN_IN
    terms = _find_all_terms(walk.qs[d], more, child)
    bound, score = bound_and_score(walk.groups[d], walk.keys[d], walk.counts[d], walk.sizes[d], child, terms)
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
