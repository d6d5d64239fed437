"""Scorecards: points add up to the log-odds of the classifier."""

import numpy as np
import pytest

import tanbark as tb
from strategies import make_table


@pytest.fixture(scope="module")
def rows():
    table = make_table(np.random.default_rng(6), (3, 2, 4, 2, 2), 200)
    return table.codes[:-1].T.astype(float), table.codes[-1].astype(int)


MODELS = [
    tb.NaiveBayes(), tb.TAN(), tb.TAN(temperature=0.4), tb.NaiveBayes(parameters=tb.WANBIA()), tb.SPODE(),
    tb.ChowLiuTree(), tb.NaiveBayes(class_prior=[0.2, 0.8]), tb.TAN(parameters=tb.Discriminative(normalize=True)),
    tb.FixedStructure([("class", "x0"), ("x0", "x1"), ("class", "x2")]),
]  # fmt: skip


@pytest.mark.parametrize("clf", MODELS, ids=repr)
def test_points_add_up_to_the_posterior(clf, rows):
    X, y = rows
    clf.fit(X, y)
    if clf.dag_.parents[-1]:
        with pytest.raises(tb.errors.InputError, match="class has no parents"):
            clf.scorecard()
        return
    logs = clf.predict_log_proba(X)
    for label in (0, 1):
        card = clf.scorecard(label, points=30, base=600, odds=50)
        scores = card.score(X)
        odds = logs[:, label] - logs[:, 1 - label]
        assert card.log_odds(scores) == pytest.approx(odds, abs=1e-10)
        assert scores == pytest.approx(600 + 30 * np.log2(np.exp(odds) / 50))
        assert card.probability(scores) == pytest.approx(np.exp(logs[:, label]))
    assert clf.scorecard().label == 1


def test_missing_values_add_nothing_unless_others_depend_on_them(rows):
    X, y = rows
    gaps = np.where(np.random.default_rng(0).random(X.shape) < 0.4, np.nan, X)
    clf = tb.NaiveBayes().fit(X, y)
    logs = clf.predict_log_proba(gaps)
    card = clf.scorecard()
    assert card.log_odds(card.score(gaps)) == pytest.approx(logs[:, 1] - logs[:, 0], abs=1e-10)
    with pytest.raises(tb.errors.InputError, match="depends on it, so that points do not add up"):
        tb.TAN().fit(X, y).scorecard().score(gaps)


def test_a_child_that_does_not_depend_on_the_class_still_speaks_for_its_missing_parent(rows):
    X, y = rows
    clf = tb.FixedStructure([("class", "x0"), ("x0", "x1")]).fit(X, y)
    card = clf.scorecard()
    assert [item.feature for item in card.features] == ["x0"]
    with pytest.raises(tb.errors.InputError, match="'x0' is missing"):
        card.score([[np.nan, 1, 0, 0]])


def test_the_table_lists_every_state(rows):
    X, y = rows
    card = tb.TAN().fit(X, y).scorecard()
    lines = card.lines()
    assert len(lines) == sum(item.points.size for item in card.features)
    given = next(item for item in card.features if item.parent)
    assert any(line[2] == f"{given.parent} = {given.parent_states[0]}" for line in lines)
    assert len(card.to_frame()) == len(lines) + 1
    assert len(str(card).splitlines()) == len(lines) + 4
    assert "20 double the odds" in card._repr_html_()


def test_what_has_no_scorecard(rows):
    X, y = rows
    with pytest.raises(tb.errors.InputError, match="two classes; this model has 3"):
        tb.NaiveBayes().fit(X, (X[:, 0] + y).astype(int) % 3).scorecard()
    with pytest.raises(tb.errors.InputError, match="at most one feature parent"):
        tb.KDB(2).fit(X, y).scorecard()
    with pytest.raises(tb.errors.InputError, match="normalize=True"):
        tb.NaiveBayes(parameters=tb.Discriminative(penalty=1.0, rounds=1)).fit(X, y).scorecard()
    with pytest.raises(tb.errors.InputError, match="probability zero"):
        tb.NaiveBayes(parameters=0.0, suspicious="keep").fit(X, (X[:, 0] == 0).astype(int)).scorecard()
    with pytest.raises(tb.errors.OptionError, match="points, which double the odds"):
        tb.NaiveBayes().fit(X, y).scorecard(points=0)
    with pytest.raises(tb.errors.OptionError, match="base"):
        tb.NaiveBayes().fit(X, y).scorecard(base="much")
    with pytest.raises(AttributeError, match="points do not add up"):
        _ = tb.AODE().fit(X, y).scorecard
