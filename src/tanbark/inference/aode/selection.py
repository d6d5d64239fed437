"""Which super-parents are averaged where the CPTs of all of them would be too large."""

from __future__ import annotations

import numpy as np

from tanbark.arrays import Floats, Integers
from tanbark.counts import CountEngine
from tanbark.counts.column_sets import ColumnSets, cut
from tanbark.counts.information import measure_tables
from tanbark.graph.spanning import pair_indices
from tanbark.machine import thread_count
from tanbark.table import Schema

MOST_FEATURES = 1448  # whose pairs are ranked: about 2**20 pairs


def all_super_parents(schema: Schema, order: int) -> Integers:
    """List all sets of ``order`` features (1 or 2), (n_sets, order), in lexicographic order."""
    return _sets_of(np.arange(schema.target), order)


def _sets_of(features: Integers, order: int) -> Integers:
    return features[np.stack(pair_indices(len(features)), axis=1)] if order == 2 else features[:, None]


def model_cells(schema: Schema, models: Integers) -> Integers:
    """Number of entries that the CPTs of each model with these super-parents take."""
    sizes = np.array(schema.cardinalities[:-1], np.int64)
    return np.asarray(sizes[models].prod(axis=1) * (sizes.sum() * schema.cardinalities[-1]), np.int64)


def super_parent_cells(schema: Schema, order: int) -> int:
    """Number of entries that the CPTs of all models with ``order`` super-parents take."""
    sizes = schema.cardinalities[:-1]
    total = sum(sizes)
    states = total if order == 1 else (total * total - sum(size * size for size in sizes)) // 2
    return states * total * schema.cardinalities[-1]


def choose_super_parents(counts: CountEngine, order: int, max_cells: int) -> Integers:
    r"""Choose sets of ``order`` super-parents whose CPTs take at most ``max_cells`` entries together.

    All sets where they fit. Otherwise sets enter by falling mutual information with the class, corrected for its bias
    (Miller and Madow), and one that does not fit into what is left is skipped; ties go to the first:

    .. math:: I(S; C) - \frac{(r_S - 1) (r_C - 1)}{2 N}

    Of more than about 1,400 features, pairs of those of highest information are candidates. Returns (n_sets, order), in
    lexicographic order.
    """
    if super_parent_cells(counts.schema, order) <= max_cells:
        return all_super_parents(counts.schema, order)
    features = np.arange(counts.schema.target)
    if order == 2 and len(features) > MOST_FEATURES:
        worth = _information(counts, features[:, None])
        features = np.sort(np.argsort(-worth, kind="stable")[:MOST_FEATURES])
    models = _sets_of(features, order)
    cells = model_cells(counts.schema, models)
    fitting = cells <= max_cells
    models, cells = models[fitting], cells[fitting]
    chosen, left, least = [], max_cells, int(cells.min(initial=max_cells))
    for place in np.argsort(-_information(counts, models), kind="stable").tolist():
        if cells[place] <= left:
            chosen.append(place)
            left -= int(cells[place])
            if left < least:
                break
    return models[np.sort(np.array(chosen, np.int64))]


def _information(counts: CountEngine, models: Integers) -> Floats:
    """Estimate the mutual information of each set of super-parents with the class, in nats per row."""
    states = np.array(counts.schema.cardinalities, np.int64)
    n_classes, target = int(states[-1]), counts.schema.target
    sets = np.column_stack([models, np.full(len(models), target)])
    joint = states[models].prod(axis=1)
    gain, rows = np.zeros(len(models)), np.zeros(len(models))
    for low, high in cut(joint * n_classes, counts.most_cells):
        width, own = sets.shape[1], joint[low:high]
        some = ColumnSets(sets[low:high].ravel(), np.arange(high - low + 1) * width)
        starts = (np.cumsum(own) - own) * n_classes
        gain[low:high], rows[low:high] = measure_tables(
            counts.flat_tables(some), starts, own, np.full(high - low, n_classes), 1, thread_count(counts.n_jobs)
        )
    return np.asarray((gain - (joint - 1) * (n_classes - 1) / 2.0) / np.maximum(rows, 1.0))


def needed_sets(schema: Schema, models: tuple[Integers, ...]) -> tuple[Integers, ...]:
    """List the sets of columns whose counts the CPTs of models take, by size, each sorted, with the class last."""
    target = schema.target
    features = np.arange(target)[:, None]
    needed: dict[int, list[Integers]] = {0: [np.empty((1, 0), np.int64)], 1: [features]}
    for some in models:
        if not len(some):
            continue
        order = some.shape[1]
        children = np.column_stack([np.repeat(some, target, axis=0), np.tile(features, (len(some), 1))])
        distinct = (children[:, :-1] != children[:, -1:]).all(axis=1)
        needed.setdefault(order, []).append(some)
        needed.setdefault(order + 1, []).append(np.sort(children[distinct], axis=1))
    found = [_distinct(np.concatenate(parts), target) for _, parts in sorted(needed.items())]
    return tuple(np.column_stack([some, np.full(len(some), target)]) for some in found if len(some))


def _distinct(sets: Integers, n: int) -> Integers:
    """Return the different sets of columns below n, in lexicographic order."""
    if not sets.shape[1]:
        return sets[:1]
    shape = (n,) * sets.shape[1]
    keys = np.unique(np.ravel_multi_index(tuple(sets.T), shape))
    return np.column_stack(np.unravel_index(keys, shape)).astype(np.int64)
