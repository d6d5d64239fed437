"""The set function h(S) for all sets S of columns at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tanbark.counts.engine import CountEngine
from tanbark.errors import InputError
from tanbark.machine import run_threads, thread_count
from tanbark.structure.constraint.independence import coded_rows, make_store
from tanbark.table import missing_code

MOST_BITS = 62
TOP_COLUMNS = 6  # the sets are split by these columns into pieces of work
BLOCK_COLUMNS, BLOCK_BITS = 6, 7  # the last columns, whose subsets are summed together


def complete_rows(counts: CountEngine) -> tuple[NDArray[np.unsignedinteger], NDArray[np.float64]]:
    """Return the coded rows without a gap, and their weights (none where every row counts once)."""
    codes, weights = coded_rows(counts)
    known = (codes != missing_code(codes)).all(axis=0)
    if known.all():
        return codes, weights
    if not known.any():
        msg = (
            "Every row has a gap, and a network is scored on the rows without one. Drop the columns with most gaps, "
            "fill them in, or use a learner that can do with gaps, such as TAN."
        )
        raise InputError(msg)
    return np.ascontiguousarray(codes[:, known]), weights[known] if len(weights) else weights


def subset_scores(
    codes: NDArray[np.unsignedinteger], weights: NDArray[np.float64], cardinalities: tuple[int, ...],
    columns: tuple[int, ...], *, given: int | None, ess: float, n_jobs: int | None,
    advance: Callable[[float], None] = lambda share: None,
) -> NDArray[np.float64]:  # fmt: skip
    r"""Compute h(S) for every subset S of ``columns``, by its bit mask; bit i stands for ``columns[i]``.

    .. math:: h(S) = \sum_{\text{cells}} \ln\Gamma(\tfrac{\alpha}{q_S} + N) - \ln\Gamma(\tfrac{\alpha}{q_S})

    With ``given`` that column is in every set besides. The BDeu of X with parents P is h(P + X) - h(P). ``advance`` is
    told the share of the work that is done.
    """
    from tanbark.structure.exact import subset_kernels as kernels

    n = len(columns)
    states = np.array([cardinalities[c] for c in columns], np.int64)
    labels = np.zeros(codes.shape[1], np.int64) if given is None else codes[given].astype(np.int64)
    n_given = 1 if given is None else cardinalities[given]
    widths = np.array([max(int(r) - 1, 0).bit_length() for r in states], np.int64)
    h = np.zeros(1 << n)
    threads = thread_count(n_jobs)
    stores = [make_store(codes.shape[1], 256) for _ in range(threads)]  # one for each piece of work at a time
    top = min(TOP_COLUMNS, n)
    if int(widths.sum()) + (n_given - 1).bit_length() > MOST_BITS:
        part = np.ascontiguousarray(codes[list(columns)])

        def by_rows(fixed: int) -> None:
            store = stores.pop()
            kernels.walk_rows(part, weights, states, labels, n_given, fixed, top, ess, store, h)
            stores.append(store)

        _run_pieces(by_rows, 1 << top, threads, advance)
        return h
    places = np.argsort(-widths, kind="stable")
    states, widths = states[places], widths[places]
    stop = n
    while stop > 0 and n - stop < BLOCK_COLUMNS and widths[stop - 1 :].sum() <= BLOCK_BITS:
        stop -= 1
    top = min(TOP_COLUMNS, stop)
    keys, sizes = _full_table(codes, weights, [columns[p] for p in places], widths, labels)

    def by_tables(fixed: int) -> None:
        table, counted, q = keys, sizes, float(n_given) * float(np.prod(states.astype(float)))
        mask = (1 << n) - 1
        for j in range(top):
            if not fixed >> j & 1:
                low = int(widths[j + 1 :].sum())
                room = np.empty_like(table), np.empty_like(counted)
                size = kernels.drop_sparse(table, counted, len(table), low, int(widths[j]), *room)
                table, counted, q = room[0][:size], room[1][:size], q / states[j]
                mask &= ~(1 << int(places[j]))
        store = stores.pop()
        kernels.walk(table, counted, mask, top, stop, widths, states, places, q, ess, len(weights) == 0, store, h)
        stores.append(store)

    _run_pieces(by_tables, 1 << top, threads, advance)
    return h


def _run_pieces(work: Callable[[int], None], n_pieces: int, threads: int, advance: Callable[[float], None]) -> None:
    """Do numbered pieces of work on threads, and tell how many are done."""
    done: list[int] = []

    def piece(number: int) -> None:
        work(number)
        done.append(number)
        advance(len(done) / n_pieces)

    run_threads(piece, [(number,) for number in range(n_pieces)], threads)


def _full_table(
    codes: NDArray[np.unsignedinteger], weights: NDArray[np.float64], columns: list[int],
    widths: NDArray[np.int64], labels: NDArray[np.int64],
) -> tuple[NDArray[np.int64], NDArray[Any]]:  # fmt: skip
    """Pack the rows into keys, and count equal ones."""
    keys = labels.copy()
    for column, width in zip(columns, widths.tolist(), strict=True):
        keys = keys << width | codes[column]
    found, place = np.unique(keys, return_inverse=True)
    if len(weights):
        return found, np.bincount(place, weights, len(found))
    return found, np.bincount(place, minlength=len(found)).astype(np.int32)
