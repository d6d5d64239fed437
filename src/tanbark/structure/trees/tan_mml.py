"""Tree-augmented naive Bayes by minimum message length: the forest whose tables tell the features shortest."""

from __future__ import annotations

import numpy as np

from tanbark.arrays import Floats
from tanbark.counts import CountEngine
from tanbark.graph import Dag
from tanbark.graph.branching import maximum_branching
from tanbark.graph.trees import pair_indices
from tanbark.scores import mml
from tanbark.structure.result import Learnt

DENSE_CELLS = 1 << 22  # larger pair tables are measured by their observed cells alone
BLOCK_CELLS = 1 << 22  # cells of pair tables that are held at once


def learn(counts: CountEngine, *, root: int | None = None, alpha: float = 1.0) -> Learnt:
    """Find the forest of shortest message: class first, then every feature given the class and at most one feature.

    The two directions of an arc differ a little in length, so that the optimum is a branching and not a spanning tree.
    Columns with one state take no part. Wallace and Korb (1999) for the length of a family, Edmonds (1967) for the
    search.
    """
    schema = counts.schema
    n, target = len(schema.features), schema.target
    gains = pair_gains(counts, alpha=alpha)
    parents = maximum_branching(gains, root=root)
    (prior, *tables) = counts.tables([(target,), *((i, target) for i in range(n))])
    score = mml.family_score(prior[None], alpha=alpha) + sum(mml.family_score(table.T, alpha=alpha) for table in tables)
    gained = sum(float(gains[parent, child]) for child, found in enumerate(parents) for parent in found)
    return Learnt(Dag.augmented(schema.names, parents), score + gained)


def pair_gains(counts: CountEngine, *, alpha: float = 1.0) -> Floats:
    """Measure what every arc i -> j gains given the class, in nits, (n, n); -inf for columns with one state."""
    schema = counts.schema
    n, target = len(schema.features), schema.target
    states = np.array(schema.cardinalities, np.int64)
    gains = np.full((n, n), -np.inf)
    first, second = pair_indices(n)
    varied = (states[first] > 1) & (states[second] > 1)
    sizes = states[first] * states[second] * states[target]
    for a, b in np.unique(np.stack([states[first], states[second]], axis=1)[varied], axis=0):
        alike = np.flatnonzero(varied & (states[first] == a) & (states[second] == b))
        size = int(sizes[alike[0]])
        if size > DENSE_CELLS:
            for pair in alike:
                i, j = int(first[pair]), int(second[pair])
                gains[i, j], gains[j, i] = _by_cells(counts, (i, j, target), alpha)
            continue
        step = max(1, BLOCK_CELLS // size)
        for low in range(0, len(alike), step):
            x, y = first[alike[low : low + step]], second[alike[low : low + step]]
            tables = counts.tables([(i, j, target) for i, j in zip(x.tolist(), y.tolist(), strict=True)])
            gains[x, y], gains[y, x] = mml.arc_gains(np.stack(tables), alpha=alpha)
    return gains


def _by_cells(counts: CountEngine, columns: tuple[int, int, int], alpha: float) -> tuple[float, float]:
    """Measure one pair by the cells that occur: an empty row or column of a table costs nothing."""
    ((cells, n),) = counts.cells([columns])
    r_x, r_y, n_classes = (counts.schema.cardinalities[c] for c in columns)
    weights = n.astype(float)
    x_class = np.bincount(cells[:, 0] * n_classes + cells[:, 2], weights, r_x * n_classes).reshape(r_x, n_classes)
    y_class = np.bincount(cells[:, 1] * n_classes + cells[:, 2], weights, r_y * n_classes).reshape(r_y, n_classes)
    return mml.sparse_arc_gains(weights, x_class, y_class, alpha=alpha)
