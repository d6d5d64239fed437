"""The joint of the class with whatever a row tells, by the cheapest way that is exact."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tanbark.arrays import Codes, Floats
from tanbark.graph import Network
from tanbark.inference.eliminate import add_with_gaps
from tanbark.inference.layout import forest, merged_families
from tanbark.machine import row_blocks, run_threads, thread_count
from tanbark.table import missing_code


def joint_log_proba(network: Network, codes: Codes, *, n_jobs: int | None = None) -> Floats:
    """Return log P(class, observed values) for every row and class, missing values summed out exactly.

    Complete rows are a gather per family. With gaps, features that are trees given the class take one upward pass,
    and any other structure is summed out group by group of connected missing columns.

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
        gaps = (codes == missing_code(codes)).any(axis=0)
        for rows, add in ((np.flatnonzero(~gaps), _add_complete), (np.flatnonzero(gaps), add_with_gaps)):
            part = np.zeros((len(rows), n_classes))
            add(network, np.ascontiguousarray(codes[:, rows]), part, threads)
            out[rows] = part
    return out


def _add_complete(network: Network, codes: Codes, out: Floats, threads: int) -> None:
    from tanbark.inference import complete_kernels as kernels

    arguments = merged_families(network).arguments()
    nothing = np.zeros((0, 0), np.bool_)

    def work(low: int, high: int) -> None:
        kernels.add_families(codes, *arguments, nothing, low, high, out)

    run_threads(work, row_blocks(len(out), threads), threads)


def _add_forest(network: Network, codes: Codes, out: Floats, threads: int) -> None:
    from tanbark.inference import forest_kernels

    trees = forest(network)
    assert trees is not None
    out += network.log_tables[network.target]

    def work(low: int, high: int) -> None:
        forest_kernels.add_forest(codes, *trees.arguments(), low, high, out)

    run_threads(work, row_blocks(len(out), threads, smallest=1024), threads)
    doubtful = np.flatnonzero(np.isneginf(out).any(axis=1))
    if len(doubtful):  # an exact zero, or a sum that left the range of floats: the way in logarithms tells them apart
        part = np.zeros((len(doubtful), out.shape[1]))
        add_with_gaps(network, np.ascontiguousarray(codes[:, doubtful]), part, threads)
        out[doubtful] = part


def normalize(joint: Floats, *, logs: bool = True, n_jobs: int | None = None) -> tuple[Floats, NDArray[np.bool_]]:
    """Turn log-joints, in place, into posteriors (or their logs); give them and a mask of the impossible rows.

    A row that is impossible under every class is left as it is.
    """
    from tanbark.inference import complete_kernels as kernels

    impossible = np.zeros(len(joint), np.bool_)
    threads = thread_count(n_jobs)

    def work(low: int, high: int) -> None:
        kernels.normalize_rows(joint, impossible, logs, low, high)

    run_threads(work, row_blocks(len(joint), threads), threads)
    return joint, impossible
