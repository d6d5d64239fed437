"""Corrections of log-posteriors by boosted regression trees.

The corrected logit of a row for class c is z(c) = z0(c) + the sum over the trees of the value, for c, of the leaf that
the row is in. Every tree is grown on gradient G and curvature H of the conditional log-likelihood at the logits so far;
a split gains

    sum over c of  GL^2 / (HL + penalty) + GR^2 / (HR + penalty) - G^2 / (H + penalty)

and a leaf has the value rate G / (H + penalty) for each class: one tree for all classes. The leaf with most gain is
split first. See Friedman (2001), Greedy function approximation: a gradient boosting machine. Splits are found from sums
over the states of a column, as in Ke et al. (2017), LightGBM. The states of a categorical column are ordered by their
slope, so that a split is a threshold there too (Fisher 1958, On grouping for maximum homogeneity).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from tanbark.arrays import Array, Bools, Codes, Floats, Integers
from tanbark.kernel import for_work
from tanbark.machine import raise_if_stopping, row_blocks, run_threads, thread_count

LEAF = -1
LEFT, RIGHT, BOTH = range(3)  # where a missing value goes: BOTH where none was seen in training
GAIN, FRACTION, COLUMN, THRESHOLD, MISSING = range(5)  # what is known of a split
MOST_ENTRIES = 2**17  # of the sums over states that a tree is grown from
MERGED_STATES = 64  # of an ordered column where there would be more entries
INTERPRETED = 100_000  # nodes of trees, all rows together, that Python may pass while Numba would be imported
NO_WEIGHTS = np.zeros(0)


class TreeOptions(NamedTuple):
    """How trees are grown.

    Attributes
    ----------
    most_leaves : int
    least_rows : float
        The least number of rows in a leaf.
    penalty : float
        L2 penalty of the values of leaves.
    category_penalty : float
        What is added to the penalty in the gain of a split of a categorical column, which has more ways to fit.
    rate : float
        Fraction of a Newton step.
    """

    most_leaves: int = 31
    least_rows: float = 20.0
    penalty: float = 1.0
    category_penalty: float = 10.0
    rate: float = 0.1


USUAL = TreeOptions()


class Growing(NamedTuple):
    """The rows that a tree is grown from: codes (n_columns, n_rows), of which ``columns`` are split.

    The sums over the states of ``columns[i]``, and at the end over its missing values, are entries ``bins[i]`` to
    ``bins[i + 1]`` of a histogram.
    """

    codes: Array
    states: Array
    ordered: Array
    columns: Array
    bins: Array


class Grown(NamedTuple):
    """Room for the nodes of a tree: their best splits, the states that go left, rows, left children and values."""

    splits: Array
    goes_left: Array
    begins: Array
    ends: Array
    lefts: Array
    values: Array


class Scratch(NamedTuple):
    """Room for the search of a split: sums of the node and of what goes left, and the order of a column's states."""

    total: Array
    left: Array
    order: Array


class Tree(NamedTuple):
    """The nodes of a tree, or of several.

    ``features`` has the column of a split, or :data:`LEAF`; ``lefts`` its left child, which is followed by the right
    one. States up to ``thresholds`` go left, and of a categorical column those that row ``thresholds`` of ``masks``
    marks. ``missing`` is LEFT, RIGHT or BOTH, ``fractions`` the fraction of training rows that went left, and
    ``values`` is what a leaf adds to the logits: of all classes, or of the second of two.
    """

    features: Array
    thresholds: Array
    lefts: Array
    missing: Array
    fractions: Array
    values: Array
    masks: Array


class Forest(NamedTuple):
    """Trees one after another, the root of tree t at ``roots[t]``, over columns with ``states``, some ``ordered``."""

    roots: Array
    nodes: Tree
    states: Array
    ordered: Array


def boost(
    codes: Codes, states: Sequence[int] | Integers, ordered: Bools, labels: Array, logits: Floats,
    weights: Floats | None = None, *, options: TreeOptions = USUAL, rng: np.random.Generator | None = None,
) -> Iterator[Tree]:  # fmt: skip
    """Grow trees without end; the logits are updated in place after each.

    Parameters
    ----------
    codes : (n_columns, n_rows) array
        A code beyond the states of its column is a missing value.
    states : number of states of every column
    ordered : which columns have ordered states
    labels : (n_rows,) array
        Codes of the classes.
    logits : (n_rows, n_classes) array
        The log-posterior to correct, up to a constant per row.
    weights : array, optional
        How many times each row counts.
    options : TreeOptions
    rng : Generator, optional
        Draws the columns of each tree where there are too many for one.
    """
    from tanbark.params.boosting import tree_kernels as kernels

    n_rows, n_classes = logits.shape
    n_outputs = 1 if n_classes == 2 else n_classes
    sizes, groups = np.asarray(states, np.int64), np.ones(len(states), np.int64)
    width = 2 * n_outputs + 1
    if (sizes.sum() + len(sizes)) * width > MOST_ENTRIES:
        groups = np.where(ordered, -(-sizes // MERGED_STATES), 1)
        codes, sizes = _merge(codes, sizes, groups)
    n_columns = int(np.clip(MOST_ENTRIES // (width * np.mean(sizes + 1.0)), 1, len(sizes))) if len(sizes) else 0
    rng = np.random.default_rng(0) if rng is None else rng
    sums, change = np.empty((n_rows, width)), np.empty((n_rows, n_outputs))
    given = NO_WEIGHTS if weights is None else np.asarray(weights, float)
    while True:
        raise_if_stopping()
        columns = np.sort(rng.choice(len(sizes), n_columns, replace=False))
        bins = np.concatenate([[0], np.cumsum(sizes[columns] + 1)])
        growing = Growing(codes, sizes, ordered, columns, bins)
        grown = _room(options.most_leaves, int(sizes[columns].max(initial=1)), n_outputs)
        histograms = np.empty((options.most_leaves, bins[-1], width))
        kernels.fill_sums(logits, labels, given, sums)
        change[:] = 0.0
        order = np.arange(n_rows, dtype=np.int32)
        n_nodes = kernels.grow_tree(growing, options, sums, order, grown, histograms, change)
        logits[:, n_classes - n_outputs :] += change
        yield _finish(grown, n_nodes, groups, ordered)


def _room(most_leaves: int, most_states: int, n_outputs: int) -> Grown:
    most = 2 * most_leaves - 1
    begins, ends, lefts = np.zeros((3, most), np.int64)
    goes_left = np.zeros((most, most_states), bool)
    return Grown(np.zeros((most, MISSING + 1)), goes_left, begins, ends, lefts, np.zeros((most, n_outputs)))


def _merge(codes: Codes, sizes: Integers, groups: Integers) -> tuple[Codes, Integers]:
    """Merge neighbouring states of columns into groups of so many."""
    merged = np.empty_like(codes)
    for column, (size, group) in enumerate(zip(sizes, groups, strict=True)):
        merged[column] = np.where(codes[column] < size, codes[column] // group, np.iinfo(codes.dtype).max)
    return merged, -(-sizes // groups)


def _finish(grown: Grown, n_nodes: int, groups: Integers, ordered: Bools) -> Tree:
    """Return the nodes that were grown, with thresholds of states that were not merged."""
    lefts, splits = grown.lefts[:n_nodes].astype(np.int32), grown.splits[:n_nodes]
    inner = lefts > 0
    features, thresholds = np.full(n_nodes, LEAF, np.int32), np.zeros(n_nodes, np.int32)
    columns = splits[inner, COLUMN].astype(np.int64)
    features[inner] = columns
    thresholds[inner] = (splits[inner, THRESHOLD] + 1) * groups[columns] - 1
    by_state = inner.copy()
    by_state[inner] = ~ordered[columns]
    thresholds[by_state] = np.arange(by_state.sum())
    return Tree(
        features, thresholds, lefts, np.where(inner, splits[:, MISSING], 0).astype(np.int8),
        np.where(inner, splits[:, FRACTION], 0.0), np.where(inner[:, None], 0.0, grown.values[:n_nodes]),
        grown.goes_left[:n_nodes][by_state],
    )  # fmt: skip


def join_trees(trees: Sequence[Tree], states: Sequence[int] | Integers, ordered: Bools) -> Forest:
    """Lay trees out one after another."""
    roots = np.cumsum([0, *(len(tree.features) for tree in trees)])
    widest = max((tree.masks.shape[1] for tree in trees), default=0)
    n_masks, parts = 0, []
    for tree, root in zip(trees, roots, strict=False):
        masked = tree.features != LEAF
        masked[masked] = ~ordered[tree.features[masked]]
        thresholds = np.where(masked, tree.thresholds + n_masks, tree.thresholds).astype(np.int32)
        lefts = np.where(tree.features != LEAF, tree.lefts + root, 0).astype(np.int32)
        masks = np.pad(tree.masks, ((0, 0), (0, widest - tree.masks.shape[1])))
        parts.append(tree._replace(thresholds=thresholds, lefts=lefts, masks=masks))
        n_masks += len(masks)
    return Forest(
        roots[:-1].astype(np.int64), Tree(*map(np.concatenate, zip(*parts, strict=True))),
        np.asarray(states, np.int64), np.asarray(ordered, bool),
    )  # fmt: skip


def add_trees(forest: Forest, codes: Codes, logits: Floats, *, n_jobs: int | None = 1) -> None:
    """Add the values of the trees to ``logits[row, class]``.

    A missing value goes where those of training went; where there was none, both children count, by their rows.
    """
    from tanbark.params.boosting import tree_kernels as kernels

    threads = thread_count(n_jobs)
    add_values = for_work(kernels.add_values, len(logits) * len(forest.nodes.features), INTERPRETED)

    def work(top: int, bottom: int) -> None:
        add_values(forest, codes, top, bottom, logits)

    run_threads(work, row_blocks(len(logits), threads), threads)
