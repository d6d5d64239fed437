"""Averaged one- and two-dependence estimators: no structure is chosen, all of a kind are averaged."""

from __future__ import annotations

from itertools import combinations
from typing import Self

import numpy as np

from tanbark.arrays import Codes, Floats
from tanbark.checks import check_at_least
from tanbark.counts import CountEngine, MemoryCounts
from tanbark.errors import TableTooLargeError
from tanbark.estimators import inputs
from tanbark.estimators.classifier import Absent, TableClassifier
from tanbark.estimators.options import estimator
from tanbark.estimators.reports.explain import Explained
from tanbark.estimators.reports.uncertainty import Counted, feature_support
from tanbark.graph import Dag, Network
from tanbark.inference import joint_log_proba
from tanbark.inference.aode.average import SuperParents, averaged_log_proba, make_super_parents, super_parent_cells
from tanbark.params import as_smoothing, family_counts, fit


class AveragedClassifier(TableClassifier):
    """What AODE and A2DE share: naive Bayes as the last resort, and averages over models with super-parents."""

    min_rows: float
    naive_: Network
    averages_: tuple[SuperParents, ...]

    explore = Absent(
        "it averages many networks, and the page shows one. Explore ``naive_``, or train SPODE, TAN or KDB."
    )
    predict_proba_interval = Absent("its models share their counts, so that their CPTs cannot be drawn one by one.")

    def _orders(self) -> tuple[int, ...]:
        """Return how many super-parents the models have, the most first."""
        raise AssertionError("every average says over what")

    def _check_options(self) -> None:
        super()._check_options()
        as_smoothing(self.parameters, "laplace")
        check_at_least("min_rows", self.min_rows, 0)

    def _learn_structure(self, counts: CountEngine, rows: MemoryCounts | None) -> None:
        schema = self.schema_
        for order in self._orders():
            cells = super_parent_cells(schema, order)
            if cells > self.max_cells:
                msg = (
                    f"{type(self).__name__} of {len(schema.features)} features with {sum(schema.cardinalities[:-1]):,} "
                    f"states needs {cells:,} cells, above max_cells={self.max_cells:,}. Drop features, use "
                    f"{'AODE' if order == 2 else 'TAN'}, or raise max_cells."
                )
                raise TableTooLargeError(msg)
        if not hasattr(self, "counts_"):
            self.counts_ = counts.stored(self._stored_order())

    def _estimate(self, rows: MemoryCounts | None = None) -> Self:
        """Turn the kept counts into the tables of all models."""
        counts = self.counts_
        prior = inputs.read_class_prior(self.class_prior, self.classes_)
        smoothing = self.smoothing_ = as_smoothing(self.parameters, "laplace")
        dag = Dag.augmented(self.schema_.names, [()] * self.schema_.target)
        tables = family_counts(dag, counts, max_cells=self.max_cells)
        self.naive_ = fit(self.schema_, dag, tables, smoothing, class_prior=prior)
        log_prior = self.naive_.log_tables[-1]
        self.averages_ = tuple(make_super_parents(counts, order, smoothing, log_prior) for order in self._orders())
        self.n_parameters_ = self.naive_.n_parameters + self._free_parameters()
        return self

    def _free_parameters(self) -> int:
        """Count the free entries of P(feature | super-parents, class) over all models."""
        sizes, n_classes = np.array(self.schema_.cardinalities[:-1], np.int64), self.schema_.cardinalities[-1]
        total = 0
        for models in self.averages_:
            held = models.members >= 0
            states = np.where(held, sizes[models.members], 1)
            free = (sizes - 1).sum() - np.where(held, sizes[models.members] - 1, 0).sum(axis=1)
            total += n_classes * int((states.prod(axis=1) * free).sum())
        return total

    def _joint(self, codes: Codes) -> Floats:
        return self._average(codes, self.averages_)

    def _average(self, codes: Codes, averages: tuple[SuperParents, ...]) -> Floats:
        """Answer by the first average; rows of which it has no model, by the next, and at last by naive Bayes."""
        if not averages:
            return joint_log_proba(self.naive_, codes, n_jobs=self.n_jobs)
        models, *rest = averages
        if not len(models.members):
            return self._average(codes, tuple(rest))
        out, empty = averaged_log_proba(models, self.schema_, codes, self.min_rows, n_jobs=self.n_jobs)
        if empty.any():
            out[empty] = self._average(np.ascontiguousarray(codes[:, empty]), tuple(rest))
        return out

    def _support(self, codes: Codes) -> tuple[Floats, Floats]:
        n = self.schema_.target
        sets = [columns for size in (1, *(k + 1 for k in self._orders())) for columns in combinations(range(n), size)]
        tables = self.counts_.tables([(*columns, n) for columns in sets])
        counted = [Counted(columns, columns, table.sum(axis=-1)) for columns, table in zip(sets, tables, strict=True)]
        return feature_support(counted, codes, self.counts_.total)

    def _explained(self) -> Explained:
        order = tuple(range(self.schema_.target))
        return Explained(self.schema_, order, ((),) * self.schema_.target, self._joint)


@estimator
class AODE(AveragedClassifier):
    """Averaged one-dependence estimators: each feature in turn is a parent of all the others, and all are averaged.

    The joint probabilities of the models are averaged, not their posteriors. A model takes part in a prediction if its
    feature's value occurs in at least ``min_rows`` training rows; where none does, naive Bayes predicts.

    Parameters
    ----------
    parameters : smoothing, number or str, optional
        The smoothing of the CPTs, in any of the forms that :class:`TAN` takes; None is "laplace".
    {options}

    Attributes
    ----------
    classes_ : array of the labels
    schema_ : Schema
        Columns with their categories or cut points.
    naive_ : Network
        The naive Bayes model that predicts where no other can.
    counts_ : StoredCounts
        The counts of all pairs of features with the class.
    n_parameters_ : int
        Number of free parameters.

    References
    ----------
    Webb, Boughton and Wang (2005), Not so naive Bayes: Aggregating one-dependence estimators.

    Examples
    --------
    >>> import tanbark as tb
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]] * 5, [0, 1, 1, 0] * 5
    >>> tb.AODE().fit(X, y).score(X, y), tb.NaiveBayes().fit(X, y).score(X, y)
    (1.0, 0.5)
    """

    min_rows: float = 1

    def _orders(self) -> tuple[int, ...]:
        return (1,)

    def _stored_order(self) -> int:
        return 2


@estimator
class A2DE(AveragedClassifier):
    """Averaged two-dependence estimators: each pair of features is a parent of all the others, and all are averaged.

    A pair takes part in a prediction if its values occur together in at least ``min_rows`` training rows; where none
    does, AODE predicts, and then naive Bayes. The tables grow with the cube of the number of states.

    Parameters
    ----------
    parameters : smoothing, number or str, optional
        The smoothing of the CPTs, in any of the forms that :class:`TAN` takes; None is "laplace".
    {options}

    Attributes
    ----------
    classes_ : array of the labels
    schema_ : Schema
        Columns with their categories or cut points.
    naive_ : Network
        The naive Bayes model that predicts where no other can.
    counts_ : StoredCounts
        The counts of all triples of features with the class.
    n_parameters_ : int
        Number of free parameters.

    References
    ----------
    Webb, Boughton, Zheng, Ting and Salem (2012), Learning by extrapolation from marginal to full-multivariate
    probability distributions: decreasingly naive Bayesian classification.

    Examples
    --------
    >>> import tanbark as tb
    >>> X = [[a, b, c] for a in (0, 1) for b in (0, 1) for c in (0, 1)] * 5
    >>> y = [a ^ b ^ c for a, b, c in X]
    >>> tb.A2DE().fit(X, y).score(X, y), tb.AODE().fit(X, y).score(X, y)
    (1.0, 0.5)
    """

    min_rows: float = 1

    def _orders(self) -> tuple[int, ...]:
        return (2, 1)

    def _stored_order(self) -> int:
        return 3
