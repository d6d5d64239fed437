"""The p-value of mutual information by permutations within the configurations of the conditioning columns."""

from __future__ import annotations

import numpy as np

from tanbark.arrays import Integers


def permuted_p_value(counts: Integers, level: float, n_permutations: int, seed: int) -> float:
    """Return the share of permutations with as much information, the observed table counted as one of them.

    Configurations and states are sorted by their margins first, so that their order does not matter.

    Parameters
    ----------
    counts : (n_configs, n_x, n_y) array of whole numbers
    level : float
        Permuting ends when the p-value is sure to be above it.
    """
    from tanbark.structure.constraint import permutation_kernels as kernels

    kept = [table for table in counts if (table.any(axis=1).sum() > 1) and (table.any(axis=0).sum() > 1)]
    if not kept:
        return 1.0
    margins = [(np.sort(table.sum(axis=1))[::-1], np.sort(table.sum(axis=0))[::-1]) for table in kept]
    margins.sort(key=lambda pair: (*pair[0].tolist(), *pair[1].tolist()))
    left = np.concatenate([np.repeat(np.arange(len(x)), x) for x, _ in margins])
    right = np.concatenate([np.repeat(np.arange(len(y)), y) for _, y in margins])
    ends = np.cumsum([x.sum() for x, _ in margins])
    sizes = np.arange(int(ends[-1]) + 1, dtype=float)
    terms = sizes * np.log(np.maximum(sizes, 1.0))
    observed = float(sum(terms[table].sum() for table in kept))
    enough = int(np.floor(level * (n_permutations + 1)))
    reached, done = kernels.count_exceeding(
        left, right, ends, counts.shape[1:], terms, observed, (n_permutations, enough), np.uint64(seed)
    )
    return float((1 + reached) / (1 + done))
