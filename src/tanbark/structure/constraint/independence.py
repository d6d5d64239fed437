"""Tests of independence by the BDeu Bayes factor, on rows in memory."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tanbark.arrays import Integers, smallest_factor
from tanbark.counts.bitsets import MAX_BIT_STATES, pack
from tanbark.counts.column_sets import combination_at
from tanbark.counts.engine import CountEngine
from tanbark.machine import run_threads, thread_count
from tanbark.scores.dirichlet import make_term_cache
from tanbark.table import missing_code

MIN_SHARED_WORK = 1 << 24  # sets times rows from which on all threads test one edge together


class IndependenceTests:
    r"""The Bayes factor between independence and dependence of two columns given others, under BDeu.

    .. math:: \ln BF(X, Y | Z) = h(ZX) + h(ZY) - h(Z) - h(ZXY)

    with h of ``scores.dirichlet``. A value above 1e-9, or above what rounding may be where the rows weigh much, means
    independence. All four sums are taken from one table of counts, so a test rests on the rows that have a value in
    each of its columns.

    Parameters
    ----------
    counts : CountEngine
    given_class : bool
        Whether the class is part of every conditioning set, and then no variable itself.
    ess : float
        The equivalent sample size.
    """

    def __init__(self, counts: CountEngine, *, given_class: bool, ess: float = 1.0) -> None:
        from tanbark.counts.kernels import LabelledRows
        from tanbark.structure.constraint.kernels import TestedRows

        codes, weights = counts.coded_rows()
        target, n_rows = counts.schema.target, codes.shape[1]
        states = np.array(counts.schema.cardinalities, np.int64)
        labels = codes[target].astype(np.int64) if given_class else np.zeros(n_rows, np.int64)
        n_labels = int(states[target]) if given_class else 1
        plain = weights is None and not (codes == missing_code(codes)).any()
        bitsets = pack(codes, states, labels=labels, n_labels=n_labels, max_states=MAX_BIT_STATES if plain else 0)
        rows = LabelledRows(codes, np.zeros(0) if weights is None else weights, states, labels, n_labels)
        self._data = TestedRows(rows, bitsets, float(ess), smallest_factor(counts.total))
        self._threads = thread_count(counts.n_jobs)
        self._stretch = max(32, MIN_SHARED_WORK // max(2 * n_rows, 1))
        self._caches = [make_term_cache(n_rows) for _ in range(self._threads)]
        self._workspaces: dict[int, tuple[int, Any]] = {}  # of each thread, and up to which order

    def prune_edges(
        self, adjacent: NDArray[np.bool_], children: Integers, parents: Integers, order: int, *,
        both_ends: bool,
    ) -> tuple[Integers, int]:  # fmt: skip
        """Delete every edge from ``parents`` into ``children`` that some potential parents of the child separate.

        Parameters
        ----------
        adjacent : (n, n) array
            Whether a is a potential parent of b; changed in place. Both ways for an undirected edge.
        children, parents : arrays
            Ascending; the edges are tried by child and then by parent, and deletions take effect at once.
        order : int
            The size of the separating sets, taken in lexicographic order from the other potential parents of the child.
        both_ends : bool
            Whether undirected edges are tested from both ends in this call; a set that was tested from the first end
            is then not tested again.

        Returns
        -------
        An array with a row (x, y, separating set) for every deleted edge, and the number of tests.
        """
        from tanbark.structure.constraint import kernels

        largest = self._stretch * 2 if self._threads > 1 else 1 << 62
        search = kernels.Search(adjacent, children, parents, order, largest, both_ends)
        found = np.zeros((int(adjacent[np.ix_(parents, children)].sum()), 2 + order), np.int64)
        tests = np.zeros(1, np.int64)
        deleted, child, parent = 0, 0, 0
        while child < len(children):
            call = (search, child, parent, self._data, self._workspace(0, order), found[deleted:], tests)
            ((gone, child, parent),) = run_threads(kernels.prune_edges, [call], 1, long=True)
            deleted += gone
            if child < len(children):
                x, y = int(parents[parent]), int(children[child])
                separator, n_tested = self._test_together(adjacent, x, y, order, both_ends)
                tests[0] += n_tested
                parent += 1
                if separator is not None:
                    found[deleted] = [x, y, *separator]
                    deleted += 1
        return found[:deleted], int(tests[0])

    def _workspace(self, thread: int, order: int) -> Any:
        """Return a thread's workspace for separating sets of a size; a larger one serves too."""
        from tanbark.structure.constraint import kernels

        held, work = self._workspaces.get(thread, (-1, None))
        if order > held:
            work = kernels.make_workspace(order, self._data, self._caches[thread])
            self._workspaces[thread] = order, work
        return work

    def _test_together(
        self, adjacent: NDArray[np.bool_], x: int, y: int, order: int, both_ends: bool
    ) -> tuple[Integers | None, int]:
        """Test one edge with all threads: each takes a stretch of the sets, and the first separating set counts."""
        from tanbark.structure.constraint import kernels

        candidates = np.array([z for z in np.flatnonzero(adjacent[:, y]) if z != x], np.int64)
        again = both_ends and x < y and bool(adjacent[y, x])
        edge = kernels.Edge(x, y, candidates, adjacent[candidates, x] & again)
        total, low, stretch = math.comb(len(candidates), order), 0, self._stretch

        def work(thread: int, chosen: Integers, count: int) -> int:
            found: int = kernels.separate(edge, chosen, count, self._data, self._workspace(thread, order))
            return found

        while low < total:
            starts = range(low, min(total, low + self._threads * stretch), stretch)
            picked = [combination_at(start, len(candidates), order) for start in starts]
            calls = [(k, chosen, min(stretch, total - starts[k])) for k, chosen in enumerate(picked)]
            places = run_threads(work, calls, self._threads, long=True)
            for start, chosen, at in zip(starts, picked, places, strict=True):
                if at >= 0:
                    adjacent[x, y] = adjacent[y, x] = False
                    return candidates[chosen], start + at + 1
            low, stretch = starts[-1] + stretch, min(2 * stretch, 16 * self._stretch)
        return None, total
