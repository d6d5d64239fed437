"""Ways to turn counts into tables beyond smoothing, to be given to a classifier as ``parameters=``."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import field
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.tree import DecisionTreeClassifier

from tanbark.arrays import Codes, Floats
from tanbark.checks import check_count, check_fraction, check_positive, is_number
from tanbark.counts import MemoryCounts
from tanbark.errors import InputError, NotConvergedWarning, OptionError, find, warn
from tanbark.estimators import inputs
from tanbark.estimators.options import estimator
from tanbark.estimators.reports.uncertainty import draw_table
from tanbark.evaluation.discriminative import Estimated
from tanbark.graph import Dag, Network
from tanbark.inference import joint_log_proba
from tanbark.inference.junction import make_expectation
from tanbark.params import K2, Laplace, Smoothing, fit
from tanbark.params.em import SLACK, log_prior, maximise
from tanbark.params.manb import arc_posterior, averaged_table
from tanbark.params.wanbia import Objective, optimize
from tanbark.table import Schema
from tanbark.table.schema_json import demand

Tables = tuple[NDArray[Any], ...]


@estimator
class ParameterEstimator(BaseEstimator):
    """The base of all: they change the CPTs of a network that was estimated by smoothing."""

    smoothing: Any = None
    needs_rows = True
    weighs = False
    fixed_prior = False  # whether the smoothing may not depend on the counts

    def complete(
        self, network: Network, counts: Tables, smoothing: Smoothing, rows: MemoryCounts, *, unlabelled: Any = None,
        class_prior: Floats | None = None,
    ) -> Tables:  # fmt: skip
        """Return the counts that tables are estimated from; most take them as they are."""
        return counts

    def learn(
        self, estimated: Estimated, rows: MemoryCounts, relearn: Callable[[MemoryCounts], Estimated], *, tempered: bool
    ) -> None:
        """Learn from rows what goes beyond CPTs.

        ``relearn`` learns another network from part of the rows; ``tempered`` is whether predictions will have a
        temperature that is fitted to rows.
        """

    @property
    def validated_temperature(self) -> float | None:
        """The temperature of validation rows, if the estimator had any; otherwise leave-one-out finds it."""
        return None

    def joint(self, network: Network, codes: Codes, *, n_jobs: int | None) -> Floats:
        """Return log P(class, observed values) of rows; with a correction, only up to a constant per row."""
        return joint_log_proba(network, codes, n_jobs=n_jobs)

    def estimate(self, network: Network, counts: Tables, smoothing: Smoothing, rows: MemoryCounts | None) -> Network:
        """Return the network with other tables, or with weights."""
        raise AssertionError("every parameter estimator estimates")

    @property
    def corrects(self) -> bool:
        """Whether predictions differ from those of the network."""
        return False

    def document(self) -> Any:
        """Return what was learnt from rows beside CPTs and weights, as lists of numbers for the model file, or None."""
        return None

    def restore(self, document: Any, schema: Schema, dag: Dag) -> None:
        """Read back what :meth:`document` returned."""
        demand(document is None, "corrections and parameters do not go together")

    def drawn(self, network: Network, counts: Tables, smoothing: Smoothing, rng: np.random.Generator) -> Network:
        """Treat a network whose tables were drawn from their posteriors; what was learnt beside them stays."""
        return self.estimate(network, counts, smoothing, None)


def _is_finite(value: Any) -> bool:
    return is_number(value) and math.isfinite(value)


def _feature_parents(network: Network) -> bool:
    naive = all(parents == (network.target,) for parents in network.dag.parents[: network.target])
    return not naive or bool(network.dag.parents[network.target])


@estimator
class MANB(ParameterEstimator):
    """Average exactly over the 2^n naive Bayes models in which each arc from the class is there or not.

    Parameters
    ----------
    arc_prior : float, default 0.5
        Probability of each arc before the data.
    {options}

    Attributes
    ----------
    arc_posterior_ : dict
        Probability of each arc after the data, by the name of its feature.

    References
    ----------
    Dash and Cooper (2002), Exact model averaging with naive Bayesian classifiers. Wei, Visweswaran and Cooper (2011),
    The application of naive Bayes model averaging to predict Alzheimer's disease from genome-wide data.

    Examples
    --------
    >>> import tanbark as tb
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]] * 5, [0, 0, 1, 1] * 5
    >>> clf = tb.NaiveBayes(parameters=tb.MANB(arc_prior=0.5)).fit(X, y)
    >>> {name: round(p, 3) for name, p in clf.parameters_.arc_posterior_.items()}
    {'x0': 1.0, 'x1': 0.336}
    """

    needs_rows = False
    fixed_prior = True

    arc_prior: float = field(default=0.5, kw_only=False)

    def estimate(self, network: Network, counts: Tables, smoothing: Smoothing, rows: MemoryCounts | None) -> Network:
        """Mix each feature's table given the class with its distribution alone."""
        check_fraction("arc_prior", self.arc_prior)
        if _feature_parents(network):
            msg = "MANB averages over naive Bayes models; use it with NaiveBayes."
            raise OptionError(msg)
        alpha = smoothing.alpha if isinstance(smoothing, (Laplace, K2)) else 0.0
        if alpha <= 0:
            msg = f"MANB needs smoothing=Laplace(alpha) with alpha > 0, or K2(); got {smoothing!r}."
            raise OptionError(msg)
        names = network.dag.names[: network.target]
        posterior = [arc_posterior(table, alpha, self.arc_prior) for table in counts[: network.target]]
        self.arc_posterior_ = dict(zip(names, posterior, strict=True))
        tables = [averaged_table(table, alpha, p) for table, p in zip(counts, posterior, strict=False)]
        return Network(network.schema, network.dag, (*tables, network.tables[network.target]))

    def drawn(self, network: Network, counts: Tables, smoothing: Smoothing, rng: np.random.Generator) -> Network:
        """Draw which arcs are there; a feature without its arc has one distribution for all classes."""
        tables = list(network.tables)
        for node, name in enumerate(network.dag.names[: network.target]):
            if rng.random() >= self.arc_posterior_[name]:
                alone = draw_table(counts[node].sum(axis=1), 0, smoothing, rng)
                tables[node] = np.repeat(alone[:, None], counts[node].shape[1], axis=1)
        return Network(network.schema, network.dag, tuple(tables))


@estimator
class _Weights(ParameterEstimator):
    """Weights of the features as exponents of their probabilities."""

    weighs = True
    normalize: bool = False
    weights_: dict[str, float] = field(init=False)

    def _weigh(self, network: Network, rows: MemoryCounts) -> Floats:
        raise AssertionError("every weighting finds its weights")

    def estimate(self, network: Network, counts: Tables, smoothing: Smoothing, rows: MemoryCounts | None) -> Network:
        """Learn weights where there are rows, and give the network with them."""
        names = network.dag.names[: network.target]
        if rows is not None:
            self.weights_ = dict(zip(names, self._weigh(network, rows).tolist(), strict=True))
        exponents = (*(self.weights_[name] for name in names), 1.0)
        if not self.normalize:
            return Network(network.schema, network.dag, network.tables, exponents)
        tables = []
        for node, (table, power) in enumerate(zip(network.tables, exponents, strict=True)):
            raised = table**power
            axis = network.axes(node).index(node)
            tables.append(raised / raised.sum(axis=axis, keepdims=True) if node != network.target else table)
        return Network(network.schema, network.dag, tuple(tables))


@estimator
class WANBIA(_Weights):
    """Weigh the features of naive Bayes so that the labels become most probable.

    Parameters
    ----------
    criterion : {"cll", "mse"}, default "cll"
        What is maximised: the conditional log-likelihood, or minus the squared error of the posterior.
    bounds : pair of float or None, default (0.0, 1.0)
        Limits of the weights; None for no limit.
    tol : float, default 1e-9
        When to stop: the largest component of the projected gradient, per row.
    {options}

    Attributes
    ----------
    weights_ : dict
        Weight of each feature by its name.
    objective_ : float
        The conditional log-likelihood in nats (or minus half the squared error) at the weights.
    n_iter_ : int
    converged_ : bool

    References
    ----------
    Zaidi, Cerquides, Carman and Webb (2013), Alleviating naive Bayes attribute independence assumption by attribute
    weighting.
    """

    criterion: str = field(default="cll", kw_only=False)
    bounds: tuple[float | None, float | None] = (0.0, 1.0)
    max_iter: int = 1000
    tol: float = 1e-9

    def _weigh(self, network: Network, rows: MemoryCounts) -> Floats:
        find("criterion", self.criterion, {"cll": None, "mse": None})
        check_count("max_iter", self.max_iter, least=1)
        check_positive("tol", self.tol)
        low, high = self._check_bounds()
        if _feature_parents(network):
            msg = "WANBIA weighs the features of naive Bayes; use it with NaiveBayes, or AWNB with other structures."
            raise OptionError(msg)
        codes, weights = next(rows.batches(size=max(1, rows.n_rows)))
        squared = self.criterion == "mse"
        objective = Objective(network, codes, weights, squared=squared, n_jobs=rows.n_jobs)
        found = optimize(objective, network.target, bounds=(low, high), max_iter=self.max_iter, tol=self.tol)
        self.objective_, self.n_iter_, self.converged_ = found.objective, found.iterations, found.converged
        if not found.converged:
            msg = f"WANBIA stopped at max_iter={self.max_iter}, short of tol={self.tol:g}. Raise max_iter or tol."
            warn(msg, NotConvergedWarning)
        return found.weights

    def _check_bounds(self) -> tuple[float | None, float | None]:
        ends = tuple(self.bounds) if isinstance(self.bounds, (tuple, list)) else ()
        numbers = [end for end in ends if end is not None]
        if len(ends) != 2 or not all(map(_is_finite, numbers)) or sorted(numbers) != numbers:
            msg = f"bounds must be a pair (low, high) of numbers or None; got {self.bounds!r}."
            raise OptionError(msg)
        return ends


@estimator
class AWNB(_Weights):
    """Weigh each feature by how near to the root decision trees test it.

    The weight is the mean over the trees of 1 / sqrt(d), d being the least depth (the root's is 1) at which the tree
    tests the feature; a tree that does not test it adds nothing.

    Parameters
    ----------
    n_trees : int, default 10
        The number of trees.
    bootstrap_size : float, default 0.5
        Rows in each tree's sample, drawn with replacement, as a fraction of all.
    {options}

    Attributes
    ----------
    weights_ : dict
        Weight of each feature by its name.

    References
    ----------
    Hall (2007), A decision tree-based attribute weighting filter for naive Bayes.
    """

    n_trees: int = field(default=10, kw_only=False)
    bootstrap_size: float = 0.5
    random_state: Any = None

    def _weigh(self, network: Network, rows: MemoryCounts) -> Floats:
        check_count("n_trees", self.n_trees, least=1)
        if not is_number(self.bootstrap_size) or not 0 < self.bootstrap_size <= 1:
            msg = f"bootstrap_size must be a fraction of the rows above 0 and at most 1; got {self.bootstrap_size!r}."
            raise OptionError(msg)
        codes, weights = next(rows.batches(size=max(1, rows.n_rows)))
        features = np.where(codes[:-1] == np.iinfo(codes.dtype).max, np.nan, codes[:-1]).T.astype(np.float32)
        generator = inputs.read_random_state(self.random_state)
        probability = None if weights is None else weights / weights.sum()
        size = max(1, int(self.bootstrap_size * len(features)))
        depths = []
        for _ in range(self.n_trees):
            sample = generator.choice(len(features), size, p=probability)
            tree = DecisionTreeClassifier(criterion="entropy", random_state=generator.randint(2**31 - 1))
            tree.fit(features[sample], codes[-1][sample])
            depths.append(least_depths(tree.tree_, features.shape[1]))
        found = np.mean(1.0 / np.sqrt(depths), axis=0)
        if not found.any():
            msg = f"No tree of AWNB tests any feature (n_samples={len(features)}): none is informative about the class."
            raise InputError(msg)
        return np.asarray(found)


def least_depths(tree: Any, n_features: int) -> Floats:
    """Return the least depth at which a tree tests each feature, the root's being 1; infinity for features unused."""
    depths = np.full(n_features, math.inf)
    todo = [(0, 1)]
    while todo:
        node, depth = todo.pop()
        feature = tree.feature[node]
        if feature >= 0:
            depths[feature] = min(depths[feature], depth)
            todo += [(tree.children_left[node], depth + 1), (tree.children_right[node], depth + 1)]
    return depths


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
