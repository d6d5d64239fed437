r"""Clusters that a fractional choice of parents violates.

In a graph without cycles every set C of nodes has a member with no parent in C, so the fractions x of parent sets obey

.. math:: \sum_{v \in C} \sum_{P \cap C \ne \emptyset} x(P \to v) \le |C| - 1.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from tanbark.arrays import Bools, Floats, Integers
from tanbark.machine import run_threads
from tanbark.structure.exact import kernels

VIOLATED = 1e-6
EXACT_SECONDS = 20.0


def violated_clusters(child: Integers, member: Bools, fraction: Floats, *, exactly: bool) -> Bools:
    """Find clusters that fractions violate, as rows of members; only with ``exactly`` does none found mean none exist.

    ``child``, ``member`` and ``fraction`` are those of the parent sets with a positive fraction. For whole fractions
    clusters are the cycles of the graph; otherwise they are grown from every arc, and at last found by an integer
    programme.
    """
    n = member.shape[1]
    arcs = np.zeros((n, n))
    for node, parents, part in zip(child, member, fraction, strict=True):
        arcs[parents, node] += part
    if (fraction > 1 - VIOLATED).all():
        from scipy.sparse import csr_array
        from scipy.sparse.csgraph import connected_components

        _, group = connected_components(csr_array(arcs > 0.5), connection="strong")
        sizes = np.bincount(group)
        return np.array([group == k for k in np.flatnonzero(sizes > 1)], bool).reshape(-1, n)
    starts = np.argwhere(np.triu(arcs + arcs.T, 1) > VIOLATED)
    found = np.zeros((len(starts), n), bool)
    run_threads(kernels.grow_clusters, [(child, member, fraction, starts, 1 - VIOLATED, found)], 1, long=True)
    grown: Bools = np.unique(found[found.any(axis=1)], axis=0)
    return grown if len(grown) or not exactly else _most_violated(child, member, fraction)


def _most_violated(child: Integers, member: Bools, fraction: Floats) -> Bools:
    """Find the most violated cluster by an integer programme over its members and the parent sets that it meets."""
    k, n = member.shape
    rows, columns = np.nonzero(member)
    from scipy.optimize import Bounds, LinearConstraint, milp
    from scipy.sparse import coo_array

    meets = coo_array(
        (
            np.concatenate([np.ones(k), -np.ones(k), np.ones(k), -np.ones(len(rows))]),
            (
                np.concatenate([np.arange(k), np.arange(k), k + np.arange(k), k + rows]),
                np.concatenate([n + np.arange(k), child, n + np.arange(k), columns]),
            ),
        ),
        shape=(2 * k, n + k),
    )
    some = coo_array((np.ones(n), (np.zeros(n, int), np.arange(n))), shape=(1, n + k))
    programme = partial(
        milp,
        np.concatenate([np.ones(n), -fraction]),
        constraints=[LinearConstraint(meets, -np.inf, 0), LinearConstraint(some, 2, np.inf)],
        integrality=np.concatenate([np.ones(n), np.zeros(k)]),
        bounds=Bounds(0, 1),
        options={"time_limit": EXACT_SECONDS},
    )
    (solved,) = run_threads(programme, [()], 1, long=True)
    if solved.x is None or solved.fun > 1 - VIOLATED:
        return np.zeros((0, n), bool)
    return np.asarray(solved.x[:n] > 0.5)[None]
