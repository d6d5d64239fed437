"""Many models of one kind, each from other rows, whose probabilities are averaged."""

from __future__ import annotations

import math
import os
from copy import copy
from dataclasses import field
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from tanbark.checks import check_count, is_number
from tanbark.errors import OptionError
from tanbark.estimators import inputs
from tanbark.estimators.classifier import Absent, TableClassifier
from tanbark.estimators.mixture import PosteriorMixture
from tanbark.estimators.models.constraint import RAIANB
from tanbark.estimators.options import estimator
from tanbark.estimators.scikit import clone
from tanbark.estimators.training import encode_training
from tanbark.machine import run_threads, thread_count
from tanbark.structure.rules import generator
from tanbark.table import CodedTable


@estimator
class ModelAveraging(PosteriorMixture):
    """Average the class probabilities of models that are learnt from random subsets of the rows (subbagging).

    Each model learns its structure and its tables from a subset drawn without replacement. Columns, categories, cut
    points and classes are settled once, by all rows. Structure that depends on a few rows loses weight, and what most
    subsets agree on stays; ``arc_frequencies`` returns how often each arc was learnt.

    Parameters
    ----------
    estimator : classifier of tables, optional
        The model to average, any of Tanbark's but ``TextNaiveBayes``; by default ``RAIANB()``.
    n_estimators : int, default 10
        How many models.
    subsample : float, default 0.9
        The fraction of the rows that each model learns from, above 0 and at most 1.
    {options}
    n_jobs : int, optional
        Models that are learnt at the same time, each on as many threads as ``estimator`` says; None uses every core.
        Results do not depend on it.

    Attributes
    ----------
    estimators_ : list of classifiers
        The fitted models.
    classes_ : array of the labels
    schema_ : Schema
        Columns with their categories or cut points.

    Notes
    -----
    ``support`` is the mean over the models. There is no joint probability of an average of posteriors, hence no
    ``log_likelihood``, ``aic`` or ``bic``.

    References
    ----------
    Sugahara, Aomi and Ueno (2022), Bayesian network model averaging classifiers by subbagging. Theirs averages the K
    best structures of each subset: ``ModelAveraging(KBestANB(k=10))``.

    Examples
    --------
    >>> import tanbark as tb
    >>> X = [[0, 0, 1], [0, 0, 0], [1, 1, 1], [1, 1, 0]] * 9
    >>> clf = tb.ModelAveraging(tb.TAN(), n_estimators=5, random_state=0).fit(X, [0, 0, 1, 1] * 9)
    >>> clf.predict([[0, 0, 1], [1, None, 0]]).tolist()
    [0, 1]
    >>> clf.arc_frequencies()["class", "x2"]
    1.0
    """

    estimator: Any = field(default=None, kw_only=False)
    n_estimators: int = field(default=10, kw_only=False)
    subsample: float = 0.9
    random_state: Any = None
    n_jobs: int | None = None

    estimators_: list[TableClassifier] = field(init=False)

    partial_fit = forget = fit_counts = Absent("every model learns from its own subset of the rows; use fit with all.")
    leave_one_out_proba = leave_one_out_measures = Absent(
        "its models were learnt from different rows; use :func:`cross_validate_network`."
    )
    predict_proba_interval = Absent("its models were learnt from different rows; compare those of ``estimators_``.")

    @inputs.all_or_nothing
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn the models.

        Parameters
        ----------
        X : frame or array of shape (n_rows, n_features)
        y : array-like of shape (n_rows,)
        sample_weight : array-like of shape (n_rows,), optional
            How many times each row counts. Rows are drawn whatever their weight, but those of weight zero never.
        """
        lead = self._model()
        threads = thread_count(self.n_jobs)
        inputs.read_training_features(self, X)
        lead._check_options()
        table = encode_training(lead, X, y, sample_weight)
        rng = generator(self.random_state)
        members = [copy(lead) for _ in range(int(self.n_estimators))]
        draws = [self._draw(table.n_rows, member, rng) for member in members]

        def learn(member: TableClassifier, rows: NDArray[np.int64]) -> TableClassifier:
            weights = None if table.weights is None else table.weights[rows]
            codes = np.ascontiguousarray(table.codes[:, rows])
            return member._fit_table(CodedTable(table.schema, codes, weights, unlabelled=table.unlabelled))

        self.estimators_ = run_threads(learn, list(zip(members, draws, strict=True)), threads)
        self._settle()
        return self

    def _model(self) -> TableClassifier:
        """Check the options, and give the model to average."""
        model = RAIANB() if self.estimator is None else self.estimator
        if not isinstance(model, TableClassifier):
            msg = (
                f"estimator must be a classifier of Tanbark that learns from tables, such as TAN(); got {model!r:.80}."
            )
            raise OptionError(msg)
        check_count("n_estimators", self.n_estimators, least=1)
        if not is_number(self.subsample) or not 0 < float(self.subsample) <= 1:
            msg = f"subsample must be a number above 0 and at most 1; got {self.subsample!r}."
            raise OptionError(msg)
        fresh: TableClassifier = clone(model)
        return fresh

    def _draw(self, n_rows: int, member: TableClassifier, rng: np.random.Generator) -> NDArray[np.int64]:
        """Draw a model's rows, and its own random state where it has one."""
        if "random_state" in member.get_params(deep=False):
            member.set_params(random_state=int(rng.integers(2**31 - 1)))
        size = max(1, math.floor(float(self.subsample) * n_rows))
        return np.sort(rng.choice(n_rows, size, replace=False))

    def _settle(self) -> None:
        """Take over what all models share; prediction sets need a new calibration."""
        self.__dict__.pop("set_scores_", None)
        first = self.estimators_[0]
        self.classes_, self.schema_, self.encoder_ = first.classes_, first.schema_, first.encoder_
        self.__dict__.pop("_seen", None)
        if hasattr(first, "_seen"):
            self._seen = first._seen

    @property
    def handle_unknown(self) -> str:
        """What the models do with categories that training never saw."""
        return str(self.estimators_[0].handle_unknown)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write all models to one JSON file; ``tanbark.load`` reads it."""
        from tanbark.estimators.model_files.others import save_members

        save_members(self, path)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "estimators_")
