"""What every classifier of ours can do, whatever its model: learn from any table, predict, measure, explain."""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from dataclasses import replace
from functools import wraps
from typing import Any, Self, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from tanbark.counts import CountEngine, MemoryCounts, PartedCounts, StoredCounts, stored_cells
from tanbark.errors import ImpossibleEvidenceWarning, InputError, OptionError, TableTooLargeError, find, warn
from tanbark.estimators import inputs
from tanbark.estimators.encoding import Encoder, learn_encoder, report_unseen
from tanbark.estimators.explain import Explained, Explanation, explain_rows
from tanbark.estimators.predict_file import FilePrediction
from tanbark.estimators.scan import Scan, as_scan, is_scan, note_schema, open_counts
from tanbark.estimators.uncertainty import Counted, check_share, feature_support
from tanbark.inference import normalize
from tanbark.params import Smoothing
from tanbark.table import CodedTable, RawTable, Schema

Floats = NDArray[np.float64]
Codes = NDArray[np.unsignedinteger]
Method = TypeVar("Method", bound=Callable[..., Any])

KEPT_CELLS = 1 << 20  # counts of at most this many cells (8 MiB) are kept by fit, to be added to later


def _all_or_nothing(method: Method) -> Method:
    """Leave a classifier as it was where learning fails: codes must never point beyond the tables of its model."""

    @wraps(method)
    def learn(self: TableClassifier, *args: Any, **kwargs: Any) -> Any:
        before = dict(self.__dict__)
        try:
            return method(self, *args, **kwargs)
        except BaseException:
            self.__dict__.clear()
            self.__dict__.update(before)
            raise

    return learn  # type: ignore[return-value]  # it has the method's signature


def _learns_from_counts(classifier: TableClassifier) -> bool:
    """Allow learning step by step where the learner needs nothing but counts that can be kept."""
    if classifier._stored_order() == 0:
        msg = f"{type(classifier).__name__} with these options cannot learn from counts alone; use fit with all rows."
        raise AttributeError(msg)
    return True


class TableClassifier(FilePrediction, ClassifierMixin, BaseEstimator):
    """The shell that all classifiers share: a subclass turns counts into a model, and codes into log-joints."""

    alpha: float
    prior: str
    class_prior: Any
    discretize: Any
    categorical_features: Any
    unseen: str
    max_cells: int
    n_jobs: int | None

    classes_: NDArray[Any]
    schema_: Schema
    encoder_: Encoder
    counts_: StoredCounts
    n_parameters_: int

    # ------------------------------------------------------------------ what a subclass adds

    def _stored_order(self) -> int:
        """Tell which counts suffice to learn without rows (see ``StoredCounts``); 0 for none."""
        raise AssertionError("every classifier says what it learns from")

    def _learn(self, counts: CountEngine, rows: MemoryCounts | None) -> Self:
        """Learn from counts, and from rows where they are there."""
        raise AssertionError("every classifier learns")

    def _collected(self, engine: PartedCounts) -> MemoryCounts | None:
        """Bring rows that are read in batches into memory where learning needs them there; by default it does not."""
        return None

    def _joint(self, codes: Codes) -> Floats:
        """Give log P(class, observed) for every row and class."""
        raise AssertionError("every classifier predicts")

    def _explained(self) -> Explained:
        """Give what explanations need to know of the model."""
        raise AssertionError("every classifier can be explained")

    def _counted(self) -> list[Counted]:
        """Give the counts of features that predictions rest on."""
        raise AssertionError("every classifier knows its counts")

    def _total_rows(self) -> float:
        """Give the number of training rows, or the sum of their weights."""
        raise AssertionError("every classifier knows its rows")

    def _set_aside(self, raw: RawTable, y: Any, weights: Floats | None) -> tuple[RawTable, Any, Floats | None]:
        """Give the rows and labels to learn from; a subclass may keep rows without a label for later."""
        return raw, y, weights

    def _kept_rows(self, raw: RawTable, weights: Floats | None) -> NDArray[np.bool_] | None:
        """Tell which rows to learn from, None for all; those of weight zero are as if they were not there."""
        return None if weights is None or (weights > 0).all() else weights > 0

    def _mark_gaps(self, encoder: Encoder, raw: RawTable) -> Encoder:
        """Say in which columns a gap is a state of its own; by default in none."""
        return encoder

    # ------------------------------------------------------------------ learning

    @_all_or_nothing
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, *, target: str | None = None) -> Self:
        """Learn structure and parameters.

        Parameters
        ----------
        X : frame or array of shape (n_rows, n_features); or a file, a lazy frame or a :func:`tanbark.scan`
            Strings, numbers, booleans and categoricals; None, NaN and NA are gaps. Files and the like are read in
            batches, as often as the learner needs (``passes_``), and need not fit in memory.
        y : array-like of shape (n_rows,)
            Labels, without gaps.
        sample_weight : array-like of shape (n_rows,), optional
            How many times each row counts; for a file, the name of the column that says it.
        target : str
            For a file and the like, the name of the column with the labels.
        """
        self._check_options()
        for name in ("passes_", "sketch_errors_"):
            self.__dict__.pop(name, None)
        if target is not None or is_scan(X):
            return self._fit_scan(as_scan(X, target, y, sample_weight))
        return self._learn_table(self._encode_training(X, y, sample_weight, None))

    def _learn_table(self, table: CodedTable) -> Self:
        """Learn from coded rows, whose schema and classes are known."""
        self.__dict__.pop("counts_", None)
        rows = MemoryCounts(table, n_jobs=self.n_jobs)
        order = self._stored_order()
        if order and stored_cells(self.schema_, order) <= KEPT_CELLS:
            self.counts_ = StoredCounts.of(rows, order)
            return self._learn(self.counts_, rows)
        return self._learn(rows, rows)

    def _fit_scan(self, rows: Scan) -> Self:
        """Learn from rows that are read in batches."""
        self.__dict__.pop("counts_", None)
        engine = open_counts(self, rows)
        order = self._stored_order()
        if order and stored_cells(self.schema_, order) <= KEPT_CELLS:
            self.counts_ = engine.stored(order)
        self._learn(getattr(self, "counts_", engine), self._collected(engine))
        self.passes_ = engine.passes.total
        return self

    @available_if(_learns_from_counts)  # type: ignore[untyped-decorator]  # scikit-learn carries no types
    @_all_or_nothing
    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn from further rows, without the earlier ones.

        The first call settles the columns, the cut points of continuous columns and the classes (give ``classes`` where
        the first rows may lack some); later calls add counts, and categories that are new.
        """
        self._check_options()
        if self.__sklearn_is_fitted__():
            earlier = self._stored_counts()
            further = self._count_further(X, y, sample_weight, grow=True)
            self.counts_ = earlier.grown(self.schema_) + further
        else:
            table = self._encode_training(X, y, sample_weight, classes)
            self.counts_ = self._keep(table)
        return self._learn(self.counts_, None)

    @available_if(_learns_from_counts)  # type: ignore[untyped-decorator]  # scikit-learn carries no types
    @_all_or_nothing
    def forget(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Take rows out of the model again, exactly, as if they had never been learnt.

        Columns, categories and cut points stay. Rows that were never learnt are refused where the counts tell.
        """
        check_is_fitted(self)
        self._check_options()
        self.counts_ = self._stored_counts() - self._count_further(X, y, sample_weight, grow=False)
        return self._learn(self.counts_, None)

    @available_if(_learns_from_counts)  # type: ignore[untyped-decorator]  # scikit-learn carries no types
    @_all_or_nothing
    def fit_counts(self, counts: StoredCounts) -> Self:
        """Learn from counts alone: those of another model (``counts_``), or of several machines, added up.

        Parameters
        ----------
        counts : StoredCounts
            Their schema tells columns, categories and classes.
        """
        self._check_options()
        if not isinstance(counts, StoredCounts) or counts.order < self._stored_order():
            have = f"counts of order {counts.order}" if isinstance(counts, StoredCounts) else type(counts).__name__
            msg = (
                f"{type(self).__name__} learns from StoredCounts of order {self._stored_order()}, such as the counts_ "
                f"of a model of its kind; got {have}."
            )
            raise OptionError(msg)
        self.counts_ = counts.of_order(self._stored_order())
        note_schema(self, counts.schema)
        inputs.read_class_prior(self.class_prior, self.classes_)
        return self._learn(self.counts_, None)

    def _stored_counts(self) -> StoredCounts:
        if not hasattr(self, "counts_"):
            msg = (
                f"This {type(self).__name__} keeps no counts to add to or to take from: it was loaded from a file, or "
                f"fit found more than {KEPT_CELLS:,} cells. To learn or forget step by step, begin with partial_fit."
            )
            raise OptionError(msg)
        if self.counts_.order != self._stored_order():
            msg = "The learner was changed after fit and asks for other counts. Call fit again."
            raise OptionError(msg)
        return self.counts_

    def _count_further(self, X: Any, y: Any, sample_weight: Any, *, grow: bool) -> StoredCounts:
        raw = inputs.read_features(self, X)
        _, labels = inputs.read_labels(y, self.classes_)
        weights = inputs.read_weights(sample_weight, raw.n_rows)
        check_as_many(raw.n_rows, len(labels))
        raw, labels, weights = chosen_rows(self._kept_rows(raw, weights), raw, labels, weights)
        if grow:
            self.encoder_ = self.encoder_.extended(raw)
            self.schema_ = Schema((*self.encoder_.columns, self.schema_.columns[-1]))
        table = self._code(raw, labels, weights, unseen="marginalize" if grow else "error")
        return self._keep(table)

    def _keep(self, table: CodedTable) -> StoredCounts:
        """Count all that learning step by step must keep, unless a table is too large."""
        order = self._stored_order()
        widest = sorted(table.schema.features, key=lambda column: -column.n_states)[:order]
        cells = math.prod(column.n_states for column in widest) * len(self.classes_)
        if cells > self.max_cells and order > 1:
            told = " and ".join(f"{column.name!r} ({column.n_states:,} states)" for column in widest)
            msg = (
                f"Learning step by step keeps a table for every {('', 'pair', 'triple')[order - 1]} of columns; that "
                f"of {told} with the class needs {cells:,} cells, above max_cells={self.max_cells:,}. Drop or group "
                "the column with most states, use fit with all rows, or raise max_cells."
            )
            raise TableTooLargeError(msg)
        return StoredCounts.of(MemoryCounts(table, n_jobs=self.n_jobs), order)

    def _encode_training(self, X: Any, y: Any, sample_weight: Any, classes: Any) -> CodedTable:
        raw = inputs.read_training_features(self, X)
        known = None if classes is None else np.unique(np.asarray(classes))
        weights = inputs.read_weights(sample_weight, raw.n_rows)
        raw, told, weights = self._set_aside(raw, y, weights)
        self.classes_, labels = inputs.read_labels(told, known)
        check_as_many(raw.n_rows, len(labels))
        kept = self._kept_rows(raw, weights)
        raw, labels, weights = chosen_rows(kept, raw, labels, weights)
        if classes is None and kept is not None:
            there, labels = np.unique(labels, return_inverse=True)
            self.classes_ = self.classes_[there]
        inputs.read_class_prior(self.class_prior, self.classes_)
        self.encoder_ = learn_encoder(
            raw, labels, weights, len(self.classes_), discretize=self.discretize, n_jobs=self.n_jobs,
            categorical=inputs.categorical_mask(self.categorical_features, [raw.name(c) for c in range(raw.n_columns)]),
        )  # fmt: skip
        self.encoder_ = self._mark_gaps(self.encoder_, raw)
        names = tuple(column.name for column in self.encoder_.columns)
        self.schema_ = Schema((*self.encoder_.columns, inputs.class_column(y, self.classes_, names)))
        return replace(self._code(raw, labels, weights), kept=kept)

    def _code(
        self, raw: RawTable, labels: NDArray[Any], weights: Floats | None, *, unseen: str = "marginalize"
    ) -> CodedTable:
        encoded = self.encoder_.encode(raw, n_jobs=self.n_jobs, extra_states=len(self.classes_))
        if unseen == "error":
            report_unseen(encoded.unseen, raw.n_rows, unseen)
        encoded.codes[-1] = labels
        return CodedTable(self.schema_, encoded.codes, weights)

    def _check_options(self) -> None:
        Smoothing(self.prior, self.alpha)
        find("unseen", self.unseen, {"marginalize": None, "error": None})
        whole = isinstance(self.max_cells, (int, np.integer)) and not isinstance(self.max_cells, bool)
        if not whole or self.max_cells < 1:
            msg = f"max_cells must be a whole number of at least 1; got {self.max_cells!r}."
            raise OptionError(msg)

    # ------------------------------------------------------------------ prediction

    def predict_joint_log_proba(self, X: Any) -> Floats:
        """Give log P(class, observed values) for every row and class."""
        check_is_fitted(self)
        return self._joint(self._codes(X))

    def predict_log_proba(self, X: Any) -> Floats:
        """Give the logarithms of the class probabilities."""
        return self._posterior(self.predict_joint_log_proba(X))

    def predict_proba(self, X: Any) -> Floats:
        """Give the class probabilities; missing values are summed out exactly."""
        return self._posterior(self.predict_joint_log_proba(X), logs=False)

    def predict(self, X: Any, *, abstain_below: float | None = None) -> NDArray[Any]:
        """Give the most probable class of every row; ties go to the first.

        Parameters
        ----------
        X : rows
        abstain_below : float, optional
            Give None, in an array of objects, for rows whose most probable class has a lower probability than this.
        """
        if abstain_below is not None:
            least = check_share("abstain_below", abstain_below)
            proba = self.predict_proba(X)
            labels = self.classes_[proba.argmax(axis=1)].astype(object)
            labels[proba.max(axis=1) < least] = None
            return np.asarray(labels)
        joint = self.predict_joint_log_proba(X)
        impossible = np.isneginf(joint).all(axis=1)
        if impossible.any():
            joint = self._posterior(joint)
        return np.asarray(self.classes_[joint.argmax(axis=1)])

    def _codes(self, X: Any) -> NDArray[np.unsignedinteger]:
        raw = inputs.read_features(self, X)
        encoded = self.encoder_.encode(raw, n_jobs=self.n_jobs)
        report_unseen(encoded.unseen, raw.n_rows, self.unseen)
        return encoded.codes

    def _posterior(self, joint: Floats, *, logs: bool = True) -> Floats:
        posterior, impossible = normalize(joint, logs=logs, n_jobs=self.n_jobs)
        if impossible.any():
            msg = (
                f"{int(impossible.sum())} rows are impossible under every class (probability zero); they get the class "
                "prior. Use alpha > 0 to leave nothing impossible."
            )
            warn(msg, ImpossibleEvidenceWarning)
            nothing = np.full((self.schema_.target, 1), 255, np.uint8)
            posterior[impossible] = normalize(self._joint(nothing), logs=logs)[0]
        return posterior

    # ------------------------------------------------------------------ measures

    def log_likelihood(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Give the total log P(label, observed values) in nats; higher is better."""
        return self._total(self.predict_joint_log_proba(X), y, sample_weight)

    def conditional_log_likelihood(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Give the total log P(label | observed values) in nats; higher is better."""
        return self._total(self.predict_log_proba(X), y, sample_weight)

    def aic(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Give the log-likelihood less the number of free parameters; higher is better."""
        return self.log_likelihood(X, y, sample_weight) - self.n_parameters_

    def bic(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Give the log-likelihood less half the log of the rows for every free parameter; higher is better."""
        weights = inputs.read_weights(sample_weight, len(y))
        rows = float(len(y) if weights is None else weights.sum())
        return self.log_likelihood(X, y, sample_weight) - 0.5 * math.log(rows) * self.n_parameters_

    def _total(self, per_class: Floats, y: Any, sample_weight: Any) -> float:
        _, labels = inputs.read_labels(y, self.classes_)
        check_as_many(len(per_class), len(labels))
        chosen = per_class[np.arange(len(labels)), labels]
        weights = inputs.read_weights(sample_weight, len(labels))
        return float(chosen.sum() if weights is None else (weights * chosen)[weights > 0].sum())

    # ------------------------------------------------------------------ looking inside

    def explain(self, X: Any, *, label: Any = None) -> Explanation:
        """Say how much the prior and each observed value speak for a class against the rest.

        Parameters
        ----------
        X : rows to explain
        label : optional
            The class to explain; by default each row's predicted class.
        """
        check_is_fitted(self)
        codes = self._codes(X)
        return explain_rows(self._explained(), codes, None if label is None else self._label_code(label))

    def _label_code(self, label: Any) -> int:
        found = [code for code, known in enumerate(self.classes_.tolist()) if known == label]
        if not found:
            msg = f"label must be one of the classes {self.classes_.tolist()[:10]}; got {label!r}."
            raise OptionError(msg)
        return found[0]

    def support(self, X: Any, *, per_feature: bool = False) -> Floats:
        """Count the training rows behind the rarest of a row's values.

        A value counts together with the values of the features that the model has it depend on; gaps are left aside. At
        most this many training rows had all the values of the row. A row without values has the support of all rows.

        Parameters
        ----------
        X : rows
        per_feature : bool, default False
            Give the support of every value instead, (n_rows, n_features), NaN for gaps.
        """
        check_is_fitted(self)
        rows, values = feature_support(self._counted(), self._codes(X), self._total_rows())
        return values.T if per_feature else rows

    def explore(self, path: str | os.PathLike[str] | None = None, *, title: str | None = None) -> Any:
        """Make a page that answers questions to the model by clicking, and write it to a file where one is named.

        Gives a :class:`tanbark.explorer.Page`, which a notebook shows.
        """
        from tanbark.explorer import explore

        check_is_fitted(self)
        return explore(self, path, title=title)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a JSON file; ``tanbark.load`` reads it."""
        from tanbark.estimators.model_file import save

        save(self, path)

    def _picture(self) -> str:
        """Give the picture of the learnt network as HTML, where there is one."""
        network = getattr(self, "network_", None)
        return "" if network is None else str(network._repr_html_())

    def _repr_html_inner(self) -> str:
        return str(super()._repr_html_inner()) + self._picture()

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        told: dict[str, str] = super()._repr_mimebundle_(**kwargs)
        return {**told, "text/html": told["text/html"] + self._picture()} if "text/html" in told else told

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "n_parameters_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags


def chosen_rows(
    keep: NDArray[np.bool_] | None, raw: RawTable, labels: NDArray[np.int64], weights: Floats | None
) -> tuple[RawTable, NDArray[np.int64], Floats | None]:
    """Choose rows of a table, of its labels and of its weights by a mask; None keeps all."""
    if keep is None:
        return raw, labels, weights
    return raw.rows(keep), labels[keep], None if weights is None else weights[keep]


def check_as_many(n_rows: int, n_labels: int) -> None:
    """Refuse labels that are not one per row."""
    if n_labels != n_rows:
        msg = f"X has {n_rows} rows and y has {n_labels} labels; they must be as many."
        raise InputError(msg)
