"""Ways to turn counts into tables beyond smoothing, to be given to a classifier as ``parameters=``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tanbark.arrays import Codes, Floats
from tanbark.checks import check_fraction
from tanbark.counts import MemoryCounts
from tanbark.errors import OptionError
from tanbark.estimators.options import estimator
from tanbark.estimators.reports.uncertainty import draw_table
from tanbark.estimators.scikit import BaseEstimator
from tanbark.evaluation.discriminative import Estimated
from tanbark.graph import Dag, Network
from tanbark.inference import joint_log_proba
from tanbark.params import K2, Laplace, Smoothing
from tanbark.params.manb import arc_posterior, averaged_table
from tanbark.table import Schema
from tanbark.table.schema_json import demand

Tables = tuple[NDArray[Any], ...]


@estimator
class ParameterEstimator(BaseEstimator):
    """The base of all: they change the CPTs of a network that was estimated by smoothing."""

    smoothing: Any = None
    needs_rows = True
    weighs = False
    completes = False  # whether the counts are completed from rows
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


def has_feature_parents(network: Network) -> bool:
    """Return whether the structure is other than that of naive Bayes."""
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
        if has_feature_parents(network):
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
