"""The set function h(S) for all sets S of columns at once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tanbark.arrays import Codes, Floats, Integers
from tanbark.counts.engine import CountEngine
from tanbark.errors import InputError
from tanbark.machine import run_threads, thread_count
from tanbark.scores.dirichlet import make_term_cache
from tanbark.table import missing_code

MAX_KEY_BITS = 62
TOP_COLUMNS = 6  # the sets are split by these columns into tasks
BLOCK_COLUMNS, BLOCK_BITS = 6, 7  # the last columns, whose subsets are summed together
CACHED_SIZES = 256  # numbers of configurations whose log-gamma terms are cached


@dataclass(frozen=True, eq=False)
class CompleteRows:
    """Coded rows without missing values, with their weights (empty: each row counts once)."""

    codes: Codes
    weights: Floats
    cardinalities: tuple[int, ...]

    @classmethod
    def of(cls, counts: CountEngine) -> CompleteRows:
        """Take the complete rows of an engine."""
        codes, given = counts.coded_rows()
        weights = np.zeros(0) if given is None else given
        known = (codes != missing_code(codes)).all(axis=0)
        if len(known) and not known.any():
            msg = (
                "Every row has a missing value, and a network is scored on complete rows. Drop the columns with most "
                "missing values, fill them in, or use a learner that allows them, such as TAN."
            )
            raise InputError(msg)
        return cls(codes, weights, counts.schema.cardinalities)._where(known)

    def _where(self, chosen: NDArray[np.bool_]) -> CompleteRows:
        if chosen.all():
            return self
        weights = self.weights[chosen] if len(self.weights) else self.weights
        return CompleteRows(np.ascontiguousarray(self.codes[:, chosen]), weights, self.cardinalities)

    def positive(self) -> CompleteRows:
        """Return the rows of positive weight."""
        return self._where(self.weights > 0)

    def labelled(self, columns: tuple[int, ...], given: int | None) -> Any:
        """Return some columns for the kernels, labelled by a column that is in every set (None for no such column)."""
        from tanbark.counts.kernels import LabelledRows

        labels = np.zeros(self.codes.shape[1], np.int64) if given is None else self.codes[given].astype(np.int64)
        states = np.array([self.cardinalities[c] for c in columns], np.int64)
        n_labels = 1 if given is None else self.cardinalities[given]
        return LabelledRows(np.ascontiguousarray(self.codes[list(columns)]), self.weights, states, labels, n_labels)


def subset_scores(
    rows: CompleteRows, columns: tuple[int, ...], *, given: int | None, ess: float, n_jobs: int | None,
    advance: Callable[[float], None] = lambda fraction: None,
) -> Floats:  # fmt: skip
    """Compute h(S) of ``scores.dirichlet`` for every subset S of ``columns``, by its bit mask.

    Bit i stands for ``columns[i]``. With ``given`` that column is in every set besides. The BDeu score of X with
    parents P is h(P + X) - h(P). ``advance`` is called with the fraction of the work that is done.
    """
    labelled = rows.labelled(columns, given)
    threads = thread_count(n_jobs)
    caches = [make_term_cache(len(labelled.labels), CACHED_SIZES) for _ in range(threads)]  # one per running task
    key_bits = sum((int(r) - 1).bit_length() for r in (*labelled.n_states, labelled.n_labels))
    run = _score_by_rows if key_bits > MAX_KEY_BITS else _score_by_tables
    return run(labelled, ess, caches, advance)


def _score_by_rows(rows: Any, ess: float, caches: list[Any], advance: Callable[[float], None]) -> Floats:
    """Go through the rows for every set: for states too many to pack into a key."""
    from tanbark.structure.exact import subset_kernels as kernels

    n = len(rows.n_states)
    h, top = np.zeros(1 << n), min(TOP_COLUMNS, n)

    def work(fixed: int, cache: Any) -> None:
        kernels.walk_rows(rows, fixed, top, ess, cache, h)

    _run_tasks(work, 1 << top, caches, advance)
    return h


def _score_by_tables(rows: Any, ess: float, caches: list[Any], advance: Callable[[float], None]) -> Floats:
    """Sum each table from a larger one, beginning with that of all columns; columns with most states go first."""
    from tanbark.structure.exact import subset_kernels as kernels

    n = len(rows.n_states)
    widths = np.array([(int(r) - 1).bit_length() for r in rows.n_states], np.int64)
    places = np.argsort(-widths, kind="stable")
    columns = kernels.PackedColumns(widths[places], rows.n_states[places], places)
    stop = n
    while stop > 0 and n - stop < BLOCK_COLUMNS and columns.widths[stop - 1 :].sum() <= BLOCK_BITS:
        stop -= 1
    top = min(TOP_COLUMNS, stop)
    h, whole = np.zeros(1 << n), len(rows.weights) == 0
    keys, counts = _full_table(rows, columns)
    q = float(rows.n_labels) * float(np.prod(columns.n_states.astype(float)))
    root = kernels.Root(keys, counts, (1 << n) - 1, q)

    def work(fixed: int, cache: Any) -> None:
        table = root
        for j in range(top):
            if not fixed >> j & 1:
                table = _without_column(table, j, columns)
        kernels.walk(table, top, stop, columns, ess, whole, cache, h)

    _run_tasks(work, 1 << top, caches, advance)
    return h


def _without_column(table: Any, j: int, columns: Any) -> Any:
    """Sum a column out of a sparse table."""
    from tanbark.structure.exact.subset_kernels import Root
    from tanbark.structure.exact.table_kernels import drop_sparse

    keys, counts = np.empty_like(table.keys), np.empty_like(table.counts)
    low = int(columns.widths[j + 1 :].sum())
    size = drop_sparse(table.keys, table.counts, len(keys), low, int(columns.widths[j]), keys, counts)
    mask = table.mask & ~(1 << int(columns.places[j]))
    return Root(keys[:size], counts[:size], mask, table.q / columns.n_states[j])


def _run_tasks(
    work: Callable[[int, Any], None], n_tasks: int, caches: list[Any], advance: Callable[[float], None]
) -> None:
    """Run numbered tasks on threads, each with a cache of its own, and report the fraction that is done."""
    done: list[int] = []

    def task(number: int) -> None:
        cache = caches.pop()
        work(number, cache)
        caches.append(cache)
        done.append(number)
        advance(len(done) / n_tasks)

    run_threads(task, [(number,) for number in range(n_tasks)], len(caches), long=True)


def _full_table(rows: Any, columns: Any) -> tuple[Integers, NDArray[Any]]:
    """Pack the rows into keys, and count equal ones."""
    keys = rows.labels.copy()
    for place, width in zip(columns.places.tolist(), columns.widths.tolist(), strict=True):
        keys = keys << width | rows.codes[place]
    found, place = np.unique(keys, return_inverse=True)
    if len(rows.weights):
        return found, np.bincount(place, rows.weights, len(found))
    return found, np.bincount(place, minlength=len(found)).astype(np.int32)
