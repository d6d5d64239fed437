"""Networks whose CPTs are context trees: only observed contexts are stored, however many parents there are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from tanbark.arrays import Array, Codes, Floats, Integers
from tanbark.kernel import for_work
from tanbark.machine import row_blocks, run_threads, thread_count
from tanbark.params.hierarchical.context_tree import ContextTree

MOST_ENTRIES = 1 << 14  # entries, all classes together, of the largest factor of a row
WORKSPACE = 1 << 19  # entries of all factors of a row
LONG_ROWS = 256  # from so many rows on a prediction can be interrupted
INTERPRETED = 60_000  # steps, of one to three microseconds, that Python takes while a compiler would be waited for
INCOMPLETE = 1_000_000  # steps of rows with missing values, whose kernel takes seconds to compile
MOST_SUMMED = 48  # missing columns of a row that are summed out; beyond, families leave out missing parents


class SparseNetwork(NamedTuple):
    """The context trees of all features, one after another; the class is the first parent of every feature.

    Feature f has the parents ``parents[bounds[f] : bounds[f + 1]]``. Level l of its tree, l from 0 on, has the number
    ``bounds[f] + l``: its contexts begin at ``firsts[...]``, counted within the tree, and the children of context v
    for the states of parent l at ``child_starts[...] + (v - firsts[...]) * states``. Context v has its distribution at
    ``probabilities[starts[f] + v * n_states[f]]`` onwards; ``logarithms`` has the same layout. ``children_first``
    lists children before their parents.
    """

    n_states: Integers
    parents: Integers
    bounds: Integers
    firsts: Integers
    child_starts: Integers
    children: Array
    starts: Integers
    probabilities: Floats
    logarithms: Floats
    children_first: Integers


class RowFactors(NamedTuple):
    """The factors of one row.

    Factor k has the variables ``axes[k, : n_axes[k]]``, the last one fastest, then the classes, from ``begins[k]`` of
    ``work``; ``n_axes`` is -1 where a factor is used up.
    """

    axes: Integers
    n_axes: Integers
    begins: Integers
    work: Floats


def lay_out_trees(
    trees: Sequence[ContextTree], parents: Sequence[Sequence[int]], n_states: Sequence[int], order: Sequence[int]
) -> SparseNetwork:
    """Put the context trees of features 0, 1, ... one after another; ``order`` has parents before their children."""
    offset, firsts, child_starts = 0, [], []
    for tree in trees:
        firsts.append(tree.levels[:-2])
        child_starts.append(tree.starts[:-1] + offset)
        offset += len(tree.children)
    probabilities = np.concatenate([np.zeros(0), *(tree.probabilities.ravel() for tree in trees)])
    sizes = [tree.probabilities.size for tree in trees]
    return SparseNetwork(
        np.asarray(n_states, np.int64),
        np.array([p for found in parents for p in found], np.int64),
        np.cumsum([0, *(len(found) for found in parents)], dtype=np.int64),
        np.concatenate([np.zeros(0, np.int64), *firsts]),
        np.concatenate([np.zeros(0, np.int64), *child_starts]),
        np.concatenate([np.zeros(0, np.int32), *(tree.children for tree in trees)]),
        np.cumsum([0, *sizes], dtype=np.int64),
        probabilities,
        np.log(probabilities),
        np.array(order[::-1], np.int64),
    )


def log_likelihoods(network: SparseNetwork, codes: Codes, *, n_jobs: int | None = None) -> Floats:
    """Return log P(observed values | class) for every row and class.

    Missing values are summed out exactly, row by row, while no factor has more than ``MOST_ENTRIES`` entries. Beyond
    that, the largest families leave out their last missing parents (and those after them): they read the context of the
    parents before.

    Parameters
    ----------
    network : SparseNetwork
    codes : (n_columns, n_rows) array
        Features first; a code beyond the states of its column is a missing value.
    """
    from tanbark.inference import sparse_kernels

    out = np.zeros((codes.shape[1], int(network.n_states[-1])))
    threads = thread_count(n_jobs)
    plain = float(len(network.parents) * network.n_states[-1])  # steps of a complete row
    run_complete = for_work(sparse_kernels.add_complete, plain * len(out), INTERPRETED)
    left = np.zeros(len(out), np.bool_)

    def add_complete(low: int, high: int) -> None:
        run_complete(codes, network, low, high, out, left)

    run_threads(add_complete, row_blocks(len(out), threads, smallest=256), threads, long=len(out) > LONG_ROWS)
    rows = np.flatnonzero(left)
    run_incomplete = for_work(sparse_kernels.add_incomplete, plain * _times(network, codes[:, rows]), INCOMPLETE)

    def add_incomplete(low: int, high: int) -> None:
        space = np.empty(WORKSPACE)
        run_incomplete(codes, network, MOST_ENTRIES, MOST_SUMMED, space, rows[low:high], out)

    run_threads(add_incomplete, row_blocks(len(rows), threads, smallest=256), threads, long=len(rows) > LONG_ROWS)
    return out


def _times(network: SparseNetwork, codes: Codes) -> float:
    """Return how many complete rows take about as many steps in Python: more with every missing value of a row."""
    if codes.shape[1] > INCOMPLETE:
        return np.inf
    missing = (codes[: len(network.bounds) - 1] >= network.n_states[:-1, None]).sum(axis=0)
    return float((2.0 * 1.6 ** np.minimum(missing, 40)).sum())
