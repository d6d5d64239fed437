"""The joint probability of the class and the observed values of a row, by the cheapest exact method.

Complete rows read one entry per factor. With missing values, features that are trees given the class take one upward
pass. In any other structure, missing columns without observed descendants sum to one; the others fall, row by row, into
groups that share no factor, and a kernel enumerates the joint states of each group. Rows whose groups are too large or
whose probabilities leave the range of floats go through variable elimination, those with the same missing columns
together.
"""

from __future__ import annotations

import numpy as np

from tanbark.arrays import Bools, Codes, Floats, Integers
from tanbark.errors import InputError
from tanbark.graph import Network
from tanbark.inference.layout import flat_logarithms, flat_network, forest, merged_logarithms, once_per_network
from tanbark.kernel import for_work
from tanbark.machine import row_blocks, run_threads, thread_count
from tanbark.table import missing_code

MOST_STATES = 1 << 14  # joint states of a group of missing columns that are enumerated row by row
LONG_ROWS = 256  # from so many rows with missing values on a prediction can be interrupted
INTERPRETED = 100_000  # entries that Python reads while Numba would be imported
MAX_ENTRIES = 1 << 27  # entries of the largest factor of an elimination
ADVICE = "Fill some of these missing values, or use a structure with fewer parents."


def joint_log_proba(network: Network, codes: Codes, *, n_jobs: int | None = None) -> Floats:
    """Return log P(class, observed values) for every row and class, missing values summed out exactly.

    Parameters
    ----------
    network : Network
    codes : (n_features, n_rows) array
        The top of the type stands for a missing value.

    Returns
    -------
    (n_rows, n_classes) array
    """
    n_classes = network.schema.cardinalities[network.target]
    out = np.zeros((codes.shape[1], n_classes))
    threads = thread_count(n_jobs)
    if not codes.size or int(codes.max()) < missing_code(codes):
        _add_complete(network, codes, out, threads)
    elif forest(network) is not None:
        _add_forest(network, codes, out, threads)
    else:
        missing = (codes == missing_code(codes)).any(axis=0)
        for rows, add in ((np.flatnonzero(~missing), _add_complete), (np.flatnonzero(missing), add_with_missing)):
            part = np.zeros((len(rows), n_classes))
            add(network, np.ascontiguousarray(codes[:, rows]), part, threads)
            out[rows] = part
    return out


def _add_complete(network: Network, codes: Codes, out: Floats, threads: int) -> None:
    from tanbark.inference import complete_kernels as kernels

    factors = merged_logarithms(network)
    most = np.array(network.schema.cardinalities, np.int64) - 1
    add_entries = for_work(kernels.add_entries, len(out) * len(factors.columns), INTERPRETED)

    def work(low: int, high: int) -> None:
        add_entries(codes, factors, most, low, high, out)

    run_threads(work, row_blocks(len(out), threads), threads)


def _add_forest(network: Network, codes: Codes, out: Floats, threads: int) -> None:
    from tanbark.inference import forest_kernels

    trees = forest(network)
    assert trees is not None
    out += network.log_tables[network.target]

    add_forest = for_work(forest_kernels.add_forest, len(out) * len(trees.probabilities) / 2, INTERPRETED)

    def work(low: int, high: int) -> None:
        add_forest(codes, trees, low, high, out)

    run_threads(work, row_blocks(len(out), threads, smallest=1024), threads)
    doubtful = np.flatnonzero(np.isneginf(out).any(axis=1))
    if len(doubtful):  # an exact zero, or a sum that left the range of floats: only logarithms distinguish them
        part = np.zeros((len(doubtful), out.shape[1]))
        add_with_missing(network, np.ascontiguousarray(codes[:, doubtful]), part, threads)
        out[doubtful] = part


def add_with_missing(network: Network, codes: Codes, out: Floats, threads: int = 1) -> None:
    """Add log P(class, observed values) of rows with missing values to ``out``, whatever the structure."""
    rows = _add_enumerated(network, codes, out, threads)
    if not len(rows):
        return
    if network.exponents is not None:
        msg = (
            "A value is missing that another column depends on, and the CPTs are weighted, so that it cannot be "
            "summed out. Fill it, or use naive Bayes, or weights with normalize=True."
        )
        raise InputError(msg)
    _add_eliminated(network, codes, rows, out, threads)


def _add_enumerated(network: Network, codes: Codes, out: Floats, threads: int) -> Integers:
    """Add the rows whose groups of missing columns have few joint states; return the rows that are left.

    Weighted CPTs cannot be summed: all rows with a group are left.
    """
    from tanbark.inference import missing_kernels

    flat, logarithms, left = flat_network(network), flat_logarithms(network), np.zeros(len(out), np.bool_)
    most = MOST_STATES if network.exponents is None else 0

    def work(low: int, high: int) -> None:
        missing_kernels.add_enumerated(codes, flat, logarithms, most, low, high, out, left)

    run_threads(work, row_blocks(len(out), threads, smallest=256), threads, long=len(out) > LONG_ROWS)
    return np.flatnonzero(left)


def _add_eliminated(network: Network, codes: Codes, rows: Integers, out: Floats, threads: int) -> None:
    """Add some rows by variable elimination, planned once for all rows with the same missing columns."""
    from tanbark.inference.factors import elimination

    target = network.target
    part = codes[:, rows].T

    def work(members: Integers, observed: Integers) -> None:
        pattern = ((target,), (), tuple(observed.tolist()), (), True)
        made = elimination.make_plan(network, pattern, MAX_ENTRIES, ADVICE)
        out[rows[members]] += elimination.execute_logarithms(made, part[np.ix_(members, observed)].astype(np.int64))

    run_threads(work, elimination.patterns(part == missing_code(codes)), threads)


@once_per_network
def class_log_prior(network: Network) -> Floats:
    """Return log P(class) before anything is observed."""
    if network.exponents is None and not network.dag.parents[network.target]:
        return network.log_tables[network.target]
    found: Floats = joint_log_proba(network, np.full((network.target, 1), 255, np.uint8))[0]
    return found


def temper(joint: Floats, log_prior: Floats, temperature: float) -> Floats:
    """Turn log P(c, o) into log P(c) + temperature x log P(o | c); ``log_prior`` broadcasts to ``joint``.

    >>> temper(np.log([[0.04, 0.5]]), np.log([0.4, 0.6]), 0.5).round(3).tolist()
    [[-2.068, -0.602]]
    """
    if temperature == 1.0:
        return joint
    held = np.where(np.isneginf(log_prior), 0.0, log_prior)
    return np.asarray(temperature * joint + (1.0 - temperature) * held)


def normalize(joint: Floats, *, logs: bool = True, n_jobs: int | None = None) -> tuple[Floats, Bools]:
    """Turn log-joints, in place, into posteriors (or their logs); return them and a mask of the impossible rows.

    A row that is impossible under every class is left as it is.
    """
    from tanbark.inference import complete_kernels as kernels

    impossible = np.zeros(len(joint), np.bool_)
    threads = thread_count(n_jobs)
    normalize_rows = for_work(kernels.normalize_rows, joint.size, INTERPRETED)

    def work(low: int, high: int) -> None:
        normalize_rows(joint, impossible, logs, low, high)

    run_threads(work, row_blocks(len(joint), threads), threads)
    return joint, impossible
