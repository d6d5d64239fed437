"""Classifiers that average the K best graphs: Bayesian averages over structures."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field
from typing import Any, Self

from tanbark.arrays import Floats
from tanbark.checks import check_ess
from tanbark.counts import CountEngine, MemoryCounts
from tanbark.estimators.classifier import Absent, TableClassifier
from tanbark.estimators.mixture import PosteriorMixture
from tanbark.estimators.models.fixed import FixedStructure
from tanbark.estimators.options import RankedOptions, estimator
from tanbark.graph import Dag
from tanbark.params import BDeu, Smoothing, as_smoothing, family_counts
from tanbark.structure.ranked import k_best
from tanbark.structure.ranked.k_best import RankedGraphs


class RankedClassifier(RankedOptions, PosteriorMixture, TableClassifier):
    """What averages of the K best graphs share: a subclass says of which kind."""

    estimators_: list[FixedStructure]
    report_: RankedGraphs

    _rank: Callable[..., RankedGraphs]

    leave_one_out_proba = leave_one_out_measures = Absent(
        "the weights of the graphs rest on all rows; use :func:`cross_validate_network`."
    )
    predict_proba_interval = Absent("its networks share their rows; ask one of ``estimators_``.")
    arc_frequencies = PosteriorMixture.arc_frequencies

    def _stored_order(self) -> int:
        return 0

    def _check_options(self) -> None:
        super()._check_options()
        self._wanted()
        self._smoothing()

    def _wanted(self) -> k_best.Wanted:
        """Check and return what is asked of the search."""
        return k_best.Wanted(
            self.k, self.ess, self.max_parents, self.distinct, self.method, self.max_memory, self.verbose,
            self.max_cells,
        )  # fmt: skip

    def _smoothing(self) -> Smoothing:
        """Return the smoothing that was chosen, or the prior that the graphs are scored with."""
        check_ess(self.ess)
        return BDeu(float(self.ess)) if self.parameters is None else as_smoothing(self.parameters, "bdeu")

    def _learn_structure(self, counts: CountEngine, rows: MemoryCounts | None) -> None:
        wanted = self._wanted()
        self.report_ = type(self)._rank(counts, **vars(wanted))
        self.estimators_ = [
            self._member(dag, family_counts(dag, counts, max_cells=self.max_cells)) for dag in self.report_.dags
        ]

    def _member(self, dag: Dag, counts: Any) -> FixedStructure:
        """Make the classifier of one graph; its CPTs are estimated later."""
        shared = {name: getattr(self, name) for name in ("class_prior", "discretize", "categorical_features", "n_jobs")}
        member = FixedStructure(
            dag.arcs(), parameters=self._smoothing(), handle_unknown=self.handle_unknown, suspicious=self.suspicious,
            max_cells=self.max_cells, **shared,
        )  # fmt: skip
        member.classes_, member.schema_, member.encoder_ = self.classes_, self.schema_, self.encoder_
        member.n_features_in_ = self.n_features_in_
        for name in ("_seen", "feature_names_in_"):
            if hasattr(self, name):
                setattr(member, name, getattr(self, name))
        member.dag_, member.family_counts_ = dag, counts
        return member

    def _estimate(self, rows: MemoryCounts | None = None) -> Self:
        """Estimate the CPTs of all networks from their counts."""
        self.smoothing_ = self._smoothing()
        self.estimators_ = [self._member(member.dag_, member.family_counts_)._estimate() for member in self.estimators_]
        self.n_parameters_ = sum(member.n_parameters_ for member in self.estimators_)
        return self

    def _weights(self) -> Floats:
        return k_best.posterior_weights(self.report_)

    @property
    def graph_weights_(self) -> Floats:
        """The weights of the networks, by falling score of their graphs; they sum to one."""
        return self._weights()


@estimator
class KBestANB(RankedClassifier):
    """Average the K augmented naive Bayes networks of highest BDeu score, by their posterior probabilities.

    The graphs are the K best of all augmented naive Bayes graphs, found by dynamic programming over the subsets of the
    features, up to 18 of them (K = 10). Beyond that, a local search from the end of hill climbing lists them, which is
    not exact (``report_.method``). The class probabilities of the networks are averaged with the weights
    P(graph | rows), proportional to exp(score).

    Parameters
    ----------
    parameters : smoothing, number or str, optional
        The smoothing of the CPTs, in any of the forms that :class:`TAN` takes; None is ``BDeu(ess)``, the prior that
        the graphs are scored with, which makes equivalent graphs predict alike.
    method : {"auto", "dp", "local"}, default "auto"
        "dp" is dynamic programming, "local" lists the best graphs that a best-first search from the end of hill
        climbing meets, "auto" the first where k n 2^n is at most 2^26 for n columns and it fits in ``max_memory``.
    {options}

    Attributes
    ----------
    classes_ : array of the labels
    schema_ : Schema
        Columns with their categories or cut points.
    {ranked}

    Notes
    -----
    Every DAG has the same prior probability. With ``distinct="classes"`` no two graphs are equivalent, and a graph
    weighs as all DAGs of its kind that are equivalent to it: n exp(score). With "dags" the K graphs are often members
    of one or two classes. With K at least the number of graphs both are the exact average. ``arc_frequencies`` are the
    posterior probabilities of arcs among the K graphs; with "classes" the direction is that of one graph of each class.
    Posteriors are averaged, not joint probabilities: P(graph | rows) does not change with the row to predict. For
    subbagging see :class:`ModelAveraging`.

    References
    ----------
    Tian, He and Ram (2010), Bayesian model averaging using the k-best Bayesian network structures.
    Chen and Tian (2014), Finding the k-best equivalence classes of Bayesian network structures for model averaging.
    Sugahara, Aomi and Ueno (2022), Bayesian network model averaging classifiers by subbagging.

    Examples
    --------
    >>> import tanbark as tb
    >>> X = [[0, 0, 1], [0, 0, 0], [1, 1, 1], [1, 1, 0]] * 3
    >>> clf = tb.KBestANB(k=3).fit(X, [0, 1, 0, 1] * 3)
    >>> clf.graph_weights_.round(3).tolist(), clf.report_.sizes
    ([0.287, 0.287, 0.425], (1, 1, 2))
    """

    _rank = staticmethod(k_best.learn_augmented)

    k: int = field(default=10, kw_only=False)


@estimator
class KBestGBN(RankedClassifier):
    """Average the K networks over the features and the class of highest BDeu score, by their posterior probabilities.

    As :class:`KBestANB`, with the class an ordinary column.

    Parameters
    ----------
    parameters : smoothing, number or str, optional
        The smoothing of the CPTs, in any of the forms that :class:`TAN` takes; None is ``BDeu(ess)``.
    method : {"auto", "dp", "local"}, default "auto"
        "dp" is dynamic programming, "local" lists the best graphs that a best-first search from the end of hill
        climbing meets, "auto" the first where k n 2^n is at most 2^26 for n columns and it fits in ``max_memory``.
    {options}

    Attributes
    ----------
    classes_ : array of the labels
    schema_ : Schema
        Columns with their categories or cut points.
    {ranked}

    References
    ----------
    Tian, He and Ram (2010), Bayesian model averaging using the k-best Bayesian network structures.
    Chen and Tian (2014), Finding the k-best equivalence classes of Bayesian network structures for model averaging.

    Examples
    --------
    >>> import tanbark as tb
    >>> X = [[0, 0, 1], [0, 0, 0], [1, 1, 1], [1, 1, 0]] * 3
    >>> tb.KBestGBN(k=1).fit(X, [0, 1, 0, 1] * 3).arc_frequencies()
    {('class', 'x2'): 1.0, ('x1', 'x0'): 1.0}
    """

    _rank = staticmethod(k_best.learn_general)

    k: int = field(default=10, kw_only=False)
