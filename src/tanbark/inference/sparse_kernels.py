"""Compiled prediction with context trees; missing values are summed out row by row by variable elimination."""

from __future__ import annotations

import numpy as np

from tanbark.arrays import Array
from tanbark.inference.row_factor_kernels import MOST_AXES, product_size, sum_out
from tanbark.inference.sparse_network import RowFactors, SparseNetwork
from tanbark.kernel import kernel
from tanbark.stopping import stopping

VARIABLE, SUMMED = 1, 2  # a missing column with observed descendants; one that is eliminated already
DONE = -1


@kernel
def descend(
    network: SparseNetwork, feature: int, states: Array, context: int, level: int, depth: int
) -> tuple[int, int]:
    """Go down from a context of a feature, reading the parents ``level`` to ``depth`` - 1; return context and level.

    It stops early at a parent whose state is -1, and at the longest context that was seen.
    """
    first, v = network.bounds[feature], int(context)
    while level < depth:
        at = first + level
        parent = network.parents[at]
        state = states[parent]
        if state < 0:
            break
        place = network.child_starts[at] + (v - network.firsts[at]) * network.n_states[parent] + state
        deeper = int(network.children[place])
        if deeper < 0:
            return v, depth
        v = deeper
        level += 1
    return v, level


@kernel
def add_complete(codes: Array, network: SparseNetwork, top: int, bottom: int, out: Array, left: Array) -> None:
    """Add log P(values | class) of rows from top to bottom to ``out[row, class]``; mark those with missing values.

    These are left to :func:`add_incomplete`, a kernel of its own, which takes longest of all to compile.
    """
    n_features = len(network.bounds) - 1
    states = np.zeros(len(network.n_states), np.int64)
    for row in range(top, bottom):
        if stopping():
            return
        for f in range(n_features):
            states[f] = np.int64(codes[f, row])
            left[row] |= states[f] >= network.n_states[f]
        if not left[row]:
            _add_entries(network, states, out[row])


@kernel
def add_incomplete(
    codes: Array, network: SparseNetwork, most_entries: int, most_summed: int, work: Array, rows: Array, out: Array
) -> None:
    """Add log P(observed values | class) of some rows with missing values to ``out[row, class]``."""
    # Idea: families of observed columns read one entry. Missing columns with observed descendants are variables; the
    # families that hold one become factors over their variables and the class, which are eliminated one by one.
    # ``depths`` says how many parents each family reads: a factor that would be too large loses its last ones.
    n_features = len(network.bounds) - 1
    states = np.zeros(len(network.n_states), np.int64)
    role = np.zeros(n_features, np.int64)
    depths = np.zeros(n_features, np.int64)
    for row in rows:
        if stopping():
            return
        for f in range(n_features):
            states[f] = np.int64(codes[f, row])
            depths[f] = network.bounds[f + 1] - network.bounds[f]
            if states[f] >= network.n_states[f]:
                states[f] = -1
        _add_incomplete(network, states, role, depths, most_entries, most_summed, work, out[row])


@kernel
def _add_entries(network: SparseNetwork, states: Array, out: Array) -> None:
    """Add the entries of a row without missing values."""
    n_states, parents, bounds, firsts, child_starts, children, starts, _, logarithms, _ = network
    for f in range(len(bounds) - 1):
        low, high = bounds[f], bounds[f + 1]
        for label in range(len(out)):
            v, state = np.int64(0), np.int64(label)
            for at in range(low, high):
                parent = parents[at]
                if at > low:
                    state = states[parent]
                deeper = np.int64(children[child_starts[at] + (v - firsts[at]) * n_states[parent] + state])
                if deeper < 0:
                    break
                v = deeper
            out[label] += logarithms[starts[f] + v * n_states[f] + states[f]]


@kernel
def _add_incomplete(
    network: SparseNetwork, states: Array, role: Array, depths: Array, most_entries: int, most_summed: int, work: Array,
    out: Array,
) -> None:  # fmt: skip
    """Add a row with missing values; families give up missing parents until every factor fits."""
    n_classes = len(out)
    total = np.zeros(n_classes)
    n_variables = _find_variables(network, states, depths, role)
    while n_variables > most_summed:
        _shorten(network, states, depths, role, 0)
        n_variables = _find_variables(network, states, depths, role)
    while True:  # without numbers first, since most attempts at large sums fail
        failed = _eliminate(network, states, role, depths, most_entries, work, total, True)
        if failed == DONE:
            break
        _shorten(network, states, depths, role, failed)
        _find_variables(network, states, depths, role)
    _eliminate(network, states, role, depths, most_entries, work, total, False)
    for label in range(n_classes):
        out[label] += total[label]


@kernel
def _find_variables(network: SparseNetwork, states: Array, depths: Array, role: Array) -> int:
    """Mark the missing columns that an observed column depends on, within the depths; return how many there are."""
    role[:] = 0
    found = 0
    for f in network.children_first:
        if states[f] >= 0 or role[f] == VARIABLE:
            for at in range(network.bounds[f] + 1, network.bounds[f] + depths[f]):
                p = network.parents[at]
                if states[p] < 0 and role[p] == 0:
                    role[p] = VARIABLE
                    found += 1
    return found


@kernel
def _shorten(network: SparseNetwork, states: Array, depths: Array, role: Array, chosen: int) -> None:
    """Let one family give up its last missing parent and those after it: the family with most entries.

    With ``chosen`` above zero only families with the variable ``chosen - 1`` take part, if there is one.
    """
    best, most = -1, 0.0
    for pass_ in range(2):
        for f in range(len(depths)):
            if states[f] < 0 and role[f] == 0:
                continue
            entries, has, holds = 1.0, False, chosen == 0 or pass_ == 1
            for at in range(network.bounds[f] + 1, network.bounds[f] + depths[f]):
                p = network.parents[at]
                if states[p] < 0:
                    entries *= network.n_states[p]
                    has = True
                    holds = holds or p == chosen - 1
            if has and holds:
                if states[f] < 0:
                    entries *= network.n_states[f]
                if entries > most:
                    most, best = entries, f
        if best >= 0:
            break
    depth = depths[best] - 1
    while states[network.parents[network.bounds[best] + depth]] >= 0 or depth == 0:
        depth -= 1
    depths[best] = depth


@kernel
def _eliminate(
    network: SparseNetwork, states: Array, role: Array, depths: Array, most_entries: int, work: Array, total: Array,
    dry: bool,
) -> int:  # fmt: skip
    """Fill ``total`` with log P(observed | class); return DONE, or 1 + the variable whose elimination is too large.

    A dry run only finds out whether it is.
    """
    n_features, n_classes = len(depths), len(total)
    total[:] = 0.0
    n_factors = 0
    for f in range(n_features):
        n_factors += states[f] >= 0 or role[f] == VARIABLE
    n_factors += n_features
    axes = np.empty((n_factors, MOST_AXES), np.int64)
    n_axes = np.full(n_factors, -1, np.int64)  # -1: none, or used up
    begins = np.zeros(n_factors, np.int64)
    factors = RowFactors(axes, n_axes, begins, work)
    used, free = 0, np.int64(0)
    for f in range(n_features):
        if states[f] < 0 and role[f] != VARIABLE:
            continue
        count, entries = 0, n_classes
        if states[f] < 0:
            axes[used, 0] = f
            count, entries = 1, entries * network.n_states[f]
        for at in range(network.bounds[f] + 1, network.bounds[f] + depths[f]):
            p = network.parents[at]
            if states[p] < 0:
                if count == MOST_AXES or entries * network.n_states[p] > most_entries:
                    return int(p + 1)
                axes[used, count] = p
                count += 1
                entries *= network.n_states[p]
        if count == 0:
            for label in range(0 if dry else n_classes):
                states[n_features] = label
                v, _ = descend(network, f, states, 0, 0, depths[f])
                total[label] += network.logarithms[network.starts[f] + v * network.n_states[f] + states[f]]
            continue
        if free + entries > len(work):
            return int(axes[used, count - 1] + 1)
        n_axes[used], begins[used] = count, free
        if not dry:
            _fill_factor(network, f, states, depths[f], axes[used, :count], n_classes, work[free : free + entries])
        free += entries
        used += 1
    costs = np.full(n_features, np.inf)
    for v in range(n_features):
        if role[v] == VARIABLE:
            costs[v] = product_size(network.n_states, v, axes, n_axes, used)
    while True:
        v = _cheapest(costs)
        if v < 0:
            break
        free = sum_out(network.n_states, v, factors, used, most_entries, free, total, dry)
        if free < 0:
            _unmark(role)
            return int(v + 1)
        role[v] = SUMMED
        costs[v] = np.inf
        if n_axes[used] >= 0:  # only the variables of the new factor have another cost
            used += 1
            for j in range(n_axes[used - 1]):
                a = axes[used - 1, j]
                costs[a] = product_size(network.n_states, a, axes, n_axes, used)
    _unmark(role)
    return DONE


# Loops instead of numpy's argmin and masks: Numba's own of these import scipy.linalg with the kept kernel, which
# takes longer than a prediction.


@kernel
def _cheapest(costs: Array) -> int:
    """Return the variable of least cost, the first of several; -1 where none is left."""
    best, least = -1, np.inf
    for v in range(len(costs)):
        if costs[v] < least:
            best, least = v, costs[v]
    return best


@kernel
def _unmark(role: Array) -> None:
    """Mark the variables that were summed out as variables again."""
    for v in range(len(role)):
        if role[v] == SUMMED:
            role[v] = VARIABLE


@kernel
def _fill_factor(
    network: SparseNetwork, f: int, states: Array, depth: int, axes: Array, n_classes: int, out: Array
) -> None:
    """Write P(f | parents) for all states of the variables of a family; the states of variables are set and unset."""
    # The way down to the first variable is gone once for every class. Layout: the node itself, where it is missing, is
    # the first axis, the last variable the fastest, and the classes follow one another.
    own = np.int64(states[f] < 0)
    size, n_axes, target = network.n_states[f], len(axes), len(states) - 1
    begun, reached = np.empty(n_classes, np.int64), np.empty(n_classes, np.int64)
    for label in range(n_classes):
        states[target] = label
        begun[label], reached[label] = descend(network, f, states, 0, 0, depth)
    inner = 1
    for k in range(own, n_axes):
        inner *= network.n_states[axes[k]]
        states[axes[k]] = 0
    for place in range(inner):
        for label in range(n_classes):
            states[target] = label
            v, _ = descend(network, f, states, begun[label], reached[label], depth)
            begin = network.starts[f] + v * size
            if own:
                for x in range(size):
                    out[(x * inner + place) * n_classes + label] = network.probabilities[begin + x]
            else:
                out[place * n_classes + label] = network.probabilities[begin + states[f]]
        for k in range(n_axes - 1, own - 1, -1):  # the next states of the variables, the last one fastest
            states[axes[k]] += 1
            if states[axes[k]] < network.n_states[axes[k]]:
                break
            states[axes[k]] = 0
    for k in range(own, n_axes):
        states[axes[k]] = -1
