"""Discriminative parameters as a part of classifiers."""

import json
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from scipy.special import logsumexp
from sklearn.base import clone

import tanbark as tb
from tanbark.errors import ModelFileError, OptionError
from tanbark.estimators import Discriminative
from tanbark.evaluation.discriminative import Estimated, LeftOut, corrected_families
from tanbark.export import to_python, to_sql
from tanbark.inference import class_log_prior, joint_log_proba
from tanbark.params.boosting.correction import add_corrections

ARCS = [("x0", "class"), ("x1", "class"), ("class", "x2"), ("x0", "x2"), ("x2", "x3")]
FIXED = {"penalty": 1.0, "rounds": 5}


def rule(n=900, seed=0, missing=0.0, noise=0.05):
    """The class is the parity of three columns, with noise."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, (2, 2, 2, 3), (n, 4))
    y = np.where(rng.random(n) < noise, rng.integers(0, 2, n), X[:, 0] ^ X[:, 1] ^ X[:, 2])
    X = X.astype(float)
    X[rng.random(X.shape) < missing] = np.nan
    return pd.DataFrame(X, columns=[f"x{i}" for i in range(4)]), y


def models(**options):
    part = Discriminative(**options)
    yield tb.NaiveBayes(parameters=part)
    yield tb.TAN(parameters=part)
    yield tb.KDB(max_parents=2, parameters=part)
    yield tb.FixedStructure(ARCS, parameters=part)


@pytest.mark.parametrize("normalize", [False, True])
def test_validation_finds_a_rule_that_the_cpts_miss_and_leaves_noise_alone(normalize):
    X, y = rule(1500)
    Z, w = rule(1000, seed=1)
    # x3 alone depends on what decides: a chain whose CPTs are poor, a family that has the cells
    arcs = [("class", f"x{i}") for i in range(4)] + [("x1", "x0"), ("x2", "x0")]
    plain = tb.FixedStructure(arcs, parameters=50.0).fit(X, y)
    part = Discriminative(smoothing=50.0, normalize=normalize)
    corrected = tb.FixedStructure(arcs, parameters=part).fit(X, y)
    found = corrected.parameters_
    assert found.rounds_ > 0
    assert found.validation_[found.penalty_, found.rounds_] < min(
        loss for (_, rounds), loss in found.validation_.items() if rounds == 0
    )
    assert corrected.conditional_log_likelihood(Z, w) > plain.conditional_log_likelihood(Z, w) + 50
    rng = np.random.default_rng(2)
    noise = tb.KDB(parameters=clone(part)).fit(X, rng.integers(0, 2, len(X)))
    assert noise.parameters_.rounds_ == 0


@pytest.mark.parametrize("missing", [0.0, 0.2])
@pytest.mark.parametrize("place", range(4))
def test_predictions_are_the_tempered_network_and_the_corrections(place, missing):
    X, y = rule(missing=missing)
    clf = list(models(**FIXED))[place].fit(X, y)
    found, codes = clf.parameters_, clf._codes(X)
    prior, families = class_log_prior(clf.network_), found.correction_.families
    members = [families.columns[a:b] for a, b in pairwise(families.spans)]
    whole = np.array([(codes[columns] < 255).all(axis=0) for columns in members]).mean(axis=0)[:, None]
    assert (whole.min() < 1) == (missing > 0)
    expected = np.zeros((len(y), 2))
    add_corrections(families, codes, expected)
    powers = whole * found.temperature_ + (1 - whole) * found.correction_.base_temperature
    expected = prior + powers * (joint_log_proba(clf.network_, codes) - prior) + whole * expected
    expected -= logsumexp(expected, axis=1, keepdims=True)
    np.testing.assert_allclose(clf.predict_log_proba(X), expected, atol=1e-9)
    plain = clone(clf).set_params(parameters=None).fit(X, y)
    for ours, theirs in zip(clf.network_.tables, plain.network_.tables, strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_families_grow_from_the_node_to_its_parents_by_information():
    rng = np.random.default_rng(0)
    n = 2000
    y, a, b = rng.integers(0, 2, n), rng.integers(0, 2, n), rng.integers(0, 2, n)
    x = np.where(rng.random(n) < 0.9, b, a)
    X = pd.DataFrame({"a": a, "b": b, "x": x, "one": np.zeros(n)})
    arcs = [("class", name) for name in X] + [("a", "x"), ("b", "x")]
    clf = tb.FixedStructure(arcs, suspicious="keep").fit(X.assign(a=y), y)
    found = corrected_families(clf.network_, clf.family_counts_)
    assert found[0] == (0,)
    assert sorted(found) == [(0,), (1,), (2, 1, 0)]
    arcs = [("a", "class"), ("b", "class"), ("a", "x"), ("class", "x")]
    clf = tb.FixedStructure(arcs, suspicious="keep").fit(X, x)
    assert corrected_families(clf.network_, clf.family_counts_) == [(1, 0), (2, 0)]


@pytest.mark.parametrize("options", [FIXED, {"penalty": 1.0, "normalize": True}], ids=["corrected", "normalised"])
@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_a_file_brings_it_back_to_the_last_bit(options, missing, tmp_path):
    X, y = rule(300, missing=missing)
    for clf in models(**options):
        clf.fit(X, y).save(tmp_path / "model.json")
        again = tb.load(tmp_path / "model.json")
        np.testing.assert_array_equal(again.predict_log_proba(X), clf.predict_log_proba(X))
        assert again.parameters_.penalty_ == 1.0
        assert again.parameters_.temperature_ == clf.parameters_.temperature_
        again.save(tmp_path / "again.json")
        assert (tmp_path / "again.json").read_bytes() == (tmp_path / "model.json").read_bytes()


@pytest.mark.parametrize(
    ("normalize", "place", "value"),
    [
        (False, "families", 3), (False, "temperature", -1.0), (False, "base_temperature", 0), (False, "penalty", "x"),
        (True, "changes", [[1.0]]), (True, "changes", [[], [], [], [], ["x"]]),
        (True, "changes", [[1.0], [], [], [], []]),
    ],
)  # fmt: skip
def test_damaged_files_raise(normalize, place, value, tmp_path):
    X, y = rule(200)
    tb.KDB(parameters=Discriminative(1.0, rounds=2, normalize=normalize)).fit(X, y).save(tmp_path / "model.json")
    document = json.loads((tmp_path / "model.json").read_text())
    document["learnt"][place] = value
    (tmp_path / "model.json").write_text(json.dumps(document))
    with pytest.raises(ModelFileError):
        tb.load(tmp_path / "model.json")
    del document["learnt"]
    (tmp_path / "model.json").write_text(json.dumps(document))
    with pytest.raises(ModelFileError):
        tb.load(tmp_path / "model.json")


@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_explanations_add_up(missing):
    X, y = rule(300, missing=missing)
    clf = tb.KDB(parameters=Discriminative(**FIXED)).fit(X, y)
    proba = clf.predict_proba(X[:20])
    for row, (explained, p) in enumerate(zip(clf.explain(X[:20]), proba, strict=True)):
        assert explained.probability == pytest.approx(p.max()), row
        assert sum(part.nats for part in explained.parts) == pytest.approx(explained.log_odds)


def test_intervals_contain_the_prediction_and_keep_the_correction():
    X, y = rule(600)
    clf = tb.KDB(parameters=Discriminative(**FIXED)).fit(X, y)
    low, high = clf.predict_proba_interval(X[:30], n_draws=100)
    p = clf.predict_proba(X[:30])
    assert ((low <= p + 0.05) & (p <= high + 0.05)).all()


def test_normalised_cpts_are_those_of_a_network():
    X, y = rule(600, missing=0.1)
    clf = tb.KDB(parameters=Discriminative(1.0, normalize=True, rounds=1)).fit(X, y)
    assert any(change.size and np.abs(change).max() > 0.1 for change in clf.parameters_.changes_)
    for node, table in enumerate(clf.network_.tables):
        np.testing.assert_allclose(table.sum(axis=clf.network_.axes(node).index(node)), 1.0)
    asked = clf.network_.query("class", {"x0": 1.0})
    alone = pd.DataFrame({"x0": [1.0], "x1": [np.nan], "x2": [np.nan], "x3": [np.nan]})
    np.testing.assert_allclose(asked.values, clf.predict_proba(alone)[0])
    scorer = {"__name__": "scorer"}
    exec(to_python(clf), scorer)
    rows = X[:20].astype(object).where(X[:20].notna(), None).to_dict("records")
    ours = clf.predict_proba(X[:20])
    for row, p in zip(rows, ours, strict=True):
        assert list(scorer["predict_proba"](row).values()) == pytest.approx(p.tolist())


def test_the_temperature_of_normalised_cpts_comes_from_validation():
    X, y = rule(600, noise=0.5)
    part = Discriminative(normalize=True)
    clf = tb.KDB(temperature="auto", parameters=part).fit(X, y)
    assert clf.temperature_ == clf.parameters_.temperature_ != 1.0
    plain = tb.KDB(parameters=part).fit(X, y)
    assert plain.temperature_ == plain.parameters_.temperature_ == 1.0
    joint, prior = clf.predict_joint_log_proba(X), class_log_prior(clf.network_)
    expected = prior + clf.temperature_ * (joint - prior)
    expected -= logsumexp(expected, axis=1, keepdims=True)
    np.testing.assert_allclose(clf.predict_log_proba(X), expected, atol=1e-9)
    with pytest.raises(OptionError, match="cannot be taken out"):
        tb.KDB(temperature="auto", parameters=Discriminative(1.0, rounds=1, normalize=True)).fit(X, y)
    with pytest.raises(OptionError, match="temperature of its own"):
        tb.KDB(temperature="auto", parameters=Discriminative()).fit(X, y)


def test_a_given_prior_stays():
    X, y = rule(600)
    clf = tb.KDB(class_prior=[0.3, 0.7], parameters=Discriminative(1.0, normalize=True, rounds=1)).fit(X, y)
    assert not clf.parameters_.changes_[-1].size
    np.testing.assert_allclose(clf.network_.tables[-1], [0.3, 0.7])


def test_exports_have_the_correction_and_the_network_is_exported_without_it():
    X, y = rule(200)
    clf = tb.KDB(parameters=Discriminative(**FIXED)).fit(X, y)
    scorers = [{"__name__": "scorer"}, {"__name__": "scorer"}]
    exec(to_python(clf), scorers[0])
    exec(to_python(clf.network_), scorers[1])
    found = [[list(s["predict_proba"](row).values()) for row in X[:20].to_dict("records")] for s in scorers]
    np.testing.assert_allclose(found[0], clf.predict_proba(X[:20]), atol=1e-12)
    assert np.abs(np.subtract(*found)).max() > 1e-3
    assert "tb_corrected" in to_sql(clf)
    assert "tb_corrected" not in to_sql(clf.network_)
    assert not hasattr(clf, "partial_fit")


def test_options_are_checked():
    X, y = rule(100)
    bad = [
        {"penalty": 0}, {"penalty": "x"}, {"rounds": -1}, {"max_rounds": 0}, {"learning_rate": 0}, {"normalize": 1},
        {"max_iter": 0}, {"tol": 0},
    ]  # fmt: skip
    for options in bad:
        with pytest.raises(OptionError, match=next(iter(options))):
            tb.NaiveBayes(parameters=Discriminative(**options)).fit(X, y)
    with pytest.raises(OptionError, match="without zeros"):
        tb.NaiveBayes(parameters=Discriminative(smoothing="ml")).fit(X[:30], y[:30])


def test_few_rows_and_zero_rounds_leave_the_network_and_temper_it():
    X, y = rule(12)
    few = tb.NaiveBayes(parameters=Discriminative()).fit(X, y)
    assert few.parameters_.rounds_ == 0
    X, y = rule(300)
    for clf in models(rounds=0):
        clf.fit(X, y)
        assert not clf.parameters_.correction_.families.sums.any()
        assert clf.parameters_.validation_ == {}


def test_rounds_or_penalty_alone_may_be_given():
    X, y = rule(400)
    some = tb.KDB(parameters=Discriminative(rounds=3)).fit(X, y).parameters_
    assert some.rounds_ == 3
    assert {rounds for _, rounds in some.validation_} == {3}
    other = tb.KDB(parameters=Discriminative(2.0, max_rounds=6)).fit(X, y).parameters_
    assert other.penalty_ == 2.0
    assert {rounds for _, rounds in other.validation_} <= {0, 1, 2, 4, 6}


@pytest.mark.parametrize("options", [{}, {"normalize": True}], ids=["corrected", "normalised"])
def test_files_threads_and_weights(options, tmp_path):
    X, y = rule(2600)
    part = Discriminative(**options)
    clf = tb.KDB(parameters=part, n_jobs=1).fit(X, y)
    threads = tb.KDB(parameters=part, n_jobs=2).fit(X, y)
    np.testing.assert_array_equal(clf.predict_proba(X), threads.predict_proba(X))
    X.assign(label=y).to_csv(tmp_path / "rows.csv", index=False)
    streamed = tb.KDB(parameters=part).fit(tmp_path / "rows.csv", target="label")
    np.testing.assert_allclose(streamed.predict_proba(X), clf.predict_proba(X), atol=1e-9)
    part = Discriminative(1.0, rounds=3, **options)
    times = np.random.default_rng(0).integers(0, 3, 300)
    Z, w = X[:300], y[:300]
    weighted = tb.KDB(parameters=part).fit(Z, w, sample_weight=times)
    repeated = tb.KDB(parameters=part).fit(Z.loc[Z.index.repeat(times)], w.repeat(times))
    np.testing.assert_allclose(weighted.predict_proba(Z), repeated.predict_proba(Z), atol=1e-5)


@pytest.mark.parametrize("options", [FIXED, {"penalty": 1.0, "rounds": 1, "normalize": True}])
def test_the_order_of_rows_and_columns_changes_nothing_but_rounding(options):
    X, y = rule(500, missing=0.1, noise=0.3)
    part = Discriminative(tol=1e-9, max_iter=1000, **options)
    clf = tb.TAN(parameters=part).fit(X, y)
    order = np.random.default_rng(0).permutation(len(X))
    shuffled = tb.TAN(parameters=part).fit(X.iloc[order], y[order])
    np.testing.assert_allclose(shuffled.predict_proba(X), clf.predict_proba(X), atol=1e-5)
    X, y = rule(500, noise=0.3)
    turned = X[["x3", "x1", "x0", "x2"]]
    straight, other = tb.KDB(parameters=part).fit(X, y), tb.KDB(parameters=part).fit(turned, y)
    np.testing.assert_allclose(other.predict_proba(turned), straight.predict_proba(X), atol=1e-5)


@pytest.mark.parametrize("normalize", [False, True])
def test_columns_that_say_nothing_and_one_class_are_no_trouble(normalize):
    part = Discriminative(1.0, rounds=2, normalize=normalize)
    X, y = rule(50)
    assert (tb.KDB(parameters=part).fit(X, np.zeros(50, int)).predict(X) == 0).all()
    constant = tb.KDB(parameters=part).fit(X * 0, y)
    np.testing.assert_allclose(constant.predict_proba(X * 0).std(axis=0), 0, atol=1e-12)


def test_left_out_log_joints_are_those_of_refits():
    X, y = rule(40, missing=0.1)
    clf = tb.KDB(parameters="laplace").fit(X, y)
    codes = np.vstack([clf._codes(X), y.astype(np.uint8)[None]])
    from tanbark.counts import MemoryCounts
    from tanbark.params import Laplace, family_counts, fit
    from tanbark.table import CodedTable

    rows = MemoryCounts(CodedTable(clf.schema_, codes))
    left_out = LeftOut(Estimated(clf.network_, clf.family_counts_, Laplace(), False), rows)
    for row in range(5):
        rest = MemoryCounts(CodedTable(clf.schema_, np.ascontiguousarray(np.delete(codes, row, axis=1))))
        network = fit(clf.schema_, clf.dag_, family_counts(clf.dag_, rest, max_cells=1 << 20), Laplace())
        expected = joint_log_proba(network, np.ascontiguousarray(codes[:-1, [row]]))[0]
        if not np.isnan(X.iloc[row]).any():
            np.testing.assert_allclose(left_out.joint[row], expected)
