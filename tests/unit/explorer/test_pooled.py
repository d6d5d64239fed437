"""Pooled and corrected models in the page: posterior, explanation, support and what to ask next against Python's."""

import numpy as np
import pandas as pd
import pytest

import tanbark as tb
from pages import ASK, asked, fit_once, mixed_rows, rule_numbers, rule_rows, texts
from tanbark.estimators.ensemble.reading import shorten_member
from tanbark.explorer import pooled
from tanbark.explorer.data import page_data
from tanbark.inference import sparse_network

pytestmark = pytest.mark.xdist_group("browser")

MODELS = {
    "ensemble": (tb.NetworkEnsemble(5), mixed_rows),
    "classifier": (tb.Classifier(4), mixed_rows),
    "prior": (tb.Classifier(4, class_prior=[0.7, 0.1, 0.2]), mixed_rows),
    "zero prior": (tb.NetworkEnsemble(4, class_prior=[0.6, 0.0, 0.4]), mixed_rows),
    "median": (tb.NetworkEnsemble(4, max_parents=2, discretize="median"), mixed_rows),
    "rule": (tb.Classifier(), rule_rows),
    "numbers with a correction": (tb.Classifier(4), rule_numbers),
    "few rows": (tb.Classifier(), lambda: [part[:40] for part in mixed_rows()]),
    "discriminative": (tb.KDB(parameters=tb.Discriminative(penalty=4.0, rounds=8)), rule_rows),
    "discriminative tan": (tb.TAN(parameters=tb.Discriminative(penalty=1.0, rounds=8)), mixed_rows),
    "discriminative below": (
        tb.FixedStructure([("a", "rule"), ("b", "rule"), ("rule", "c"), ("a", "c")],
                          parameters=tb.Discriminative(penalty=1.0, rounds=4)),
        rule_rows,
    ),
    "normalised": (tb.TAN(parameters=tb.Discriminative(normalize=True), temperature="auto"), rule_rows),
}  # fmt: skip


def fitted(name):
    return fit_once(*MODELS[name])


@pytest.mark.parametrize("name", MODELS)
def test_predictions_and_explanations_are_pythons(read, name):
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
        assert answer["total"] == pytest.approx(sum(page.values()), abs=1e-9)


def test_the_models_above_have_a_correction_and_several_kinds_of_intervals():
    rule, _ = fitted("rule")
    assert rule.model_.trees is not None
    assert rule.model_.fade < 1.0
    assert fitted("numbers with a correction")[0].model_.trees is not None
    mixed, _ = fitted("ensemble")
    assert len({id(member.coarsening) for member in mixed.model_.members}) > 2


def test_sums_beyond_the_limits_are_cut_as_in_python(compute, monkeypatch):
    rng = np.random.default_rng(5)
    y = rng.integers(0, 2, 500)
    X = pd.DataFrame({f"v{k:02d}": np.where(rng.random(500) < 0.4, y, rng.integers(0, 3, 500)) for k in range(20)})
    X = X.astype(str)
    clf = tb.NetworkEnsemble(4, max_parents=3).fit(X, y)
    rows = asked(X, n=30)
    exact = clf.predict_proba(rows)
    for limit, value in (("MOST_ENTRIES", 120), ("MOST_SUMMED", 2), ("WORKSPACE", 700)):
        with monkeypatch.context() as patch:
            patch.setattr(sparse_network, limit, value)
            proba = clf.predict_proba(rows)
            data = page_data(clf)
        assert np.abs(proba - exact).max() > 1e-6, "the limit changes nothing"
        told = compute(ASK, [data, texts(rows), 0])
        assert np.array([answer["probabilities"] for answer in told]) == pytest.approx(proba, abs=1e-9)


def entropy_bits(p):
    p = p[p > 0]
    return -(p * np.log2(p)).sum()


def member_conditionals(clf, known, column):
    """Return P(column = s | known, class) of every network: (networks, states, classes)."""
    names, target = clf.schema_.names, clf.schema_.target
    found = []
    for network in clf.networks_:
        joint = np.asarray(network.query([names[column], names[target]], known))
        found.append(joint / joint.sum(axis=0))
    return found


def test_what_to_ask_next_is_the_expected_fall_of_the_entropy(compute):
    clf, X = fitted("rule")
    rows = asked(X, n=8)
    rows.iloc[-1] = None
    told = compute(ASK, [page_data(clf), texts(rows), 0])
    weights = clf.model_.weights / clf.model_.weights.sum()
    for row, answer in enumerate(told):
        known = {name: value for name, value in rows.iloc[row].items() if value is not None and not pd.isna(value)}
        now = clf.predict_proba(rows.iloc[[row]])[0]
        for column, name in enumerate(X):
            if name in known:
                assert answer["bits"][column] == 0
                continue
            given = np.array(member_conditionals(clf, known, column))
            chances = np.einsum("m,msc,c->s", weights, given, now)
            states = clf.schema_.columns[column].states()
            after = clf.predict_proba(pd.concat([rows.iloc[[row]].assign(**{name: state}) for state in states]))
            fall = entropy_bits(now) - chances @ [entropy_bits(p) for p in after]
            assert answer["bits"][column] == pytest.approx(max(0.0, fall), abs=1e-9)


@pytest.mark.parametrize("name", ["ensemble", "numbers with a correction"])
def test_what_to_ask_next_of_numbers_is_by_the_intervals_of_the_first_network(compute, name):
    """Their probability is that of the interval, the posterior after it that of a number in its middle cell."""
    clf, X = fitted(name)
    row = row_of(clf, town="Oslo")
    (told,) = compute(ASK, [page_data(clf), texts(row), 0])
    now = clf.predict_proba(row)[0]
    weights = clf.weights_ / clf.weights_.sum()
    compared = 0
    for column, feature in enumerate(X):
        first = clf.model_.members[0].coarsening.lookups[column][:-1]
        cuts = clf.schema_.columns[column].cuts
        if feature == "town" or clf.schema_.columns[column].kind != "interval" or first.max() == 0:
            continue
        chances = 0.0
        for place, member in enumerate(clf.model_.members):
            own = member.coarsening.lookups[column][:-1]
            inside = np.array(
                [[(first[own == s] == state).mean() for s in range(own.max() + 1)] for state in range(first.max() + 1)]
            )
            chances = (
                chances + weights[place] * inside @ member_conditionals(clf, {"town": "Oslo"}, column)[place] @ now
            )
        middles = [(np.flatnonzero(first == state)[[0, -1]].sum()) // 2 for state in range(first.max() + 1)]
        numbers = [cuts[cell] if cell < len(cuts) else cuts[-1] + 1.0 for cell in middles]
        after = clf.predict_proba(pd.concat([row.assign(**{feature: number}) for number in numbers]))
        fall = entropy_bits(now) - chances @ [entropy_bits(p) for p in after]
        assert told["bits"][column] == pytest.approx(max(0.0, fall), abs=1e-9)
        compared += 1
    assert compared > 0


def test_an_interval_is_the_sum_over_the_cells_of_the_grid(read):
    """Click an interval of the network to read: every network weighs its own intervals by the fraction of cells."""
    clf, _ = fitted("ensemble")
    data = page_data(clf)
    told = (
        read()
        .open(clf)
        .tab.evaluate(
            """(data) => { const model = new tanbark.Model(data);
        return model.columns[0].labels.map((_, state) => { const known = model.nothing.slice();
          known[0] = model.observed(0, state);
          return Array.from(tanbark.posterior(model, model.target, known).probabilities); }); }""",
            data,
        )
    )
    grid, reading = np.array(clf.schema_.columns[0].cuts), np.array(data["columns"][0]["cuts"])
    assert len(told) == len(reading) + 1 > 2
    cells = np.searchsorted(reading, [*grid, np.inf])
    for state, probabilities in enumerate(told):
        logits = clf.model_.log_prior.copy()
        for member, network, weight in zip(clf.model_.members, clf.networks_, clf.weights_, strict=True):
            own = member.coarsening.lookups[0][:-1]
            inside = np.array([(cells[own == s] == state).mean() for s in range(network.schema.cardinalities[0])])
            joint = np.asarray(network.query(["height", "kind"]))
            logits += weight * np.log(inside @ (joint / joint.sum(axis=0)))
        expected = np.exp(logits - logits.max())
        assert probabilities == pytest.approx(expected / expected.sum(), abs=1e-9)


def test_likelihoods_of_a_category_are_entered_in_every_network(read):
    clf, _ = fitted("ensemble")
    likelihood = [1.0, 0.25, 0.5]
    told = (
        read()
        .open(clf)
        .tab.evaluate(
            """([data, likelihood]) => { const model = new tanbark.Model(data); const known = model.nothing.slice();
        known[1] = Float64Array.from(likelihood);
        const one = Array.from(tanbark.posterior(model, model.target, known).probabilities);
        known[model.target] = Float64Array.from([1, 1, 0]);
        return [one, Array.from(tanbark.posterior(model, model.target, known).probabilities)]; }""",
            [page_data(clf), likelihood],
        )
    )
    logits = clf.model_.log_prior.copy()
    for network, weight in zip(clf.networks_, clf.weights_, strict=True):
        joint = np.asarray(network.query(["town", "kind"]))
        logits += weight * np.log(likelihood @ (joint / joint.sum(axis=0)))
    expected = np.exp(logits - logits.max())
    assert told[0] == pytest.approx(expected / expected.sum(), abs=1e-9)
    expected[2] = 0.0
    assert told[1] == pytest.approx(expected / expected.sum(), abs=1e-9)


def test_other_variables_are_those_of_the_network_to_read(compute):
    clf, X = fitted("classifier")
    rows = asked(X, n=6)
    told = compute(ASK, [page_data(clf), texts(rows), 0])
    columns = clf.network_.schema.columns
    for row, answer in enumerate(told):
        known = {}
        for node, name in enumerate(X):
            value = rows.iloc[row][name]
            if not pd.isna(value):
                column = columns[node]
                numeric = column.kind == "interval"
                known[name] = column.states()[np.searchsorted(column.cuts, value)] if numeric else value
        for node, name in enumerate(X):
            if name not in known:
                assert answer["marginals"][node] == pytest.approx(np.asarray(clf.network_.query(name, known)), abs=1e-9)


@pytest.mark.parametrize("name", ["ensemble", "classifier", "prior", "rule"])
def test_intervals_are_those_of_python(read, name):
    clf, X = fitted(name)
    rows = asked(X, n=8)
    told = (
        read()
        .open(clf)
        .tab.evaluate(
            """([data, rows]) => { const model = new tanbark.Model(data); return rows.map((row) => {
          const known = row.map((value, node) => value === null ? null :
            model.observed(node, tanbark.codeValue(model.columns[node], value), Number(value)));
          return tanbark.finish(tanbark.intervals(model, model.target, [...known, null], 0.9, 6000)); }); }""",
            [page_data(clf), texts(rows)],
        )
    )
    low, high = clf.predict_proba_interval(rows, n_draws=6000)
    assert np.array(told)[:, :, 0] == pytest.approx(low, abs=0.03)
    assert np.array(told)[:, :, 1] == pytest.approx(high, abs=0.03)
    assert (high - low).max() > 0.12, "the intervals are not wide enough to compare"


# ---------------------------------------------------------------------- reading the page


def shown(reader, place):
    return reader.tab.locator(place).inner_text()


def row_of(clf, **values):
    return pd.DataFrame({name: [values.get(name)] for name in clf.feature_names_in_})


def test_numbers_are_typed_pasted_and_kept_in_the_address(read):
    clf, X = fitted("classifier")
    reader = read().open(clf)
    said = shown(reader, "#reading")
    assert "one network to read" in said
    assert "4 networks" in said
    reader.tab.locator("#tab-list").click()
    for number in (171.3, 181.25):
        field = reader.tab.locator('#list [data-node="0"] .number')
        field.fill(str(number))
        field.press("Enter")
        assert reader.posterior() == pytest.approx(clf.predict_proba(row_of(clf, height=number))[0], abs=1e-9)
        assert f"height = {number}" in shown(reader, "#evidence")
    field = reader.tab.locator('#list [data-node="3"] .number')  # MDLP has no cut in noise
    field.fill("0.4")
    field.press("Enter")
    expected = clf.predict_proba(row_of(clf, height=181.25, noise=0.4))[0]
    assert reader.posterior() == pytest.approx(expected, abs=1e-9)
    scenario = reader.tab.evaluate("location.hash")
    assert "height==181.25" in scenario
    other = read().open(clf, scenario=scenario)
    assert other.posterior() == pytest.approx(expected, abs=1e-12)
    other.tab.locator("#paste").click()
    other.tab.locator("#row").fill(",".join("" if v is None else v for v in texts(X.iloc[[5]])[0]))
    other.tab.locator("#take").click()
    assert other.posterior() == pytest.approx(clf.predict_proba(X.iloc[[5]])[0], abs=1e-9)
    other.tab.locator("#clear").click()
    assert other.posterior() == pytest.approx(clf.predict_proba(row_of(clf))[0], abs=1e-9)


def test_wrong_numbers_in_the_address_are_left_out(read):
    clf, _ = fitted("classifier")
    reader = read().open(clf, scenario="#height==tall&town==3&noise==0.5")
    assert reader.posterior() == pytest.approx(clf.predict_proba(row_of(clf, noise=0.5))[0], abs=1e-9)
    assert "height==tall" in shown(reader, ".notice")
    assert "town==3" in shown(reader, ".notice")


def test_why_next_and_other_variables_on_the_page(read):
    clf, _ = fitted("classifier")
    reader = read().open(clf).wait()
    first = shown(reader, "#next li .link >> nth=0")
    reader.tab.locator("#tab-list").click()
    reader.state(1, 0).click()
    reader.tab.locator("#tab-ask").click()
    reader.wait()
    explained = clf.explain(row_of(clf, town=clf.schema_.columns[1].states()[0]))[0]
    assert sorted(reader.posterior())[-1] == pytest.approx(explained.probability, abs=1e-9)
    assert float(reader.tab.locator("#why tfoot td.value").get_attribute("data-exact")) == pytest.approx(
        explained.log_odds, abs=1e-9
    )
    assert first in clf.schema_.names
    assert "town" not in reader.tab.locator("#next li .link").all_inner_texts()
    assert "90 % interval" in shown(reader, "#posterior")
    reader.tab.locator("#ask").select_option(label="town")
    assert "from the network to read" in shown(reader, "#answer")
    reader.tab.locator("#ask").select_option(label="kind")
    assert "from the network to read" not in shown(reader, "#answer")
    ensemble = read().open(fitted("ensemble")[0])
    assert "5 networks" in shown(ensemble, "#reading")
    assert "correction" not in shown(ensemble, "#reading")


def test_a_corrected_network_says_so_and_has_intervals(read):
    clf, X = fitted("discriminative")
    reader = read().open(clf)
    assert "correction beyond this network" in shown(reader, "#reading")
    reader.tab.locator("#paste").click()
    reader.tab.locator("#row").fill(",".join(X.iloc[0]))
    reader.tab.locator("#take").click()
    reader.wait()
    assert reader.posterior() == pytest.approx(clf.predict_proba(X.iloc[[0]])[0], abs=1e-9)
    low, high = clf.predict_proba_interval(X.iloc[[0]], n_draws=600)
    reader.tab.locator("#more-classes").click()
    told = shown(reader, '.answer-row[data-state="0"]').split("90 % interval ")[1]
    numbers = [float(text) / 100 for text in told.replace(" %", "").replace("above ", "").split(" to ")]
    assert numbers == pytest.approx([low[0, 0], high[0, 0]], abs=0.06)
    plain = read().open(tb.TAN().fit(X, rule_rows()[1]))
    assert plain.tab.locator("#reading").is_hidden()


# ---------------------------------------------------------------------- the data


def test_the_network_of_an_ensemble_to_read_is_its_first_one_with_fewer_parents():
    clf, _ = fitted("ensemble")
    data = page_data(clf)
    whole, first = clf.networks_[0], shorten_member(clf.model_.members[0])
    features = [[p for p in parents if p != data["target"]] for parents in data["parents"]]
    assert max(map(len, features)) == 1
    assert all(set(few) <= set(many) for few, many in zip(data["parents"], whole.dag.parents, strict=True))
    for tree, table, axes in zip(first.trees, data["tables"], data["axes"], strict=False):
        assert np.prod([*tree.states, tree.probabilities.shape[1]]) == len(table)
        assert len(axes) == len(tree.states) + 1
    roots = [node for node, few in enumerate(features) if not few and data["parents"][node]]
    for node in roots:
        if len(whole.dag.parents[node]) == 1:
            assert data["tables"][node] == whole.tables[node].ravel().tolist()


def test_a_page_that_would_be_too_large_is_an_error(monkeypatch):
    monkeypatch.setattr(pooled, "MOST_BYTES", 1000)
    with pytest.raises(tb.errors.TableTooLargeError, match="explore network_"):
        fitted("classifier")[0].explore()
    with pytest.raises(tb.errors.TableTooLargeError, match="n_estimators=5 and max_parents=3"):
        fitted("ensemble")[0].explore()


def test_what_is_not_fitted_cannot_be_explored():
    with pytest.raises(tb.errors.InputError, match="not fitted"):
        page_data(tb.Classifier())
    with pytest.raises(Exception, match="not fitted"):
        tb.NetworkEnsemble().explore()


def test_a_loaded_model_makes_the_same_page(tmp_path):
    for name in ("classifier", "ensemble"):
        clf, _ = fitted(name)
        clf.save(tmp_path / "model.json")
        assert tb.load(tmp_path / "model.json").explore().html == clf.explore().html
