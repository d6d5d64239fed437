r"""The parent sets of each column that some best network may need, found by branch and bound.

**Dominance.** A set is left out if a subset of it scores as well: the subset can take its place in any network.

**The bound.** Let P be the parents taken so far and R the columns not yet decided; every set T that is still to come
has :math:`P \subset T \subseteq P \cup R`. The label, a column that is in every family (the class of an augmented
network), counts as one more member of P, so all that follows is said within its states as well. Write f(m; a) for the
score of one configuration of T with the counts m of the child's r states and the prior a = ess / q(T),

.. math:: f(m; a) = \ln\frac{\Gamma(a)}{\Gamma(a + M)} + \sum_k \ln\frac{\Gamma(a/r + m_k)}{\Gamma(a/r)},
          \qquad M = \sum_k m_k, \qquad L(m) = \sum_k m_k \ln (m_k / M).

f is the logarithm of the probability of a sequence of rows, each drawn with probability (a/r + n_k) / (a + n) after n
rows, n_k of them of the same state, in any order. A *group* is a configuration of P, a *cell* one of P and R; within a
group, T joins cells to its configurations. Per group, what T pays (-f, summed over its configurations) is at least

1. ln r for every state in the group: some row is the first of its state in its configuration, with probability 1/r if
   it is the first of all, and less if not, as (a/r) / (a + n) < 1/r. (This needs counts of at least 1.)
2. the sum of -L(m) over the cells: f(m; a) <= L(m), as f averages likelihoods of which L is the largest, and joining
   cells only lowers the sum of L.

A cell with several states is *mixed*. It stays mixed in whatever T it is joined to. For whole counts and
:math:`a^+ = \mathrm{ess} / (q(P) \min_R r_y) \le \min(1/4, 1/(1 + \ln N))`, which is the largest a that T can have:

3. For mixed m, f(m; a) grows with a up to :math:`a^+`: its derivative is
   :math:`\sum_k \sum_{t < m_k} 1/(a + rt) - \sum_{t < M} 1/(a + t) \ge (d - 1)/a - (1 + \ln M) \ge 0` with d >= 2
   states. So let a = :math:`a^+` from here on.
4. The excess E(m) = L(m) - f(m; a) does not fall if rows are added to mixed m. A row of a state with n of M rows adds
   u(n) - u(M) - ln(1 + a/(rn)) + ln(1 + a/M), with u(x) = (x + 1) ln(1 + 1/x), which falls from 2 ln 2 to 1. For
   M <= rn this is not negative; for M > rn it is at least u(n) - u(2n) - a/(2n) >= 0, as u(n) - u(2n) >= 1/(8n). The
   first row of a state adds at least ln(r/a) - 2 ln 2 >= 0. The least is E(1, 1) = ln r + ln(r (a + 1) / a) - 2 ln 2.
5. If T joins all mixed cells of the group to one configuration, that one pays -f(m) of their sum m, and the rows of
   state k in other cells pay ln r if they are in another configuration, or what they add here; adding rows costs the
   less per row the more there are, so all or none join, and it costs least to join before those of other states.
6. If it joins them to several configurations, these pay the sum of -L over the mixed cells, by 2 and 4 the largest
   excess of any of them, and E(1, 1) for another.

The smaller of 5 and 6 bounds the group; the sum over the groups bounds -s(T). By 1, de Campos and Ji (2011), Efficient
structure learning of Bayesian networks using constraints; the use of what the data cannot separate is in the spirit of
Correia, Cussens and de Campos (2020), On pruning for score-based Bayesian network structure learning.

**The global floor.** In a network that scores at least as well as one known, no column's value may lie further below
its best value than the gap between the known score and the sum of the best values. The value of a set is its score
less penalties y for the clusters of columns that its child belongs to and that it counts in, as it has k members in
one of order k; with the constant sum of y (|C| - k) the sum of the best values bounds every network (``relaxation``),
and penalties only grow with the set.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tanbark.arrays import Floats
from tanbark.machine import raise_if_stopping, run_threads, thread_count
from tanbark.structure.exact.cluster_cuts import Clusters
from tanbark.structure.exact.parent_sets import pack
from tanbark.structure.exact.subset_scores import CompleteRows

PRODUCTS = 1 << 16  # n ln n is looked up to here
FIRST_ROOM = 1024  # sets listed before the list is enlarged
SLICE = 4096  # nodes between two looks at the clock
FIRST_NODES, MORE_NODES = 1 << 16, 4  # nodes for a child in the first round, and how many times more in the next
PLAIN = 0.5  # the most rows in cells with several states, as a fraction, that bounds need not count
SURELY = 4.0  # by how much information beats that of independent columns, on average, where it is one's own
FOUND_BYTES = 96  # memory per set listed, and sorted

Words = NDArray[np.uint64]


@dataclass(frozen=True, eq=False)
class Sets:
    """The sets found for one child, by falling score, and their values; ``beyond`` bounds the values of all others."""

    words: Words
    scores: Floats
    values: Floats
    beyond: float
    n_nodes: int


@dataclass(frozen=True, eq=False)
class Wanted:
    """The sets wanted of one child: see ``Goal`` of the kernels."""

    most: int
    floor: float = -np.inf
    clusters: Clusters | None = None
    penalties: Floats | None = None


class BoundedSearch:
    """The rows, once each with their counts, and the searches for the sets of each child."""

    def __init__(
        self, rows: CompleteRows, columns: tuple[int, ...], *, given: int | None, ess: float, n_jobs: int | None
    ) -> None:
        used = list(columns) if given is None else [*columns, given]
        positive = rows.positive()
        codes, counts = _distinct(positive.codes[used], positive.weights)
        self.n, self.ess, self.threads = len(columns), float(ess), thread_count(n_jobs)
        self.whole = bool((counts == np.round(counts)).all())
        self.unit = bool((positive.weights >= 1).all())
        self.counts = counts.astype(np.int32) if self.whole and counts.sum() < 2**31 else counts
        self.codes = codes[: self.n].astype(np.int64)
        self.labels = np.zeros(len(counts), np.int64) if given is None else codes[-1].astype(np.int64)
        self.n_labels = 1 if given is None else rows.cardinalities[given]
        self.n_states = np.array([rows.cardinalities[c] for c in columns], np.int64)
        self.n_words = -(-self.n // 64)

    def _walk_bytes(self) -> int:
        """Return the bytes of one walk: its tables by depth, its columns, its cache."""
        cells = len(self.counts)
        return (self.n + 1) * cells * (8 + self.counts.itemsize) + self.n * cells * 8

    def n_bytes(self, max_memory: float = np.inf) -> int:
        """Return the bytes that the walks take: all of them at once, or where those are too many, the running ones."""
        n_walks = self.n if self.n * self._walk_bytes() <= max_memory / 2 else self.threads
        return n_walks * self._walk_bytes() + self.codes.nbytes

    def run(
        self, children: dict[int, Wanted], *, deadline: float, max_memory: float, report: Callable[[str], None]
    ) -> dict[int, Sets]:
        """Find the wanted sets of some children; those not finished at the deadline or without room are cut short.

        Where all walks fit in memory, one that takes long is put off, so that the easy ones are done first.

        Parameters
        ----------
        children : dict of Wanted
        deadline : float
            By ``time.perf_counter``.
        max_memory : float
            Bytes that walks and sets may take.
        report : callable
            Called with a line per round.
        """
        room = max(1, int(max_memory / 2 / FOUND_BYTES / self.n))
        keep = self.n * self._walk_bytes() <= max_memory / 2
        tasks = {child: _Task(self, child, wanted) for child, wanted in sorted(children.items())}
        found: dict[int, Sets] = {}
        left, budget = list(tasks), FIRST_NODES if keep else np.inf
        while left:
            calls = [(tasks[child], budget, deadline, room) for child in left]
            found.update(zip(left, run_threads(_Task.go_on, calls, self.threads, long=True), strict=True))
            left = [child for child in left if found[child].beyond > -np.inf and len(found[child].scores) < room]
            nodes = sum(sets.n_nodes for sets in found.values())
            listed = sum(len(sets.scores) for sets in found.values())
            report(f"{len(children) - len(left)} of {len(children)} columns, {nodes:,} nodes, {listed:,} parent sets")
            if time.perf_counter() >= deadline:
                break
            tasks = {child: tasks[child] for child in left}
            budget *= MORE_NODES
        return found

    def of_child(self, child: int) -> Any:
        """Gather what the kernels read of a child."""
        from tanbark.structure.exact import bound_kernels

        total, states = float(self.counts.sum()), int(self.n_states[child])
        n = np.arange(min(total + 1, PRODUCTS) if self.whole else 0, dtype=float)
        return bound_kernels.Child(
            states, (states - 1).bit_length(), self.n_labels, total, self.ess, self.whole, self.unit,
            n * np.log(np.maximum(n, 1)),
        )  # fmt: skip

    def _order(self, child: int) -> list[int]:
        """Order the other columns: first those that tell something of the child, most first, then the most varied.

        The first raise the score to beat where they are taken in. Without the varied ones the columns that are left
        cannot tell rows apart, so that bounds fall soon.
        """
        labels, n_labels, r = self.labels, self.n_labels, int(self.n_states[child])
        own = self._conditional(labels, n_labels, child)
        told, varied, strong = {}, {}, []
        for column in range(self.n):
            if column == child:
                continue
            states = int(self.n_states[column])
            joint = self._conditional(labels * states + self.codes[column], n_labels * states, child)
            told[column] = own - joint
            varied[column] = self._conditional(labels, n_labels, column)
            if told[column] > SURELY * (1 + n_labels * (states - 1) * (r - 1) / 2):
                strong.append(column)
        rest = sorted(told.keys() - set(strong), key=lambda column: (-varied[column], column))
        return sorted(strong, key=lambda column: (-told[column], column)) + rest

    def _conditional(self, given: NDArray[np.int64], n_given: int, column: int) -> float:
        """Return rows times the conditional entropy of a column."""
        states = int(self.n_states[column])
        table = np.bincount(given * states + self.codes[column], self.counts, n_given * states).reshape(-1, states)
        return _n_log_n(table.sum(axis=1)) - _n_log_n(table)

    def begin(self, child: int) -> tuple[Any, Any, Any, Floats]:
        """Number what rows hold from each depth on, and set up the root of a walk."""
        from tanbark.structure.exact import group_kernels

        order, size = self._order(child), len(self.counts)
        m, bits = len(order), (int(self.n_states[child]) - 1).bit_length()
        states, rests = np.zeros((m, size), np.int32), np.zeros((m, size), np.int32)
        rest, depth = np.zeros(size, np.int64), 0
        keys = rest << bits | self.codes[child]
        for d in range(m, -1, -1):
            if d < m:
                codes = self.codes[order[d]]
                different, first, numbers = np.unique(codes * size + rest, return_index=True, return_inverse=True)
                states[d, : len(different)], rests[d, : len(different)] = codes[first], rest[first]
                rest = numbers.ravel()
            if not depth:
                keys = rest << bits | self.codes[child]
                depth = d if self._mixed(keys, bits) <= PLAIN else 0
        words = np.zeros((m, self.n_words), np.uint64)
        for d, column in enumerate(order):
            words[d, column // 64] = np.uint64(1) << np.uint64(column % 64)
        n_states = self.n_states[order].reshape(m)
        columns = group_kernels.Columns(states, rests, n_states, words)
        more = np.array([*(n_states[d:].min() for d in range(m)), 1], float)
        sorted_rows = np.lexsort((keys, self.labels))
        plain = group_kernels.Plain(
            depth, self.codes[order[:depth]].reshape(depth, size)[:, sorted_rows], keys[sorted_rows],
            self.counts[sorted_rows], self.codes[child][sorted_rows],
        )  # fmt: skip
        return columns, plain, self._root(sorted_rows, keys, depth, m), more

    def _mixed(self, keys: NDArray[np.int64], bits: int) -> float:
        """Return which fraction of the rows are in cells with several states of the child."""
        cells = np.unique(np.stack([self.labels, keys >> bits]), axis=1, return_inverse=True)[1].ravel()
        low, high = np.full(len(keys), 1 << bits), np.full(len(keys), -1)
        np.minimum.at(low, cells, keys & (1 << bits) - 1)
        np.maximum.at(high, cells, keys & (1 << bits) - 1)
        return float(self.counts[(low != high)[cells]].sum() / self.counts.sum())

    def _root(self, rows: NDArray[np.int64], keys: NDArray[np.int64], depth: int, m: int) -> Any:
        from tanbark.structure.exact import bound_kernels, group_kernels

        labels, held, summed = self.labels[rows], np.arange(len(rows)), self.counts[rows].astype(float)
        if depth == 0:
            (labels, held), place = np.unique(np.stack([labels, keys[rows]]), axis=1, return_inverse=True)
            summed = np.bincount(place.ravel(), summed, len(held))
        size, whole = len(rows), self.counts.dtype.kind == "i"
        groups, table = np.zeros((m + 1, size), np.int32), np.zeros((m + 1, size), np.int32)
        counts = np.zeros((m + 1, size), np.int32 if whole else np.float64)
        groups[0, : len(held)], table[0, : len(held)], counts[0, : len(held)] = labels, held, summed
        return group_kernels.Walk(
            np.zeros(m + 1, np.int64), groups, table, counts, np.full(m + 1, len(held)),
            np.zeros((m + 1, bound_kernels.FEW if self.whole else 0), np.int64), np.zeros(m + 1, np.int64),
            np.zeros((m + 1, self.n_words), np.uint64), np.zeros(m + 1, np.int64),
            np.full(m + 1, float(self.n_labels)), np.full(m + 1, -np.inf), np.full(m + 1, np.inf),
            np.zeros(3, np.int64),
        )  # fmt: skip


class _Task:
    """The walk through the sets of one child, which may be interrupted and gone on with."""

    def __init__(self, search: BoundedSearch, child: int, wanted: Wanted) -> None:
        self.search, self.child, self.wanted = search, child, wanted
        self.state: tuple[Any, ...] | None = None

    def go_on(self, budget: float, deadline: float, room: int) -> Sets:
        """Go on until all sets are found, or so many nodes are visited, or time or room is used up."""
        from tanbark.structure.exact import bounded_kernels as kernels

        columns, plain, walk, more, listed = self._begun() if self.state is None else self.state
        of_child, goal = self.search.of_child(self.child), self._goal()
        stop, finished = walk.numbers[kernels.NODES] + budget, False
        while not finished and walk.numbers[kernels.NODES] < stop:
            finished = kernels.walk_sets(walk, columns, plain, of_child, more, goal, listed, SLICE)
            raise_if_stopping()
            n_listed = int(walk.numbers[kernels.LISTED])
            if n_listed == len(listed.scores):
                if n_listed >= room:
                    break
                listed = kernels.Listed(*(np.concatenate([part, np.zeros_like(part)]) for part in listed))
            if time.perf_counter() >= deadline:
                break
        self.state = None if finished or budget == np.inf else (columns, plain, walk, more, listed)
        beyond = -np.inf
        for d in range(0 if finished else int(walk.numbers[kernels.DEPTH]) + 1):
            if walk.stages[d] != kernels.TAKEN_IN:
                beyond = max(beyond, walk.bounds[d] - kernels.penalty_of(walk.members[d], goal))
        words, scores = listed.words[:n_listed].copy(), listed.scores[:n_listed].copy()
        pays = np.array([kernels.penalty_of(members, goal) for members in words]).reshape(n_listed)
        return Sets(words, scores, scores - pays, beyond, int(walk.numbers[kernels.NODES]))

    def _begun(self) -> tuple[Any, ...]:
        from tanbark.structure.exact import bounded_kernels as kernels

        room = np.zeros((FIRST_ROOM, self.search.n_words), np.uint64), np.zeros(FIRST_ROOM)
        return (*self.search.begin(self.child), kernels.Listed(*room))

    def _goal(self) -> Any:
        from tanbark.structure.exact import bounded_kernels as kernels

        wanted, n = self.wanted, self.search.n
        clusters = Clusters.none(n) if wanted.clusters is None else wanted.clusters
        penalties = np.zeros(0) if wanted.penalties is None else wanted.penalties
        return kernels.Goal(wanted.most, float(wanted.floor), pack(clusters.members), clusters.orders, penalties)


def _n_log_n(table: NDArray[Any]) -> float:
    n = table[table > 0].astype(float)
    return float((n * np.log(n)).sum())


def _distinct(codes: NDArray[Any], weights: Floats) -> tuple[NDArray[Any], Floats]:
    """Return the different rows and how often, or with what weight, they occur."""
    different, place = np.unique(codes, axis=1, return_inverse=True)
    return different, np.bincount(place.ravel(), weights if len(weights) else None, different.shape[1]).astype(float)
