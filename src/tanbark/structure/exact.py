"""The network of highest BDeu score: dynamic programming over all subsets of columns."""

from __future__ import annotations

import os
import sys
import time
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tanbark.counts import CountEngine
from tanbark.counts.lattice import complete_rows, subset_scores
from tanbark.errors import OptionError, TableTooLargeError
from tanbark.graph import Dag
from tanbark.machine import run_threads, thread_count
from tanbark.structure.kdb import check_count
from tanbark.structure.rai import check_ess
from tanbark.structure.result import Learnt

TIE = 1e-9
LONG_WORK = 20  # columns from which on a terminal is told what is going on
GIB = 1 << 30


@dataclass(frozen=True)
class ExactReport:
    """What an exact search did.

    Parameters
    ----------
    n_searched : int
        Columns that the search was over: those with more than one state, without the class where it is in every family.
    n_bytes : int
        Memory that its tables took.
    bound : float
        A score that no network exceeds, known before the search over orders: every column with its best parents of
        all, cycles or not.
    """

    n_searched: int
    n_bytes: int
    bound: float


def learn_augmented(
    counts: CountEngine, *, ess: float = 1.0, max_parents: int | None = None, max_memory: float | None = None,
    verbose: bool = False,
) -> Learnt:  # fmt: skip
    r"""Find the augmented naive Bayes of highest BDeu score (exact-ANB).

    .. math:: \sum_i h(P_i \cup \{X_i, C\}) - h(P_i \cup \{C\}) + h(\{C\}) - h(\emptyset)

    Parameters
    ----------
    counts : CountEngine
    ess : float
        Equivalent sample size.
    max_parents : int, optional
        The most feature parents of a feature.
    max_memory : float, optional
        Bytes that the tables may take; by default half of what the machine has free. What is needed is known, and
        refused if it is more, before anything is allocated.
    verbose : bool
        Tell each stage and its seconds.

    Notes
    -----
    Columns with one state take no part. Rows with a gap are left out of the search. Of networks with the same score the
    lowest columns come last, with the fewest parents. Silander and Myllymäki (2006), A simple approach for finding the
    globally optimal Bayesian network structure; for augmented networks Sugahara and Ueno (2021).
    """
    schema = counts.schema
    features = tuple(i for i in range(schema.target) if schema.cardinalities[i] > 1)
    search = _Search(counts, features, schema.target, ess, max_parents, max_memory, verbose)
    parents: list[tuple[int, ...]] = [()] * schema.target
    for node, found in search.run().items():
        parents[node] = found
    codes, weights = search.rows
    prior = subset_scores(codes, weights, schema.cardinalities, (schema.target,), given=None, ess=search.ess, n_jobs=1)
    score = search.total + float(prior[1] - prior[0])
    return Learnt(Dag.augmented(schema.names, parents), score, report=search.report)


def learn_general(
    counts: CountEngine, *, ess: float = 1.0, max_parents: int | None = None, max_memory: float | None = None,
    verbose: bool = False,
) -> Learnt:  # fmt: skip
    """Find the network of highest BDeu score over the features and the class (exact-GBN).

    Options as in ``learn_augmented``; ``max_parents`` then counts the class where it is a parent.
    """
    schema = counts.schema
    columns = tuple(i for i, states in enumerate(schema.cardinalities) if states > 1)
    search = _Search(counts, columns, None, ess, max_parents, max_memory, verbose)
    parents: list[tuple[int, ...]] = [()] * len(schema.names)
    for node, found in search.run().items():
        parents[node] = found
    return Learnt(Dag(schema.names, tuple(parents)), search.total, report=search.report)


class _Search:
    """One run of the dynamic programme over some columns, with or without one that is in every family."""

    def __init__(
        self, counts: CountEngine, columns: tuple[int, ...], given: int | None, ess: float, max_parents: int | None,
        max_memory: float | None, verbose: bool,
    ) -> None:  # fmt: skip
        check_ess(ess)
        if max_parents is not None:
            check_count("max_parents", max_parents)
        self.columns, self.given, self.ess = columns, given, float(ess)
        self.n = len(columns)
        self.most = self.n if max_parents is None else int(max_parents)
        self.told = verbose or (sys.stderr.isatty() and self.n >= LONG_WORK)
        self.cardinalities = counts.schema.cardinalities
        self.n_jobs = getattr(counts, "n_jobs", None)
        self.n_bytes = needed_memory(self.n)
        check_memory(self.n, self.n_bytes, max_memory)
        self.rows = complete_rows(counts)
        self.total = 0.0
        self.report = ExactReport(self.n, self.n_bytes, 0.0)

    def run(self) -> dict[int, tuple[int, ...]]:
        """Give the best parents of every column; leave the score in ``total``."""
        from tanbark.structure import kernels

        n = self.n
        if n == 0:
            return {}
        self._say(f"{1 << n:,} sets of {n} columns, {self.n_bytes / GIB:.2f} GiB")
        begun = time.perf_counter()
        codes, weights = self.rows
        h = subset_scores(
            codes, weights, self.cardinalities, self.columns, given=self.given, ess=self.ess, n_jobs=self.n_jobs
        )
        self._say(f"counted and scored all sets in {time.perf_counter() - begun:.1f} s")
        begun = time.perf_counter()
        best = np.empty((n, 1 << (n - 1)))
        calls = [(h, node, n, self.most, best[node]) for node in range(n)]
        run_threads(kernels.best_families, calls, thread_count(self.n_jobs))
        bound = float(best[:, -1].sum())
        self.report = ExactReport(n, self.n_bytes, bound)
        self._say(f"best parents in {time.perf_counter() - begun:.1f} s; no network exceeds {bound:.6f}")
        begun = time.perf_counter()
        total, sink = np.empty(1 << n), np.zeros(1 << n, np.int8)
        kernels.best_sinks(best, n, total, sink)
        self._say(f"best orders in {time.perf_counter() - begun:.1f} s; the optimum is {total[-1]:.6f}")
        self.total = float(total[-1])
        return self._trace(h, best, sink)

    def _trace(
        self, h: NDArray[np.float64], best: NDArray[np.float64], sink: NDArray[np.int8]
    ) -> dict[int, tuple[int, ...]]:
        """Follow the last nodes back, and find each one's smallest best parents among those before it."""
        from tanbark.structure import kernels

        found = {}
        left = (1 << self.n) - 1
        while left:
            node = int(sink[left])
            left ^= 1 << node
            place = (left >> (node + 1) << node) | (left & ((1 << node) - 1))
            mask = int(kernels.find_parents(h, node, left, best[node, place] - TIE, self.most))
            found[self.columns[node]] = tuple(self.columns[i] for i in range(self.n) if mask >> i & 1)
        return found

    def _say(self, text: str) -> None:
        if self.told:
            print(f"exact search: {text}", file=sys.stderr, flush=True)


def needed_memory(n: int) -> int:
    """Give the bytes that the search over n columns takes: h, best families, best orders and last nodes.

    >>> needed_memory(20) >> 20
    97
    """
    return n * (8 << max(n - 1, 0)) + (17 << n)


def check_memory(n: int, needed: int, max_memory: object) -> None:
    """Refuse a search that would take more memory than it may."""
    if max_memory is None:
        allowed = _free_memory() / 2
    elif isinstance(max_memory, (int, float, np.number)) and not isinstance(max_memory, bool) and max_memory > 0:
        allowed = float(max_memory)
    else:
        msg = f"max_memory must be None or a number of bytes above 0; got {max_memory!r}."
        raise OptionError(msg)
    if needed > allowed:
        msg = (
            f"An exact search over {n} columns takes {needed / GIB:,.2f} GiB, above the {allowed / GIB:,.2f} GiB that "
            "it may take (max_memory). Drop columns, raise max_memory, or use RAIANB or RAIGBN, which take little."
        )
        raise TableTooLargeError(msg)


def _free_memory() -> float:
    """Give the bytes of memory that are free, as far as the machine tells."""
    try:
        with open("/proc/meminfo") as file:
            kibibytes = next(line.split()[1] for line in file if line.startswith("MemAvailable"))
        return float(kibibytes) * 1024
    except (OSError, StopIteration):
        names = os.sysconf_names if hasattr(os, "sysconf_names") else {}
        known = "SC_PHYS_PAGES" in names and "SC_PAGE_SIZE" in names
        return float(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")) if known else 8.0 * GIB
