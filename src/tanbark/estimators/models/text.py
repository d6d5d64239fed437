"""Naive Bayes for text: bags of words, as counts or as sparse matrices of scikit-learn's vectorisers."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from scipy.special import log_softmax
from sklearn.utils.validation import check_non_negative

from tanbark.arrays import Floats
from tanbark.errors import ImpossibleEvidenceWarning, InputError, OptionError, nearest, warn
from tanbark.estimators import inputs
from tanbark.estimators.explorer_page import ExplorerPage
from tanbark.estimators.options import estimator
from tanbark.estimators.predict_set import SetPrediction
from tanbark.estimators.scikit import BaseEstimator, ClassifierMixin, check_is_fitted, validate_data
from tanbark.params import Laplace
from tanbark.table.raw import is_frame, read_dtypes


@dataclass(frozen=True, eq=False)
class TextExplanation:
    """How the words of one text add up: each word's probability in every class, and the running totals.

    Parameters
    ----------
    classes : labels
    words : the words in order, a word that occurs twice twice
    probabilities : (n_words, n_classes) array
        P(word | class).
    totals : (n_words + 1, n_classes) array
        log P(class) and, below, the sums after each word.
    """

    classes: tuple[Any, ...]
    words: tuple[str, ...]
    probabilities: Floats
    totals: Floats

    @property
    def posterior(self) -> Floats:
        """Probabilities of the classes."""
        return np.asarray(np.exp(log_softmax(self.totals[-1])))

    def to_frame(self, backend: str | None = None) -> Any:
        """Return a frame with a row for the prior and for each word; ``backend`` is "pandas", "polars" or "pyarrow"."""
        from tanbark.table.frames import make_frame

        shown = np.vstack([np.exp(self.totals[0]), self.probabilities])
        data: dict[str, Any] = {"word": ["(prior)", *self.words]}
        data |= {f"P(w|{label})": shown[:, c] for c, label in enumerate(self.classes)}
        data |= {f"total {label}": self.totals[:, c] for c, label in enumerate(self.classes)}
        return make_frame(data, backend)

    def __str__(self) -> str:
        """Write the table as text, with the posterior below."""
        heads = [*(f"P(w|{label})" for label in self.classes), *(f"total {label}" for label in self.classes)]
        width = max(map(len, ["(prior)", *self.words]))
        widths = [max(9, len(head)) for head in heads]
        shown = np.vstack([np.exp(self.totals[0]), self.probabilities])
        lines = [" ".join([f"{'word':<{width}}", *(f"{head:>{w}}" for head, w in zip(heads, widths, strict=True))])]
        for word, chances, sums in zip(("(prior)", *self.words), shown, self.totals, strict=True):
            cells = [f"{p:.5f}" for p in chances] + [f"{total:.1f}" for total in sums]
            lines.append(" ".join([f"{word:<{width}}", *(f"{c:>{w}}" for c, w in zip(cells, widths, strict=True))]))
        best = int(np.argmax(self.posterior))
        return "\n".join([*lines, f"P({self.classes[best]} | text) = {self.posterior[best]:.4f}"])

    def __repr__(self) -> str:
        return str(self)


@estimator
class TextNaiveBayes(ExplorerPage, SetPrediction, ClassifierMixin, BaseEstimator):
    r"""Multinomial naive Bayes: a text is a bag of words, drawn one by one from its class's distribution.

    .. math:: P(c | text) \propto P(c) \prod_w P(w | c)^{n_w}, \qquad
              P(w | c) = \frac{N_{cw} + \alpha}{N_c + \alpha V}

    Parameters
    ----------
    words : list of str, optional
        The words that the columns count, such as ``vectorizer.get_feature_names_out()``; by default the column names.
    {options}

    Attributes
    ----------
    classes_ : array of the labels
    word_counts_ : (n_classes, n_words) array
        How often each word occurs in the texts of each class.
    class_counts_ : (n_classes,) array
        Texts of each class.

    References
    ----------
    McCallum and Nigam (1998), A comparison of event models for naive Bayes text classification.

    Examples
    --------
    >>> import tanbark as tb
    >>> from sklearn.feature_extraction.text import CountVectorizer
    >>> texts = ["win cash now", "cash prize", "see you at noon", "are you there now"]
    >>> labels = ["spam", "spam", "ham", "ham"]
    >>> vectorizer = CountVectorizer()
    >>> X = vectorizer.fit_transform(texts)
    >>> clf = tb.TextNaiveBayes(words=vectorizer.get_feature_names_out()).fit(X, labels)
    >>> clf.predict(vectorizer.transform(["cash now"])).tolist(), clf.top_words(2)["spam"]
    (['spam'], ['cash', 'prize'])
    """

    alpha: float = 1.0
    class_prior: Any = None
    words: Any = None

    classes_: NDArray[Any] = field(init=False)
    word_counts_: Floats = field(init=False)
    class_counts_: Floats = field(init=False)
    n_features_in_: int = field(init=False)
    feature_names_in_: NDArray[Any] = field(init=False)

    # ------------------------------------------------------------------ learning

    @inputs.all_or_nothing
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Count the words of every class.

        Parameters
        ----------
        X : sparse or dense matrix of shape (n_texts, n_words)
            How often each word occurs in each text; weights such as tf-idf do too, if none is negative.
        y : array-like of shape (n_texts,)
        sample_weight : array-like of shape (n_texts,), optional
        """
        counts, labels, weights = self._read(X, y, None, sample_weight, first=True)
        return self._add(counts, labels, weights, first=True)

    @inputs.all_or_nothing
    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Add the counts of further texts; give ``classes`` in the first call where its texts may lack some."""
        first = not hasattr(self, "class_counts_")
        known = None if classes is None else np.unique(np.asarray(classes))
        counts, labels, weights = self._read(X, y, known if first else self.classes_, sample_weight, first=first)
        return self._add(counts, labels, weights, first=first)

    def _read(
        self, X: Any, y: Any, classes: NDArray[Any] | None, sample_weight: Any, *, first: bool
    ) -> tuple[csr_matrix, NDArray[np.int64], Floats | None]:
        Laplace(self.alpha).check()
        counts = self._matrix(X, reset=first)
        self.classes_, labels = inputs.read_labels(y, classes)
        if len(labels) != counts.shape[0]:
            msg = f"X has {counts.shape[0]} rows and y has {len(labels)} labels; they must be as many."
            raise InputError(msg)
        weights = inputs.read_weights(sample_weight, len(labels))
        inputs.read_class_prior(self.class_prior, self.classes_)
        self._words()
        return counts, labels, weights

    def _add(self, counts: csr_matrix, labels: NDArray[np.int64], weights: Floats | None, *, first: bool) -> Self:
        self.__dict__.pop("set_scores_", None)
        counted = np.ones(len(labels)) if weights is None else weights
        sort = csr_matrix((counted, (labels, np.arange(len(labels)))), shape=(len(self.classes_), len(labels)))
        words, texts = np.asarray((sort @ counts).todense(), dtype=np.float64), np.asarray(sort.sum(axis=1)).ravel()
        self.word_counts_ = words if first else self.word_counts_ + words
        self.class_counts_ = texts if first else self.class_counts_ + texts
        return self

    def _matrix(self, X: Any, *, reset: bool) -> csr_matrix:
        _refuse_flags(X)
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=reset)
        check_non_negative(X, "TextNaiveBayes (input X)")
        matrix = csr_matrix(X)
        matrix.eliminate_zeros()
        return matrix

    def _words(self) -> NDArray[Any]:
        """Name the columns."""
        given = self.words if self.words is not None else getattr(self, "feature_names_in_", None)
        if given is None:
            return np.array([f"x{place}" for place in range(self.n_features_in_)], object)
        names = np.array([str(word) for word in given], object)
        if len(names) != self.n_features_in_:
            msg = f"words must name each of the {self.n_features_in_} columns of X; got {len(names)} words."
            raise OptionError(msg)
        return names

    # ------------------------------------------------------------------ prediction

    def _log_prior(self) -> Floats:
        prior = inputs.read_class_prior(self.class_prior, self.classes_)
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self.class_counts_ / self.class_counts_.sum() if prior is None else prior))

    @property
    def word_log_proba_(self) -> Floats:
        """Logarithms of P(word | class), (n_classes, n_words); a class without any word gets equal ones."""
        check_is_fitted(self)
        smooth = self.word_counts_ + self.alpha
        sums = smooth.sum(axis=1, keepdims=True)
        with np.errstate(divide="ignore"):
            logs = np.log(smooth) - np.log(np.where(sums > 0, sums, 1.0))
        return np.asarray(np.where(sums > 0, logs, -np.log(smooth.shape[1])))

    def predict_joint_log_proba(self, X: Any) -> Floats:
        """Return log P(class) plus the log-probabilities of the words, for every text and class."""
        check_is_fitted(self)
        return np.asarray(self._matrix(X, reset=False) @ self.word_log_proba_.T) + self._log_prior()

    def predict_log_proba(self, X: Any) -> Floats:
        """Return the logarithms of the class probabilities."""
        joint = self.predict_joint_log_proba(X)
        impossible = np.isneginf(joint).all(axis=1)
        if impossible.any():
            msg = (
                f"{int(impossible.sum())} texts are impossible under every class (probability zero); they get the "
                "class prior. Use alpha > 0 to leave nothing impossible."
            )
            warn(msg, ImpossibleEvidenceWarning)
            joint[impossible] = self._log_prior()
        return np.asarray(log_softmax(joint, axis=1))

    def predict_proba(self, X: Any) -> Floats:
        """Return the class probabilities."""
        return np.asarray(np.exp(self.predict_log_proba(X)))

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the most probable class of every text; ties go to the first."""
        chosen = self.predict_log_proba(X).argmax(axis=1)
        return np.asarray(self.classes_[chosen])

    # ------------------------------------------------------------------ looking inside

    def top_words(self, n: int = 10, *, distinctive: bool = True) -> dict[Any, list[str]]:
        """Return every class's n most telling words, the best first; ties go to the earlier column.

        Words are ranked by how much more probable they are in the class than in the others together, each weighed by
        its own probability; with ``distinctive=False`` by their probability alone.
        """
        logs, words = self.word_log_proba_, self._words()
        found = {}
        for c, label in enumerate(self.classes_.tolist()):
            rank = np.exp(logs[c])
            if distinctive and len(logs) > 1:
                others = np.delete(self.word_counts_, c, axis=0).sum(axis=0) + max(self.alpha, 1e-10)
                with np.errstate(invalid="ignore"):
                    rank = np.nan_to_num(rank * (logs[c] - np.log(others / others.sum())))
            found[label] = words[np.argsort(-rank, kind="stable")[:n]].tolist()
        return found

    def explain(self, X: Any) -> list[TextExplanation]:
        """Say for every text how its words speak for the classes; words come in the order of the columns."""
        check_is_fitted(self)
        matrix = self._matrix(X, reset=False)
        found = []
        for row in range(matrix.shape[0]):
            part = matrix[row]
            order = np.argsort(part.indices)
            columns, times = part.indices[order], part.data[order]
            if (times == np.rint(times)).all():
                columns, times = np.repeat(columns, times.astype(np.int64)), np.ones(int(times.sum()))
            found.append(self._explained(columns, times))
        return found

    def explain_words(self, words: Iterable[str]) -> TextExplanation:
        """Return how words, in this order, speak for the classes; a word that was not in training raises an error."""
        check_is_fitted(self)
        names = self._words().tolist()
        place = {word: column for column, word in enumerate(names)}
        columns = []
        for word in words:
            if word not in place:
                msg = f"The word {word!r} was not in training.{nearest(word, names)} Leave it out."
                raise InputError(msg)
            columns.append(place[word])
        return self._explained(columns, np.ones(len(columns)))

    def _explained(self, columns: Sequence[int] | NDArray[Any], times: Floats) -> TextExplanation:
        chosen = np.asarray(columns, dtype=np.int64)
        logs = self.word_log_proba_[:, chosen].T
        totals = np.cumsum(np.vstack([self._log_prior(), logs * times[:, None]]), axis=0)
        words = tuple(self._words()[chosen].tolist())
        return TextExplanation(tuple(self.classes_.tolist()), words, np.exp(logs), totals)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a JSON file; ``tanbark.load`` reads it."""
        from tanbark.estimators.model_files.others import save_text

        save_text(self, path)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "class_counts_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        tags.classifier_tags.poor_score = True  # counts that are no words, as in scikit-learn's checks, say little
        return tags


def _refuse_flags(X: Any) -> None:
    """Raise an error for boolean columns beside counts: a flag that is not set says something, and no word does so."""
    if is_frame(X):
        dtypes = read_dtypes(X)
        flags: list[Any] = [name for name, dtype in dtypes.items() if dtype == "Boolean"]
        n = len(dtypes)
    elif isinstance(X, np.ndarray) and X.dtype == object and X.ndim == 2:
        n = X.shape[1]
        flags = [k for k in range(n) if len(X) and all(isinstance(value, (bool, np.bool_)) for value in X[:, k])]
    else:
        return
    if flags and len(flags) < n:
        msg = (
            f"The columns {flags[:10]} are flags (booleans), and TextNaiveBayes counts words: a flag that is not set "
            "would say nothing. Give the flags to a NaiveBayes of their own and add log P(class | words) + "
            "log P(class | flags) - log P(class); or count them as words, by astype(int), if that is meant."
        )
        raise InputError(msg)
