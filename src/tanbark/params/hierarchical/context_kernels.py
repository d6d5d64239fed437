"""Compiled kernels of context trees: counting, entries of rows, leave-one-out entries."""

from __future__ import annotations

from math import log

import numpy as np

from tanbark.arrays import Array
from tanbark.kernel import kernel
from tanbark.params.hierarchical.context_tree import ContextTree

ROOT = 0
NONE = -1
DIRECT = 12  # differences of the digamma function up to this many rows are sums of reciprocals


@kernel
def digamma_difference(a: float, n: float) -> float:
    """Return psi(a + n) - psi(a)."""
    # Idea: divisions and logarithms are dear; reciprocals are summed as one fraction, and two logarithms are one.
    if n <= DIRECT and n == int(n):
        return float(_reciprocals(a, int(n)))
    below, above, shift = a, a + n, 0.0
    if below < 6.0:
        steps = 6 - int(below)
        shift += _reciprocals(below, steps)
        below += steps
    if above < 6.0:
        steps = 6 - int(above)
        shift -= _reciprocals(above, steps)
        above += steps
    return float(shift + log(above / below) + _digamma_rest(above) - _digamma_rest(below))


@kernel
def _reciprocals(a: float, n: int) -> float:
    """Return the sum of 1 / (a + j) over j below n."""
    above, below = 0.0, 1.0
    for j in range(n):
        above = above * (a + j) + below
        below *= a + j
    return above / below


@kernel
def _digamma_rest(x: float) -> float:
    """Return psi(x) - log(x) for x of at least 6."""
    inverse = 1.0 / x
    f = inverse * inverse
    return -0.5 * inverse - f * (1.0 / 12.0 - f * (1.0 / 120.0 - f * (1.0 / 252.0 - f / 240.0)))


@kernel
def passed_on(n: float, a: float) -> float:
    """Return the expected tables of a Chinese restaurant with n customers: what a context passes on of n rows."""
    if n <= 0.0:
        return 0.0
    if n <= 1.0:
        return n
    return float(min(max(a * digamma_difference(a, n), 1.0), n))


@kernel
def no_longer_passed_on(n: float, less: float, a: float) -> float:
    """Return passed_on(n, a) - passed_on(n - less, a)."""
    if n - less <= 1.0:
        return float(passed_on(n, a) - passed_on(n - less, a))
    if less == 1.0:
        return a / (a + n - 1.0)
    return float(a * digamma_difference(a + n - less, less))


@kernel
def grow(
    codes: Array, parents: Array, states: Array, weights: Array, least: float
) -> tuple[Array, Array, Array, Array, Array]:
    """Number the contexts of all rows; a row stops at its first missing parent, or where a context has few rows.

    ``states`` has the number of states of every parent; a larger code is a missing value. Below the first parent, a
    context needs ``least`` rows. Returns the children, their starts and the levels (see ContextTree), the context above
    each one, and ``contexts[level, row]``, -1 where a row has stopped.
    """
    # Idea: two passes over the rows per level, one that counts, one that numbers; a dense row of children for each
    # context of the level above. Cost: O(rows x parents), and as many children as contexts times states. Arrays are
    # filled by loops: Numba compiles a function for each kind of np.full or np.concatenate, longer than this kernel.
    n_levels, n_rows = len(parents), codes.shape[1]
    levels = np.zeros(n_levels + 2, np.int64)
    starts = np.zeros(n_levels + 1, np.int64)
    levels[1] = 1
    contexts = np.empty((n_levels + 1, n_rows), np.int32)
    for row in range(n_rows):
        contexts[0, row] = ROOT
    above = np.empty(n_rows * n_levels + 1, np.int32)
    above[ROOT] = ROOT
    children = np.empty(0, np.int32)
    for level in range(n_levels):
        first, n_states, found = levels[level], states[level], levels[level + 1]
        size = (levels[level + 1] - first) * n_states
        joined, rows = np.empty(starts[level] + size, np.int32), np.zeros(size)
        for at in range(len(joined)):
            joined[at] = children[at] if at < starts[level] else NONE
        children, new = joined, joined[starts[level] :]
        values, here, below = codes[parents[level]], contexts[level], contexts[level + 1]
        needed = least if level > 0 else 0.0
        for row in range(n_rows):
            v, state = here[row], np.int64(values[row])
            if v >= 0 and state < n_states:
                rows[(v - first) * n_states + state] += weights[row] if len(weights) else 1.0
        for row in range(n_rows):
            v, state = here[row], np.int64(values[row])
            at = (v - first) * n_states + state
            if v < 0 or state >= n_states or rows[at] < needed:
                below[row] = NONE
                continue
            if new[at] < 0:
                new[at] = found
                above[found] = v
                found += 1
            below[row] = new[at]
        levels[level + 2] = found
        starts[level + 1] = starts[level] + size
    return children, starts, levels, above[: levels[n_levels + 1]].copy(), contexts


@kernel
def count(values: Array, n_states: int, weights: Array, contexts: Array, n_contexts: int) -> Array:
    """Count the states of the node in the deepest context of every row; without weights every row counts once."""
    counts = np.zeros((n_contexts, n_states))
    deepest = contexts.shape[0] - 1
    for row in range(contexts.shape[1]):
        state = np.int64(values[row])
        if state < n_states:
            level = deepest
            while contexts[level, row] < 0:
                level -= 1
            counts[contexts[level, row], state] += weights[row] if len(weights) else 1.0
    return counts


@kernel
def add_entries(
    values: Array, codes: Array, parents: Array, tree: ContextTree, top: int, bottom: int, out: Array
) -> None:
    """Add log P(x | parents) of rows from top to bottom to ``out[row, class]``; the first parent is the class.

    A missing x adds nothing; of the parents those before the first missing one count.
    """
    children, starts, states, levels, _, _, probabilities, _ = tree
    n_states, n_classes = probabilities.shape[1], out.shape[1]
    for row in range(top, bottom):
        state = np.int64(values[row])
        if state >= n_states:
            continue
        for c in range(n_classes):
            v, deeper = np.int64(ROOT), np.int64(children[c])
            level = 1
            while deeper >= 0:
                v = deeper
                if level == len(parents):
                    break
                s = np.int64(codes[parents[level], row])
                if s >= states[level]:
                    break
                deeper = np.int64(children[starts[level] + (v - levels[level]) * states[level] + s])
                level += 1
            out[row, c] += log(probabilities[v, state])


@kernel
def find_contexts(codes: Array, parents: Array, tree: ContextTree) -> Array:
    """Return the context of every row on every level, as :func:`grow` does; -1 where a row has stopped."""
    children, starts, states, levels = tree.children, tree.starts, tree.states, tree.levels
    contexts = np.full((len(parents) + 1, codes.shape[1]), NONE, np.int32)
    contexts[0] = ROOT
    for row in range(codes.shape[1]):
        for level in range(len(parents)):
            s = np.int64(codes[parents[level], row])
            if s >= states[level]:
                break
            deeper = children[starts[level] + (contexts[level, row] - levels[level]) * states[level] + s]
            if deeper < 0:
                break
            contexts[level + 1, row] = deeper
    return contexts


@kernel
def add_left_out(
    codes: Array, node: int, parents: Array, weights: Array, tree: ContextTree, contexts: Array, out: Array
) -> None:
    """Add log P(x | parents) to ``out[row, class]`` for all classes, each row's own count taken out of the tree.

    Concentrations and the passing on of rows are held: of a row that is taken out, the contexts above lose what its
    context no longer passes on. A row of weight w stands for w rows, of which one is taken out.
    """
    # Cost: O(rows x levels x classes).
    children, starts, states, levels, counts, totals, probabilities, concentrations = tree
    n_states, n_classes, n_levels = counts.shape[1], out.shape[1], len(parents)
    labels = codes[parents[0]]
    lost = np.zeros(n_levels + 1)
    for row in range(codes.shape[1]):
        state, label = np.int64(codes[node, row]), np.int64(labels[row])
        if state >= n_states:
            continue
        deepest = n_levels
        while contexts[deepest, row] < 0:
            deepest -= 1
        less = min(weights[row], 1.0) if len(weights) else 1.0
        for level in range(deepest, 0, -1):
            lost[level] = less
            n = counts[contexts[level, row], state]
            a = concentrations[level] * probabilities[contexts[level - 1, row], state]
            less = no_longer_passed_on(n, less, a)
        root = (max(counts[ROOT, state] - less, 0.0) + 0.5) / (totals[ROOT] - less + concentrations[ROOT])
        for c in range(n_classes):
            p, v, s = root, np.int64(ROOT), np.int64(c)
            for level in range(n_levels):
                if level > 0:
                    s = np.int64(codes[parents[level], row])
                    if s >= states[level]:
                        break
                v = np.int64(children[starts[level] + (v - levels[level]) * states[level] + s])
                if v < 0:
                    break
                gone = lost[level + 1] if c == label else 0.0
                concentration = concentrations[level + 1]
                p = (max(counts[v, state] - gone, 0.0) + concentration * p) / (
                    max(totals[v] - gone, 0.0) + concentration
                )
            out[row, c] += log(p)
