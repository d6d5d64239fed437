"""Questions in the page: what to ask next, sensitivity, the smallest change and decisions against Python's."""

import numpy as np
import pandas as pd
import pytest

import tanbark as tb
from pages import fit_once, mixed_rows, rule_numbers, rule_rows, texts
from tanbark.explorer.data import page_data

pytestmark = pytest.mark.xdist_group("browser")

QUESTIONS = """([data, rows, label, costs, price]) => { const model = new tanbark.Model(data);
return rows.map((row) => {
  const { target } = model;
  const known = model.nothing.slice();
  row.forEach((value, node) => {
    if (value === null) return;
    known[node] = model.observed(node, tanbark.codeValue(model.columns[node], value), Number(value));
  });
  const changed = tanbark.finish(tanbark.counterfactual(model, target, known, { most: 2 }));
  return {
    bits: tanbark.finish(tanbark.expectedInformation(model, target, known)),
    asking: tanbark.finish(tanbark.JOBS.worth(model, { target, likelihoods: known, costs, price })),
    decided: tanbark.decide(tanbark.predicted(model, target, known), costs),
    spans: tanbark.finish(tanbark.sensitivity(model, target, known, label)),
    changed: { ...changed, probability: changed.changes === null ? null : changed.probabilities[changed.to] },
  };
}); }"""

MODELS = {
    "classifier": (tb.Classifier(4), mixed_rows),
    "corrected": (tb.Classifier(4), rule_numbers),
    "ensemble": (tb.NetworkEnsemble(4), mixed_rows),
    "tan": (tb.TAN(), mixed_rows),
    "tempered": (tb.KDB(temperature="auto"), rule_rows),
    "weighted": (tb.NaiveBayes(parameters=tb.WANBIA()), rule_rows),
    "discriminative": (tb.TAN(parameters=tb.Discriminative(penalty=1.0, rounds=6)), rule_rows),
    "a2de": (tb.A2DE(), mixed_rows),
    "averaged": (tb.ModelAveraging(tb.TAN(temperature="auto"), n_estimators=3, random_state=0), rule_rows),
    "averaged k best": (tb.ModelAveraging(tb.KBestANB(3), n_estimators=2, random_state=0), mixed_rows),
    "averaged aode": (tb.ModelAveraging(tb.AODE(), n_estimators=2, random_state=0), mixed_rows),
}


def fitted(name):
    return fit_once(*MODELS[name])


def some_rows(X):
    """Take rows with many, few and no missing values, and one without any value."""
    rng = np.random.default_rng(5)
    rows = X.sample(4, random_state=5).reset_index(drop=True)
    rows = rows.mask(rng.random(rows.shape) < np.array([0.0, 0.3, 0.7, 1.0])[:, None])
    return rows


@pytest.mark.parametrize("name", MODELS)
def test_answers_are_those_of_python(compute, name):
    clf, X = fitted(name)
    rows = some_rows(X)
    n = len(clf.classes_)
    costs = np.arange(1.0, n * n + 1).reshape(n, n) % 5
    np.fill_diagonal(costs, 0.0)
    price = 0.05
    told = compute(QUESTIONS, [page_data(clf), texts(rows), 1, costs.tolist(), price])
    decided = clf.decide(rows, costs=costs, question_costs=price)
    for row, answer in enumerate(told):
        given = rows.iloc[[row]]
        names = clf.schema_.names
        python = clf.ask_next(given, costs=costs, question_costs=price)
        asked = {question.feature: question for question in python}
        assert dict(zip(names, answer["bits"], strict=True)) == pytest.approx(
            {name: asked[name].bits if name in asked else 0.0 for name in names}, abs=1e-9
        )
        check_asking(python, decided.asking, row, answer["asking"], names)
        assert answer["decided"]["expected"] == pytest.approx(decided.expected_costs[row], abs=1e-9)
        assert answer["decided"]["decision"] == decided.chosen[row]
        spans = {span.feature: span for span in clf.sensitivity(given, clf.classes_[1])}
        assert len(spans) == len(answer["spans"])
        for span in answer["spans"]:
            python = spans[names[span["node"]]]
            assert span["low"]["probability"] == pytest.approx(python.low, abs=1e-9)
            assert span["high"]["probability"] == pytest.approx(python.high, abs=1e-9)
        check_change(clf.counterfactual(given, max_changes=2), answer["changed"], names)


def check_asking(python, asking, row, page, names):
    """The values, the best question, whether it pays, and the region are those of ask_next and of decide."""
    values = {question.feature: question.value for question in python}
    assert {names[each["node"]]: each["value"] for each in page["worth"]} == pytest.approx(values, abs=1e-9)
    assert (page["region"] is None) == (python.region is None)
    for parts in [] if python.region is None else [page["region"]]:
        assert len(parts) == len(python.region)
        assert np.ravel(parts) == pytest.approx(np.ravel(python.region), abs=1e-9)
        now = python.probabilities[1]
        assert any(low <= now <= high for low, high in parts) == python.worth_asking
    if not page["worth"]:
        assert asking.features[row] is None
        assert not asking.worth_asking[row]
        return
    best = page["worth"][0]
    assert asking.values[row] == pytest.approx(best["value"], abs=1e-9)
    assert values[names[best["node"]]] == pytest.approx(values[asking.features[row]], abs=1e-9)
    assert asking.worth_asking[row] == python.worth_asking == (best["value"] - asking.question_costs[row] > 1e-12)
    assert asking.costs_after[row] == pytest.approx(python.expected_cost - best["value"] + 0.05, abs=1e-9)


def check_change(python, page, names):
    if not python.found:
        assert page["changes"] is None
        return
    assert [names[change["node"]] for change in page["changes"]] == [change.feature for change in python]
    assert page["probability"] == pytest.approx(python.probability, abs=1e-9)
    assert page["searched"] == len(python) == python.searched
    assert page["evaluations"] == python.evaluations


def test_a_search_that_would_take_too_long_says_which_sizes_were_searched(compute):
    clf, X = fitted("tan")
    row = X.dropna().iloc[[0]]
    found = compute(
        """([data, row]) => { const model = new tanbark.Model(data); const known = row.map((value, node) =>
          model.observed(node, tanbark.codeValue(model.columns[node], value), Number(value)));
        return [0, 12, 1e6].map((evaluations) =>
          tanbark.finish(tanbark.counterfactual(model, model.target, [...known, null], { evaluations }))); }""",
        [page_data(clf), texts(row)[0]],
    )  # fmt: skip
    assert [each["changes"] for each in found[:1]] == [None]
    assert found[0]["searched"] == 0
    assert found[0]["needed"] > 0
    assert found[1]["searched"] == 1
    assert found[2]["changes"] is not None or found[2]["searched"] == 3


def test_the_numbers_of_an_interval_are_read_back_as_its_middle(compute):
    clf, _ = fitted("ensemble")
    told = compute(
        """(data) => { const model = new tanbark.Model(data); const features = model.columns.slice(0, -1);
        return features.flatMap((column, node) =>
          column.kind !== "interval" ? [] : tanbark.columnStates(model, node).map(({ likelihood }) => {
            const again = model.observed(node, tanbark.codeValue(column, `${likelihood.value}`), likelihood.value);
            return [Array.from(again), again.cells, Array.from(likelihood), likelihood.cells]; })); }""",
        page_data(clf),
    )  # fmt: skip
    assert len(told) > 4
    for likelihood, cells, wanted, wanted_cells in told:
        assert likelihood == wanted
        assert cells == wanted_cells


ODD = """([data, rows]) => { const model = new tanbark.Model(data); return rows.map((row) => {
  const known = model.nothing.slice();
  row.forEach((value, node) => {
    if (value === null) return;
    known[node] = model.observed(node, tanbark.codeValue(model.columns[node], value), Number(value));
  });
  const label = tanbark.predicted(model, model.target, known).reduce((b, p, c, all) => (p > all[b] ? c : b), 0);
  return {
    odd: tanbark.finish(tanbark.surprise(model, known)),
    values: tanbark.finish(tanbark.leaveOneOut(model, known)),
    label,
    typical: tanbark.finish(tanbark.JOBS.typical(model, { target: model.target, likelihoods: known, label })),
  };
}); }"""


def odd_rows(X):
    rng = np.random.default_rng(11)
    rows = X.sample(12, random_state=4).reset_index(drop=True)
    return rows.mask(rng.random(rows.shape) < np.linspace(0.0, 0.6, len(rows))[:, None])


@pytest.mark.parametrize("name", ["tan", "tempered", "classifier"])
def test_surprise_is_pythons(compute, name):
    clf, X = fitted(name)
    rows = odd_rows(X)
    told = compute(ODD, [page_data(clf), texts(rows)])
    expected = clf.surprise(rows, n_draws=4000, random_state=1)
    for row, found in enumerate(told):
        assert found["odd"]["log"] == pytest.approx(expected.log_probabilities[row], abs=1e-9)
        values = {value["node"]: value["probability"] for value in found["values"]}
        for node, probability in enumerate(expected.value_probabilities[row]):
            assert (node in values) == (not np.isnan(probability))
            if node in values:
                assert values[node] == pytest.approx(probability, abs=1e-9)
        spread = np.sqrt(expected.fractions[row] * (1 - expected.fractions[row]) * (1 / 300 + 1 / 4000)) + 1e-3
        assert abs(found["odd"]["fraction"] - expected.fractions[row]) < 5 * spread


@pytest.mark.parametrize("name", ["tan", "tempered"])
def test_the_typical_case_is_pythons(compute, name):
    clf, X = fitted(name)
    network = clf.network_
    rows = odd_rows(X)
    told = compute(ODD, [page_data(clf), texts(rows)])
    target = network.schema.target
    names = network.schema.names
    proba = clf.predict_proba(rows)
    others = 0
    for row, found in enumerate(told):
        known = {name: value for name, value in rows.iloc[row].items() if not pd.isna(value)}
        label = int(proba[row].argmax())
        assert found["label"] == label
        fixed = known | {names[target]: clf.classes_[label]}
        best = network.mpe(fixed)
        assert found["typical"]["log"] == pytest.approx(best.log_joint, abs=1e-9)
        evidence = network.probability_of_evidence(fixed, log=True)
        assert found["typical"]["evidence"] == pytest.approx(evidence, abs=1e-9)
        joint = network.mpe(known)
        best_class = network.schema.columns[target].states()[found["typical"]["joint"]]
        again = network.mpe(known | {names[target]: best_class})
        assert again.log_joint == pytest.approx(joint.log_joint, abs=1e-9)
        others += best_class != clf.classes_[label]
    assert others > 0  # the best of all cases need not have the predicted class
