"""Expectation maximisation, to be given to a classifier as ``parameters=``."""

from __future__ import annotations

from functools import partial
from typing import Any

from tanbark.arrays import Floats
from tanbark.checks import check_count, check_positive
from tanbark.counts import MemoryCounts
from tanbark.errors import OptionError
from tanbark.estimators import inputs
from tanbark.estimators.options import estimator
from tanbark.estimators.parts.parameters import ParameterEstimator, Tables
from tanbark.graph import Dag, Network
from tanbark.inference.factors.junction import make_expectation
from tanbark.params import Laplace, Smoothing, fit
from tanbark.params.em import SLACK, log_prior, maximise
from tanbark.table import Schema


@estimator
class EM(ParameterEstimator):
    """Expectation maximisation: fill missing values in from the rest of the row, and learn from that, in turns.

    The CPTs maximise the probability of what was observed (``smoothing="ml"``), or that times the Dirichlet prior whose
    mode smoothing is. Values must be missing at random: whether one is missing may depend on what was observed, not on
    the value itself. The structure is learnt before, from available cases.

    Parameters
    ----------
    tol : float, default 1e-8
        When to stop: the largest change of any probability.
    unlabelled : label, optional
        A value of ``y`` that marks rows without a label, such as -1; they are learnt from too.
    {options}

    Attributes
    ----------
    loglik_history_ : tuple of float
        Log-probability of what was observed, at the start of every iteration, in nats.
    objective_history_ : tuple of float
        The same with the log-prior of the tables: what never falls.
    n_iter_ : int
    converged_ : bool

    References
    ----------
    Dempster, Laird and Rubin (1977), Maximum likelihood from incomplete data via the EM algorithm. Lauritzen (1995),
    The EM algorithm for graphical association models with missing data.

    Examples
    --------
    >>> import tanbark as tb
    >>> X, y = [[0, 0], [0, None], [1, 1], [None, 1]], [0, 0, 1, 1]
    >>> clf = tb.TAN(parameters=tb.EM()).fit(X, y)
    >>> clf.parameters_.converged_
    True
    """

    completes = True
    fixed_prior = True

    tol: float = 1e-8
    max_iter: int = 200
    restarts: int = 0
    unlabelled: Any = None
    verbose: bool = False
    random_state: Any = None

    def complete(
        self, network: Network, counts: Tables, smoothing: Smoothing, rows: MemoryCounts, *, unlabelled: Any = None,
        class_prior: Floats | None = None,
    ) -> Tables:  # fmt: skip
        """Run EM from the available-case tables; give the expected counts that the last tables come from."""
        self._check(smoothing)
        schema, dag = network.schema, network.dag
        fixed = () if class_prior is None else (network.target,)
        expect = make_expectation(network, [rows.table, *([] if unlabelled is None else [unlabelled])], rows.n_jobs)
        update = partial(_refit, schema, dag, smoothing, class_prior)
        prior = partial(log_prior, smoothing=smoothing, fixed=fixed)
        options: dict[str, Any] = {"tol": self.tol, "max_iter": self.max_iter}
        options["report"] = _print_iteration if self.verbose else None
        if expect(network).impossible:  # maximum likelihood from few rows may rule some rows out at the start
            network = fit(schema, dag, counts, Laplace(1.0), class_prior=class_prior)
        best = maximise(network, expect, update, prior, **options)
        rng = inputs.read_random_state(self.random_state)
        for _ in range(self.restarts):
            found = maximise(_random_tables(network, fixed, rng), expect, update, prior, **options)
            best = found if found.objectives[-1] > best.objectives[-1] + SLACK else best
        self.loglik_history_, self.objective_history_ = best.log_likelihoods, best.objectives
        self.n_iter_, self.converged_ = len(best.objectives), best.converged
        return best.counts

    def estimate(self, network: Network, counts: Tables, smoothing: Smoothing, rows: MemoryCounts | None) -> Network:
        """Take the network as it is: its tables were estimated from expected counts."""
        return network

    def _check(self, smoothing: Smoothing) -> None:
        check_count("max_iter", self.max_iter, least=1)
        check_count("restarts", self.restarts)
        check_positive("tol", self.tol)
        if smoothing.uses_counts:
            msg = f"EM needs a prior that does not depend on the counts, as Laplace and BDeu are; got {smoothing!r}."
            raise OptionError(msg)


def _refit(schema: Schema, dag: Dag, smoothing: Smoothing, class_prior: Floats | None, counts: Tables) -> Network:
    return fit(schema, dag, counts, smoothing, class_prior=class_prior)


def _print_iteration(step: int, log_likelihood: float) -> None:
    print(f"EM iteration {step}: log-likelihood {log_likelihood:.6f}", flush=True)


def _random_tables(network: Network, fixed: tuple[int, ...], rng: Any) -> Network:
    """Draw every distribution evenly from all there are."""
    tables = []
    for node, table in enumerate(network.tables):
        drawn = rng.standard_exponential(table.shape)
        tables.append(table if node in fixed else drawn / drawn.sum(axis=network.axes(node).index(node), keepdims=True))
    return Network(network.schema, network.dag, tuple(tables))
