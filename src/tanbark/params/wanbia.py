"""WANBIA: exponents of the features in naive Bayes that maximise the conditional log-likelihood."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from tanbark.arrays import Codes, Floats
from tanbark.errors import OptionError
from tanbark.graph import Network
from tanbark.machine import blocks, run_threads, thread_count

ROWS_AT_ONCE = 8192  # fixed, so that sums do not depend on the number of threads
WORTH_THREADS = 1 << 18  # with fewer codes a second thread costs more than it saves

LIMIT_REACHED = 1  # the status of L-BFGS-B after its last allowed iteration


@dataclass(frozen=True, eq=False)
class Fitted:
    """Weights, the objective at them (log-likelihood in nats, or minus half the squared error), and iterations."""

    weights: Floats
    objective: float
    iterations: int
    converged: bool


class Objective:
    r"""The conditional log-likelihood of weighted naive Bayes as a function of the weights, with its gradient.

    .. math:: P(c | x; w) \propto P(c) \prod_i P(x_i | c)^{w_i}, \qquad
              \frac{\partial CLL}{\partial w_i} = \sum_t \ln P(x_{ti} | c_t) - \sum_c P(c | x_t; w) \ln P(x_{ti} | c)

    A missing value drops out of the product. The log-likelihood is concave in the weights. Zaidi, Cerquides, Carman and
    Webb (2013), equations 9 and 10; with ``squared`` minus half the squared error of the posterior, equation 11.
    """

    def __init__(
        self, network: Network, codes: Codes, weights: Floats | None, *, squared: bool, n_jobs: int | None
    ) -> None:
        from tanbark.params.kernels import LabelledRows

        target = network.target
        self._squared, self._threads = squared, thread_count(n_jobs) if codes.size >= WORTH_THREADS else 1
        row_weights = np.ones(codes.shape[1]) if weights is None else weights
        self.total_weight = float(row_weights.sum())
        tables = network.log_tables[:target]
        if not all(np.isfinite(table).all() for table in (*tables, network.log_tables[target])):
            msg = "WANBIA needs CPTs without zeros; use smoothing=Laplace(alpha) with alpha > 0."
            raise OptionError(msg)
        starts = np.cumsum([0, *(table.size for table in tables)])[:-1].astype(np.int64)
        states = np.array(network.schema.cardinalities[:target], np.int64)
        flat, prior = np.concatenate([table.ravel() for table in tables]), network.log_tables[target]
        self._rows = LabelledRows(codes, codes[target].astype(np.int64), row_weights, states, flat, starts, prior)

    def __call__(self, exponents: Floats) -> tuple[float, Floats]:
        """Return the objective and its gradient."""
        from tanbark.params import kernels

        def work(low: int, high: int) -> tuple[float, Floats]:
            gradient = np.zeros(len(exponents))
            value = kernels.weighted_objective(self._rows, exponents, self._squared, low, high, gradient)
            return value, gradient

        parts = run_threads(work, blocks(self._rows.codes.shape[1], ROWS_AT_ONCE), self._threads)
        return float(sum(value for value, _ in parts)), np.sum([gradient for _, gradient in parts], axis=0)


def optimize(
    objective: Objective, n: int, *, bounds: tuple[float | None, float | None], max_iter: int, tol: float
) -> Fitted:
    """Maximise the objective from weights of one by L-BFGS-B."""
    from scipy.optimize import minimize

    scale = 1.0 / objective.total_weight

    def negative(w: Floats) -> tuple[float, Floats]:
        value, gradient = objective(np.ascontiguousarray(w))
        return -scale * value, -scale * gradient

    low, high = bounds
    start = np.clip(np.ones(n), -np.inf if low is None else low, np.inf if high is None else high)
    options: dict[str, Any] = {"maxiter": max_iter, "maxfun": 100 * max_iter, "ftol": tol * 1e-3, "gtol": tol}
    with threadpool_limits(limits=1, user_api="blas"):  # the optimiser's vectors are too short for threads
        found = minimize(negative, start, jac=True, method="L-BFGS-B", bounds=[bounds] * n, options=options)
    return Fitted(found.x, float(objective(found.x)[0]), int(found.nit), found.status != LIMIT_REACHED)
