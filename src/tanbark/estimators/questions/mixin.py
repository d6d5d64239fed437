"""The questions that every classifier of tables answers."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from tanbark.arrays import Codes, Floats
from tanbark.estimators.questions.asking import NextQuestions, ask_next, importances
from tanbark.estimators.questions.costs import Decisions, decide, read_costs
from tanbark.estimators.questions.model import Asked
from tanbark.estimators.questions.rows import read_row


class Questions:
    """What lets a classifier answer questions on single rows, decide, and rank its features."""

    classes_: NDArray[Any]

    def _asked(self) -> Asked:
        """Return what questions need to know of the model."""
        raise AssertionError("every classifier can be asked")

    def predict_proba(self, X: Any) -> Floats:
        """Return the class probabilities."""
        raise AssertionError("every classifier predicts")

    def _one(self, row: Any) -> tuple[Asked, Codes]:
        check_is_fitted(self)
        asked = self._asked()
        return asked, read_row(self, asked, row)

    def ask_next(self, row: Any = None, *, costs: Any = None) -> NextQuestions:
        r"""Rank the features that a row has no value of by what they are expected to tell about the class.

        The information of a feature F is the expected fall of the entropy of the class, in bits,

        .. math:: H(C | e) - \sum_s P(s | e) H(C | e, s), \qquad P(s | e) = \sum_c p(c | e) P(s | e, c)

        with the posteriors p that the classifier predicts, temperature and correction included, and P(s | e, c) from
        its network, exactly. Of several networks it is the weighted average over those that have the column. For a
        network as it is, this is the mutual information I(C; F | e). It is not below 0.

        Numeric columns of pooled networks have the intervals of the first network as states; the posterior after an
        interval is that of the cell in its middle.

        Parameters
        ----------
        row : dict, series, or a frame or array of one row, optional
            What is known. In a dict, names that are left out are not observed; by default nothing is.
        costs : optional
            Costs of decisions, as of :meth:`decide`. Every feature then also has its value of information: the least
            expected cost now less the expected one once the feature is seen.

        Returns
        -------
        NextQuestions

        References
        ----------
        Lindley (1956), On a measure of the information provided by an experiment; Howard (1966), Information value
        theory.

        Examples
        --------
        >>> import tanbark as tb
        >>> X = [["a", "u"], ["a", "v"], ["b", "u"], ["b", "v"]] * 5
        >>> clf = tb.NaiveBayes().fit(X, ["no", "no", "yes", "yes"] * 5)
        >>> [(question.feature, round(question.bits, 2)) for question in clf.ask_next()]
        [('x0', 0.95), ('x1', 0.0)]
        >>> print(clf.ask_next({"x0": "a"}))
        P(class = no) = 0.9950, entropy 0.0450 bits
        ask for    bits
        ───────────────
        x1       0.0000
        """
        asked, codes = self._one(row)
        return ask_next(asked, codes, None if costs is None else read_costs(costs, self.classes_))

    @property
    def feature_importances_(self) -> Floats:
        """The expected information of every feature about the class where nothing is observed, in bits.

        In the order of ``feature_names_in_``; 0 for columns that the model does not use. See :meth:`ask_next`.
        """
        check_is_fitted(self)
        return importances(self._asked())

    def decide(self, X: Any, *, costs: Any) -> Decisions:
        """Make the decision of least expected cost for every row.

        Parameters
        ----------
        X : rows
        costs : array, dict of dicts, or frame with an index
            What each decision costs under each true class: an array has a row for every true class and a column for
            every decided class, in the order of ``classes_``; a dict is ``{class: {decision: cost}}``, where a right
            decision that is left out costs nothing. Decisions of a dict or frame may include others than classes, such
            as "refer". Costs may be negative.

        Returns
        -------
        Decisions
            ``decisions``, ``expected_costs``, and for two classes ``threshold``: the probability of the second class
            from which deciding for it costs less.

        References
        ----------
        Elkan (2001), The foundations of cost-sensitive learning.

        Examples
        --------
        >>> import tanbark as tb
        >>> clf = tb.NaiveBayes().fit([["a"], ["a"], ["b"], ["b"]] * 20, ["ill", "well", "well", "well"] * 20)
        >>> found = clf.decide([["a"], ["b"]], costs={"ill": {"well": 10}, "well": {"ill": 1}})
        >>> found.decisions.tolist(), round(found.threshold, 3)
        (['ill', 'well'], 0.909)
        """
        read = read_costs(costs, self.classes_) if hasattr(self, "classes_") else None
        proba = np.asarray(self.predict_proba(X))
        return decide(proba, read or read_costs(costs, self.classes_))
