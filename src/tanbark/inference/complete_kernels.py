"""The compiled prediction of complete rows, and the normalisation of log-joints."""

from __future__ import annotations

from math import exp, log

import numpy as np

from tanbark.arrays import Array
from tanbark.inference.layout import Factors
from tanbark.kernel import kernel, tiered

ROWS_AT_ONCE = 512


@tiered(lambda codes, factors, most, top, bottom, out: 4 * (bottom - top) * len(factors.columns))
def add_entries(codes: Array, factors: Factors, most: Array, top: int, bottom: int, out: Array) -> None:
    """Add to ``out[row, class]``, for rows from top to bottom, the entry of every factor of logarithms.

    ``most`` is the largest code of every column that the factors know; codes above it are read as that one.
    A block of rows at a time, so that the places of one factor's entries stay in the cache: first the places, column by
    column, then one gather of a class vector per row; a factor without the class has one entry for all of them.
    """
    entries, starts, columns, strides, bounds, with_class = factors
    n_classes = out.shape[1]
    places = np.empty(ROWS_AT_ONCE, np.uint64)  # unsigned, since a signed index costs a comparison with zero
    for low in range(top, bottom, ROWS_AT_ONCE):
        size = min(ROWS_AT_ONCE, bottom - low)
        for factor in range(len(with_class)):
            places[:size] = np.uint64(starts[factor])
            for at in range(bounds[factor], bounds[factor + 1] - with_class[factor]):
                stride, last = np.uint64(strides[at]), np.uint64(most[columns[at]])
                values = codes[columns[at], low : low + size]
                for row in range(size):
                    places[row] += min(np.uint64(values[row]), last) * stride
            if with_class[factor]:
                _add_vectors(entries, places, low, size, n_classes, out)
            else:
                for row in range(size):
                    for c in range(n_classes):
                        out[low + row, c] += entries[places[row]]


@kernel
def _add_vectors(entries: Array, places: Array, low: int, size: int, n_classes: int, out: Array) -> None:
    """Add to every row the class vector at its place; two classes are written out."""
    if n_classes == 2:
        for row in range(size):
            place = places[row]
            out[low + row, 0] += entries[place]
            out[low + row, 1] += entries[place + np.uint64(1)]
        return
    for row in range(size):
        place = places[row]
        for c in range(n_classes):
            out[low + row, c] += entries[place + np.uint64(c)]


@tiered(lambda joint, impossible, logs, top, bottom: 4 * (bottom - top) * joint.shape[1])
def normalize_rows(joint: Array, impossible: Array, logs: bool, top: int, bottom: int) -> None:
    """Turn rows of log-joints into posteriors or their logarithms in place; rows that are all -inf are marked."""
    n_classes = joint.shape[1]
    for row in range(top, bottom):
        largest = -np.inf
        for c in range(n_classes):
            largest = max(largest, joint[row, c])
        if largest == -np.inf:
            impossible[row] = True
            continue
        total = 0.0
        for c in range(n_classes):
            scaled = 1.0 if joint[row, c] == largest else exp(joint[row, c] - largest)
            total += scaled
            if not logs:
                joint[row, c] = scaled
        if logs:
            shift = largest + log(total)
            for c in range(n_classes):
                joint[row, c] -= shift
        else:
            for c in range(n_classes):
                joint[row, c] /= total
