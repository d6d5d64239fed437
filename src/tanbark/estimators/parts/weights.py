"""Exponents of the features of naive Bayes, to be given to a classifier as ``parameters=``."""

from __future__ import annotations

import math
from dataclasses import field
from typing import Any

import numpy as np

from tanbark.arrays import Codes, Floats, Integers
from tanbark.checks import check_count, check_positive, is_number
from tanbark.counts import MemoryCounts
from tanbark.errors import InputError, NotConvergedWarning, OptionError, find, warn
from tanbark.estimators import inputs
from tanbark.estimators.options import estimator
from tanbark.estimators.parts.parameters import ParameterEstimator, Tables, has_feature_parents
from tanbark.graph import Network
from tanbark.params import Smoothing
from tanbark.params.wanbia import Objective, optimize


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
        if has_feature_parents(network):
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
    tests the feature; a tree that does not test it adds nothing. A test splits the states of a feature in two,
    intervals by a cut point, categories by their distributions of the class, so that their names do not matter.

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
    Hall (2007), A decision tree-based attribute weighting filter for naive Bayes. Coppersmith, Hong and Hosking (1999),
    Partitioning nominal attributes in decision trees, section 3, for the splits of categories.
    """

    n_trees: int = field(default=10, kw_only=False)
    bootstrap_size: float = 0.5
    random_state: Any = None

    def _weigh(self, network: Network, rows: MemoryCounts) -> Floats:
        from sklearn.tree import DecisionTreeClassifier  # late: it loads half of scikit-learn

        check_count("n_trees", self.n_trees, least=1)
        if not is_number(self.bootstrap_size) or not 0 < self.bootstrap_size <= 1:
            msg = f"bootstrap_size must be a fraction of the rows above 0 and at most 1; got {self.bootstrap_size!r}."
            raise OptionError(msg)
        codes, weights = next(rows.batches(size=max(1, rows.n_rows)))
        columns = network.schema.features
        generator = inputs.read_random_state(self.random_state)
        probability = None if weights is None else weights / weights.sum()
        size = max(1, int(self.bootstrap_size * codes.shape[1]))
        depths = []
        for _ in range(self.n_trees):
            sample = codes[:, generator.choice(codes.shape[1], size, p=probability)]
            tree = DecisionTreeClassifier(criterion="entropy", random_state=generator.randint(2**31 - 1))
            labels = first_seen(sample[-1])
            ordered = [order_states(sample[i], labels, column.kind) for i, column in enumerate(columns)]
            tree.fit(np.stack(ordered, axis=1).astype(np.float32), labels)
            depths.append(least_depths(tree.tree_, len(columns)))
        found = np.mean(1.0 / np.sqrt(depths), axis=0)
        if not found.any():
            msg = f"No tree of AWNB tests any feature (n_samples={codes.shape[1]}): none informs about the class."
            raise InputError(msg)
        return np.asarray(found)


def first_seen(codes: Codes) -> Integers:
    """Number the codes by their first row.

    >>> first_seen(np.array([3, 1, 3, 0], np.uint8)).tolist()
    [0, 1, 0, 2]
    """
    _, first, place = np.unique(codes, return_index=True, return_inverse=True)
    return np.asarray(np.argsort(np.argsort(first))[place.ravel()])


def order_states(codes: Codes, labels: Integers, kind: str) -> Floats:
    """Return the states of rows as numbers whose cut points are splits; NaN where a value is missing.

    Intervals keep their order. Categories are ordered by the first principal component of their distributions of the
    class, which for two classes gives the best split of all; ties go to the category that occurs first.
    """
    missing = codes == np.iinfo(codes.dtype).max
    if kind == "interval" or missing.all():
        return np.where(missing, np.nan, codes.astype(float))
    states = np.full(len(codes), np.nan)
    states[~missing] = first_seen(codes[~missing])
    known = states[~missing].astype(np.int64)
    counts = np.zeros((int(known.max()) + 1, int(labels.max()) + 1))
    np.add.at(counts, (known, labels[~missing]), 1)
    rows = counts.sum(axis=1)
    away = counts / rows[:, None] - counts.sum(axis=0) / counts.sum()
    axis = np.linalg.eigh((away * rows[:, None]).T @ away)[1][:, -1]
    score = np.round(away @ axis, 9)
    decided = np.flatnonzero(score)
    rank = np.argsort(np.argsort(-score if len(decided) and score[decided[0]] > 0 else score, kind="stable"))
    states[~missing] = rank[known]
    return states


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


def _is_finite(value: Any) -> bool:
    return is_number(value) and math.isfinite(value)
