r"""Clusters that a fractional choice of parents violates.

The first k nodes of a set C in any order have fewer than k parents within C. So in a graph without cycles, of a
*cluster* C of order k at most \|C\| - k members have k or more parents in it, and the fractions x of parent sets obey

.. math:: \sum_{v \in C} \sum_{|P \cap C| \ge k} x(P \to v) \le |C| - k.

Clusters of order 1 exclude cycles; those of order 2 exclude that, say, each of three nodes takes the other two as its
parents in half of the choice, which no cluster of order 1 does.

Bartlett and Cussens (2017), Integer linear programming for the Bayesian network structure learning problem; Cussens
(2010), Maximum likelihood pedigree reconstruction using integer programming, for the higher orders.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from tanbark.arrays import Bools, Floats, Integers
from tanbark.machine import run_threads
from tanbark.structure.exact import kernels

VIOLATED = 1e-6
EXACT_SECONDS = 20.0
ORDERS = (1, 2)  # those of a higher order hardly lower a bound further


@dataclass(frozen=True, eq=False)
class Clusters:
    """Clusters as rows of members, and their orders: how many parents within the cluster count."""

    members: Bools
    orders: Integers

    @classmethod
    def none(cls, n: int) -> Clusters:
        """Return no clusters of n nodes."""
        return cls(np.zeros((0, n), bool), np.zeros(0, np.int64))

    @property
    def most(self) -> Floats:
        """How many members of each may have so many parents in it: the size less the order."""
        return np.asarray(self.members.sum(axis=1) - self.orders, float)

    def counted(self, child: Integers, member: Bools) -> Bools:
        """Return which parent sets count in which cluster, (clusters, sets)."""
        within = self.members.astype(np.float32) @ member.T.astype(np.float32)
        return np.asarray(self.members[:, child] & (within >= self.orders[:, None]))

    def where(self, chosen: NDArray[np.bool_]) -> Clusters:
        """Return some of the clusters."""
        return Clusters(self.members[chosen], self.orders[chosen])

    def joined(self, others: Clusters) -> Clusters:
        """Return these clusters and others."""
        return Clusters(
            np.concatenate([self.members, others.members]), np.concatenate([self.orders, others.orders])
        )  # fmt: skip

    def __len__(self) -> int:
        return len(self.orders)


def violated_clusters(child: Integers, member: Bools, fraction: Floats, *, exactly: bool) -> Clusters:
    """Find clusters that fractions violate; only with ``exactly`` does none found mean none exist.

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
        cycles = np.array([group == k for k in np.flatnonzero(sizes > 1)], bool).reshape(-1, n)
        return Clusters(cycles, np.ones(len(cycles), np.int64))
    starts, clusters = np.argwhere(np.triu(arcs + arcs.T, 1) > VIOLATED), Clusters.none(n)
    for order in ORDERS:
        found = np.zeros((len(starts), n), bool)
        run_threads(kernels.grow_clusters, [(child, member, fraction, starts, order, VIOLATED, found)], 1, long=True)
        grown: Bools = np.unique(found[found.any(axis=1)], axis=0)
        clusters = clusters.joined(Clusters(grown, np.full(len(grown), order)))
    if len(clusters) or not exactly:
        return clusters
    for order in ORDERS:
        clusters = clusters.joined(_most_violated(child, member, fraction, order))
    return clusters


def _most_violated(child: Integers, member: Bools, fraction: Floats, order: int) -> Clusters:
    """Find the most violated cluster of an order by an integer programme over members and parent sets that count."""
    able, n = member.sum(axis=1) >= order, member.shape[1]
    child, member, fraction = child[able], member[able], fraction[able]
    k = len(child)
    rows, columns = np.nonzero(member)
    from scipy.optimize import Bounds, LinearConstraint, milp
    from scipy.sparse import coo_array

    counts = coo_array(
        (
            np.concatenate([np.ones(k), -np.ones(k), np.full(k, float(order)), -np.ones(len(rows))]),
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
        constraints=[LinearConstraint(counts, -np.inf, 0), LinearConstraint(some, order + 1, np.inf)],
        integrality=np.concatenate([np.ones(n), np.full(k, order > 1)]),  # for order 1 they are whole by themselves
        bounds=Bounds(0, 1),
        options={"time_limit": EXACT_SECONDS},
    )
    solved = None
    if k and n > order:
        (solved,) = run_threads(programme, [()], 1, long=True)
    if solved is None or solved.x is None or solved.fun > order - VIOLATED:
        return Clusters.none(n)
    return Clusters(np.asarray(solved.x[:n] > 0.5)[None], np.array([order]))
