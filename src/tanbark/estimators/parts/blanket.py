"""The Markov blanket of the class as a selector of features."""

from __future__ import annotations

from dataclasses import field
from typing import Any, Self

import narwhals as nw
import numpy as np
from numpy.typing import NDArray
from sklearn.feature_selection import SelectorMixin

from tanbark.counts import MemoryCounts
from tanbark.errors import NothingSelectedWarning, warn
from tanbark.estimators import inputs
from tanbark.estimators.encoding import Encoder
from tanbark.estimators.options import estimator
from tanbark.estimators.reports.data_report import DataReport, make_report
from tanbark.estimators.reports.suspicious import Seen, check_choice
from tanbark.estimators.scikit import BaseEstimator, check_is_fitted, validate_data
from tanbark.estimators.training import check_same_length, code_rows, encode_training
from tanbark.scores.mml import MessageLength
from tanbark.structure.blanket.scores import Options, Scorer, make_scorer
from tanbark.structure.blanket.search import check_direction, search
from tanbark.structure.blanket.trace import BlanketTrace
from tanbark.structure.rules import varied_features
from tanbark.table import CodedTable, Schema
from tanbark.table.raw import is_frame


@estimator
class MarkovBlanketMML(SelectorMixin, BaseEstimator):
    """Select the features that shorten the message of the class: its Markov blanket by minimum message length.

    Features enter one at a time, the one that saves most first, until none saves anything. There is no threshold to
    choose and nothing is held out: a feature must pay for the parameters it needs.

    Parameters
    ----------
    criterion : {"nb_logit", "nb_joint", "cpt", "logit", "nb_adaptive", "mbp"}, default "nb_logit"
        What is maximised: minus the length of a message that encodes the class. "nb_logit": given the features under
        naive Bayes, in its log-odds. "logit": the same with a normal prior of every coefficient. "nb_joint": class and
        features together under naive Bayes; very fast, and blind to features that repeat others. "cpt": by one full
        CPT. "nb_adaptive" and "mbp": row by row by naive Bayes or by an average over polytrees; these depend on the
        order of the rows.
    direction : {"forward", "both"}, default "forward"
        Only add features, or also drop those that later ones have made superfluous.
    sigma : float, default 3.0
        Standard deviation of the coefficients of "logit".
    stated : {"none", "observed", "all"}, default "none"
        For which rows of the CPT of "cpt" the message states the parameters.
    {options}

    Attributes
    ----------
    support_ : mask of the selected features
    order_ : array of their positions, in the order in which they came
    trace_ : BlanketTrace
        Every candidate's message length, what was added, and why the search stopped; prints as a table, and has
        ``to_frame`` and ``plot``.
    message_length_ : MessageLength
        The length with the selected features, in nits, with its parts.
    classes_ : array of the labels
    schema_ : Schema
        Columns with their categories or cut points; without those that were left out.

    Notes
    -----
    A missing value gives no evidence in the naive Bayes lengths, and is a state of its own in a full table. ``alpha``
    does not count in "logit"; ``random_state`` draws polytrees for "mbp", where there are too many to try all.

    References
    ----------
    Li, Korb and Allison (2021), Markov blanket discovery using minimum message length.
    Wallace (2005), Statistical and inductive inference by minimum message length.

    Examples
    --------
    >>> import tanbark as tb
    >>> X = [[0, 1, 1], [0, 0, 1], [1, 1, 0], [1, 0, 1]] * 5
    >>> selector = tb.MarkovBlanketMML().fit(X, [0, 0, 1, 1] * 5)
    >>> selector.get_support().tolist()
    [True, False, False]
    >>> print(selector.trace_)
    start {}                  15.4691
        + x0                   5.2958  <- taken
        + x1                  16.7665
        + x2                  13.1335
    add x0 {x0}                5.2958
        + x1                   6.0595
        + x2                   5.5893
    stop {x0}                  5.2958  no candidate shortens the message
    """

    criterion: str = field(default="nb_logit", kw_only=False)
    direction: str = "forward"
    alpha: float = 1.0
    sigma: float = 3.0
    stated: str = "none"
    discretize: Any = "mdlp"
    categorical_features: Any = "auto"
    suspicious: str = "drop"
    random_state: Any = 0
    n_jobs: int | None = None

    encoder_: Encoder = field(init=False)
    schema_: Schema = field(init=False)
    n_features_in_: int = field(init=False)
    feature_names_in_: NDArray[Any] = field(init=False)
    _seen: Seen = field(init=False)
    classes_: NDArray[Any] = field(init=False)
    support_: NDArray[np.bool_] = field(init=False)
    order_: NDArray[np.int64] = field(init=False)
    trace_: BlanketTrace = field(init=False)
    message_length_: MessageLength = field(init=False)

    @inputs.all_or_nothing
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Find the features that shorten the message of the labels.

        Parameters
        ----------
        X : frame or array of shape (n_rows, n_features)
            Strings, numbers, booleans and categoricals; None, NaN and NA are missing values.
        y : array-like of shape (n_rows,)
            Labels, none missing.
        sample_weight : array-like of shape (n_rows,), optional
            How many times each row counts; not for "nb_adaptive" and "mbp".
        """
        check_direction(self.direction)
        check_choice(self.suspicious)
        table = encode_training(self, X, y, sample_weight)
        scorer = self._scorer(table)
        candidates = varied_features(MemoryCounts(table, n_jobs=self.n_jobs))
        order, self.trace_ = search(scorer, candidates, self.schema_.names, direction=self.direction)
        self.order_ = np.array(self.encoder_.places, np.int64)[np.array(order, np.int64)]
        self.support_ = np.zeros(self.n_features_in_, bool)
        self.support_[self.order_] = True
        self.message_length_ = scorer.length(tuple(order))
        return self

    @property
    def data_report_(self) -> DataReport:
        """What was seen of the rows: classes, and every column with its states, missing values and what is odd."""
        if not hasattr(self, "_seen"):
            msg = f"This {type(self).__name__} has no data_report_: it is not fitted yet."
            raise AttributeError(msg)
        return make_report(self.schema_, self._seen)

    def transform(self, X: Any) -> Any:
        """Keep the selected features; a frame stays a frame of its kind, whose columns are found by name."""
        check_is_fitted(self)
        if not self.support_.any():
            warn(f"No features were selected: {self.trace_.reason}.", NothingSelectedWarning)
        if is_frame(X):
            inputs.read_features(self, X)
            frame = nw.from_native(X, eager_only=True)
            known = self.feature_names_in_ if hasattr(self, "feature_names_in_") else frame.columns
            names = [known[k] for k in self.get_support(indices=True)]
            return X.loc[:, names] if hasattr(X, "loc") else frame.select(names).to_native()
        array = inputs.as_table(self, X)
        validate_data(self, array, skip_check_array=True, reset=False)
        return array[:, self.support_]

    def score(self, X: Any, y: Any) -> float:
        """Return minus the message length of these labels with the selected features, in nits; higher is better."""
        check_is_fitted(self)
        raw = inputs.read_features(self, X)
        _, labels = inputs.read_labels(y, self.classes_)
        check_same_length(raw.n_rows, len(labels))
        scorer = self._scorer(code_rows(self, raw, labels, None))
        columns = tuple(self.encoder_.places.index(place) for place in self.order_.tolist())
        return -scorer.length(columns).total

    def _get_support_mask(self) -> NDArray[np.bool_]:
        check_is_fitted(self)
        return self.support_

    def _scorer(self, table: CodedTable) -> Scorer:
        seed = int(inputs.read_random_state(self.random_state).randint(2**31 - 1))
        options = Options(self.alpha, self.sigma, self.stated, seed, n_jobs=self.n_jobs)
        return make_scorer(self.criterion, MemoryCounts(table, n_jobs=self.n_jobs), options)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "message_length_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags
