"""Discriminative parameters of any structure, to be given to a classifier as ``parameters=``."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import field
from typing import Any

import numpy as np

from tanbark.arrays import Codes, Floats
from tanbark.checks import check_count, check_flag, check_positive
from tanbark.counts import MemoryCounts
from tanbark.errors import NotConvergedWarning, warn
from tanbark.estimators.options import estimator
from tanbark.estimators.parts.parameters import ParameterEstimator, Tables
from tanbark.evaluation.discriminative import (
    Choice,
    Correction,
    Corrector,
    Estimated,
    Folds,
    LeftOut,
    choose_boosting,
    choose_normalised,
    corrected_log_proba,
    fit_normalised,
)
from tanbark.graph import Dag, Network
from tanbark.graph.network import family_axes
from tanbark.params import Smoothing
from tanbark.params.boosting.correction import RATE
from tanbark.params.boosting.correction_file import list_families, read_families
from tanbark.params.normalised import with_changes
from tanbark.table import Schema
from tanbark.table.schema_json import demand, is_number, read_list

LEAST_ROWS = 20  # with fewer there is nothing to validate on
PENALTIES = (0.25, 1.0, 4.0, 16.0, 64.0, 256.0)


@estimator
class Discriminative(ParameterEstimator):
    """Correct a network of any structure so that the labels become most probable.

    By default the log-posterior is corrected: by a sum over the families of the network, and within a family over the
    contexts that grow from the node's state to those of all its parents. Boosting fits it to the leave-one-out
    posteriors of the training rows. With ``normalize=True`` the CPTs themselves are changed.

    Parameters
    ----------
    penalty : float, optional
        L2 penalty of every correction; by default 1/4, 1, 4, 16, 64 or 256, chosen by validation.
    rounds : int, optional
        Rounds of boosting; by default 0, 1, 2, 4, ... up to ``max_rounds``, chosen by validation.
    max_rounds : int, default 16
        The most rounds that validation tries.
    learning_rate : float, default 0.2
        Fraction of a Newton step that boosting takes.
    normalize : bool, default False
        Change the CPTs and normalise them by a softmax in every parent configuration, so that they stay those of a
        Bayesian network: missing values are summed out exactly, queries and exports are those of the corrected model.
        The changes maximise the penalised conditional log-likelihood (L-BFGS); there are no rounds, and ``rounds_`` is
        1, or 0 where validation found no change that is clearly better than none.
    tol : float, default 1e-6
        When the optimiser of ``normalize=True`` stops: the largest component of the gradient, per row.
    {options}

    Attributes
    ----------
    penalty_ : float
    rounds_ : int
        Zero where validation found no correction that is clearly better than none.
    temperature_ : float
        Power of the network's likelihood in the corrected posterior; with ``normalize=True`` that of the validation
        rows, which a classifier with ``temperature="auto"`` takes.
    validation_ : dict
        Mean log-loss of validation rows by (penalty, rounds).

    Notes
    -----
    Without ``normalize``, ``network_`` stays as the smoothing estimates it, and only predictions are corrected. Missing
    values are summed out of the network exactly, but a family with a missing value is corrected by its columns before
    that one, which is no exact sum. The correction of a row counts with the fraction of its families that are complete.

    Validation has five folds below 500 rows, three below 3,000, else one split of 75 to 25. The structure is learnt
    anew in every fold; cut points are not. If ``penalty`` and ``rounds`` are given, there is no validation.

    References
    ----------
    Greiner and Zhou (2002), Structural extension to logistic regression. Zaidi, Webb, Carman, Petitjean and Cerquides
    (2017), Efficient parameter learning of Bayesian network classifiers.

    Examples
    --------
    >>> import tanbark as tb
    >>> X = [[a, b] for a in (0, 1) for b in (0, 1)] * 50
    >>> y = [a ^ b for a, b in X]
    >>> clf = tb.NaiveBayes(parameters=tb.Discriminative(penalty=1.0, rounds=4)).fit(X, y)
    >>> clf.parameters_.rounds_
    4
    """

    penalty: float | None = field(default=None, kw_only=False)
    rounds: int | None = None
    max_rounds: int = 16
    learning_rate: float = RATE
    normalize: bool = False
    max_iter: int = 100
    tol: float = 1e-6

    @property
    def corrects(self) -> bool:
        """Whether predictions differ from those of ``network_``."""
        return not self.normalize

    def learn(
        self, estimated: Estimated, rows: MemoryCounts, relearn: Callable[[MemoryCounts], Estimated], *, tempered: bool
    ) -> None:
        """Choose penalty, rounds and temperature on rows that a network was not learnt from, and fit the correction."""
        penalties, looks = self._candidates()
        choice = Choice(penalties[0], looks[0], 1.0, {})
        if rows.n_rows >= LEAST_ROWS and (len(penalties) > 1 or len(looks) > 1):
            folds = Folds(rows, relearn)
            if self.normalize:
                options: dict[str, Any] = {"max_iter": self.max_iter, "tol": self.tol}
                choice = choose_normalised(folds, penalties=penalties, tempered=tempered, **options)
            else:
                choice = choose_boosting(folds, penalties=penalties, looks=looks, rate=self.learning_rate)
        self.penalty_, self.rounds_, self.validation_ = choice.penalty, choice.rounds, choice.losses
        left_out = LeftOut(estimated, rows)
        self.temperature_ = choice.temperature
        if not self.normalize:
            self.correction_ = Corrector(left_out).fit(choice, self.learning_rate)
            self.temperature_ = self.correction_.temperature
        elif not choice.rounds:
            self.changes_ = tuple(np.zeros(0) for _ in estimated.network.tables)
        else:
            found = fit_normalised(left_out, choice.penalty, max_iter=self.max_iter, tol=self.tol)
            self.changes_, self.n_iter_, self.converged_ = found
            if not found.converged:
                msg = f"Discriminative stopped at max_iter={self.max_iter}, short of tol={self.tol:g}."
                warn(msg, NotConvergedWarning)

    @property
    def validated_temperature(self) -> float | None:
        """The temperature of validation rows with normalised CPTs."""
        return self.temperature_ if self.normalize and self.validation_ else None

    def _candidates(self) -> tuple[tuple[float, ...], tuple[int, ...]]:
        """Return the penalties and numbers of rounds to choose from."""
        check_count("max_rounds", self.max_rounds, least=1)
        check_count("max_iter", self.max_iter, least=1)
        check_positive("learning_rate", self.learning_rate)
        check_positive("tol", self.tol)
        check_flag("normalize", self.normalize)
        penalties = PENALTIES if self.penalty is None else (check_positive("penalty", self.penalty),)
        if self.rounds is not None:
            return penalties[: None if self.rounds else 1], (check_count("rounds", self.rounds),)
        if self.normalize:
            return penalties, (1,)
        powers = [1 << k for k in range(self.max_rounds.bit_length()) if 1 << k < self.max_rounds]
        return penalties, (0, *powers, self.max_rounds)

    def estimate(self, network: Network, counts: Tables, smoothing: Smoothing, rows: MemoryCounts | None) -> Network:
        """Change the CPTs with ``normalize=True``; without it the network stays and its predictions are corrected."""
        return with_changes(network, self.changes_) if self.normalize else network

    def joint(self, network: Network, codes: Codes, *, n_jobs: int | None) -> Floats:
        """Return the log-joint, or the corrected log-posterior up to a constant per row."""
        if self.normalize:
            return super().joint(network, codes, n_jobs=n_jobs)
        return corrected_log_proba(network, self.correction_, codes, n_jobs=n_jobs)

    def document(self) -> dict[str, Any]:
        """Return what was learnt from rows, as lists of numbers."""
        found = {"penalty": self.penalty_, "rounds": self.rounds_, "temperature": self.temperature_}
        if self.normalize:
            return {**found, "changes": [change.ravel().tolist() for change in self.changes_]}
        base = self.correction_.base_temperature
        return {**found, "base_temperature": base, "families": list_families(self.correction_.families)}

    def restore(self, document: Any, schema: Schema, dag: Dag) -> None:
        """Read back what was learnt from rows."""
        demand(isinstance(document, dict), "the corrections are no mapping")
        names = ("penalty", "rounds", "temperature")
        penalty, rounds, temperature = (document[name] for name in names)
        demand(all(map(is_number, (penalty, rounds, temperature))) and temperature > 0, "a correction is no number")
        self.penalty_, self.rounds_, self.temperature_ = float(penalty), int(rounds), float(temperature)
        sizes = schema.cardinalities
        if not self.normalize:
            base = document["base_temperature"]
            demand(is_number(base) and base > 0, "the temperature without corrections is no number above 0")
            families = read_families(document["families"], sizes, sizes[schema.target])
            self.correction_ = Correction(self.temperature_, families, float(base))
            return
        changes = read_list(document["changes"], "changes of CPTs")
        demand(len(changes) == len(sizes), "there is not one change for each CPT")
        found = []
        for node, item in enumerate(changes):
            numbers = read_list(item, "changes of a CPT")
            shape = [sizes[c] for c in family_axes(dag.parents[node], node, schema.target)]
            demand(all(map(is_number, numbers)), "a change of a CPT is no number")
            demand(len(numbers) in (0, math.prod(shape)), "the changes of a CPT do not fit its states")
            found.append(np.array(numbers, float).reshape(shape if numbers else (0,)))
        self.changes_ = tuple(found)
