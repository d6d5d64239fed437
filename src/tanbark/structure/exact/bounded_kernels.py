"""The compiled search for the parent sets of one child: branch and bound over which columns are in and which are out.

The columns are decided in a fixed order, first out, then in. At depth d the set P of those that are in splits the rows
into *groups*, one per configuration of P and the label; P and the columns not decided yet, d and later, split them
into *cells*. A cell of the table is a group, a key (the number of the rest of the row, and the child's state) and a
count, sorted in this order. Taking a column in splits groups and leaves the cells; leaving it out merges cells.
A group that has become a single cell stays one in all larger sets, whatever their columns: it leaves the table, and is
only counted by its count.

As long as the columns not decided yet tell nearly all rows apart, there are no cells of several rows to speak of. At
these depths, below ``Plain.depth``, a table holds the numbers of the rows in place of keys, in the order of the keys at
that depth, and leaving a column out changes nothing.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from tanbark.arrays import TIE, Array
from tanbark.counts.kernels import popcount
from tanbark.kernel import kernel
from tanbark.stopping import stopping

ENTER, LEFT_OUT, TAKEN_IN = 0, 1, 2  # stages of a node of the search
DEPTH, NODES, LISTED = 0, 1, 2  # places of a walk's numbers
PAST = np.int64(1 << 60)  # above every key: the end of a run
FEW = 64  # whole counts below have their terms looked up, and leave the table where they are a group of their own
NOW, NOW_CHILD, LATER, LATER_CHILD = range(4)  # rows of terms: of a set and its family, and with a column more


class Columns(NamedTuple):
    """The columns by depth, and the rows by what they hold from a depth on.

    What rows hold in the columns d, d + 1, ... is numbered in lexicographic order: number s has the state
    ``states[d, s]`` in column d, and the number ``rests[d, s]`` from d + 1 on. ``words[d]`` is column d as a set.
    """

    states: Array
    rests: Array
    n_states: Array
    words: Array


class Plain(NamedTuple):
    """The different rows: their codes in the columns before ``depth``, by depth, their keys there, counts and states.

    Rows are numbered in the order of label and key. ``child`` has the states of the child.
    """

    depth: int
    codes: Array
    keys: Array
    counts: Array
    child: Array


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
    """The nodes from the root to the current one, by depth, and three numbers: depth, nodes so far, sets listed.

    ``alone[d, n]`` groups of count n have left the table of depth d. That table is at the place ``tables[d]``.
    """

    tables: Array
    groups: Array
    keys: Array
    counts: Array
    sizes: Array
    alone: Array
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
def term(n: float, row: int, terms: Terms) -> float:
    """Return lgamma(a + n) - lgamma(a) for the mass a of a row."""
    if n < terms.table.shape[1]:
        return terms.table[row, np.int64(n)]  # type: ignore[no-any-return]  # an element of an array
    return math.lgamma(terms.masses[row] + n) - math.lgamma(terms.masses[row])


@kernel
def _cost_of_group(
    pure: Array, mixed: Array, n_mixed: int, entropy: float, excess: float, child: Child, terms: Terms
) -> float:
    """Return the least that a group costs in any superset: see ``bounded_sets.bounded_families`` for the proof.

    ``pure`` and ``mixed`` count the child's states in cells with one and with several of them; ``n_mixed`` cells have
    several, which cost ``entropy`` together, and at most ``excess`` more in the worst of them.
    """
    r = child.n_states
    log_r = math.log(r)
    observed = 0
    for k in range(r):
        observed += pure[k] + mixed[k] > 0
    by_states = observed * log_r if child.unit else 0.0
    if n_mixed == 0 or not terms.strong:
        return max(by_states, entropy)
    total, cost = 0.0, 0.0
    for k in range(r):
        total += mixed[k]
        cost -= term(mixed[k], LATER_CHILD, terms)
    here = term(total, LATER, terms)
    cost += here
    for k in range(r):
        if pure[k] > 0:
            apart = log_r
            if mixed[k] > 0:
                joined = term(total + pure[k], LATER, terms) - here
                joined -= term(mixed[k] + pure[k], LATER_CHILD, terms)
                apart = min(apart, joined + term(mixed[k], LATER_CHILD, terms))
            cost += apart
    if n_mixed > 1:
        a = terms.masses[LATER]
        cost = min(cost, entropy + excess + log_r + math.log(r * (a + 1) / a) - 2 * math.log(2.0))
    return max(cost, by_states)  # type: ignore[no-any-return]  # a term of an array


@kernel
def bound_and_score(
    groups: Array, keys: Array, counts: Array, alone: Array, child: Child, terms: Terms
) -> tuple[float, float]:
    """Return a bound on the scores of all larger sets that the node may lead to, and the score of its own set."""
    # One pass over the table: groups are runs, and the cells of a group are runs within it.
    r, bits, products, size, strong = child.n_states, child.bits, child.products, len(groups), terms.strong
    states = (1 << bits) - 1
    pure, mixed = np.zeros(r, counts.dtype), np.zeros(r, counts.dtype)
    bound, score, log_r = 0.0, 0.0, math.log(r) if child.unit else 0.0
    for n in range(1, len(alone)):
        if alone[n]:
            bound -= alone[n] * log_r
            score += alone[n] * (term(n, NOW_CHILD, terms) - term(n, NOW, terms))
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
                lost += term(n, LATER_CHILD, terms) if strong else 0.0
                i += 1
            likelihood -= _n_log_n(total, products)
            entropy -= likelihood
            if strong:
                excess = max(excess, likelihood - lost + term(total, LATER, terms))
        bound -= _cost_of_group(pure, mixed, n_mixed, entropy, excess, child, terms)
        total = 0.0
        for k in range(r):
            n = pure[k] + mixed[k]
            if n > 0:
                total += n
                score += term(n, NOW_CHILD, terms)
        score -= term(total, NOW, terms)
    return bound, score


@kernel
def drop_alone(groups: Array, keys: Array, counts: Array, size: int, alone: Array) -> int:
    """Take groups of one cell of few rows out of a table, and count them by their count; return the new size."""
    out = 0
    for i in range(size):
        single = (i == 0 or groups[i - 1] != groups[i]) and (i + 1 == size or groups[i + 1] != groups[i])
        if single and counts[i] < len(alone):
            alone[np.int64(counts[i])] += 1
        else:
            groups[out], keys[out], counts[out] = groups[i], keys[i], counts[i]
            out += 1
    return out


@kernel
def plain_bound_and_score(
    groups: Array, rows: Array, plain: Plain, alone: Array, child: Child, terms: Terms
) -> tuple[float, float]:
    """Return what ``bound_and_score`` does for a table of row numbers, where no cell has several states."""
    r, size, log_r = child.n_states, len(groups), math.log(child.n_states) if child.unit else 0.0
    held = np.zeros(r, plain.counts.dtype)
    bound, score = 0.0, 0.0
    for n in range(1, len(alone)):
        if alone[n]:
            bound -= alone[n] * log_r
            score += alone[n] * (term(n, NOW_CHILD, terms) - term(n, NOW, terms))
    i = 0
    while i < size:
        group, total = groups[i], 0.0
        held[:] = 0
        while i < size and groups[i] == group:
            held[plain.child[rows[i]]] += plain.counts[rows[i]]
            i += 1
        for k in range(r):
            n = held[k]
            if n > 0:
                total += n
                bound -= log_r
                score += term(n, NOW_CHILD, terms)
        score -= term(total, NOW, terms)
    return bound, score


@kernel
def _split_plain(walk: Walk, d: int, plain: Plain, n_states: int) -> None:
    """Make the table of depth d + 1 of row numbers where column d is in: groups are split, rows keep their order."""
    # Two looks at each row: how many of the group have which state, and to where. Rows of their own leave the table.
    source, out, group = walk.tables[d], 0, -1
    groups, rows, size = walk.groups[source], walk.keys[source], walk.sizes[source]
    groups_out, rows_out, alone = walk.groups[d + 1], walk.keys[d + 1], walk.alone[d + 1]
    codes, counts = plain.codes[d], plain.counts
    held, places, numbers = np.zeros(n_states, np.int64), np.empty(n_states, np.int64), np.empty(n_states, np.int64)
    start = 0
    while start < size:
        stop = start
        while stop < size and groups[stop] == groups[start]:
            held[codes[rows[stop]]] += 1
            stop += 1
        for state in range(n_states):
            places[state] = out
            if held[state]:
                group += 1
                numbers[state] = group
                out += held[state] if held[state] > 1 else 0
        for i in range(start, stop):
            row, state = rows[i], codes[rows[i]]
            if held[state] == 1 and counts[row] < len(alone):
                alone[np.int64(counts[row])] += 1
                continue
            if held[state] == 1:  # too many rows in one cell to be counted apart
                places[state], out = out, out + 1
            groups_out[places[state]], rows_out[places[state]] = numbers[state], row
            places[state] += 1
        held[:] = 0
        start = stop
    walk.sizes[d + 1] = out
    walk.tables[d + 1] = d + 1


@kernel
def _give_keys(walk: Walk, d: int, plain: Plain) -> None:
    """Make the table of depth d, with keys, from one of row numbers; rows that have become one cell are added up."""
    source, out = walk.tables[d], 0
    groups, rows = walk.groups[source], walk.keys[source]
    groups_out, keys_out, counts_out = walk.groups[d], walk.keys[d], walk.counts[d]
    for i in range(walk.sizes[source]):
        group, key, count = groups[i], plain.keys[rows[i]], plain.counts[rows[i]]
        if out and groups_out[out - 1] == group and keys_out[out - 1] == key:
            counts_out[out - 1] += count
        else:
            groups_out[out], keys_out[out], counts_out[out] = group, key, count
            out += 1
    walk.sizes[d] = drop_alone(groups_out, keys_out, counts_out, out, walk.alone[d])
    walk.tables[d] = d


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
def _decide(walk: Walk, d: int, taken: bool, columns: Columns, plain: Plain, bits: int) -> None:
    """Make the table of depth d + 1, where column d is taken in or left out."""
    walk.alone[d + 1] = walk.alone[d]
    if d >= plain.depth:
        if taken:
            _take_in(walk, d, columns, bits)
        else:
            _leave_out(walk, d, columns, bits)
        walk.sizes[d + 1] = drop_alone(
            walk.groups[d + 1], walk.keys[d + 1], walk.counts[d + 1], walk.sizes[d + 1], walk.alone[d + 1]
        )
        walk.tables[d + 1] = d + 1
        return
    if taken:
        _split_plain(walk, d, plain, columns.n_states[d])
    else:
        walk.tables[d + 1] = walk.tables[d]
    if d + 1 == plain.depth:
        _give_keys(walk, d + 1, plain)


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
        _decide(walk, d, taken, columns, plain, child.bits)
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
