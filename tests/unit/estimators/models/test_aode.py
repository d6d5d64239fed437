"""AODE and A2DE: the worked example, the chain of fallbacks, many features, steps, files."""

from __future__ import annotations

import json
import re
import warnings

import numpy as np
import pandas as pd
import pytest
from pytest import approx
from scipy.special import logsumexp

import naive
import tanbark as tb
from fixtures_small import f500
from strategies import make_table

NAMES = list("ABWVU")


def frame(table):
    codes = table.codes.astype(float)
    codes[codes == 255] = np.nan
    X = pd.DataFrame(
        {f"x{i}": pd.Categorical(codes[i], range(r)) for i, r in enumerate(table.schema.cardinalities[:-1])}
    )
    return X, codes[-1].astype(int)


@pytest.fixture(scope="module")
def worked():
    data = f500()
    return pd.DataFrame(data[:, 1:], columns=NAMES), data[:, 0]


def test_the_worked_example(worked):
    clf = tb.AODE().fit(*worked)
    row = pd.DataFrame([[1, 0, 1, 1, 1]], columns=NAMES)
    assert clf.predict_proba(row)[0, 1] == approx(0.612145, abs=5e-7)
    assert clf.score(*worked) == approx(0.804)
    assert clf.conditional_log_likelihood(*worked) == approx(-220.160815, abs=5e-7)


@pytest.mark.parametrize(("cls", "order"), [(tb.AODE, 1), (tb.A2DE, 2)])
@pytest.mark.parametrize("m", [0, 1, 15, 25])
@pytest.mark.parametrize("gaps", [0.0, 0.3])
@pytest.mark.parametrize("missing_parent", ["sum", "drop"])
def test_the_chain_of_fallbacks(cls, order, m, gaps, missing_parent):
    """Pairs of super-parents, then single ones, then naive Bayes, each where the one before has no model."""
    table = make_table(np.random.default_rng([m, order]), (3, 4, 2, 3, 2), 80, gaps=gaps)
    X, y = frame(table)
    found = cls(min_rows=m, missing_parent=missing_parent).fit(X, y).predict_joint_log_proba(X)
    used = set()
    for row in range(40):
        for level in range(order, -1, -1):
            expected = naive.averaged_joint(
                table.codes, (3, 4, 2, 3, 2), table.codes[:, row], order=level, m=m, missing_parent=missing_parent
            )
            if expected is not None:
                break
        used.add(level)
        assert np.exp(found[row]) == approx(expected, rel=1e-9)
    if gaps and missing_parent == "drop" and (order, m) in ((1, 25), (2, 0)):
        assert used == set(range(order + 1))


@pytest.mark.parametrize("cls", [tb.AODE, tb.A2DE])
def test_without_a_threshold_missing_values_are_summed_out_of_the_average_itself(cls):
    """With ``min_rows=0`` the average is one distribution, and a blanked feature is the sum over its states."""
    table = make_table(np.random.default_rng(3), (3, 4, 2, 3, 3), 80)
    X, y = frame(table)
    clf = cls(min_rows=0).fit(X, y)
    for columns in (["x1"], ["x0", "x3"], list(X)):
        row = X.iloc[[5]]
        kept = row.copy()
        kept[columns] = np.nan
        states = row.drop(columns=columns).merge(
            pd.MultiIndex.from_product([range(X[c].cat.categories.size) for c in columns], names=columns)
            .to_frame(index=False)
            .astype({c: X[c].dtype for c in columns}),
            how="cross",
        )
        summed = np.exp(clf.predict_joint_log_proba(states[list(X)])).sum(axis=0)
        assert np.exp(clf.predict_joint_log_proba(kept))[0] == approx(summed)


@pytest.mark.parametrize("cls", [tb.AODE, tb.A2DE])
def test_explanations_add_up_with_missing_values(cls):
    X, y = frame(make_table(np.random.default_rng(7), (3, 4, 2, 3, 2), 80, gaps=0.2))
    clf = cls().fit(X, y)
    proba = clf.predict_proba(X)
    for row, told in enumerate(clf.explain(X, label=1)):
        odds = np.log(proba[row, 1] / proba[row, 0])
        assert sum(part.nats for part in told.parts) == approx(odds)


@pytest.mark.parametrize("cls", [tb.AODE, tb.A2DE])
def test_one_feature_is_naive_bayes(cls):
    X, y = frame(make_table(np.random.default_rng(0), (4, 3), 50))
    assert cls().fit(X, y).predict_proba(X) == approx(
        tb.NaiveBayes(parameters="laplace").fit(X, y).predict_proba(X), abs=1e-13
    )


@pytest.mark.parametrize("cls", [tb.AODE, tb.A2DE])
def test_a_huge_threshold_is_naive_bayes(cls):
    X, y = frame(make_table(np.random.default_rng(1), (4, 2, 3, 3), 50, gaps=0.1))
    plain = tb.NaiveBayes(parameters="laplace").fit(X, y)
    for m in (51, 1e9, np.inf):
        assert np.array_equal(cls(min_rows=m).fit(X, y).predict_proba(X), plain.predict_proba(X))


def test_two_features_are_one_joint_table_for_pairs():
    table = make_table(np.random.default_rng(2), (3, 2, 2), 60)
    X, y = frame(table)
    counts = naive.table(table.codes, (3, 2, 2), (0, 1, 2))
    joint = (counts + 1) / (counts.sum(axis=(0, 1)) + 6) * naive.smoothed(np.bincount(y), 0, 1.0)
    found = np.exp(tb.A2DE(min_rows=0).fit(X, y).predict_joint_log_proba(X))
    assert found == approx(joint[table.codes[0], table.codes[1]])


def test_nothing_observed_is_the_class_distribution(worked):
    nothing = pd.DataFrame([[np.nan] * 5], columns=NAMES)
    for cls in (tb.AODE, tb.A2DE):
        clf = cls().fit(*worked)
        assert clf.predict_proba(nothing)[0] == approx([324 / 502, 178 / 502])


def test_hundreds_of_features_do_not_underflow():
    """Joints of about exp(-1000) are far below the range of floats; their logarithms are averaged exactly."""
    n, alpha = 250, 1e-4
    same, y = np.array([0, 0, 1, 1, 1, 0, 1, 0]), np.array([0, 1, 0, 1, 1, 1, 0, 1])
    X = np.repeat(same[:, None], n, axis=1)  # every feature a copy of the first
    row = np.arange(n) % 2  # and a row in which they contradict one another
    clf = tb.AODE(parameters=alpha).fit(X, y)
    found = clf.predict_joint_log_proba(row[None])[0]
    assert (found < -1000).all()
    for label in (0, 1):
        own = y == label
        models = []
        for i in range(n):
            both = own & (X[:, i] == row[i])
            alone = np.log((both.sum() + alpha) / (own.sum() + 2 * alpha))
            given = np.log(((X[both] == row).sum(axis=0) + alpha) / (both.sum() + 2 * alpha))
            models.append(np.log((own.sum() + alpha) / (len(y) + 2 * alpha)) + alone + np.delete(given, i).sum())
        assert found[label] == approx(logsumexp(models) - np.log(n), rel=1e-10)
    assert clf.predict_proba(row[None]).sum() == approx(1.0)


@pytest.mark.parametrize("cls", [tb.AODE, tb.A2DE])
@pytest.mark.parametrize("weighted", [False, True])
def test_learning_step_by_step_is_learning_at_once(cls, weighted):
    table = make_table(np.random.default_rng(4), (3, 4, 2, 3, 2), 90, gaps=0.1, weighted=weighted)
    X, y = frame(table)
    whole = cls().fit(X, y, sample_weight=table.weights)
    steps = cls()
    for low in range(0, 90, 30):
        part = slice(low, low + 30)
        weights = None if table.weights is None else table.weights[part]
        steps.partial_fit(X[part], y[part], classes=[0, 1], sample_weight=weights)
    assert np.array_equal(steps.predict_joint_log_proba(X), whole.predict_joint_log_proba(X))
    assert steps.n_parameters_ == whole.n_parameters_
    more = cls().fit(pd.concat([X, X[:20]]), np.concatenate([y, y[:20]]))
    if not weighted:
        more.forget(X[:20], y[:20])
        assert np.array_equal(more.predict_joint_log_proba(X), whole.predict_joint_log_proba(X))


@pytest.mark.parametrize("cls", [tb.AODE, tb.A2DE])
@pytest.mark.parametrize(
    "options", [{}, {"min_rows": 3, "parameters": 0.1}, {"parameters": "bdeu", "class_prior": [0.3, 0.7]}]
)
def test_a_file_brings_it_back_to_the_last_bit(cls, options, tmp_path):
    X, y = frame(make_table(np.random.default_rng(5), (3, 4, 2, 3, 2), 90, gaps=0.1))
    clf = cls(**options).fit(X, y)
    clf.save(tmp_path / "model.json")
    again = tb.load(tmp_path / "model.json")
    assert type(again) is cls
    assert again.get_params() == clf.get_params()
    assert np.array_equal(again.predict_joint_log_proba(X), clf.predict_joint_log_proba(X))
    assert np.array_equal(again.partial_fit(X, y).predict_proba(X), clf.partial_fit(X, y).predict_proba(X))


@pytest.mark.parametrize("cls", [tb.AODE, tb.A2DE])
def test_files_from_before_the_option_predict_as_they_did(cls, tmp_path):
    X, y = frame(make_table(np.random.default_rng(5), (3, 4, 2, 3, 2), 90, gaps=0.3))
    old, path = cls(missing_parent="drop").fit(X, y), tmp_path / "model.json"
    for model in (old, tb.ModelAveraging(cls(missing_parent="drop"), n_estimators=2, random_state=0).fit(X, y)):
        model.save(path)
        path.write_text(re.sub(r'"missing_parent":"drop",|,"missing_parent":"drop"', "", path.read_text()))
        again = tb.load(path)
        assert '"missing_parent"' not in path.read_text()
        assert np.array_equal(again.predict_proba(X), model.predict_proba(X))
    assert again.estimator.missing_parent == "drop"
    assert not np.allclose(cls().fit(X, y).predict_proba(X), old.predict_proba(X))


@pytest.mark.parametrize("cls", [tb.AODE, tb.A2DE])
def test_a_bad_choice_for_missing_super_parents_is_refused(cls):
    with pytest.raises(tb.errors.OptionError, match=r"missing_parent must be one of \['drop', 'sum'\]; got 'skip'"):
        cls(missing_parent="skip").fit([[0], [1]], [0, 1])


# ---------------------------------------------------------------------- within max_cells


SIZES = (3, 4, 2, 3, 2)  # 12 feature states: a model with s joint states takes s * 12 * 2 cells


def reduced(cls, max_cells, *, n=90, **options):
    table = make_table(np.random.default_rng(8), SIZES, n, gaps=0.1)
    X, y = frame(table)
    with pytest.warns(tb.errors.ReducedModelWarning) as told:
        clf = cls(max_cells=max_cells, **options).fit(X, y)
    assert len(told) == 1
    return clf, table, X, y, str(told[0].message)


@pytest.mark.parametrize("few", [False, True])
@pytest.mark.parametrize(("cls", "order", "max_cells"), [(tb.AODE, 1, 24 * 6), (tb.A2DE, 2, 24 * 26)])
def test_too_many_cells_leave_super_parents_out(cls, order, max_cells, few, monkeypatch):
    """The kept models are averaged as ever, whether all counts are kept or those of the kept models only."""
    if few:
        monkeypatch.setattr("tanbark.estimators.fit.KEPT_CELLS", 10)
    clf, table, X, _, told = reduced(cls, max_cells)
    assert hasattr(clf, "chosen_counts_") == few
    assert hasattr(clf, "counts_") != few
    place = {f"x{i}": i for i in range(4)}
    sets = [tuple(place[name] for name in names) for names in clf.super_parents_]
    own = [columns for columns in sets if len(columns) == order]
    assert sum(np.prod([SIZES[c] for c in columns]) for columns in own) * 24 <= max_cells
    assert 0 < len(own) < (4 if order == 1 else 6)
    assert f"it averages the {len(own)} of highest mutual information with the class" in told
    assert "raise max_cells" in told
    found = clf.predict_joint_log_proba(X)
    for row in range(40):
        expected = naive.averaged_joint(table.codes, SIZES, table.codes[:, row], order=order, m=1, parents=own)
        if expected is not None:
            assert np.exp(found[row]) == approx(expected, rel=1e-9)


@pytest.mark.parametrize("few", [False, True])
@pytest.mark.parametrize(("cls", "max_cells"), [(tb.AODE, 24 * 6), (tb.A2DE, 24 * 26)])
def test_a_reduced_model_comes_back_from_its_file(cls, max_cells, few, monkeypatch, tmp_path, recwarn):
    if few:
        monkeypatch.setattr("tanbark.estimators.fit.KEPT_CELLS", 10)
    clf, _, X, _, _ = reduced(cls, max_cells)
    clf.save(tmp_path / "model.json")
    again = tb.load(tmp_path / "model.json")
    assert again.super_parents_ == clf.super_parents_
    assert again.n_parameters_ == clf.n_parameters_
    assert np.array_equal(again.predict_joint_log_proba(X), clf.predict_joint_log_proba(X))
    assert np.array_equal(again.support(X), clf.support(X))
    assert not recwarn.list


@pytest.mark.parametrize(
    "wrong", [[[[0]]], [[[0, 1]], [[9]]], [[[1, 0]], [[0]]], [[[0, 2], [0, 1]], [[0]]], [[[0, 1]], [[True]]], 3]
)
def test_damaged_super_parents_are_found(wrong, tmp_path):
    clf, *_ = reduced(tb.A2DE, 24 * 26)
    path = tmp_path / "model.json"
    clf.save(path)
    document = json.loads(path.read_text())
    path.write_text(json.dumps(document | {"super_parents": wrong}))
    with pytest.raises(tb.errors.ModelFileError):
        tb.load(path)


def test_where_no_pair_fits_aode_predicts_and_then_naive_bayes():
    clf, _, X, y, told = reduced(tb.A2DE, 24 * 4)
    single, *_ = reduced(tb.AODE, 24 * 4)
    assert "any of the 6 pairs needs more cells than that, so AODE predicts instead" in told
    assert clf.super_parents_ == single.super_parents_
    assert np.array_equal(clf.predict_proba(X), single.predict_proba(X))
    for cls in (tb.AODE, tb.A2DE):
        clf, _, X, y, told = reduced(cls, 20)
        assert "any of the 4 super-parents needs more cells than that, so naive Bayes predicts instead" in told
        assert clf.super_parents_ == ()
        plain = tb.NaiveBayes(parameters="laplace").fit(X, y)
        assert np.array_equal(clf.predict_proba(X), plain.predict_proba(X))
        with pytest.warns(tb.errors.ReducedModelWarning), pytest.raises(tb.errors.TableTooLargeError):
            cls(max_cells=5).fit(X, y)


@pytest.mark.parametrize(("cls", "max_cells"), [(tb.AODE, 24 * 6), (tb.A2DE, 24 * 26)])
def test_a_reduced_model_learns_step_by_step_where_all_counts_fit(cls, max_cells, monkeypatch):
    clf, _, X, y, _ = reduced(cls, max_cells)
    with pytest.warns(tb.errors.ReducedModelWarning):
        steps = cls(max_cells=max_cells).partial_fit(X[:40], y[:40])
    with pytest.warns(tb.errors.ReducedModelWarning):
        steps.partial_fit(X[40:], y[40:])
    assert steps.super_parents_ == clf.super_parents_
    assert np.array_equal(steps.predict_joint_log_proba(X), clf.predict_joint_log_proba(X))
    with pytest.raises(tb.errors.TableTooLargeError, match=r"keeps the counts of every .* Use fit with all rows"):
        cls(max_cells=60).partial_fit(X, y)
    monkeypatch.setattr("tanbark.estimators.fit.KEPT_CELLS", 10)
    few, *_ = reduced(cls, max_cells)
    with pytest.raises(tb.errors.OptionError, match="keeps no counts to add to"):
        few.partial_fit(X, y)
    few.max_cells = 1 << 20
    assert hasattr(few.fit(X, y), "counts_")
    assert not hasattr(few, "chosen_counts_")


@pytest.mark.parametrize("few", [False, True])
@pytest.mark.parametrize(("cls", "max_cells"), [(tb.AODE, 24 * 6), (tb.A2DE, 24 * 26)])
def test_a_file_is_reduced_as_its_table_is(cls, max_cells, few, monkeypatch, tmp_path):
    if few:
        monkeypatch.setattr("tanbark.estimators.fit.KEPT_CELLS", 10)
    table = make_table(np.random.default_rng(8), SIZES, 90, gaps=0.1)
    rows = pd.DataFrame(np.where(table.codes == 255, np.nan, table.codes).T, columns=["x0", "x1", "x2", "x3", "y"])
    rows.to_csv(tmp_path / "rows.csv", index=False)
    with pytest.warns(tb.errors.ReducedModelWarning):
        memory = cls(max_cells=max_cells).fit(rows.drop(columns="y"), rows["y"])
    with pytest.warns(tb.errors.ReducedModelWarning):
        streamed = cls(max_cells=max_cells).fit(tmp_path / "rows.csv", target="y")
    X = rows.drop(columns="y")
    assert streamed.super_parents_ == memory.super_parents_
    assert np.array_equal(streamed.predict_joint_log_proba(X), memory.predict_joint_log_proba(X))


def test_nothing_is_left_out_where_everything_fits():
    table = make_table(np.random.default_rng(8), SIZES, 90)
    X, y = frame(table)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert tb.AODE(max_cells=12 * 24).fit(X, y).super_parents_ == (("x0",), ("x1",), ("x2",), ("x3",))
        assert len(tb.A2DE(max_cells=53 * 24).fit(X, y).super_parents_) == 6 + 4
    with pytest.warns(tb.errors.ReducedModelWarning, match=r"all 6 pairs need 1,272 cells"):
        assert len(tb.A2DE(max_cells=53 * 24 - 1).fit(X, y).super_parents_) == 5 + 4


@pytest.mark.parametrize("m", [-1, "1", None, True, np.nan])
@pytest.mark.parametrize("cls", [tb.AODE, tb.A2DE])
def test_a_bad_threshold_is_refused(cls, m):
    with pytest.raises(tb.errors.OptionError, match="min_rows must be a number of at least 0"):
        cls(min_rows=m).fit([[0], [1]], [0, 1])


def test_free_parameters_are_those_of_all_models():
    X, y = frame(make_table(np.random.default_rng(6), (3, 2, 4, 2), 50))
    sizes, classes = (3, 2, 4), 2
    naive_bayes = 1 + classes * sum(r - 1 for r in sizes)
    single = sum(r * classes * sum(s - 1 for j, s in enumerate(sizes) if j != i) for i, r in enumerate(sizes))
    pairs = sum(sizes[i] * sizes[j] * classes * (sizes[3 - i - j] - 1) for i, j in ((0, 1), (0, 2), (1, 2)))
    assert tb.AODE().fit(X, y).n_parameters_ == naive_bayes + single
    assert tb.A2DE().fit(X, y).n_parameters_ == naive_bayes + single + pairs
