r"""The temperature of a classifier: one exponent for the likelihood, fitted to leave-one-out log-joints.

.. math:: P(c | o) \propto P(c) P(o | c)^\tau

Below 1 it makes probabilities less extreme: families that repeat one another's evidence count it more than once.
"""

from __future__ import annotations

from math import exp, log

import numpy as np

from tanbark.arrays import Floats, Integers
from tanbark.counts import CountEngine, MemoryCounts
from tanbark.evaluation.leave_one_out import LeaveOneOut
from tanbark.machine import blocks, run_threads, thread_count

LEAST, MOST = 1 / 64, 64.0
MOST_STEPS, SETTLED = 60, 1e-9  # of the logarithm
DIGITS = 6  # that are kept, so that the order in which rows are added up does not show
ROWS_AT_ONCE = 8192  # fixed, so that sums do not depend on the number of threads
KEPT = 1 << 25  # log-joints that are held at once; of more rows every second, every third, … is taken


def fit_temperature(left_out: LeaveOneOut, rows: CountEngine, *, n_jobs: int | None = None) -> float:
    """Return the temperature that minimises the leave-one-out log-loss of all rows, in one pass over them."""
    joints, priors, labels, weights = [], [], [], []
    classes = rows.schema.cardinalities[-1]
    every, seen = max(1, int(rows.total * classes) // KEPT), 0
    batches = [rows.coded_rows()] if isinstance(rows, MemoryCounts) else rows.batches()
    for codes, given in batches:
        first = -seen % every
        seen += codes.shape[1]
        part = np.ascontiguousarray(codes[:, first::every])
        some = None if given is None else np.ascontiguousarray(given[first::every])
        joint, prior = left_out.log_joints(part, some, n_jobs=n_jobs)
        joints.append(joint)
        priors.append(prior)
        labels.append(part[-1].astype(np.int64))
        weights.append(np.ones(part.shape[1]) if some is None else some)
    return best_temperature(
        np.concatenate(joints), np.concatenate(priors), np.concatenate(labels), np.concatenate(weights), n_jobs=n_jobs
    )


def best_temperature(
    joint: Floats, prior: Floats, labels: Integers, weights: Floats, *, n_jobs: int | None = None
) -> float:
    """Minimise the log-loss of tempered posteriors, a convex function, by Newton's method on the logarithm.

    A log-normal prior around 1 with standard deviation 1 keeps the temperature finite where no row is wrong.

    Parameters
    ----------
    joint, prior : (n_rows, n_classes) arrays
        log P(class, observed values) and log P(class).
    labels, weights : (n_rows,) arrays
    """
    from tanbark.evaluation.leave_one_out_kernels import tempered_loss

    threads = thread_count(n_jobs)
    prior = np.ascontiguousarray(prior)
    low, high, at = log(LEAST), log(MOST), 0.0
    for _ in range(MOST_STEPS):
        tau = exp(at)

        def work(top: int, bottom: int, tau: float = tau) -> Floats:
            return np.asarray(tempered_loss(joint, prior, labels, weights, tau, top, bottom))

        _, slope, curvature = np.sum(run_threads(work, blocks(len(joint), ROWS_AT_ONCE), threads), axis=0)
        gradient = tau * slope + at
        low, high = (low, at) if gradient > 0 else (at, high)
        bend = tau * slope + tau * tau * curvature + 1.0
        step = at - gradient / bend if bend > 0 else low
        if abs(step - at) < SETTLED:  # before the bounds, one of which is here: at the optimum a step may not leave it
            break
        step = step if low < step < high else (low + high) / 2
        if abs(step - at) < SETTLED:
            break
        at = step
    return float(f"{exp(at):.{DIGITS}g}")
