"""Averaged one- and two-dependence estimators: no structure is chosen, all of a kind are averaged."""

from __future__ import annotations

import math
from typing import Self

import numpy as np

from tanbark.arrays import Codes, Floats, Integers
from tanbark.checks import check_at_least
from tanbark.counts import ChosenCounts, CountEngine, MemoryCounts, StoredCounts, stored_cells
from tanbark.errors import OptionError, ReducedModelWarning, TableTooLargeError, find, warn
from tanbark.estimators import inputs
from tanbark.estimators.classifier import Absent, TableClassifier
from tanbark.estimators.options import estimator
from tanbark.estimators.questions.model import Asked, Generative, plain_asked
from tanbark.estimators.reports.explain import Explained
from tanbark.estimators.reports.uncertainty import Counted, feature_support
from tanbark.graph import Dag, Network
from tanbark.inference import joint_log_proba
from tanbark.inference.aode.average import SuperParents, averaged_log_proba, make_super_parents
from tanbark.inference.aode.selection import choose_super_parents, needed_sets, super_parent_cells
from tanbark.params import as_smoothing, family_counts, fit
from tanbark.table import CodedTable


class AveragedClassifier(TableClassifier):
    """What AODE and A2DE share: naive Bayes as the last resort, and averages over models with super-parents."""

    min_rows: float
    missing_parent: str
    naive_: Network
    averages_: tuple[SuperParents, ...]
    chosen_counts_: ChosenCounts
    _models: tuple[Integers, ...]

    leave_one_out_proba = leave_one_out_measures = Absent(
        "a row cannot be taken out of its averages yet; use :func:`cross_validate_network`."
    )
    surprise = Absent(
        "which models are averaged depends on the row, so that there is no distribution to draw rows from. Ask "
        "SPODE, TAN or KDB."
    )
    scorecard = Absent(
        "probabilities of many models are averaged, so that points do not add up. Use NaiveBayes or TAN."
    )
    predict_proba_interval = Absent("its models share their counts, so that their CPTs cannot be drawn one by one.")

    def _orders(self) -> tuple[int, ...]:
        """Return how many super-parents the models have, the most first."""
        raise AssertionError("every average says over what")

    def _check_options(self) -> None:
        super()._check_options()
        if as_smoothing(self.parameters, "laplace").by_column:
            msg = f"{type(self).__name__} smooths all columns alike; use a classifier with one network, such as TAN."
            raise OptionError(msg)
        check_at_least("min_rows", self.min_rows, 0)
        find("missing_parent", self.missing_parent, {"sum": None, "drop": None})

    def _keep(self, table: CodedTable) -> StoredCounts:
        cells = stored_cells(table.schema, self._stored_order())
        if cells > self.max_cells:
            msg = (
                f"{type(self).__name__} keeps the counts of every {('pair', 'triple')[self._stored_order() - 2]} of "
                f"features to learn step by step, {cells:,} cells, above max_cells={self.max_cells:,}. Use fit with "
                "all rows, which counts what it needs; drop features; or raise max_cells."
            )
            raise TableTooLargeError(msg)
        return super()._keep(table)

    def _learn_structure(self, counts: CountEngine, rows: MemoryCounts | None) -> None:
        """Choose the super-parents, and count what their CPTs need unless all counts are kept."""
        schema = self.schema_
        self.__dict__.pop("chosen_counts_", None)
        self._models = tuple(choose_super_parents(counts, order, self.max_cells) for order in self._orders())
        possible = [math.comb(schema.target, order) for order in self._orders()]
        if [len(models) for models in self._models] != possible:
            self._report_left_out(possible)
            if not hasattr(self, "counts_"):
                self.chosen_counts_ = ChosenCounts.count(counts, needed_sets(schema, self._models))
        elif not hasattr(self, "counts_"):
            self.counts_ = counts.stored(self._stored_order())

    def _report_left_out(self, possible: list[int]) -> None:
        """Warn that super-parents were left out: how many, which are kept, and how to keep more."""
        found = []
        for order, models, n_possible in zip(self._orders(), self._models, possible, strict=True):
            what, instead = ("super-parents", "naive Bayes predicts") if order == 1 else ("pairs", "AODE predicts")
            needed = super_parent_cells(self.schema_, order)
            if 0 < len(models) < n_possible:
                kept = f"it averages the {len(models):,} of highest mutual information with the class"
                found.append(f"all {n_possible:,} {what} need {needed:,} cells, so {kept}")
            elif len(models) < n_possible:
                found.append(f"any of the {n_possible:,} {what} needs more cells than that, so {instead} instead")
        msg = (
            f"{type(self).__name__} leaves out super-parents to stay within max_cells={self.max_cells:,}: "
            f"{'; '.join(found)}. super_parents_ lists what is averaged. To average more, raise max_cells, drop "
            "features, or give them fewer states."
        )
        warn(msg, ReducedModelWarning)

    def _kept_counts(self) -> StoredCounts | ChosenCounts:
        """Return the counts that the CPTs are estimated from."""
        return self.counts_ if hasattr(self, "counts_") else self.chosen_counts_

    def _estimate(self, rows: MemoryCounts | None = None) -> Self:
        """Turn the kept counts into the CPTs of all models."""
        counts = self._kept_counts()
        prior = inputs.read_class_prior(self.class_prior, self.classes_)
        smoothing = self.smoothing_ = as_smoothing(self.parameters, "laplace")
        dag = Dag.augmented(self.schema_.names, [()] * self.schema_.target)
        tables = family_counts(dag, counts.stored(1), max_cells=self.max_cells)
        self.naive_ = fit(self.schema_, dag, tables, smoothing, class_prior=prior)
        log_prior = self.naive_.log_tables[-1]
        self.averages_ = tuple(make_super_parents(counts, models, smoothing, log_prior) for models in self._models)
        self.n_parameters_ = self.naive_.n_parameters + self._free_parameters()
        return self

    @property
    def super_parents_(self) -> tuple[tuple[str, ...], ...]:
        """The super-parents of each model that is averaged, by name; pairs before single ones."""
        names = self.schema_.names
        return tuple(tuple(names[i] for i in model) for models in self._models for model in models.tolist())

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
        out, empty = averaged_log_proba(
            models, self.schema_, codes, self.min_rows, missing_parent=self.missing_parent, n_jobs=self.n_jobs
        )
        if empty.any():
            out[empty] = self._average(np.ascontiguousarray(codes[:, empty]), tuple(rest))
        return out

    def _support(self, codes: Codes) -> tuple[Floats, Floats]:
        counts = self._kept_counts()
        needed = needed_sets(self.schema_, self._models)
        sets = [tuple(columns) for some in needed for columns in some.tolist() if len(columns) > 1]
        tables = zip(sets, counts.tables(sets), strict=True)
        counted = [Counted(columns[:-1], columns[:-1], table.sum(axis=-1)) for columns, table in tables]
        return feature_support(counted, codes, counts.total)

    def _explained(self) -> Explained:
        order = tuple(range(self.schema_.target))
        return Explained(self.schema_, order, ((),) * self.schema_.target, self._joint)

    def _asked(self) -> Asked:
        return plain_asked(self.schema_, self._joint, (Generative(self._joint),))


@estimator
class AODE(AveragedClassifier):
    """Averaged one-dependence estimators: each feature in turn is a parent of all the others, and all are averaged.

    The joint probabilities of the models are averaged, not their posteriors. A model takes part in a prediction if its
    feature's value occurs in at least ``min_rows`` training rows; where none does, naive Bayes predicts. Missing values
    are summed out exactly in every model, the super-parent's too.

    The CPTs grow with the square of the number of states. Where those of all models would need more than ``max_cells``
    cells, super-parents enter by falling mutual information with the class (less its bias, Miller and Madow) as long as
    they fit, with a warning; ``super_parents_`` lists them.

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
    super_parents_ : tuple of tuples of names
        The super-parent of each model that is averaged.
    counts_ : StoredCounts
        The counts of all pairs of features with the class.
    chosen_counts_ : ChosenCounts
        Instead of ``counts_`` where super-parents were left out and these counts are many: those that the models need.
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
    missing_parent: str = "sum"

    def _orders(self) -> tuple[int, ...]:
        return (1,)

    def _stored_order(self) -> int:
        return 2


@estimator
class A2DE(AveragedClassifier):
    """Averaged two-dependence estimators: each pair of features is a parent of all the others, and all are averaged.

    A pair takes part in a prediction if its values occur together in at least ``min_rows`` training rows; where none
    does, AODE predicts, and then naive Bayes. Missing values are summed out exactly in every model, those of the
    super-parents too.

    The CPTs grow with the cube of the number of states. Where those of all models would need more than ``max_cells``
    cells, pairs enter by falling mutual information with the class (less its bias, Miller and Madow) as long as they
    fit, with a warning; ``super_parents_`` lists them. Where none fits, AODE predicts.

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
    super_parents_ : tuple of tuples of names
        The super-parents of each model that is averaged: pairs, then the single ones that predict where no pair can.
    counts_ : StoredCounts
        The counts of all triples of features with the class.
    chosen_counts_ : ChosenCounts
        Instead of ``counts_`` where super-parents were left out and these counts are many: those that the models need.
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
    missing_parent: str = "sum"

    def _orders(self) -> tuple[int, ...]:
        return (2, 1)

    def _stored_order(self) -> int:
        return 3
