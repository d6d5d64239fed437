"""MANB, AWNB and WANBIA as parts of classifiers."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from pytest import approx
from sklearn.base import clone
from sklearn.tree import DecisionTreeClassifier

import naive
import tanbark as tb
from fixtures_small import f500
from strategies import make_table
from tanbark.estimators.parts.weights import least_depths, order_states

NAMES = list("ABWVU")
ROW = pd.DataFrame([[1, 0, 1, 1, 1]], columns=NAMES)


def frame(table):
    codes = table.codes.astype(float)
    codes[codes == 255] = np.nan
    return pd.DataFrame({f"x{i}": codes[i] for i in range(len(codes) - 1)}), codes[-1].astype(int)


@pytest.fixture(scope="module")
def worked():
    data = f500()
    return pd.DataFrame(data[:, 1:], columns=NAMES), data[:, 0]


@pytest.fixture(params=[0.0, 0.15], ids=["complete", "gaps"])
def rows(request):
    return frame(make_table(np.random.default_rng(3), (3, 4, 2, 3, 3), 150, gaps=request.param))


MAKERS = {
    "MANB": lambda: tb.NaiveBayes(parameters=tb.MANB(arc_prior=0.3)),
    "MANB, k2": lambda: tb.NaiveBayes(parameters=tb.MANB(smoothing="k2")),
    "WANBIA": lambda: tb.NaiveBayes(parameters=tb.WANBIA()),
    "WANBIA, squared": lambda: tb.NaiveBayes(parameters=tb.WANBIA("mse", bounds=(0.0, None))),
    "WANBIA, normalised": lambda: tb.NaiveBayes(parameters=tb.WANBIA(normalize=True, smoothing=0.5)),
    "AWNB": lambda: tb.NaiveBayes(parameters=tb.AWNB(random_state=0)),
    "AWNB, normalised tree": lambda: tb.TAN(parameters=tb.AWNB(3, normalize=True, random_state=0)),
    "AWNB, search": lambda: tb.BSEJ(parameters=tb.AWNB(random_state=0, normalize=True), cv=3, random_state=0),
    "AWNB, k": lambda: tb.KDB(max_parents=1, parameters=tb.AWNB(random_state=1, normalize=True)),
}


@pytest.mark.parametrize("name", MAKERS)
def test_a_file_brings_it_back_to_the_last_bit(name, rows, tmp_path):
    X, y = rows
    clf = MAKERS[name]().fit(X, y)
    clf.save(tmp_path / "model.json")
    again = tb.load(tmp_path / "model.json")
    assert np.array_equal(again.predict_joint_log_proba(X), clf.predict_joint_log_proba(X))
    for learnt in ("weights_", "arc_posterior_"):
        assert getattr(again.parameters_, learnt, None) == getattr(clf.parameters_, learnt, None)
    assert repr(again.parameters) == repr(clf.parameters)


@pytest.mark.parametrize("name", MAKERS)
def test_fitting_leaves_the_options_alone_and_repeats(name, rows):
    X, y = rows
    clf = MAKERS[name]()
    before = dict(vars(clf.parameters))
    first = clf.fit(X, y).predict_proba(X)
    assert vars(clf.parameters) == before
    assert np.array_equal(clone(clf).fit(X, y).predict_proba(X), first)
    assert np.array_equal(clf.set_params(n_jobs=2).fit(X, y).predict_proba(X), first)


@pytest.mark.parametrize("bad", ["manb", tb.MANB, True, [1], tb.NaiveBayes()])
def test_other_things_are_refused(bad, rows):
    with pytest.raises(
        tb.errors.OptionError, match=r"parameters must be (one of|a smoothing such as Laplace.*or BDeu.*MANB)"
    ):
        tb.NaiveBayes(parameters=bad).fit(*rows)


# ---------------------------------------------------------------------- MANB


@pytest.mark.parametrize(("prior", "alone"), [(0.0, True), (1.0, False)])
def test_the_limits_of_manb(prior, alone, rows):
    X, y = rows
    found = tb.NaiveBayes(parameters=tb.MANB(arc_prior=prior)).fit(X, y).predict_proba(X)
    if alone:
        assert found == approx(np.tile((np.bincount(y) + 1) / (len(y) + 3), (len(y), 1)))
    else:
        plain = tb.NaiveBayes(parameters="laplace").fit(X, y)
        assert found == approx(plain.predict_proba(X), abs=1e-12)


def test_manb_learns_step_by_step(rows):
    X, y = rows
    whole = tb.NaiveBayes(parameters=tb.MANB()).fit(X, y)
    steps = tb.NaiveBayes(parameters=tb.MANB())
    for low in (0, 50, 100):
        steps.partial_fit(X[low : low + 50], y[low : low + 50], classes=[0, 1, 2])
    assert steps.parameters_.arc_posterior_ == approx(whole.parameters_.arc_posterior_)
    assert steps.predict_proba(X) == approx(whole.predict_proba(X))


def test_a_column_that_tells_nothing_has_a_low_posterior(worked):
    X, y = worked
    even = naive.dealt_folds(y, 2)  # half of each class
    told = tb.NaiveBayes(parameters=tb.MANB()).fit(X.assign(noise=even, one=0), y).parameters_
    assert list(told.arc_posterior_) == [*NAMES, "noise", "one"]
    assert told.arc_posterior_["A"] == approx(1.0)
    assert told.arc_posterior_["noise"] < 0.2
    assert told.arc_posterior_["one"] == approx(0.5)


def test_what_manb_refuses(rows):
    for make in (tb.TAN, tb.SPODE):
        with pytest.raises(tb.errors.OptionError, match="use it with NaiveBayes"):
            make(parameters=tb.MANB()).fit(*rows)
    for smoothing in ("bdeu", "m-estimate", 0):
        with pytest.raises(tb.errors.OptionError, match=r"MANB needs smoothing=Laplace\(alpha\) with alpha > 0, or K2"):
            tb.NaiveBayes(parameters=tb.MANB(smoothing=smoothing)).fit(*rows)
    with pytest.raises(tb.errors.OptionError, match="arc_prior must be a number from 0 to 1; got 2"):
        tb.NaiveBayes(parameters=tb.MANB(arc_prior=2)).fit(*rows)


# ---------------------------------------------------------------------- weights, however they are found


class Half(tb.WANBIA):
    """Weights that are given instead of learnt."""

    given = (0.5, 0.5, 0.5, 0.5, 0.5)

    def _weigh(self, network, rows):
        return np.array(self.given)


def test_raw_and_renormalised_weights_are_different_models(worked):
    raw = tb.NaiveBayes(parameters=Half(smoothing=1)).fit(*worked)
    assert raw.predict_proba(ROW)[0, 1] == approx(0.552667, abs=5e-7)
    renormalised = tb.NaiveBayes(parameters=Half(normalize=True, smoothing=1)).fit(*worked)
    assert renormalised.predict_proba(ROW)[0, 1] == approx(0.562340650376, abs=1e-11)  # by decimal arithmetic
    for node in range(5):
        assert renormalised.network_.tables[node].sum(axis=0) == approx(1.0)


@pytest.mark.parametrize("normalize", [False, True])
def test_weight_zero_removes_a_feature_exactly(worked, normalize, monkeypatch):
    X, y = worked
    monkeypatch.setattr(Half, "given", (1.0, 0.0, 1.0, 0.0, 1.0))
    found = tb.NaiveBayes(parameters=Half(normalize=normalize)).fit(X, y)
    left = tb.NaiveBayes().fit(X[["A", "W", "U"]], y)
    assert found.predict_proba(X) == approx(left.predict_proba(X[["A", "W", "U"]]), abs=1e-13)


# ---------------------------------------------------------------------- WANBIA


def test_wanbia_on_the_worked_example(worked):
    clf = tb.NaiveBayes(parameters=tb.WANBIA(smoothing=1)).fit(*worked)
    expected = {"A": 0.80776, "B": 0.69792, "W": 0.47559, "V": 0.0, "U": 1.0}
    assert clf.parameters_.weights_ == approx(expected, abs=5e-6)
    assert -clf.parameters_.objective_ == approx(217.849754, abs=5e-7)
    assert clf.conditional_log_likelihood(*worked) == approx(clf.parameters_.objective_, abs=1e-9)
    assert clf.parameters_.n_iter_ > 1
    above = tb.NaiveBayes(parameters=tb.WANBIA(bounds=(0.0, None), smoothing=1)).fit(*worked).parameters_
    assert -above.objective_ == approx(217.448305, abs=5e-7)
    assert above.weights_["U"] == approx(1.15472, abs=5e-6)


def test_the_objective_is_that_of_the_model(rows):
    X, y = rows
    clf = tb.NaiveBayes(parameters=tb.WANBIA()).fit(X, y)
    assert clf.conditional_log_likelihood(X, y) == approx(clf.parameters_.objective_, rel=1e-10)
    assert clf.parameters_.objective_ >= tb.NaiveBayes().fit(X, y).conditional_log_likelihood(X, y)
    squared = tb.NaiveBayes(parameters=tb.WANBIA("mse")).fit(X, y)
    error = 0.5 * ((squared.predict_proba(X) - np.eye(3)[y]) ** 2).sum()
    assert squared.parameters_.objective_ == approx(-error, rel=1e-10)
    assert error <= 0.5 * ((clf.predict_proba(X) - np.eye(3)[y]) ** 2).sum() + 1e-9


def test_wanbia_does_not_depend_on_threads():
    X, y = frame(make_table(np.random.default_rng(4), (*[3] * 10, 2), 40_000, gaps=0.02))
    with pytest.warns(tb.errors.NotConvergedWarning, match="stopped at max_iter=5"):
        one, two = (tb.NaiveBayes(parameters=tb.WANBIA(max_iter=5), n_jobs=n).fit(X, y).parameters_ for n in (1, 2))
    assert one.weights_ == two.weights_
    assert not one.converged_


def test_wanbia_heeds_row_weights(rows):
    X, y = rows
    times = np.random.default_rng(0).integers(0, 3, len(y))
    weighted = tb.NaiveBayes(parameters=tb.WANBIA()).fit(X, y, sample_weight=times)
    repeated = tb.NaiveBayes(parameters=tb.WANBIA()).fit(X.loc[X.index.repeat(times)], y.repeat(times))
    assert weighted.parameters_.weights_ == approx(repeated.parameters_.weights_, abs=1e-5)
    assert weighted.parameters_.objective_ == approx(repeated.parameters_.objective_)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"criterion": "cl"}, "criterion must be one of .*Did you mean 'cll'"),
        ({"bounds": (1.0, 0.0)}, "bounds must be a pair"),
        ({"bounds": (0.0,)}, "bounds must be a pair"),
        ({"bounds": 1.0}, "bounds must be a pair"),
        ({"bounds": ("0", None)}, "bounds must be a pair"),
        ({"bounds": (float("nan"), 1.0)}, "bounds must be a pair"),
        ({"max_iter": 0}, "max_iter must be a whole number of at least 1"),
        ({"tol": 0}, "tol must be a number above 0"),
        ({"tol": "small"}, "tol must be a number above 0"),
    ],
)
def test_what_wanbia_refuses(rows, options, message):
    with pytest.raises(tb.errors.OptionError, match=message):
        tb.NaiveBayes(parameters=tb.WANBIA(**options)).fit(*rows)


def test_wanbia_wants_naive_bayes_without_zeros(rows):
    with pytest.raises(tb.errors.OptionError, match="or AWNB with other structures"):
        tb.TAN(parameters=tb.WANBIA()).fit(*rows)
    X, y = rows
    with pytest.raises(tb.errors.OptionError, match="with alpha > 0"):
        tb.NaiveBayes(parameters=tb.WANBIA(smoothing=0), suspicious="keep").fit(X.assign(rare=y), y)


def test_wanbia_with_one_class_and_constant_columns():
    X = pd.DataFrame({"a": [0, 1, 0, 1], "b": 0})
    clf = tb.NaiveBayes(parameters=tb.WANBIA()).fit(X, [1, 1, 1, 1])
    assert clf.predict_proba(X) == approx(1.0)
    assert set(clf.parameters_.weights_) == {"a", "b"}


def test_partial_fit_needs_rows_for_weights(rows):
    for parameters in (tb.WANBIA(), tb.AWNB()):
        assert not hasattr(tb.NaiveBayes(parameters=parameters), "partial_fit")
    assert hasattr(tb.NaiveBayes(parameters=tb.MANB()), "partial_fit")


# ---------------------------------------------------------------------- AWNB


def test_depths_of_a_tree():
    X = np.array([[0, 0, 0], [0, 1, 0], [1, 0, 0], [1, 1, 0], [0, 0, 1], [0, 0, 1], [0, 1, 1], [1, 1, 1]])
    y = np.array([0, 1, 1, 0, 2, 2, 2, 2])
    tree = DecisionTreeClassifier(criterion="entropy", random_state=0).fit(X, y)
    assert least_depths(tree.tree_, 3).tolist() in ([2, 3, 1], [3, 2, 1])
    assert least_depths(tree.tree_, 4)[3] == math.inf
    single = DecisionTreeClassifier().fit(X, np.zeros(8))
    assert least_depths(single.tree_, 3).tolist() == [math.inf] * 3


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("n_classes", [2, 3])
def test_names_of_states_and_labels_do_not_matter_to_the_trees(seed, n_classes):
    rng = np.random.default_rng(seed)
    X, y = frame(make_table(rng, (5, 7, 4, n_classes), 120, gaps=0.1 * (seed % 2)))
    X = X.assign(number=rng.normal(size=len(X)) + y)
    renamed = X.copy()
    for name, states in (("x0", 5), ("x1", 7), ("x2", 4)):
        renamed[name] = X[name].map(dict(enumerate(rng.permutation([f"s{k}" for k in range(states)]))))
    labels = rng.permutation([f"c{k}" for k in range(n_classes)])[np.asarray(y)]
    plain, told = (
        tb.NaiveBayes(parameters=tb.AWNB(random_state=seed, normalize=True)).fit(*rows).parameters_.weights_
        for rows in ((X, y), (renamed, labels))
    )
    assert plain == told


def test_categories_are_ordered_by_their_class_distributions():
    codes = np.array([0, 0, 1, 1, 2, 2, 3, 3, 255], np.uint8)
    labels = np.array([0, 0, 1, 1, 0, 1, 1, 1, 0])
    found = order_states(codes, labels, "category")
    assert found[:8].tolist() == [0, 0, 2, 2, 1, 1, 3, 3]
    assert np.isnan(found[8])
    assert order_states(codes, labels, "interval")[:8].tolist() == codes[:8].tolist()


def test_the_weight_is_the_mean_of_inverse_roots(monkeypatch, worked):
    """Depths over three trees of 1, 3 and unused."""
    depths = iter([[1.0, 2, 2, 2, 4], [3.0, 1, 1, 1, 4], [math.inf] * 5])
    monkeypatch.setattr("tanbark.estimators.parts.weights.least_depths", lambda tree, n: np.array(next(depths)))
    clf = tb.NaiveBayes(parameters=tb.AWNB(n_trees=3, random_state=0)).fit(*worked)
    assert clf.parameters_.weights_["A"] == approx(0.525783, abs=5e-7)
    assert clf.parameters_.weights_["A"] == approx((1 + 3**-0.5) / 3)
    assert clf.parameters_.weights_["U"] == approx(1 / 3)
    joint = np.log(clf.network_.tables[-1]).copy()
    for name, value in zip(NAMES, (1, 0, 1, 1, 1), strict=True):
        joint += clf.parameters_.weights_[name] * np.log(clf.network_.table(name)[value])
    assert clf.predict_joint_log_proba(ROW)[0] == approx(joint)


def test_an_unused_feature_has_weight_zero_and_drops_out(worked):
    X, y = worked
    with_one = X.assign(one="same")
    clf = tb.NaiveBayes(parameters=tb.AWNB(random_state=0)).fit(with_one, y)
    weights = clf.parameters_.weights_
    assert weights["one"] == 0.0
    assert all(0 < weights[name] <= 1 for name in NAMES)
    gone = with_one.assign(one=pd.Series([None] * 500, dtype=object))
    assert clf.predict_proba(gone) == approx(clf.predict_proba(with_one), abs=1e-13)


def test_the_random_state_decides(worked):
    def weights(seed, **options):
        return tb.NaiveBayes(parameters=tb.AWNB(random_state=seed, **options)).fit(*worked).parameters_.weights_

    assert weights(0) == weights(0)
    assert weights(0) != weights(1)
    assert weights(np.random.RandomState(0)) == weights(0)
    assert weights(0, n_trees=3) != weights(0)
    assert weights(0, bootstrap_size=0.1) != weights(0)


def test_rows_are_drawn_in_proportion_to_their_weights(worked):
    """Rows of next to no weight are never drawn: what only they could tell has weight zero."""
    X, y = worked
    half = np.arange(500) < 250
    told = X.assign(late=np.where(half, 0, y))
    heavy = tb.NaiveBayes(parameters=tb.AWNB(random_state=0)).fit(told, y, sample_weight=np.where(half, 1.0, 1e-12))
    assert heavy.parameters_.weights_["late"] == 0.0
    assert tb.NaiveBayes(parameters=tb.AWNB(random_state=0)).fit(told, y).parameters_.weights_["late"] > 0.9


def test_a_weighted_tree_predicts_complete_rows(worked):
    X, y = worked
    clf = tb.TAN(parameters=tb.AWNB(random_state=0)).fit(X, y)
    network, weights = clf.network_, clf.parameters_.weights_
    codes = {name: X[name].to_numpy() for name in NAMES}
    joint = np.tile(np.log(network.tables[-1]), (500, 1))
    for node, name in enumerate(NAMES):
        parents = [NAMES[axis] for axis in network.axes(node)[:-1]]
        joint += weights[name] * np.log(network.tables[node][tuple(codes[p] for p in parents)])
    assert clf.predict_joint_log_proba(X) == approx(joint)


def test_a_missing_parent_cannot_be_summed_out_of_weighted_tables(worked):
    X, y = worked
    clf = tb.TAN(parameters=tb.AWNB(random_state=0)).fit(X, y)
    parents = {parent for parent, _ in clf.dag_.arcs()} - {"class"}
    leaves = [name for name in NAMES if name not in parents]
    for name in parents:
        with pytest.raises(tb.errors.InputError, match=r"are weighted.*normalize=True"):
            clf.predict(X.astype(float).assign(**{name: np.nan}))
    for name in leaves:
        found = clf.predict_joint_log_proba(X.astype(float).assign(**{name: np.nan}))
        node = NAMES.index(name)
        axes = [NAMES[axis] for axis in clf.network_.axes(node)[:-1]]
        entry = clf.network_.tables[node][tuple(X[a].to_numpy() for a in axes)]
        assert found == approx(clf.predict_joint_log_proba(X) - clf.parameters_.weights_[name] * np.log(entry))


def test_renormalised_tables_sum_gaps_out(worked):
    X, y = worked
    clf = tb.TAN(parameters=tb.AWNB(random_state=0, normalize=True)).fit(X, y)
    for name, states in (("W", 3), ("A", 2)):
        gone = clf.predict_joint_log_proba(X.astype(float).assign(**{name: np.nan}))
        filled = [np.exp(clf.predict_joint_log_proba(X.assign(**{name: state}))) for state in range(states)]
        assert np.exp(gone) == approx(sum(filled))


def test_gaps_and_empty_columns_do_not_stop_the_trees():
    X, y = frame(make_table(np.random.default_rng(6), (3, 3, 2), 60, gaps=0.3))
    with pytest.warns(tb.errors.EmptyColumnWarning):
        clf = tb.NaiveBayes(parameters=tb.AWNB(random_state=0)).fit(X.assign(empty=np.nan), y)
    assert clf.parameters_.weights_["empty"] == 0.0
    assert clf.predict_proba(X.assign(empty=np.nan)).sum(axis=1) == approx(1.0)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_trees": 0}, "n_trees must be a whole number of at least 1"),
        ({"n_trees": 1.5}, "n_trees must be a whole number of at least 1"),
        ({"bootstrap_size": 0}, "bootstrap_size must be a fraction"),
        ({"bootstrap_size": 1.1}, "bootstrap_size must be a fraction"),
        ({"bootstrap_size": True}, "bootstrap_size must be a fraction"),
        ({"bootstrap_size": "half"}, "bootstrap_size must be a fraction"),
    ],
)
def test_what_awnb_refuses(worked, options, message):
    with pytest.raises(tb.errors.OptionError, match=message):
        tb.NaiveBayes(parameters=tb.AWNB(**options)).fit(*worked)


def test_trees_that_test_nothing_are_refused():
    with pytest.raises(tb.errors.InputError, match="No tree of AWNB tests any feature"):
        tb.NaiveBayes(parameters=tb.AWNB(random_state=0)).fit([[0], [1], [0], [1]], [1, 1, 1, 1])
