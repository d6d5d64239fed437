"""Scores of fitted graphs, against the learners that maximise them and against the families one by one."""

import numpy as np
import pytest

import tanbark as tb
from strategies import make_table
from tanbark.estimators import graph_score
from tanbark.scores import bdeu, log_likelihood, penalty

TABLE = make_table(np.random.default_rng(3), (2, 3, 2, 4, 2), 150)
X, Y = TABLE.codes[:-1].T, TABLE.codes[-1]


def test_scores_are_those_that_learners_report():
    for criterion in ("aic", "bic", "bdeu", "k2"):
        clf = tb.GBN(criterion=criterion).fit(X, Y)
        assert graph_score(clf, criterion) == pytest.approx(clf.structure_score_)
    exact = tb.ExactANB(ess=3.0).fit(X, Y)
    assert graph_score(exact, "bdeu", ess=3.0) == pytest.approx(exact.structure_score_)


def test_scores_are_sums_over_families():
    clf = tb.TAN().fit(X, Y)
    tables = []
    for node, counts in enumerate(clf.family_counts_):
        axis = clf.network_.axes(node).index(node)
        tables.append(np.moveaxis(counts, axis, -1).reshape(-1, counts.shape[axis]))
    likelihood = sum(map(log_likelihood, tables))
    assert graph_score(clf, "loglik") == pytest.approx(likelihood)
    assert graph_score(clf, "mdl") == pytest.approx(-(likelihood - penalty("bic", 150) * clf.n_parameters_))
    assert graph_score(clf, "bdeu") == pytest.approx(sum(map(bdeu, tables)))
    with pytest.raises(tb.errors.OptionError, match="criterion"):
        graph_score(clf, "bid")
    with pytest.raises(tb.errors.OptionError, match="ess"):
        graph_score(clf, "bdeu", ess=0)
    with pytest.raises(tb.errors.OptionError, match="one network; got AODE"):
        graph_score(tb.AODE().fit(X, Y))
