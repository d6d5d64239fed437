"""The network of highest BDeu score: dynamic programming over all subsets, or lists of parent sets and their orders."""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from tanbark.checks import GIB, allowed_memory, check_count, check_ess, check_limit
from tanbark.counts import CountEngine
from tanbark.errors import NotProvedWarning, TableTooLargeError, find, warn
from tanbark.graph import Dag
from tanbark.machine import run_threads, thread_count
from tanbark.structure.exact.subset_scores import CompleteRows, subset_scores
from tanbark.structure.progress import Progress
from tanbark.structure.result import Learnt

PROVED = 1e-6  # a gap that is rounding
LONG_SEARCH = 20  # columns from which on progress is shown on a terminal
METHODS = ("auto", "dp", "ip")
TIME_LIMIT = 600.0


@dataclass(frozen=True)
class Step:
    """When an exact search knew which score and which bound: after a stage of it, in seconds from its beginning."""

    stage: str
    seconds: float
    score: float
    bound: float


@dataclass(frozen=True)
class ExactReport:
    """Statistics of an exact search.

    Parameters
    ----------
    method : str
        "dp" for dynamic programming, "ip" for the integer programme over candidate parent sets.
    n_searched : int
        Columns that the search was over: those with more than one state, without the class where it is in every family.
    n_bytes : int
        Memory that its tables take at most.
    bound : float
        An upper bound on the score of any network of the kind. In dynamic programming, the sum of every column's best
        family, cycles or not; in the integer programme, the lower of the bounds of its relaxation and of the search.
    gap : float
        How much better the best network may be than the one found; 0 where the optimum is proved.
    proved_parents : int
        No network whose columns have at most so many parents, the class of an augmented one not counted, scores
        higher; -1 if that is not proved for any number. Where the optimum is proved, it is the most there may be.
    n_candidates : int
        Parent sets that the integer programme chose from.
    largest : int
        The most parents of a set that was to choose from.
    n_nodes : int
        Nodes of the branch and bound that listed the parent sets.
    n_states : int
        Sets of first columns that the search over orders visited.
    history : tuple of Step
        Which score and which bound were known when.
    """

    method: str
    n_searched: int
    n_bytes: int
    bound: float = 0.0
    gap: float = 0.0
    proved_parents: int = -1
    n_candidates: int = 0
    largest: int = 0
    n_nodes: int = 0
    n_states: int = 0
    history: tuple[Step, ...] = ()

    @property
    def proved_optimal(self) -> bool:
        """Whether no network of the kind has a higher score."""
        return self.gap <= PROVED


def learn_augmented(
    counts: CountEngine, *, ess: float = 1.0, max_parents: int | None = None, method: str = "auto",
    max_memory: float | None = None, time_limit: float | None = TIME_LIMIT, verbose: bool = False,
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
    method : {"auto", "dp", "ip"}
        Dynamic programming, the integer programme over candidate parent sets, solved by a search over orders, or the
        first where its tables fit.
    max_memory : float, optional
        Bytes that the tables may take; by default half of the free memory. A search that needs more raises an error
        before anything is allocated.
    time_limit : float, optional
        Seconds for listing parent sets and for the search over orders; then the best network so far is returned, with
        a warning that reports how much better one may be.
    verbose : bool
        Report each stage and its seconds.

    Notes
    -----
    Columns with one state take no part. Rows with missing values are left out of the search. Of networks with the same
    score the lowest columns come last, with the fewest parents. Silander and Myllymäki (2006), A simple approach for
    finding the globally optimal Bayesian network structure; for augmented networks Sugahara and Ueno (2021); for the
    parent sets that the integer programme chooses from, ``listing`` and ``bounded_sets``, and for the choice,
    ``relaxation`` and ``order_graph``. Scores that differ by no more than 1e-7 per strongly connected component of the
    candidate arcs count as equal, and a gap of up to 1e-6 in all as rounding.
    """
    schema = counts.schema
    features = tuple(i for i in range(schema.target) if schema.cardinalities[i] > 1)
    search = _Search(counts, features, schema.target, ess, max_parents, method, max_memory, time_limit, verbose)
    parents: list[tuple[int, ...]] = [()] * schema.target
    for node, found in search.run().items():
        parents[node] = found
    alone = subset_scores(search.rows, (schema.target,), given=None, ess=search.ess, n_jobs=1)
    prior = float(alone[1] - alone[0])
    history = tuple(replace(step, score=step.score + prior, bound=step.bound + prior) for step in search.report.history)
    report = replace(search.report, bound=search.report.bound + prior, history=history)
    return Learnt(Dag.augmented(schema.names, parents), search.total + prior, report=report)


def learn_general(
    counts: CountEngine, *, ess: float = 1.0, max_parents: int | None = None, method: str = "auto",
    max_memory: float | None = None, time_limit: float | None = TIME_LIMIT, verbose: bool = False,
) -> Learnt:  # fmt: skip
    """Find the network of highest BDeu score over the features and the class (exact-GBN).

    Options as in ``learn_augmented``; ``max_parents`` then counts the class where it is a parent.
    """
    schema = counts.schema
    columns = tuple(i for i, states in enumerate(schema.cardinalities) if states > 1)
    search = _Search(counts, columns, None, ess, max_parents, method, max_memory, time_limit, verbose)
    parents: list[tuple[int, ...]] = [()] * len(schema.names)
    for node, found in search.run().items():
        parents[node] = found
    return Learnt(Dag(schema.names, tuple(parents)), search.total, report=search.report)


class _Search:
    """One search over some columns, with or without one that is in every family."""

    def __init__(
        self, counts: CountEngine, columns: tuple[int, ...], given: int | None, ess: float, max_parents: int | None,
        method: str, max_memory: float | None, time_limit: float | None, verbose: bool,
    ) -> None:  # fmt: skip
        check_ess(ess)
        if max_parents is not None:
            check_count("max_parents", max_parents)
        find("method", method, dict.fromkeys(METHODS))
        check_limit("time_limit", time_limit, "seconds")
        self.columns, self.given, self.ess = columns, given, float(ess)
        self.n, self.max_parents, self.time_limit = len(columns), max_parents, time_limit
        self.most = self.n if max_parents is None else int(max_parents)
        shown = verbose or (sys.stderr.isatty() and self.n >= LONG_SEARCH)
        self.progress = Progress("exact search", shown=shown)
        self.n_jobs = counts.n_jobs
        self.n_bytes, self.allowed = needed_memory(self.n), allowed_memory(max_memory)
        fits = self.n_bytes <= self.allowed
        self.method = ("dp" if fits else "ip") if method == "auto" else method
        if self.method == "dp" and not fits:
            raise_too_large(self.n, self.n_bytes, self.allowed)
        self.rows = CompleteRows.of(counts)
        self.total = 0.0
        self.report = ExactReport(self.method, self.n, self.n_bytes)

    def run(self) -> dict[int, tuple[int, ...]]:
        """Return the best parents of every column, and set ``total`` to their score."""
        if self.n == 0:
            return {}
        return self._programme() if self.method == "ip" else self._all_subsets()

    def _all_subsets(self) -> dict[int, tuple[int, ...]]:
        """Find the optimum by dynamic programming over all subsets of the columns."""
        from tanbark.structure.exact import kernels

        n, progress = self.n, self.progress
        progress.say(f"{1 << n:,} sets of {n} columns, {self.n_bytes / GIB:.2f} GiB")
        begun = time.perf_counter()
        progress.start()
        h = subset_scores(
            self.rows, self.columns, given=self.given, ess=self.ess, n_jobs=self.n_jobs, advance=progress.advance
        )
        progress.say(f"counted and scored all sets in {time.perf_counter() - begun:.1f} s")
        begun = time.perf_counter()
        best = np.empty((n, 1 << (n - 1)))
        calls = [(h, node, n, self.most, best[node]) for node in range(n)]
        run_threads(kernels.best_families, calls, thread_count(self.n_jobs), long=True)
        bound = float(best[:, -1].sum())
        most = min(self.most, n - 1)
        self.report = replace(self.report, bound=bound, proved_parents=most, largest=most)
        progress.say(f"best parents in {time.perf_counter() - begun:.1f} s; no network exceeds {bound:.6f}")
        begun = time.perf_counter()
        total, sink = np.empty(1 << n), np.zeros(1 << n, np.int8)
        run_threads(kernels.best_sinks, [(best, n, total, sink)], 1, long=True)
        progress.say(f"best orders in {time.perf_counter() - begun:.1f} s; the optimum is {total[-1]:.6f}")
        self.total = float(total[-1])
        return self._trace(h, best, sink)

    def _trace(
        self, h: NDArray[np.float64], best: NDArray[np.float64], sink: NDArray[np.int8]
    ) -> dict[int, tuple[int, ...]]:
        """Follow the sinks back, and find the smallest best parents of each among the nodes before it."""
        from tanbark.structure.exact import kernels

        found = {}
        left = (1 << self.n) - 1
        while left:
            node = int(sink[left])
            left ^= 1 << node
            place = (left >> (node + 1) << node) | (left & ((1 << node) - 1))
            goal = best[node, place] - kernels.rounding(h[left | 1 << node])
            mask = int(kernels.find_parents(h, node, left, goal, self.most))
            found[self.columns[node]] = tuple(self.columns[i] for i in range(self.n) if mask >> i & 1)
        return found

    def _programme(self) -> dict[int, tuple[int, ...]]:
        """List the parent sets that may be needed, and choose among them by a search over orders."""
        from tanbark.structure.exact.listing import Lister
        from tanbark.structure.exact.order_graph import solve

        begun = time.perf_counter()
        history: list[Step] = []

        def note(stage: str, score: float, bound: float) -> None:
            history.append(Step(stage, time.perf_counter() - begun, score, bound))

        listing = Lister(
            self.rows, self.columns, given=self.given, ess=self.ess, max_parents=self.max_parents,
            time_limit=self.time_limit, max_memory=self.allowed, n_jobs=self.n_jobs, report=self.progress.say,
            note=note,
        ).run()  # fmt: skip
        found, seconds = listing.candidates, time.perf_counter() - begun
        self.progress.say(f"{len(found.child):,} candidate parent sets in {seconds:.1f} s")
        deadline = np.inf if self.time_limit is None else begun + self.time_limit

        def all_bounds(score: float, bound: float) -> float:
            return min(max(bound, listing.unlisted), max(listing.bound, score))

        solved = solve(
            found, listing.relaxed, deadline=deadline, max_memory=self.allowed, report=self.progress.say,
            note=lambda stage, score, bound: note(stage, score, all_bounds(score, bound)),
        )  # fmt: skip
        bound = all_bounds(solved.score, solved.bound)
        self.total, gap = solved.score, max(0.0, bound - solved.score)
        note("end", self.total, bound)
        largest = int(found.member.sum(axis=1).max())
        proved = listing.complete if solved.bound - solved.score <= PROVED else -1
        if gap <= PROVED:
            proved = min(self.most, self.n - 1)
        self.report = replace(
            self.report, n_bytes=listing.n_bytes, bound=bound, gap=gap, proved_parents=proved,
            n_candidates=len(found.child), largest=largest, n_nodes=listing.n_nodes, n_states=solved.n_states,
            history=tuple(history),
        )  # fmt: skip
        self.progress.say(f"score {self.total:.6f}, gap {gap:.6f}, {time.perf_counter() - begun:.1f} s")
        if not self.report.proved_optimal:
            self._warn_unproved(listing.unlisted > solved.score + PROVED)
        return {
            self.columns[found.child[k]]: tuple(self.columns[i] for i in np.flatnonzero(found.member[k]))
            for k in solved.chosen.tolist()
        }

    def _warn_unproved(self, unlisted: bool) -> None:
        """Warn that the optimum is not proved, and how to prove it."""
        why, most = "not all parent sets could be looked at" if unlisted else "time was up", self.report.proved_parents
        within = f" No network with up to {most} parents of a column scores higher." if most >= 0 else ""
        msg = (
            f"The exact search is not finished: {why}. Its network scores {self.total:.3f}, and none more than "
            f"{self.report.gap:.3f} above that.{within} Raise time_limit, or lower max_parents."
        )
        warn(msg, NotProvedWarning)


def needed_memory(n: int) -> int:
    """Return the bytes that the search over n columns takes: h, best families, best orders and last nodes.

    >>> needed_memory(20) >> 20
    97
    """
    return n * (8 << max(n - 1, 0)) + (17 << n)


def raise_too_large(n: int, needed: int, allowed: float) -> None:
    """Raise TableTooLargeError for a dynamic programme that would take more memory than it may."""
    msg = (
        f"Dynamic programming over {n} columns takes {needed / GIB:,.2f} GiB, above the {allowed / GIB:,.2f} GiB that "
        "it may take (max_memory). Use method='ip', drop columns, raise max_memory, or use RAIANB or RAIGBN, which "
        "take little."
    )
    raise TableTooLargeError(msg)
