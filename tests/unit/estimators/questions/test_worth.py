"""What asking is worth before a decision: against networks with another prior, against ask_next, and bad input."""

from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tanbark as tb
from strategies import make_network, seeds
from tanbark.estimators.questions import model as questions
from tanbark.estimators.questions import worth
from tanbark.estimators.questions.asking import ask_next
from tanbark.estimators.questions.costs import Costs
from tanbark.inference import joint_log_proba, temper

REFER = np.array([[0.0, 1.0, 0.3], [4.0, 0.0, 0.5]])


def two_classes(seed):
    rng = np.random.default_rng(seed)
    drawn = (make_network(rng, n_features=3, max_states=3, augmented=True) for _ in range(99))
    return next(network for network in drawn if network.schema.cardinalities[-1] == 2)


def asked_of(network, temperature):
    joint = partial(joint_log_proba, network)
    prior = network.log_tables[-1]
    logits = joint if temperature == 1.0 else lambda codes: temper(joint(codes), prior, temperature)
    return questions.plain_asked(network.schema, logits, (questions.Generative(joint),))


def with_odds(network, factor):
    """The same network with other odds of the classes."""
    prior = np.asarray(network.tables[-1]) * [1.0, factor]
    return replace(network, tables=(*network.tables[:-1], prior / prior.sum()))


@given(seeds, st.sampled_from([1.0, 0.5]), st.sampled_from([2, 3]), st.sampled_from([0.0, 0.05]))
@settings(max_examples=25)
def test_the_region_is_where_a_network_with_other_class_odds_would_ask(seed, temperature, n_decisions, price):
    network = two_classes(seed)
    costs = Costs((0, 1), tuple(range(n_decisions)), REFER[:, :n_decisions])
    asked = asked_of(network, temperature)
    row = asked.nothing()
    row[0] = 0
    prices = np.full(3, price)
    found = ask_next(asked, row, costs, prices)
    inside = lambda p: any(low <= p <= high for low, high in found.region)  # noqa: E731
    assert inside(found.probabilities[1]) == found.worth_asking
    borders = np.ravel(found.region)
    for factor in np.exp(np.linspace(-6, 6, 25)):
        other = ask_next(asked_of(with_odds(network, factor), temperature), row, costs, prices)
        p = other.probabilities[1]
        if len(borders) == 0 or np.abs(borders - p).min() > 1e-6:
            assert inside(p) == other.worth_asking
    if temperature == 1.0 and n_decisions == 2:
        assert len(found.region) <= 1
        assert all(low <= 0.2 <= high for low, high in found.region)


@given(seeds)
@settings(max_examples=20)
def test_in_a_network_the_value_is_that_of_information_and_otherwise_only_other_decisions_save(seed):
    network = two_classes(seed)
    costs = Costs((0, 1), (0, 1, 2), REFER)
    for temperature in (1.0, 0.4):
        asked = asked_of(network, temperature)
        found = ask_next(asked, asked.nothing(), costs)
        now = found.probabilities @ REFER
        for question in found:
            after = question.posteriors @ REFER
            if temperature == 1.0:
                assert question.value == pytest.approx(found.expected_cost - question.probabilities @ after.min(axis=1))
            changes = (after.argmin(axis=1) != now.argmin()) & (question.probabilities > 0)
            if not changes.any():
                assert question.value == 0.0
            assert question.value >= 0.0


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(3)
    y = rng.integers(0, 3, 300)
    X = pd.DataFrame(
        {f"x{k}": np.where(rng.random(300) < 0.5, y, rng.integers(0, 3, 300)).astype(float) for k in range(4)}
    )
    return X, y, X.head(12).mask(rng.random((12, 4)) < 0.5)


@pytest.mark.parametrize("clf", [tb.TAN(temperature=0.7), tb.AODE(), tb.Classifier(2)], ids=repr)
def test_decide_asks_as_ask_next_does_row_by_row(clf, rows, monkeypatch):
    X, y, some = rows
    monkeypatch.setattr(worth, "ROWS", 5)
    clf.fit(X, y)
    costs, prices = 1 - np.eye(3), {"x0": 0.1, "x2": 0.02}
    found = clf.decide(some, costs=costs, question_costs=prices)
    for row in range(len(some)):
        twin = clf.ask_next(some.iloc[[row]], costs=costs, question_costs=prices)
        if not len(twin):
            assert found.asking.features[row] is None
            assert found.asking.costs_after[row] == pytest.approx(found.expected_costs[row].min())
            continue
        assert found.asking.features[row] == twin[0].feature
        assert found.asking.values[row] == pytest.approx(twin[0].value)
        assert found.asking.question_costs[row] == twin[0].cost == prices.get(twin[0].feature, 0.0)
        assert found.asking.worth_asking[row] == twin.worth_asking == (twin[0].net > 1e-12)
        assert twin.region is None
        assert found.asking.costs_after[row] == pytest.approx(twin.expected_cost - twin[0].net)
    assert any(found.asking.worth_asking)
    assert "worth_asking" in found.to_frame(asking=True).columns
    assert "worth_asking" not in found.to_frame().columns


def test_the_answer_is_that_of_the_model_that_decided(rows):
    X, y, some = rows
    clf = tb.NaiveBayes().fit(X, y)
    found, other = clf.decide(some, costs=1 - np.eye(3)), clf.decide(some, costs=1 - np.eye(3))
    values = other.asking.values
    clf.fit(X.iloc[::-1], y)
    assert found.asking.values.tolist() == values.tolist()
    assert clf.decide(some, costs=1 - np.eye(3)).asking.values.tolist() != values.tolist()


def test_impossible_rows_have_no_question():
    clf = tb.NaiveBayes(parameters=0.0, suspicious="keep").fit([["a", "u"], ["b", "v"]] * 9, [0, 1] * 9)
    with pytest.warns(tb.errors.ImpossibleEvidenceWarning):
        found = clf.decide([["a", "v"], [None, "u"], [None, None]], costs=1 - np.eye(2))
    assert found.asking.features == [None, "x0", "x0"]
    assert np.isnan(found.asking.costs_after[0])
    assert found.asking.worth_asking.tolist() == [False, False, True]


def test_a_question_may_cost_more_than_it_saves(rows):
    X, y, _ = rows
    clf = tb.TAN().fit(X, y == 1)
    costs = 1 - np.eye(2)
    free = clf.ask_next(costs=costs)
    assert free.worth_asking
    dear = clf.ask_next(costs=costs, question_costs=5)
    assert not dear.worth_asking
    assert dear.region == ()
    first = clf.ask_next(costs=costs, question_costs={free[0].feature: 5})
    assert first[-1].feature == free[0].feature
    assert "cost" in str(first)
    assert clf.ask_next().worth_asking is None
    assert clf.ask_next().region is None


@pytest.mark.parametrize("prices", [-1, np.inf, "dear", {"x9": 1}, {"x0": None}, None])
def test_costs_of_questions_that_are_none(rows, prices):
    X, y, some = rows
    clf = tb.NaiveBayes().fit(X, y)
    wrong = "no feature of the model" if prices == {"x9": 1} else "finite number of at least 0"
    with pytest.raises(tb.errors.OptionError, match=wrong):
        clf.decide(some, costs=1 - np.eye(3), question_costs=prices)
