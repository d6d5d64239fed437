"""Compiled kernel of discriminative CPTs."""

from __future__ import annotations

from math import exp, log

import numpy as np

from tanbark.arrays import Array
from tanbark.kernel import kernel
from tanbark.params.normalised import Cells


@kernel
def add_residuals(
    cells: Cells, entries: Array, codes: Array, labels: Array, weights: Array, base: Array, top: int, bottom: int,
    residuals: Array,
) -> float:  # fmt: skip
    """Return the log-posterior of the labels, summed over rows, and add label less posterior to every cell of a row.

    ``entries`` are added to the log-joints in ``base``, laid out as the ``residuals``.
    """
    # Idea: two sweeps over the families of a row, one for the log-joint, one for the residuals of its cells.
    # Cost: O(rows x families x classes).
    n_families, n_classes = len(cells.starts), base.shape[1]
    places, slope = np.empty(n_families, np.int64), np.empty(n_classes)
    total = 0.0
    for row in range(top, bottom):
        slope[:] = base[row]
        for family in range(n_families):
            place = cells.starts[family]
            for at in range(cells.bounds[family], cells.bounds[family + 1]):
                state = np.int64(codes[cells.columns[at], row])
                if state >= cells.sizes[cells.columns[at]]:
                    place = -1
                    break
                place += state * cells.strides[at]
            places[family] = place
            if place >= 0:
                for c in range(n_classes):
                    slope[c] += entries[place + c]
        largest, mass = slope.max(), 0.0
        label, weight = labels[row], weights[row]
        own = slope[label] - largest
        for c in range(n_classes):
            slope[c] = exp(slope[c] - largest)
            mass += slope[c]
        total += weight * (own - log(mass))
        for c in range(n_classes):
            slope[c] *= -weight / mass
        slope[label] += weight
        for family in range(n_families):
            place = places[family]
            if place >= 0:
                for c in range(n_classes):
                    residuals[place + c] += slope[c]
    return total
