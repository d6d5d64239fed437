"""Vertical bitsets: every state of every column with few states as a packed set of rows.

Rows are sorted by a label (the class), and each label starts on a word of its own, so that a joint count by class is
AND and popcount over the words of one segment. A missing value sets no bit in any state of its column.
"""

from __future__ import annotations

from itertools import accumulate
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tanbark.arrays import Integers
from tanbark.machine import blocks, run_threads

MAX_BIT_STATES = 12  # columns with more states get no bitsets: they would outgrow the codes
WORD_BITS = 64
COLUMNS_AT_ONCE = 4  # are packed in one pass over the rows
ALL_ROWS = 0  # the bitset that holds every row
NO_BITSETS = -1
MOST_SHORT = 1 << 31  # rows whose positions are short numbers
EVERY_BIT = np.uint64((1 << WORD_BITS) - 1)


class Bitsets(NamedTuple):
    """Packed sets of rows, in the layout that kernels read.

    ``words[ALL_ROWS]`` is the set of all rows; ``words[first[column] + state]`` that of a state, ``first`` being
    NO_BITSETS for columns with too many states. ``complete[column]`` is 1 if a packed column has no missing value.
    The words of label c are ``segments[c]`` to ``segments[c + 1]``.
    """

    words: NDArray[np.uint64]
    first: Integers
    n_states: Integers
    complete: Integers
    segments: Integers


class PackedRows(NamedTuple):
    """Coded rows without missing values beside their bitsets, for kernels that count on their own.

    ``codes`` is (columns, rows); empty ``weights`` count every row once; ``words`` and ``first`` are those of
    :class:`Bitsets`, without any column that has too many states.
    """

    codes: NDArray[np.unsignedinteger]
    weights: NDArray[np.float64]
    words: NDArray[np.uint64]
    first: Integers
    n_states: Integers


def pack(
    codes: NDArray[np.unsignedinteger], n_states: Integers, *, labels: NDArray[np.integer] | None = None,
    n_labels: int = 1, max_states: int = MAX_BIT_STATES, threads: int = 1,
) -> Bitsets:  # fmt: skip
    """Pack columns of at most ``max_states`` states.

    Parameters
    ----------
    codes : (n_columns, n_rows) array
        A code of at least ``n_states`` of its column is a missing value.
    labels : (n_rows,) array, optional
        What the rows are sorted by, from 0 to ``n_labels - 1``; None keeps them as they are.
    """
    from tanbark.counts import bit_kernels

    n_columns, n_rows = codes.shape
    sizes = [n_rows] if labels is None else np.bincount(labels, minlength=n_labels).tolist()
    segments = np.array([0, *accumulate(-(-size // WORD_BITS) for size in sizes)], np.int64)
    order = np.zeros(0, np.int64) if labels is None else np.argsort(labels, kind="stable")
    order = order.astype(np.uint32 if n_rows < MOST_SHORT else np.int64)
    held = [states if states <= max_states else 0 for states in n_states.tolist()]
    *starts, end = accumulate(held, initial=1)
    first = np.array([low if states else NO_BITSETS for low, states in zip(starts, held, strict=True)], np.int64)
    words = np.zeros((end, int(segments[-1])), np.uint64)
    complete = np.zeros(n_columns, np.int64)
    for size, low in zip(sizes, segments.tolist(), strict=False):
        whole, rest = divmod(size, WORD_BITS)
        words[ALL_ROWS, low : low + whole] = EVERY_BIT
        if rest:
            words[ALL_ROWS, low + whole] = (1 << rest) - 1

    columns = np.flatnonzero(held)

    def work(low: int, high: int) -> None:
        bit_kernels.pack_bits(
            codes, columns[low:high], order, segments, np.array(sizes), first, n_states, words, complete
        )

    if threads > 1:
        step = len(columns) // (4 * threads) // COLUMNS_AT_ONCE * COLUMNS_AT_ONCE
        run_threads(work, blocks(len(columns), max(COLUMNS_AT_ONCE, step)), threads)
    else:
        work(0, len(columns))
    return Bitsets(words, first, n_states, complete, segments)
