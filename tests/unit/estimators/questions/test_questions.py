"""Rows as people give them, sensitivity, decisions, importances: every classifier gives its own posteriors."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.feature_selection import RFE, SelectFromModel

import tanbark as tb
from strategies import make_table
from tanbark.estimators.questions import mixin


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(3)
    y = rng.integers(0, 2, 400)
    X = pd.DataFrame({
        "good": np.where(rng.random(400) < 0.9, y, 1 - y), "noise": rng.integers(0, 3, 400),
        "number": y + rng.normal(size=400), "constant": np.zeros(400, int),
    })  # fmt: skip
    return X, pd.Series(np.where(y == 1, "yes", "no"), name="ill")


@pytest.fixture(scope="module")
def tan(frame):
    return tb.TAN().fit(*frame)


# ---------------------------------------------------------------------- rows


def test_a_row_may_come_in_many_forms(tan, frame):
    X, _ = frame
    row = X.iloc[[0]].assign(noise=np.nan)
    expected = tan.ask_next(row).to_frame()
    for form in (row.iloc[0], {"good": X["good"][0], "number": X["number"][0], "constant": 0}, pl.from_pandas(row)):
        assert tan.ask_next(form).to_frame().equals(expected)
    plain = tb.TAN().fit(X.to_numpy(), frame[1])
    assert plain.ask_next(row.to_numpy()[0]).to_frame()["bits"].equals(expected["bits"])
    assert plain.ask_next(list(row.to_numpy()[0])).to_frame()["bits"].equals(expected["bits"])
    assert [q.feature for q in tan.ask_next()] == [q.feature for q in tan.ask_next({})]
    with pytest.raises(tb.errors.InputError, match="One row is asked about; got 400"):
        tan.ask_next(X)
    with pytest.raises(tb.errors.InputError, match=r"There is no feature 'god'\. Did you mean 'good'"):
        tan.ask_next({"god": 1})


def test_a_missing_value_that_is_a_state_is_unobserved_only_where_it_is_left_out(frame):
    X, y = frame
    clf = tb.NaiveBayes(missing="category").fit(X.assign(noise=X["noise"].where(X.index % 7 > 0)), y)
    assert "noise" in [q.feature for q in clf.ask_next({"good": 1})]
    row = X.iloc[[0]].assign(noise=np.nan)
    assert "noise" not in [q.feature for q in clf.ask_next(row)]


# ---------------------------------------------------------------------- ask_next


def test_value_of_information_is_the_fall_of_the_expected_cost(tan):
    costs = {"yes": {"no": 5.0, "refer": 1.5}, "no": {"yes": 1.0, "refer": 0.5}}
    matrix = np.array([[0.0, 1.0, 0.5], [5.0, 0.0, 1.5]])
    found = tan.ask_next({"number": 0.4}, costs=costs)
    now = tan.predict_proba(pd.DataFrame({"good": [None], "noise": None, "number": 0.4, "constant": None}))[0]
    assert found.expected_cost == pytest.approx((now @ matrix).min())
    values = [question.value for question in found]
    assert values == sorted(values, reverse=True)
    for question in found:
        after = question.probabilities @ (question.posteriors @ matrix).min(axis=1)
        assert question.value == pytest.approx(max(0.0, (now @ matrix).min() - after))
    assert "value" in found.to_frame().columns
    assert "expected cost" in str(found)
    assert "<table>" in found._repr_html_()


def test_nothing_is_left_to_ask(tan, frame):
    found = tan.ask_next(frame[0].iloc[[0]])
    assert len(found) == 0
    assert "nothing left to ask" in str(found)


# ---------------------------------------------------------------------- sensitivity


@pytest.mark.parametrize(
    "clf",
    [tb.TAN(), tb.NaiveBayes(temperature=0.5), tb.AODE(), tb.ModelAveraging(tb.NaiveBayes(), 2), tb.Classifier(2)],
)
def test_spans_are_extremes_of_predictions(clf):
    table = make_table(np.random.default_rng(2), (3, 2, 4, 3), 150)
    X, y = table.codes[:-1].T.astype(float), table.codes[-1].astype(int)
    clf.fit(X, y)
    row = np.array([1.0, np.nan, 2.0])
    for label in (None, 0):
        found = clf.sensitivity(row, label)
        now = clf.predict_proba([row])[0]
        chosen = int(now.argmax()) if label is None else label
        assert found.label == clf.classes_[chosen]
        assert found.probability == pytest.approx(now[chosen])
        assert [span.width for span in found] == sorted((span.width for span in found), reverse=True)
        for span in found:
            column = int(span.feature[1:])
            rows = np.tile(row, (table.schema.cardinalities[column], 1))
            rows[:, column] = np.arange(len(rows))
            values = clf.predict_proba(rows)[:, chosen]
            assert (span.low, span.high) == pytest.approx((values.min(), values.max()))
            assert values[int(span.low_state)] == pytest.approx(span.low)
            assert values[int(span.high_state)] == pytest.approx(span.high)
            assert span.state == (None if np.isnan(row[column]) else row[column])
    assert found.to_frame().shape == (3, 6)
    assert "<table>" in found._repr_html_()
    with pytest.raises(tb.errors.OptionError, match="label must be one of the classes"):
        clf.sensitivity(row, "no")


# ---------------------------------------------------------------------- decisions


def test_decisions_have_the_least_expected_cost(tan, frame):
    X, _ = frame
    proba = tan.predict_proba(X)
    found = tan.decide(X, costs=[[0, 1], [4, 0]])
    assert found.threshold == pytest.approx(0.2)
    assert np.array_equal(found.decisions == "yes", proba[:, 1] > 0.2)
    assert found.expected_costs == pytest.approx(proba @ np.array([[0.0, 1.0], [4.0, 0.0]]))
    as_frame = pd.DataFrame([[0, 1, 0.6], [4, 0, 0.6]], index=["no", "yes"], columns=["no", "yes", "refer"])
    three = tan.decide(X, costs=as_frame)
    assert set(three) == {"no", "yes", "refer"}
    assert three.threshold is None
    assert three[0] == three.decisions[0]
    again = tan.decide(X, costs={"yes": {"refer": 0.6, "no": 4}, "no": {"yes": 1, "refer": 0.6}})
    assert np.array_equal(again.decisions, three.decisions)
    assert three.to_frame().shape == (400, 5)
    assert "decisions of least expected cost" in str(three)
    assert "<table>" in three._repr_html_()


def test_the_plain_loss_decides_for_the_most_probable_class(frame):
    clf = tb.Classifier(n_estimators=2).fit(*frame)
    costs = {"no": {"yes": 1}, "yes": {"no": 1}}
    assert np.array_equal(clf.decide(frame[0], costs=costs).decisions, clf.predict(frame[0]))


@pytest.mark.parametrize(
    ("costs", "message"),
    [
        ([1, 2], "array of 2 x 2 numbers"), ("cheap", "dict of dicts"), ({"yes": 3}, "the line of 'yes' is 3"),
        ({"yess": {"no": 1}}, "Did you mean 'yes'"),
        ({"yes": {"no": 1}, "no": {"refer": 1}}, "lacks what 'refer' costs"),
        ({"yes": {"no": "much"}, "no": {}}, "A cost is a number"), ([[0, np.inf], [1, 0]], "finite"),
        ({}, "names no decision"),
    ],
)  # fmt: skip
def test_costs_that_are_none(tan, frame, costs, message):
    with pytest.raises(tb.errors.OptionError, match=message):
        tan.decide(frame[0], costs=costs)


def test_a_decision_that_never_costs_less_has_no_threshold(tan, frame):
    found = tan.decide(frame[0], costs=[[0, -1], [4, 0]])
    assert found.threshold is None
    assert set(found) == {"yes"}


# ---------------------------------------------------------------------- importances


def test_importances_are_mutual_information(tan, frame):
    found = tan.feature_importances_
    assert found.shape == (4,)
    assert found[3] == 0.0
    assert found[0] == found.max()
    ranked = {question.feature: question.bits for question in tan.ask_next()}
    assert dict(zip(frame[0].columns, found.tolist(), strict=True)) == ranked
    joint = tan.network_.query(["good", "ill"]).values
    outer = joint.sum(axis=0) * joint.sum(axis=1)[:, None]
    assert found[0] == pytest.approx((joint * np.log2(joint / outer)).sum())


@pytest.mark.parametrize("clf", [tb.NaiveBayes(), tb.AODE(), tb.ModelAveraging(tb.NaiveBayes(), 2, random_state=0)])
def test_importances_are_computed_once_for_each_fit(clf, monkeypatch):
    X = np.random.default_rng(0).integers(0, 2, (60, 2))
    first = clf.fit(X, X[:, 0]).feature_importances_
    monkeypatch.setattr(mixin, "importances", lambda asked: np.full(2, 7.0))
    assert np.array_equal(clf.feature_importances_, first)
    first[:] = 0.0
    assert clf.feature_importances_[0] > 0.1
    assert clf.fit(X, X[:, 1]).feature_importances_.tolist() == [7.0, 7.0]


def test_importances_follow_further_rows(frame):
    X, y = frame
    X = X[["good", "noise"]].astype(str)
    clf = tb.TAN().partial_fit(X[:50], y[:50], classes=["no", "yes"])
    before = clf.feature_importances_
    clf.partial_fit(X[50:], y[50:])
    assert clf.feature_importances_ == pytest.approx(tb.TAN().fit(X, y).feature_importances_)
    assert (clf.feature_importances_ != before).all()


def test_scikit_learn_selects_by_importances(frame):
    X, y = frame
    kept = SelectFromModel(tb.TAN(), threshold=0.05).fit(X, y)
    assert kept.get_feature_names_out().tolist() == ["good", "number"]
    ranked = RFE(tb.Classifier(n_estimators=2), n_features_to_select=2).fit(X, y)
    assert ranked.get_feature_names_out().tolist() == ["good", "number"]
    with pytest.raises(AttributeError):
        _ = tb.TAN().feature_importances_


def test_long_tables_are_cut_in_print_and_whole_in_frames():
    X = np.random.default_rng(0).integers(0, 2, (60, 30))
    found = tb.NaiveBayes().fit(X, X[:, 0]).ask_next()
    assert str(found).endswith("… and 10 more")
    assert "… and 10 more" in found._repr_html_()
    assert len(found.to_frame()) == len(found) == 30
