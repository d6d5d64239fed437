"""Message lengths of the class for growing sets of features, with what makes a further feature cheap kept."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import ThreadpoolController

from tanbark.arrays import Floats, Integers
from tanbark.checks import check_positive
from tanbark.counts import CountEngine
from tanbark.errors import OptionError, find
from tanbark.machine import run_threads, thread_count
from tanbark.scores import mml
from tanbark.scores.mml import MessageLength, conditional, sequential

Chosen = tuple[int, ...]

WORTH_THREADS = 2000  # with fewer rows a second thread costs more than it saves
KEPT_BYTES = 1 << 29  # evidence of all features is kept up to this size


@dataclass(frozen=True)
class Options:
    """Options of the lengths: prior mass per cell, spread of coefficients, what is stated, seed, threads."""

    alpha: float = 1.0
    sigma: float = 3.0
    stated: str = "none"
    seed: int = 0
    n_jobs: int | None = None


class Scorer(Protocol):
    """Computes message lengths of the class with sets of features."""

    def length(self, chosen: Chosen) -> MessageLength:
        """Return the length with the chosen features."""

    def extended(self, chosen: Chosen, candidates: Sequence[int]) -> list[float]:
        """Return the length with the chosen features and each candidate in turn."""


@dataclass(frozen=True, eq=False)
class Rows:
    """Coded rows: features by row, a code of ``states[j]`` being a missing value; labels; weights."""

    codes: NDArray[Any]
    labels: Integers
    weights: Floats | None
    states: tuple[int, ...]
    n_classes: int

    @classmethod
    def of(cls, counts: CountEngine) -> Rows:
        """Take the rows of an engine."""
        codes, weights = counts.coded_rows()
        *states, n_classes = counts.schema.cardinalities
        top = np.array(states, codes.dtype).reshape(-1, 1)
        features = np.minimum(codes[:-1], top)
        return cls(features, codes[-1].astype(np.int64), weights, tuple(states), n_classes)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.labels)

    def keys(self, chosen: Chosen) -> tuple[Integers, Integers]:
        """Number the joint states of features that occur: each row's number, and a row of each number."""
        keys = np.zeros(self.n_rows, np.int64)
        first = np.zeros(min(1, self.n_rows), np.int64)
        for feature in chosen:
            keys = keys * (self.states[feature] + 1) + self.codes[feature]
            _, first, keys = np.unique(keys, return_index=True, return_inverse=True)
        return keys, first

    def class_table(self, keys: Integers, size: int) -> Floats:
        """Count the classes for every key below ``size``, (size, n_classes)."""
        flat = np.bincount(keys * self.n_classes + self.labels, self.weights, size * self.n_classes)
        return flat.astype(float).reshape(size, self.n_classes)

    @cached_property
    def incomplete(self) -> NDArray[np.bool_]:
        """Which features have missing values."""
        return np.asarray((self.codes == np.array(self.states).reshape(-1, 1)).any(axis=1))


class TableScorer:
    """``cpt``: one multinomial for every observed configuration; a missing value is a state of its own."""

    def __init__(self, rows: Rows, options: Options) -> None:
        self.rows, self.options = rows, options

    def length(self, chosen: Chosen) -> MessageLength:
        """Return the length with the chosen features."""
        keys, first = self.rows.keys(chosen)
        return self._length(chosen, self.rows.class_table(keys, len(first)))

    def extended(self, chosen: Chosen, candidates: Sequence[int]) -> list[float]:
        """Return the length with the chosen features and each candidate in turn."""
        keys, first = self.rows.keys(chosen)
        found = []
        for feature in candidates:
            r = self.rows.states[feature] + 1
            table = self.rows.class_table(keys * r + self.rows.codes[feature], len(first) * r)
            found.append(self._length((*chosen, feature), table).total)
        return found

    def _length(self, chosen: Chosen, table: Floats) -> MessageLength:
        every = math.prod(self.rows.states[j] + int(self.rows.incomplete[j]) for j in chosen)
        return mml.cpt(table, alpha=self.options.alpha, stated=self.options.stated, n_configs=every)


class JointScorer:
    """``nb_joint``: a sum over features, each computed once, on the rows where the feature is observed."""

    def __init__(self, rows: Rows, options: Options) -> None:
        self.alpha = options.alpha
        self.class_counts = rows.class_table(np.zeros(rows.n_rows, np.int64), 1)[0]
        self.tables = [
            rows.class_table(codes.astype(np.int64), r + 1)[:r]
            for codes, r in zip(rows.codes, rows.states, strict=True)
        ]
        self.gains = np.array([mml.nb_gain(table, alpha=self.alpha) for table in self.tables])

    def length(self, chosen: Chosen) -> MessageLength:
        """Return the length with the chosen features."""
        return mml.nb_joint(self.class_counts, self.tables, chosen, alpha=self.alpha)

    def extended(self, chosen: Chosen, candidates: Sequence[int]) -> list[float]:
        """Return the length with the chosen features and each candidate in turn."""
        base = self._nothing - float(self.gains[list(chosen)].sum())
        return [base - float(self.gains[feature]) for feature in candidates]

    @cached_property
    def _nothing(self) -> float:
        return self.length(()).total


@dataclass(frozen=True, eq=False)
class _Base:
    """What all candidates start from: each row's line of the design, the coefficients, and their information."""

    keys: Integers
    design: Floats
    start: Floats
    known: Floats


class LogitScorer:
    """``nb_logit`` and ``logit``: a further feature starts from the coefficients and the information without it."""

    def __init__(self, rows: Rows, variances: Callable[[Sequence[int]], Floats], n_jobs: int | None = None) -> None:
        self.rows, self.variances = rows, variances
        self.threads = thread_count(n_jobs) if rows.n_rows >= WORTH_THREADS else 1
        self._known: tuple[Chosen, MessageLength, Floats] | None = None

    def length(self, chosen: Chosen) -> MessageLength:
        """Return the length with the chosen features."""
        return self._settle(chosen)[0]

    def extended(self, chosen: Chosen, candidates: Sequence[int]) -> list[float]:
        """Return the length with the chosen features and each candidate in turn."""
        start = self._settle(chosen)[1]
        keys, first = self.rows.keys(chosen)
        if 2 * len(first) > self.rows.n_rows:  # few rows are equal: grouping them saves nothing
            keys = first = np.arange(self.rows.n_rows)
        design = self._design(chosen, first)
        with _one_blas_thread():  # candidates have a thread each; BLAS threads would compete with them
            known = conditional.information(design, self.rows.class_table(keys, len(first)), start)

            def work(part: Sequence[int]) -> list[float]:
                lengths = self._by_rows if first is keys else self._by_cells
                return lengths(chosen, part, _Base(keys, design, start, known))

            parts = [(candidates[k :: self.threads],) for k in range(min(self.threads, len(candidates)))]
            by_thread = run_threads(work, parts, self.threads)
        found = np.empty(len(candidates))
        for k, lengths in enumerate(by_thread):
            found[k :: self.threads] = lengths
        return [float(value) for value in found]

    def _by_cells(self, chosen: Chosen, candidates: Sequence[int], base: _Base) -> list[float]:
        """Return the lengths of candidates from the distinct rows and their counts."""
        found = []
        for feature in candidates:
            r = self.rows.states[feature]
            table = self.rows.class_table(
                base.keys * (r + 1) + self.rows.codes[feature], len(base.design) * (r + 1)
            )  # fmt: skip
            cells = np.flatnonzero(table.sum(axis=1) > 0)
            place, state = np.divmod(cells, r + 1)
            wide = np.hstack([base.design[place], conditional.feature_contrasts(state, r)])
            found.append(self._message((*chosen, feature), wide, table[cells], base.start, base.known)[0].total)
        return found

    def _by_rows(self, chosen: Chosen, candidates: Sequence[int], base: _Base) -> list[float]:
        """Return the lengths of candidates from all rows: only the last columns of the design change."""
        rows, p = self.rows, len(base.start)
        table = rows.class_table(base.keys, rows.n_rows)
        width = max(rows.states[feature] for feature in candidates) - 1
        wide = np.empty((rows.n_rows, p + width), order="F")
        wide[:, :p] = base.design
        found = []
        for feature in candidates:
            r = rows.states[feature]
            wide[:, p : p + r - 1] = conditional.feature_contrasts(rows.codes[feature], r)
            design = wide[:, : p + r - 1]
            found.append(self._message((*chosen, feature), design, table, base.start, base.known)[0].total)
        return found

    def _design(self, chosen: Chosen, first: Integers) -> Floats:
        parts = [conditional.feature_contrasts(self.rows.codes[j, first], self.rows.states[j]) for j in chosen]
        return np.hstack([np.ones((len(first), 1)), *parts])

    def _message(
        self, chosen: Chosen, design: Floats, table: Floats, start: Floats | None, known: Floats | None = None
    ) -> tuple[MessageLength, Floats]:
        variances = self.variances([self.rows.states[j] for j in chosen])
        if start is not None:
            start = np.vstack([start, np.zeros((len(variances) - len(start), start.shape[1]))])
        return conditional.message(design, table, variances, start, known)

    def _settle(self, chosen: Chosen) -> tuple[MessageLength, Floats]:
        """Find the coefficients of a set, starting from those of the previous set where it grew from that."""
        if self._known is not None and self._known[0] == chosen:
            return self._known[1:]
        grown = self._known is not None and self._known[0] == chosen[:-1] and chosen
        start = self._known[2] if self._known is not None and grown else None
        keys, first = self.rows.keys(chosen)
        table = self.rows.class_table(keys, len(first))
        with _one_blas_thread():
            length, found = self._message(chosen, self._design(chosen, first), table, start)
        self._known = (chosen, length, found)
        return length, found


class AdaptiveScorer:
    """``nb_adaptive``: row by row in the order of the rows; the evidence of every feature is computed once."""

    def __init__(self, rows: Rows, options: Options) -> None:
        _check_no_weights(rows, "nb_adaptive")
        self.rows, self.alpha = rows, options.alpha
        self._kept: dict[int, Floats] = {}
        self._keep = rows.codes.size * rows.n_classes * 8 <= KEPT_BYTES

    def length(self, chosen: Chosen) -> MessageLength:
        """Return the length with the chosen features."""
        free = self.rows.n_classes - 1 + sum((self.rows.states[j] - 1) * self.rows.n_classes for j in chosen)
        return MessageLength(sequential.code_length(self._total(chosen), self.rows.labels), d=free, one_part=True)

    def extended(self, chosen: Chosen, candidates: Sequence[int]) -> list[float]:
        """Return the length with the chosen features and each candidate in turn."""
        base = self._total(chosen)
        return [sequential.code_length(base + self._evidence(feature), self.rows.labels) for feature in candidates]

    def _total(self, chosen: Chosen) -> Floats:
        total = sequential.class_evidence(self.rows.labels, self.rows.n_classes, self.alpha)
        for feature in chosen:
            total += self._evidence(feature)
        return total

    def _evidence(self, feature: int) -> Floats:
        if feature in self._kept:
            return self._kept[feature]
        rows = self.rows
        found = sequential.feature_evidence(
            rows.codes[feature], rows.states[feature], rows.labels, rows.n_classes, self.alpha
        )
        if self._keep:
            self._kept[feature] = found
        return found


class PolytreeScorer:
    """``mbp``: averaged over polytrees; where these are sampled, the sample depends on the set alone."""

    def __init__(self, rows: Rows, options: Options) -> None:
        _check_no_weights(rows, "mbp")
        self.rows, self.options = rows, options

    def length(self, chosen: Chosen) -> MessageLength:
        """Return the length with the chosen features."""
        members = sorted(chosen)
        rng = np.random.default_rng([self.options.seed, *members])
        states = [self.rows.states[j] for j in members]
        return mml.mbp(
            self.rows.codes[members], self.rows.labels, states, self.rows.n_classes, alpha=self.options.alpha, rng=rng
        )

    def extended(self, chosen: Chosen, candidates: Sequence[int]) -> list[float]:
        """Return the length with the chosen features and each candidate in turn."""
        return [self.length((*chosen, feature)).total for feature in candidates]


@cache
def _linear_algebra() -> Any:
    return ThreadpoolController()  # finding the libraries takes longer than a small length


def _one_blas_thread() -> Any:
    """Keep linear algebra to the thread that calls it."""
    return _linear_algebra().limit(limits=1, user_api="blas")


def _check_no_weights(rows: Rows, criterion: str) -> None:
    if rows.weights is not None:
        msg = f"criterion={criterion!r} encodes rows one after another and cannot weigh them. Use criterion='nb_logit'."
        raise OptionError(msg)


def _nb_logit(rows: Rows, options: Options) -> Scorer:
    alpha = options.alpha
    return LogitScorer(rows, lambda states: conditional.nb_variances(states, alpha, alpha), options.n_jobs)


def _logit(rows: Rows, options: Options) -> Scorer:
    return LogitScorer(rows, lambda states: np.full(1 + sum(r - 1 for r in states), options.sigma**2), options.n_jobs)


SCORERS: dict[str, Callable[[Rows, Options], Scorer]] = {
    "nb_logit": _nb_logit,
    "nb_joint": JointScorer,
    "cpt": TableScorer,
    "logit": _logit,
    "nb_adaptive": AdaptiveScorer,
    "mbp": PolytreeScorer,
}


def make_scorer(criterion: str, counts: CountEngine, options: Options) -> Scorer:
    """Set up a message length by name for the rows of an engine."""
    make = find("criterion", criterion, SCORERS)
    find("stated", options.stated, {"none": None, "observed": None, "all": None})
    for name in ("alpha", "sigma"):
        check_positive(name, getattr(options, name))
    return make(Rows.of(counts), options)
