r"""The best network from lists of candidate parent sets: a breadth-first search over the first nodes of an order.

A network without cycles has an order, and the best one for an order takes for every node the best set among the nodes
before it. The search goes through the sets U of first nodes, one size after another, and keeps the best score of each.

**Components.** The graph of all arcs in any candidate set falls into strongly connected components. The nodes before a
component may be its parents anyway, so the best choices of the components are found apart, and add up.

**Next nodes.** After U, a node *depends* on another node that is left if that is a member of some set better than its
best set within U. Let K be nodes left that depend on none but each other. In any order after U the nodes of K can be
moved to the front, in their order: their best sets stay in reach, and other nodes have more nodes before them. So it is
enough to go on with the nodes of one such K, the smallest.

**Bounds.** Let the nodes be parted into groups. What the nodes left can add is at most the sum over the groups of what
those of a group can add in their best order with all nodes of other groups before them. That is a table of 2^size
values per group, found backwards. The least of the sums of several partitions bounds an order that begins with U (the
static pattern databases of Yuan and Malone, 2013); U is left out unless that exceeds the score of the known network.
Groups are such that clusters of high multipliers in the relaxation, whose members compete to be parents of each other,
are within one group.

Yuan and Malone (2013), Learning optimal Bayesian networks: a shortest path perspective; Malone et al. (2011), Improving
the scalability of optimal Bayesian network learning with external-memory frontier breadth-first branch and bound
search; Fan, Malone and Yuan (2014), Finding optimal Bayesian network structures with constraints learned from data.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from tanbark.arrays import Floats, Integers
from tanbark.machine import run_threads
from tanbark.structure.exact import kernels, order_kernels
from tanbark.structure.exact.parent_sets import Candidates, pack
from tanbark.structure.exact.relaxation import Relaxed

CLOSE = 1e-7  # a network of a component is better if its score is higher by more than this
MAX_NODES = 64  # of a component: its sets are words of so many bits
GROUP = 18  # the most nodes of a group
PARTITIONS = 3
TRIES = 20  # local searches for a partition
COVERED = 0.3  # by what the weight of a pair falls once a partition has it in one group
SLICE = 1 << 14  # states between two looks at the clock
STATE_BYTES = 17  # of a place in a table of states
REPORT_SECONDS = 2.0


@dataclass(frozen=True, eq=False)
class Solution:
    """The best choice of parent sets that was found, as places among the candidates, its score and a bound.

    No choice scores above ``bound``. ``n_states`` counts the states that were visited.
    """

    chosen: Integers
    score: float
    bound: float
    n_states: int


def solve(
    candidates: Candidates, known: Relaxed, *, deadline: float, max_memory: float, report: Callable[[str], None],
    note: Callable[[str, float, float], None] = lambda stage, score, bound: None,
) -> Solution:  # fmt: skip
    """Choose one candidate set per node so that no cycle arises and the scores add up to the most.

    Parameters
    ----------
    candidates : Candidates
        Each node's list has a set for every order, such as the empty one, and the sets of the known network.
    known : Relaxed
        A network to begin with, and the multipliers of clusters.
    deadline : float
        By ``time.perf_counter``; past it the best choice so far is returned, with its bound.
    max_memory : float
        Bytes that the states may take.
    report : callable
        Called with a line per layer of states.
    note : callable
        Called with "orders", score and bound whenever one of them is better than before.
    """
    return _Orders(candidates, known, deadline, max_memory, report, note).run()


class _Orders:
    """The components of one problem, their best choices and bounds so far."""

    def __init__(
        self, candidates: Candidates, known: Relaxed, deadline: float, max_memory: float,
        report: Callable[[str], None], note: Callable[[str, float, float], None],
    ) -> None:  # fmt: skip
        self.child, self.score, self.member = candidates.child, candidates.score, candidates.member
        self.n, self.known = candidates.n_columns, known
        self.starts = np.searchsorted(self.child, np.arange(self.n + 1))
        self.deadline, self.max_memory, self.report, self.note = deadline, max_memory, report, note
        self.chosen = self._best_sets(known.order)
        self.n_states, self.reported = 0, time.perf_counter()

    def _best_sets(self, order: Integers) -> Integers:
        """Return the best set of every node among those before it in an order, by node."""
        words, before = pack(self.member), np.zeros(-(-self.n // 64), np.uint64)
        chosen = np.zeros(self.n, np.int64)
        for place, node in enumerate(order.tolist()):
            chosen[node] = kernels.best_allowed(place, order, self.starts, words, before)
            before[node // 64] |= np.uint64(1) << np.uint64(node % 64)
        return chosen

    def run(self) -> Solution:
        """Search all components, small ones first."""
        from scipy.sparse import csr_array
        from scipy.sparse.csgraph import connected_components

        arcs = np.zeros((self.n, self.n), bool)
        np.logical_or.at(arcs, self.child, self.member)
        count, component = connected_components(csr_array(arcs), connection="strong")
        bounds = np.zeros(count)
        tops = self.score[self.starts[:-1]]
        np.add.at(bounds, component, tops)
        nodes_of = [np.flatnonzero(component == k) for k in range(count)]
        for k in sorted(range(count), key=lambda k: (len(nodes_of[k]), k)):
            nodes = nodes_of[k]
            mine = float(self.score[self.chosen[nodes]].sum())
            if bounds[k] <= mine + CLOSE:
                bounds[k] = mine
            elif len(nodes) <= MAX_NODES:
                bounds[k] = self._search(nodes, mine, float(bounds.sum() - bounds[k]))
        score = float(self.score[self.chosen].sum())
        return Solution(self.chosen, score, max(float(bounds.sum()), score), self.n_states)

    def _search(self, nodes: Integers, mine: float, others: float) -> float:
        """Search one component, and take its choice if it is better; return the component's bound."""
        lists, picks = self._lists(nodes)
        partitions = _partitions(_weights(nodes, lists, self.known))
        patterns = _value_all(partitions, lists)
        search = _Layers(len(nodes), lists, patterns, mine + CLOSE)

        def told(bound: float, n_states: int, layer: int) -> None:
            score = float(self.score[self.chosen].sum())
            self.note("orders", score, max(others + bound, score))
            if time.perf_counter() > self.reported + REPORT_SECONDS:
                self.reported = time.perf_counter()
                self.report(f"{n_states:,} sets of {layer} first nodes of {len(nodes)}, gap {bound - mine:.6f}")

        order, bound = search.run(self.deadline, self.max_memory, told)
        self.n_states += search.n_states
        if order is None:
            return max(bound, mine)
        outside = np.uint64((1 << len(nodes)) - 1)
        for node in order:
            self.chosen[nodes[node]] = picks[order_kernels.best_without(node, outside, lists)]
            outside &= ~(np.uint64(1) << np.uint64(node))
        return float(self.score[self.chosen[nodes]].sum())

    def _lists(self, nodes: Integers) -> tuple[Any, Integers]:
        """Gather the sets of a component's nodes, as sets within it, and their places among the candidates."""
        picks = np.concatenate([np.arange(self.starts[node], self.starts[node + 1]) for node in nodes])
        words = pack(self.member[picks][:, nodes])[:, 0]
        starts = np.cumsum([0, *(self.starts[nodes + 1] - self.starts[nodes])])
        ahead = np.zeros_like(words)
        for first, end in zip(starts[:-1].tolist(), starts[1:].tolist(), strict=True):
            ahead[first + 1 : end] = np.bitwise_or.accumulate(words[first : end - 1])
        return order_kernels.Lists(starts.astype(np.int64), words, self.score[picks], ahead), picks


def _weights(nodes: Integers, lists: Any, known: Relaxed) -> Floats:
    """Weigh pairs of nodes by the multipliers of clusters with both, and a little by what a cycle of the two costs."""
    n, within = len(nodes), known.clusters.members[:, nodes]
    shared = known.multipliers / np.maximum(within.sum(axis=1) - 1, 1)
    weights = np.asarray((within * shared[:, None]).T @ within)
    lost = np.zeros((n, n))
    for v in range(n):
        top = lists.scores[lists.starts[v]]
        for u in range(n):
            if u != v:
                lost[v, u] = top - lists.scores[order_kernels.best_without(v, np.uint64(1) << np.uint64(u), lists)]
    weights += 1e-3 * np.minimum(lost, lost.T)
    np.fill_diagonal(weights, 0.0)
    return weights


def _partitions(weights: Floats) -> list[list[Integers]]:
    """Part the nodes into groups of high weight within, several times, so that other pairs are within one next time."""
    n, rng = len(weights), np.random.default_rng(0)
    n_groups = -(-n // GROUP)
    labels = np.arange(n) * n_groups // n
    found = []
    for _ in range(PARTITIONS if n_groups > 1 else 1):
        best, top = labels, -np.inf
        for _ in range(TRIES):
            each, value = _improve_partition(rng.permutation(labels), weights)
            if value > top:
                best, top = each, value
        found.append([np.flatnonzero(best == g) for g in range(n_groups)])
        weights = np.where(best[:, None] == best, COVERED * weights, weights)
    return found


def _improve_partition(labels: Integers, weights: Floats) -> tuple[Integers, float]:
    """Swap nodes of different groups as long as the weight within groups grows; return also that weight.

    ``weights`` is symmetric, with zeros on the diagonal; there are at most n squared swaps.
    """
    labels, every = labels.copy(), np.arange(len(labels))
    for _ in range(len(labels) ** 2 + 1):
        to = np.stack([weights[:, labels == g].sum(axis=1) for g in range(labels.max() + 1)], axis=1)
        here = to[every, labels]
        moved = to[:, labels] - here[:, None]  # what i gains in the group of j
        gain = np.where(labels[:, None] != labels, moved + moved.T - 2 * weights, 0.0)
        i, j = np.unravel_index(np.argmax(gain), gain.shape)
        if not gain[i, j] > 1e-9 * (1.0 + here.sum()):
            break
        labels[i], labels[j] = labels[j], labels[i]
    return labels, float(here.sum())


def _value_all(partitions: list[list[Integers]], lists: Any) -> Any:
    """Fill the tables of all groups."""
    n = len(lists.starts) - 1
    n_chunks, n_groups = -(-n // order_kernels.CHUNK), len(partitions[0])
    places = np.zeros((len(partitions), n_groups, n_chunks, 1 << order_kernels.CHUNK), np.int64)
    firsts = np.zeros(places.shape[:2], np.int64)
    bits, values, size = np.arange(1 << order_kernels.CHUNK), [], 0
    for p, groups in enumerate(partitions):
        for g, members in enumerate(groups):
            values.append(np.zeros(1 << len(members)))
            firsts[p, g], size = size, size + len(values[-1])
            for place, node in enumerate(members.tolist()):
                places[p, g, node // order_kernels.CHUNK] += (bits >> node % order_kernels.CHUNK & 1) << place
    calls = [
        (members, lists, out) for members, out in zip([m for part in partitions for m in part], values, strict=True)
    ]
    run_threads(order_kernels.value_patterns, calls, 1, long=True)
    return order_kernels.Patterns(places, firsts, np.concatenate(values))


class _Layers:
    """The search through the states of one component, by number of first nodes."""

    def __init__(self, n: int, lists: Any, patterns: Any, least: float) -> None:
        self.n, self.lists, self.patterns, self.least = n, lists, patterns, least
        self.n_states = 0

    def run(
        self, deadline: float, max_memory: float, told: Callable[[float, int, int], None]
    ) -> tuple[list[int] | None, float]:
        """Return an order of a higher score than ``least``, or None, and a bound on the score of any.

        The states of a layer are those that every better order passes, so the highest of their bounds bounds all.
        """
        sets, values = np.zeros(1, np.uint64), np.zeros(1)
        everything = np.uint64((1 << self.n) - 1)
        bound = float(order_kernels.bound_of(everything, self.patterns))
        trail: list[tuple[Any, Any]] = []
        for layer in range(self.n):
            told(bound, len(sets), layer)
            kept = sum(part.nbytes for pair in trail for part in pair)
            table, highest = self._expand(sets, values, deadline, max_memory - kept)
            if table is None:
                return None, bound
            used = table.sets != 0
            sets, values = table.sets[used], table.values[used]
            trail.append((sets, table.last[used]))
            self.n_states += len(sets)
            if not len(sets):
                return None, -np.inf
            bound = min(bound, highest)
        return self._trace(trail), float(values[0])

    def _expand(self, sets: Any, values: Floats, deadline: float, max_memory: float) -> tuple[Any, float]:
        """Make the next layer; None where time or memory does not suffice."""
        n_used, highest = 0, -np.inf
        table = self._table(1 << 12)
        for first in range(0, len(sets), SLICE):
            part = slice(first, first + SLICE)
            needed = 2 * (n_used + self.n * len(sets[part]))
            if needed > len(table.sets):
                size = 1 << (needed - 1).bit_length()
                if size * STATE_BYTES * 3 / 2 > max_memory:
                    return None, highest
                old, table = table, self._table(size)
                run_threads(order_kernels.move, [(old, table)], 1, long=True)
            call = (sets[part], values[part], self.n, self.lists, self.patterns, self.least, table)
            ((added, top),) = run_threads(order_kernels.expand, [call], 1, long=True)
            n_used, highest = n_used + added, max(highest, top)
            if time.perf_counter() >= deadline:
                return None, highest
        return table, highest

    def _table(self, size: int) -> Any:
        return order_kernels.States(np.zeros(size, np.uint64), np.zeros(size), np.zeros(size, np.int8))

    def _trace(self, trail: list[tuple[Any, Any]]) -> list[int]:
        """Follow the last nodes back from the set of all nodes."""
        order, state = [], np.uint64((1 << self.n) - 1)
        for sets, last in reversed(trail):
            node = int(last[np.flatnonzero(sets == state)[0]])
            order.append(node)
            state &= ~(np.uint64(1) << np.uint64(node))
        return order[::-1]
