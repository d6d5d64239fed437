"""Averages in the page, and questions to any model: posteriors, support and explanations against Python's."""

import numpy as np
import pandas as pd
import pytest

import tanbark as tb
from pages import ASK, asked, mixed_rows, rule_rows, texts
from tanbark.explorer import pooled
from tanbark.explorer.data import page_data

pytestmark = pytest.mark.xdist_group("browser")


def sparse_rows():
    """Draw rows with states so rare that super-parents are left out, and rows for which none is left."""
    rng = np.random.default_rng(8)
    y = rng.integers(0, 2, 60)
    X = pd.DataFrame({f"v{k}": (rng.integers(0, 6, 60) + y * rng.integers(0, 2, 60)).astype(str) for k in range(4)})
    return X, pd.Series(y, name="kind")


MODELS = {
    "aode": (tb.AODE(), mixed_rows),
    "aode frequent": (tb.AODE(min_rows=12, parameters=0.5), sparse_rows),
    "aode drop": (tb.AODE(missing_parent="drop", class_prior=[0.2, 0.3, 0.5]), mixed_rows),
    "a2de": (tb.A2DE(parameters="hierarchical"), mixed_rows),
    "a2de frequent": (tb.A2DE(min_rows=4), sparse_rows),
    "averaged tan": (tb.ModelAveraging(tb.TAN(temperature="auto"), n_estimators=4, random_state=0), mixed_rows),
    "k best": (tb.KBestANB(4), mixed_rows),
    "averaged k best": (tb.ModelAveraging(tb.KBestGBN(3), n_estimators=2, random_state=0), mixed_rows),
    "averaged aode": (tb.ModelAveraging(tb.AODE(), n_estimators=3, random_state=0), mixed_rows),
    "averaged discriminative": (
        tb.ModelAveraging(tb.KDB(parameters=tb.Discriminative(penalty=4.0, rounds=4)), n_estimators=3, random_state=0),
        rule_rows,
    ),
    "averaged weights": (
        tb.ModelAveraging(tb.NaiveBayes(parameters=tb.WANBIA()), n_estimators=2, random_state=0),
        rule_rows,
    ),
}  # fmt: skip
_FITTED = {}


def fitted(name):
    if name not in _FITTED:
        model, make = MODELS[name]
        X, y = make()
        _FITTED[name] = model.fit(X, y), X
    return _FITTED[name]


@pytest.mark.parametrize("name", MODELS)
def test_predictions_explanations_and_support_are_pythons(read, name):
    clf, X = fitted(name)
    rows = asked(X)
    label = len(clf.classes_) - 1
    told = read().open(clf).tab.evaluate(ASK, [page_data(clf), texts(rows), label])
    proba, support = clf.predict_proba(rows), clf.support(rows)
    explained = clf.explain(rows, label=clf.classes_[label])
    names = clf.schema_.names
    for row, answer in enumerate(told):
        assert answer["probabilities"] == pytest.approx(proba[row], abs=1e-9)
        assert answer["support"] == pytest.approx(support[row])
        parts = {part.name: part.nats for part in explained[row].parts}
        page = {"prior" if node is None else names[node]: nats for node, nats in answer["why"]}
        assert page == pytest.approx(parts, abs=1e-9)


def test_naive_bayes_and_aode_step_in_where_states_are_rare():
    clf, X = fitted("aode frequent")
    rows = asked(X)
    codes = clf._codes(rows)
    joint = clf._joint(codes)
    from tanbark.inference import joint_log_proba

    naive = np.isclose(joint, joint_log_proba(clf.naive_, codes)).all(axis=1)
    assert 0 < naive.sum() < len(rows)
    pairs, X = fitted("a2de frequent")
    codes = pairs._codes(asked(X))
    single = np.isclose(pairs._joint(codes), pairs._average(codes, pairs.averages_[1:])).all(axis=1)
    assert 0 < single.sum() < codes.shape[1]


def test_the_page_says_that_it_draws_one_network_to_read(read):
    clf, _ = fitted("aode")
    data = page_data(clf)
    assert data["parents"][:-1] == [[data["target"]]] * (len(data["parents"]) - 1)
    assert data["average"]["networks"] == len(clf.super_parents_) == 6
    many, _ = fitted("averaged tan")
    assert page_data(many)["parents"] == [list(p) for p in many.estimators_[0].network_.dag.parents]


def test_averages_that_are_too_large_or_not_fitted_are_errors(monkeypatch):
    monkeypatch.setattr(pooled, "MOST_BYTES", 1000)
    with pytest.raises(tb.errors.TableTooLargeError, match="explore naive_"):
        fitted("a2de")[0].explore()
    with pytest.raises(tb.errors.TableTooLargeError, match="explore one of estimators_"):
        fitted("averaged tan")[0].explore()
    for model in (tb.AODE(), tb.ModelAveraging()):
        with pytest.raises(tb.errors.InputError, match="not fitted"):
            page_data(model)
        with pytest.raises(Exception, match="not fitted"):
            model.explore()


def test_soft_evidence_is_a_mixture_of_rows(read):
    """The joint of a likelihood is the sum of the joints of the states, each with its likelihood."""
    clf, _ = fitted("aode")
    likelihood = np.array([1.0, 0.25, 0.5])
    told = read().open(clf).tab.evaluate(
        """([data, likelihood]) => { const model = new tanbark.Model(data); const known = model.nothing.slice();
        known[1] = Float64Array.from(likelihood); known[5] = model.observed(5, 0);
        return Array.from(tanbark.posterior(model, model.target, known).probabilities); }""",
        [page_data(clf), likelihood.tolist()],
    )  # fmt: skip
    codes = np.full((6, 3), 255, np.uint8)
    codes[1], codes[5] = range(3), 0
    joint = likelihood @ np.exp(clf._joint(codes))
    assert told == pytest.approx(joint / joint.sum(), abs=1e-9)
