"""The questions that every classifier of tables answers."""

from __future__ import annotations

from copy import copy
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tanbark.arrays import Codes, Floats
from tanbark.checks import check_count
from tanbark.errors import OptionError, nearest
from tanbark.estimators.questions.asking import NextQuestions, ask_next, importances
from tanbark.estimators.questions.costs import Decisions, decide, read_costs
from tanbark.estimators.questions.counterfactual import Counterfactual, counterfactual
from tanbark.estimators.questions.model import Asked
from tanbark.estimators.questions.rows import read_row
from tanbark.estimators.questions.scorecard import Scorecard, make_scorecard
from tanbark.estimators.questions.sensitivity import Sensitivity, sensitivity
from tanbark.estimators.questions.surprise import Surprise, surprise
from tanbark.estimators.questions.worth import advise, read_prices
from tanbark.estimators.scikit import check_is_fitted
from tanbark.graph import Network
from tanbark.table import Schema

MODELS = ("model_", "network_", "averages_", "estimators_")  # where classifiers keep what they learn; each fit anew


class Questions:
    """What lets a classifier answer questions on single rows, decide, and rank its features."""

    classes_: NDArray[Any]
    schema_: Schema
    n_jobs: int | None

    def _asked(self) -> Asked:
        """Return what questions need to know of the model."""
        raise AssertionError("every classifier can be asked")

    def _drawn_from(self, codes: Codes) -> tuple[Network, Codes]:
        """Return the network that rows are compared with draws of, and the rows in its states."""
        raise AssertionError("every classifier has one, or does not compare")

    def _proba(self, codes: Codes) -> Floats:
        """Return the class probabilities of rows of codes."""
        raise AssertionError("every classifier predicts")

    def _codes(self, X: Any) -> NDArray[np.unsignedinteger]:
        raise AssertionError("every classifier codes rows")

    def _label_code(self, label: Any) -> int:
        raise AssertionError("every classifier knows its classes")

    def _one(self, row: Any) -> tuple[Asked, Codes]:
        check_is_fitted(self)
        asked = self._asked()
        return asked, read_row(self, asked, row)

    def ask_next(self, row: Any = None, *, costs: Any = None, question_costs: Any = 0.0) -> NextQuestions:
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
            Costs of decisions, as of :meth:`decide`. Every feature then also has the value of asking for it,
            :math:`\sum_s P(s | e) [k_{d^*}(s) - \min_d k_d(s)]`: once s is seen, the expected cost of the decision
            :math:`d^*` that would be made now, less that of the best decision then. It is what answers that change the
            decision are expected to save; in a network as it is, Howard's value of information. Of two classes,
            ``region`` has the probabilities at which asking is worth more than deciding.
        question_costs : float or dict of float, default 0
            What it costs to ask for a feature, in the unit of ``costs``: one number for all, or a dict by name, where
            names that are left out cost nothing. It is taken off the value for the order, ``net``, ``worth_asking``
            and ``region``.

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
        prices = read_prices(question_costs, asked.schema.names[: asked.n_features])
        return ask_next(asked, codes, None if costs is None else read_costs(costs, self.classes_), prices)

    @property
    def feature_importances_(self) -> Floats:
        """The expected information of every feature about the class where nothing is observed, in bits.

        In the order of ``feature_names_in_``; 0 for columns that the model does not use. See :meth:`ask_next`. They are
        computed when they are first asked for: pools of networks with very many columns take some seconds.
        """
        check_is_fitted(self)
        model = next(getattr(self, name) for name in MODELS if hasattr(self, name))
        kept = self.__dict__.get("_importances")
        if kept is None or kept[0] is not model:
            kept = self.__dict__["_importances"] = (model, importances(self._asked()))
        return np.array(kept[1])

    def decide(self, X: Any, *, costs: Any, question_costs: Any = 0.0) -> Decisions:
        """Make the decision of least expected cost for every row, and say where another question is worth more.

        Parameters
        ----------
        X : rows
        costs : array, dict of dicts, or frame with an index
            What each decision costs under each true class: an array has a row for every true class and a column for
            every decided class, in the order of ``classes_``; a dict is ``{class: {decision: cost}}``, where a right
            decision that is left out costs nothing. Decisions of a dict or frame may include others than classes, such
            as "refer". Costs may be negative.
        question_costs : as of :meth:`ask_next`

        Returns
        -------
        Decisions
            ``decisions``, ``expected_costs``, and for two classes ``threshold``: the probability of the second class
            from which deciding for it costs less. ``asking`` has for every row the best feature to ask for, its value,
            the expected cost after asking, and whether asking is worth it: ``features, values, costs_after,
            worth_asking``. It is what :meth:`ask_next` finds, and is measured when ``asking`` is first read.

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
        >>> asking = clf.decide([[None]], costs={"ill": {"well": 10}, "well": {"ill": 1}}, question_costs=0.1).asking
        >>> asking.features, asking.values.round(2).tolist(), asking.worth_asking.tolist()
        (['x0'], [0.47], [True])
        """
        check_is_fitted(self)
        read = read_costs(costs, self.classes_)
        prices = read_prices(question_costs, self.schema_.names[: self.schema_.target])
        codes = self._codes(X)
        proba = self._proba(codes)
        asked = copy(self)._asked()  # of the model as it is: a later fit gives self another one
        return decide(proba, read, partial(advise, asked, codes, read.matrix, prices))

    def sensitivity(self, row: Any = None, label: Any = None) -> Sensitivity:
        """Return how low and how high each feature alone could bring the posterior of a class.

        Every feature, whether it has a value or not, is put into each of its states in turn while everything else is
        held. States that are impossible with the rest are left out. Numeric columns of pooled networks have the states
        of :meth:`ask_next`. ``tanbark.plot.plot_sensitivity`` draws the result as a tornado diagram.

        Parameters
        ----------
        row : as of :meth:`ask_next`
        label : optional
            The class; by default the predicted one.

        Examples
        --------
        >>> import tanbark as tb
        >>> X = [["a", "u"], ["a", "v"], ["b", "u"], ["b", "v"]] * 5
        >>> clf = tb.NaiveBayes().fit(X, ["no", "no", "yes", "yes"] * 5)
        >>> print(clf.sensitivity({"x0": "a"}))
        P(class = no) = 0.9950
        feature  is  lowest  if  highest  if
        ────────────────────────────────────
        x0       a   0.0050   b   0.9950   a
        x1       -   0.9950   u   0.9950   u
        """
        asked, codes = self._one(row)
        return sensitivity(asked, codes, None if label is None else self._label_code(label))

    def counterfactual(
        self, row: Any, label: Any = None, *, max_changes: int = 3, fixed: Any = (), max_evaluations: int = 200_000
    ) -> Counterfactual:
        """Find the fewest observed values whose change to other states changes the predicted class.

        All sets of 1, 2, … features are tried in all their other states, so the result is exact: no smaller set exists.
        Of sets of the same size, the one that makes the new class most probable is taken; ties go to the earlier
        columns and states. Missing values stay missing, and rows that the model rules out do not count. Numeric columns
        of pooled networks have the states of :meth:`ask_next`.

        Parameters
        ----------
        row : as of :meth:`ask_next`
        label : optional
            The class to reach; by default any other than the predicted one.
        max_changes : int, default 3
            The most features that are changed.
        fixed : names or positions of features that stay as they are
        max_evaluations : int, default 200,000
            The most rows that are predicted. A size that would need more is not searched, and the result says so.

        Examples
        --------
        >>> import tanbark as tb
        >>> X = [["a", "u"], ["a", "v"], ["b", "u"], ["b", "v"]] * 5
        >>> clf = tb.NaiveBayes().fit(X, ["no", "no", "yes", "yes"] * 5)
        >>> print(clf.counterfactual({"x0": "a", "x1": "u"}))
        predicted class = no; class = yes with 1 feature changed: P = 0.9950
        change  from  to
        ────────────────
        x0      a     b
        """
        check_count("max_changes", max_changes, least=1)
        check_count("max_evaluations", max_evaluations, least=1)
        asked, codes = self._one(row)
        held = _columns(fixed, asked.schema.names[: asked.n_features])
        wanted = None if label is None else self._label_code(label)
        return counterfactual(
            asked, codes, wanted, max_changes=int(max_changes), fixed=held, max_evaluations=int(max_evaluations)
        )

    def surprise(self, X: Any, *, n_draws: int = 1000, random_state: Any = 0) -> Surprise:
        """Return how improbable the observed values of rows are under the model, and which value is the oddest.

        Every row has the exact logarithm of its probability, missing values summed out; the fraction of rows drawn from
        the network that are at most as probable in the same columns, which is small for odd rows; and the probability
        of each of its values given the others. Pooled networks are compared by the network to read: ``network_`` of
        :class:`Classifier`, or the first network with one feature parent at most.

        Parameters
        ----------
        X : rows
        n_draws : int, default 1000
        random_state : int, Generator or None, default 0
            The fraction of a row does not depend on the other rows.

        Examples
        --------
        >>> import tanbark as tb
        >>> clf = tb.TAN().fit([["a", "a"], ["b", "b"]] * 20, [0, 1] * 20)
        >>> found = clf.surprise([["a", "a"], ["a", "b"], ["a", None]])
        >>> found.log_probabilities.round(2).tolist(), found.fractions.round(1).tolist()
        ([-0.7, -6.51, -0.69], [1.0, 0.0, 1.0])
        """
        check_is_fitted(self)
        network, codes = self._drawn_from(self._codes(X))
        return surprise(network, codes, n_draws=n_draws, random_state=random_state, n_jobs=self.n_jobs)

    def scorecard(self, label: Any = None, *, points: float = 20, base: float = 0, odds: float = 1) -> Scorecard:
        """Write naive Bayes or a tree as a scorecard: points for every state that add up to the log-odds.

        The class has two labels and no parents, and a feature has at most one feature parent, as in naive Bayes, TAN or
        SPODE. In a tree the points of a state depend on the parent's state. The sum of the base points and of the
        points of a row without missing values is exactly ``base + points * log2(odds of label / odds)``. A missing
        value adds nothing, which is exact unless another feature depends on it.

        Parameters
        ----------
        label : optional
            The class that points speak for; by default the second of ``classes_``.
        points : float, default 20
            Points that double the odds.
        base, odds : float, default 0 and 1
            ``base`` points stand for odds of ``odds`` to 1.

        Examples
        --------
        >>> import tanbark as tb
        >>> clf = tb.NaiveBayes().fit([["a"], ["a"], ["b"], ["b"]] * 9, ["no", "yes", "yes", "yes"] * 9)
        >>> card = clf.scorecard()
        >>> print(card)
        points for class = yes: 20 double the odds, 0 are even odds
        feature        state  given  points
        ───────────────────────────────────
        (base points)                 +30.7
        x0             a              -29.7
        x0             b              +87.4
        >>> card.score([["a"]]).round(1).tolist(), card.probability(1.0).round(2).item()
        ([0.9], 0.51)
        """
        check_is_fitted(self)
        chosen = (1 if len(self.classes_) > 1 else 0) if label is None else self._label_code(label)
        return make_scorecard(self, chosen, points=points, base=base, odds=odds)


def _columns(chosen: Any, names: tuple[str, ...]) -> list[int]:
    """Find features by name or position."""
    found = []
    for item in [chosen] if isinstance(chosen, (str, int)) else chosen:
        if isinstance(item, (int, np.integer)) and not isinstance(item, bool) and 0 <= item < len(names):
            found.append(int(item))
        elif item in names:
            found.append(names.index(item))
        else:
            msg = f"fixed must be names or positions of features; {item!r} is none.{nearest(item, names)}"
            raise OptionError(msg)
    return found
