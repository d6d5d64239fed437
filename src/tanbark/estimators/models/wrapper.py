"""Classifiers that search for the structure that predicts best, by cross-validation."""

from __future__ import annotations

from dataclasses import field
from typing import Any

from tanbark.errors import find
from tanbark.estimators.network import NetworkClassifier
from tanbark.estimators.options import FoldOptions, estimator
from tanbark.structure import LEARNERS, Learner
from tanbark.structure.blanket.scores import SCORERS


@estimator
class HillClimbTAN(FoldOptions, NetworkClassifier):
    """Tree-augmented naive Bayes grown arc by arc, each the one that helps prediction most (TAN-HC).

    Parameters
    ----------
    direction : {"both", "random"}, default "both"
        Between two features without feature parents an arc may point either way: equivalent graphs, which predict
        differently where CPTs are smoothed. Both are tried, or one that ``random_state`` draws for every pair, which is
        quicker.
    {options}

    Attributes
    ----------
    {network}
    {searched}

    References
    ----------
    Keogh and Pazzani (1999), Learning augmented Bayesian classifiers.
    """

    _learner_name = "tan-hc"

    direction: str = "both"


@estimator
class SuperParentTAN(FoldOptions, NetworkClassifier):
    """Tree-augmented naive Bayes grown from super-parents (TAN-HCSP).

    Each step finds the feature that helps most as a parent of all features it may be a parent of, and then adds the
    one arc from it that helps most.

    Parameters
    ----------
    {options}

    Attributes
    ----------
    {network}
    {searched}

    References
    ----------
    Keogh and Pazzani (1999), Learning augmented Bayesian classifiers.
    """

    _learner_name = "tan-hcsp"


@estimator
class WrapperKDB(FoldOptions, NetworkClassifier):
    """Features with up to k feature parents, grown arc by arc, each the one that helps prediction most.

    What R's bnclassify calls ``kdb``; :class:`KDB` is Sahami's algorithm.

    Parameters
    ----------
    {options}

    Attributes
    ----------
    {network}
    {searched}

    References
    ----------
    Mihaljević, Bielza and Larrañaga (2018), bnclassify: Learning Bayesian network classifiers.
    """

    _learner_name = "kdb-hc"

    max_parents: int = field(default=2, kw_only=False)


@estimator
class FSSJ(FoldOptions, NetworkClassifier):
    """Forward sequential selection and joining: features enter one at a time, alone or joined to others.

    Joined features are as one feature with the product of their states. Features that never enter do not count in
    prediction.

    Parameters
    ----------
    {options}

    Attributes
    ----------
    {network}
    {searched}

    References
    ----------
    Pazzani (1996), Constructive induction of Cartesian product attributes.
    """

    _learner_name = "fssj"


@estimator
class BSEJ(FoldOptions, NetworkClassifier):
    """Backward sequential elimination and joining: from naive Bayes, features are left out or joined.

    Joined features are as one feature with the product of their states.

    Parameters
    ----------
    {options}

    Attributes
    ----------
    {network}
    {searched}

    References
    ----------
    Pazzani (1996), Constructive induction of Cartesian product attributes.
    """

    _learner_name = "bsej"


@estimator
class SelectiveNaiveBayes(FoldOptions, NetworkClassifier):
    """Naive Bayes on the features that help: they enter one at a time, the most helpful first.

    What helps is measured by cross-validation, or by how much shorter the class column can be encoded (minimum message
    length), which needs no folds and stops by itself.

    Parameters
    ----------
    criterion : {"cv", "mml"} or the name of a message length, default "cv"
        What is maximised: the cross-validated score ("cv"), or minus a message length: "mml" is "nb_logit"; others are
        "nb_joint", "cpt", "logit", "nb_adaptive" and "mbp", see :class:`MarkovBlanketMML`. With a message length, the
        options of cross-validation do not count, and ``history_`` is the trace of the search.
    {options}

    Attributes
    ----------
    {network}
    {searched}

    References
    ----------
    Langley and Sage (1994), Induction of selective Bayesian classifiers.
    Li, Korb and Allison (2021), Markov blanket discovery using minimum message length.

    Examples
    --------
    >>> import tanbark as tb
    >>> X = [[0, 1], [0, 0], [1, 1], [1, 0]] * 5
    >>> tb.SelectiveNaiveBayes(criterion="mml").fit(X, [0, 0, 1, 1] * 5).dag_.arcs()
    [('class', 'x0')]
    """

    _learner_name = "selective"

    criterion: str = "cv"

    def _learner(self) -> tuple[Learner, dict[str, Any]]:
        known = {"cv": None, "mml": "nb_logit", **{name: name for name in SCORERS}}
        length = find("criterion", self.criterion, known)
        return super()._learner() if length is None else (LEARNERS["selective-mml"], {"criterion": length})
