"""Hierarchical CPTs: every context is shrunk towards the context with one parent fewer.

For P(x | p1, ..., pm) the parents have an order. The distribution in the context (p1, ..., pl) is

    theta_l(x) = (t_l(x) + c_l theta_{l-1}(x)) / (sum of t_l + c_l)

where t are counts in the deepest context, and the expected number of tables of a Chinese restaurant process above: of
n rows a context passes t = a (psi(a + n) - psi(a)) on, with a = c_l theta_{l-1}(x). The concentration c_l maximises the
evidence. Contexts of fewer than two rows are not stored: they have the distribution of the context above. This changes
no other context, since a single row passes one table on and has no influence on the concentration.

Petitjean, Buntine, Webb and Zaidi (2018), Accurate parameter estimation for Bayesian network classifiers using
hierarchical Dirichlet processes, sample the tables instead.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from tanbark.arrays import Array, Floats, Integers

NO_WEIGHTS = np.zeros(0)
LEAST_ROWS = 2.0  # of a stored context below the first parent


class ContextTree(NamedTuple):
    """A conditional distribution P(x | p1, ..., pm) for every observed context (), (p1), (p1, p2), ...

    Contexts are numbered level by level: those of level l, with the states of p1 to pl, are ``levels[l]`` to
    ``levels[l + 1]``, and the root is 0. The child of context v of level l for the state s of the next parent is
    ``children[starts[l] + (v - levels[l]) * states[l] + s]``, or -1 where no row was seen.

    ``counts[v]`` are the rows of a deepest context and the expected tables that the contexts below pass on;
    ``totals`` are their sums; ``probabilities[v]`` is the distribution, shrunk towards that of the context above with
    the concentration of the level.
    """

    children: Array
    starts: Array
    states: Array
    levels: Array
    counts: Array
    totals: Array
    probabilities: Array
    concentrations: Array


def fit_tree(
    codes: Array, node: int, parents: Sequence[int] | Integers, states: Sequence[int] | Integers,
    weights: Floats | None = None, *, least_rows: float = LEAST_ROWS,
) -> tuple[ContextTree, Array]:  # fmt: skip
    """Count the contexts of a node and estimate its distribution in each of them.

    Parameters
    ----------
    codes : (n_columns, n_rows) array
        A code beyond the states of its column is a missing value.
    node : int
    parents : columns, in the order in which contexts grow
        A row counts in the context of the parents before its first missing one.
    states : number of states of every column
    weights : array, optional
        How many times each row counts.
    least_rows : float
        Rows that a context below the first parent needs to be stored.

    Returns
    -------
    tree : ContextTree
    contexts : (n_parents + 1, n_rows) array
        The context of every row on every level, -1 beyond a missing value.
    """
    from tanbark.params.hierarchical import context_kernels as kernels
    from tanbark.params.hierarchical.shrinkage_kernels import shrink

    sizes = np.asarray(states, np.int64)
    columns = np.asarray(parents, np.int64)
    given = NO_WEIGHTS if weights is None else weights
    children, starts, levels, above, contexts = kernels.grow(codes, columns, sizes[columns], given, least_rows)
    rows = kernels.count(codes[node], int(sizes[node]), given, contexts, len(above))
    return ContextTree(children, starts, sizes[columns], levels, *shrink(rows, above, levels)), contexts


def restore(counts: Floats, concentrations: Floats, above: Array, levels: Array) -> tuple[Floats, Floats]:
    """Return totals and probabilities from counts and concentrations, bit by bit those of ``fit_tree``.

    Operations are those of the kernel, one level at a time; model files are read without waiting for a compiler.
    """
    totals = np.zeros(len(counts))
    for column in counts.T:  # one after another: numpy's own sum has another order
        totals += column
    probabilities = np.empty(counts.shape)
    probabilities[0] = (counts[0] + 0.5) / (totals[0] + concentrations[0])
    for level in range(1, len(levels) - 1):
        part, c = slice(levels[level], levels[level + 1]), concentrations[level]
        probabilities[part] = (counts[part] + c * probabilities[above[part]]) / (totals[part, None] + c)
    return totals, probabilities


def cut_tree(tree: ContextTree, depth: int) -> ContextTree:
    """Return the contexts of at most ``depth`` parents, with the distributions that they have in the whole tree."""
    states = tree.states[:depth]
    levels, starts = tree.levels[: len(states) + 2], tree.starts[: len(states) + 1]
    last = levels[-1]
    return ContextTree(
        tree.children[: starts[-1]], starts, states, levels, tree.counts[:last], tree.totals[:last],
        tree.probabilities[:last], tree.concentrations[: len(states) + 1],
    )  # fmt: skip


def dense(tree: ContextTree) -> Floats:
    """Return the CPT with an axis for every parent, in their order, and the node's own axis last."""
    children, starts, states, levels = tree.children, tree.starts, tree.states, tree.levels
    at = np.zeros(1, np.int64)  # the context whose distribution a configuration has
    alive = np.ones(1, bool)  # whether it is as long as the configuration
    for level, n_states in enumerate(states.tolist()):
        found = np.full((len(at), n_states), -1, np.int64)
        rows = children[starts[level] : starts[level + 1]].reshape(-1, n_states)
        found[alive] = rows[at[alive] - levels[level]]
        seen = found >= 0
        at = np.where(seen, found, at[:, None]).ravel()
        alive = seen.ravel()
    return np.asarray(tree.probabilities[at].reshape(*states.tolist(), tree.probabilities.shape[1]))


def dense_counts(tree: ContextTree) -> list[Floats]:
    """Return the counts of every level, (n_contexts, n_states): all contexts of the first parents, zero if unseen."""
    at = np.zeros(1, np.int64)
    found = [tree.counts[:1]]
    for level, n_states in enumerate(tree.states.tolist()):
        rows = tree.children[tree.starts[level] : tree.starts[level + 1]].reshape(-1, n_states)
        below = np.full((len(at), n_states), -1, np.int64)
        below[at >= 0] = rows[at[at >= 0] - tree.levels[level]]
        at = below.ravel()
        found.append(np.where(at[:, None] >= 0, tree.counts[at], 0.0))
    return found
