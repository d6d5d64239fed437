"""What must hold for every classifier, whatever its learner."""

import inspect
from functools import cache

import numpy as np
import pandas as pd
import pytest

import tanbark as tb
from strategies import make_table

GENERAL = [("x1", "class"), ("x3", "class"), ("x0", "x1"), ("x2", "x3"), ("x0", "x3"), ("class", "x4"), ("x2", "x4")]

MAKERS = {
    "NaiveBayes": tb.NaiveBayes,
    "TAN": tb.TAN,
    "TAN bic": lambda **k: tb.TAN(criterion="bic", **k),
    "TAN mml": lambda **k: tb.TAN(criterion="mml", **k),
    "KDB": tb.KDB,
    "SelectiveKDB": tb.SelectiveKDB,
    "SelectiveKDB tempered": lambda **k: tb.SelectiveKDB(criterion="rmse", temperature="auto", **k),
    "SPODE": tb.SPODE,
    "AODE": tb.AODE,
    "A2DE": tb.A2DE,
    "MANB": lambda **k: tb.NaiveBayes(**(k | {"parameters": tb.MANB()})),
    "HillClimbTAN": lambda **k: tb.HillClimbTAN(cv=3, tol=0, random_state=1, **k),
    "SuperParentTAN": lambda **k: tb.SuperParentTAN(cv=3, tol=0, random_state=1, **k),
    "WrapperKDB": lambda **k: tb.WrapperKDB(cv=3, random_state=1, scoring="log-loss", **k),
    "FSSJ": lambda **k: tb.FSSJ(cv=3, random_state=1, **k),
    "BSEJ": lambda **k: tb.BSEJ(cv=3, random_state=1, **k),
    "SelectiveNaiveBayes": lambda **k: tb.SelectiveNaiveBayes(cv=3, random_state=1, **k),
    "SelectiveNaiveBayes mml": lambda **k: tb.SelectiveNaiveBayes(criterion="mml", **k),
    "ACLLTAN": tb.ACLLTAN,
    "BNC2P": tb.BNC2P,
    "CMDLGBN": tb.CMDLGBN,
    "RAIANB": tb.RAIANB,
    "RAIGBN": tb.RAIGBN,
    "RAIGBN x2": lambda **k: tb.RAIGBN(test="x2", **k),
    "PCANB": tb.PCANB,
    "PCGBN": tb.PCGBN,
    "MMHCANB": tb.MMHCANB,
    "MMHCGBN": tb.MMHCGBN,
    "ExactANB": tb.ExactANB,
    "ExactGBN": tb.ExactGBN,
    "KBestANB": lambda **k: tb.KBestANB(3, **k),
    "KBestGBN": lambda **k: tb.KBestGBN(3, distinct="dags", **k),
    "FixedStructure": lambda **k: tb.FixedStructure(GENERAL, **k),
    "ChowLiuTree": tb.ChowLiuTree,
    "GBN": lambda **k: tb.GBN(criterion="aic", **k),
    "BAN": tb.BAN,
    "SparseCandidateGBN": lambda **k: tb.SparseCandidateGBN(n_candidates=2, criterion="aic", **k),
    "EM": lambda **k: tb.TAN(**(k | {"parameters": tb.EM(max_iter=5, smoothing=k.get("parameters"))})),
    "category": lambda **k: tb.TAN(missing="category", **k),
    "tempered": lambda **k: tb.TAN(temperature="auto", **k),
    "NetworkEnsemble": lambda **k: tb.NetworkEnsemble(3, **k),
    "Classifier": lambda **k: tb.Classifier(3, **k),
    "BayesNetClassifier": lambda **k: tb.BayesNetClassifier("tan", options={"criterion": "aic"}, **k),
}


AVERAGED = {"AODE", "A2DE"}  # they have no graph
MIXED = {"KBestANB", "KBestGBN"}  # posteriors are averaged, so that there is no joint; weights show rounding of scores
POOLED = {"NetworkEnsemble", "Classifier"}  # sums over rows show in their last digits; draws go by column; no joint
CLIMBED = {
    "GBN",
    "BAN",
    "SparseCandidateGBN",
    "BNC2P",
    "CMDLGBN",
    "MMHCANB",
    "MMHCGBN",
}  # ties of arcs go to the earlier column
SEARCHED = {
    "HillClimbTAN",
    "SuperParentTAN",
    "WrapperKDB",
    "FSSJ",
    "BSEJ",
    "SelectiveNaiveBayes",
}  # they depend on folds


def choose(names):
    return pytest.mark.parametrize("make", [MAKERS[name] for name in names], ids=list(names))


# an edge that goes takes away conditions for later tests, and v-structures may dispute an edge: the order may matter
SEQUENTIAL = {"RAIANB", "RAIGBN", "RAIGBN x2"}

everyone = choose(MAKERS)
pooled = choose(sorted(POOLED))
without_folds = choose([name for name in MAKERS if name not in SEARCHED | POOLED])
bit_by_bit = choose([name for name in MAKERS if name not in SEARCHED | POOLED | MIXED])
in_any_order = choose([name for name in MAKERS if name not in SEARCHED | CLIMBED | SEQUENTIAL | POOLED])
networks = choose(
    [name for name in MAKERS if name not in {*AVERAGED, *MIXED, *POOLED, "category"}]
)  # there a gap is a state
exact = choose([name for name in MAKERS if name not in {*MIXED, *POOLED, "category"}])


def graph(clf):
    return getattr(clf, "dag_", None)


def as_frame(table):
    codes = table.codes.astype(float)
    codes[codes == 255] = np.nan
    frame = pd.DataFrame({f"x{i}": codes[i] for i in range(len(codes) - 1)})
    return frame, pd.Series(codes[-1].astype(int), name="class")


@cache
def make_rows(gaps):
    return as_frame(make_table(np.random.default_rng(11), (3, 4, 2, 3, 5, 3), 400, gaps=gaps))


@cache
def fit_once(make, gaps):
    """Return a model that several tests look at; none of them changes it."""
    return make().fit(*make_rows(gaps))


@pytest.fixture(params=[0.0, 0.15], ids=["complete", "gaps"])
def gaps(request):
    return request.param


@pytest.fixture
def rows(gaps):
    return make_rows(gaps)


@everyone
def test_probabilities_are_probabilities(make, rows, gaps):
    proba = fit_once(make, gaps).predict_proba(rows[0])
    assert proba.sum(axis=1) == pytest.approx(1.0)
    assert (proba >= 0).all()


@in_any_order
def test_column_order_changes_nothing(make, rows):
    X, y = rows
    turned = X[["x4", "x2", "x0", "x3", "x1"]]
    straight, other = make(parameters="bdeu").fit(X, y), make(parameters="bdeu").fit(turned, y)
    if graph(straight) is not None:
        assert {frozenset(arc) for arc in straight.dag_.arcs()} == {frozenset(arc) for arc in other.dag_.arcs()}
    if X.notna().all(axis=None):  # with gaps, the rows that a table rests on depend on which end of an arc is the root
        assert other.predict_proba(turned) == pytest.approx(straight.predict_proba(X), abs=1e-10)
    assert np.array_equal(straight.predict_proba(turned), straight.predict_proba(X))


@without_folds
def test_row_order_changes_nothing(make, rows, gaps):
    X, y = rows
    order = np.random.default_rng(0).permutation(len(X))
    shuffled = make().fit(X.iloc[order], y.iloc[order])
    assert np.array_equal(shuffled.predict_proba(X), fit_once(make, gaps).predict_proba(X))


@pooled
def test_row_order_changes_a_pool_by_rounding_only(make, rows, gaps):
    X, y = rows
    order = np.random.default_rng(0).permutation(len(X))
    shuffled = make().fit(X.iloc[order], y.iloc[order])
    assert shuffled.predict_proba(X) == pytest.approx(fit_once(make, gaps).predict_proba(X), abs=1e-7)


@without_folds
def test_names_of_categories_and_labels_change_nothing(make, rows, gaps):
    X, y = rows
    words = X.apply(lambda column: column.map({k: f"{9 - k} state" for k in range(6)}))
    labels = y.map({0: "zebra", 1: "ape", 2: "newt"})
    plain, told = fit_once(make, gaps), make().fit(words, labels)
    place = [list(told.classes_).index(name) for name in ("zebra", "ape", "newt")]
    assert told.predict_proba(words)[:, place] == pytest.approx(plain.predict_proba(X), abs=1e-10)


@cache
def make_many_rows():
    return as_frame(make_table(np.random.default_rng(5), (*[3] * 12, 2), 20_000, gaps=0.02))


@everyone
def test_threads_change_nothing(make):
    X, y = make_many_rows()
    one = make(n_jobs=1).fit(X, y)
    expected = one.predict_proba(X)
    for n_jobs in (2, 3):  # negative numbers stand for one of these, see test_machine.py
        again = make(n_jobs=n_jobs).fit(X, y)
        assert graph(one) == graph(again), n_jobs
        assert np.array_equal(expected, again.predict_proba(X)), n_jobs


@bit_by_bit
def test_weights_are_repeats(make, rows):
    X, y = rows
    times = np.random.default_rng(2).integers(0, 4, len(X))
    repeated = make().fit(X.loc[X.index.repeat(times)], y.repeat(times))
    weighted = make().fit(X, y, sample_weight=times)
    assert graph(repeated) == graph(weighted)
    assert np.array_equal(repeated.predict_proba(X), weighted.predict_proba(X))


@choose(sorted(POOLED | MIXED))
def test_weights_are_repeats_in_a_pool(make, rows):
    X, y = rows
    times = np.random.default_rng(2).integers(0, 4, len(X))
    repeated = make().fit(X.loc[X.index.repeat(times)], y.repeat(times))
    weighted = make().fit(X, y, sample_weight=times)
    assert weighted.predict_proba(X) == pytest.approx(repeated.predict_proba(X), abs=1e-7)


@choose(
    [name for name in MAKERS if name not in {*SEARCHED, *POOLED, *MIXED, "tempered", "SelectiveKDB tempered"}]
)  # leaving half a row out is another question
def test_two_halves_are_a_whole(make, rows, gaps):
    X, y = rows
    twice = make().fit(pd.concat([X, X]), pd.concat([y, y]), sample_weight=np.full(2 * len(X), 0.5))
    assert np.array_equal(twice.predict_proba(X), fit_once(make, gaps).predict_proba(X))


@exact
def test_a_blanked_feature_is_summed_out(make, rows, gaps):
    X, y = rows
    averages = make in (tb.AODE, tb.A2DE)  # there the row decides over what is averaged, unless min_rows is 0
    clf = make(min_rows=0).fit(X, y) if averages else fit_once(make, gaps)
    row = X.dropna().iloc[[0]]
    column = clf.schema_.columns[1]
    states = pd.concat([row.assign(x1=level) for level in column.levels])
    summed = np.exp(clf.predict_joint_log_proba(states)).sum(axis=0)
    assert np.exp(clf.predict_joint_log_proba(row.assign(x1=np.nan)))[0] == pytest.approx(summed)


def test_nothing_observed_is_the_class_distribution(rows):
    X, y = rows
    nothing = pd.DataFrame({name: [np.nan] for name in X})
    for name in ("NaiveBayes", "TAN", "TAN bic"):
        clf = MAKERS[name]().fit(X, y)
        assert clf.predict_proba(nothing)[0] == pytest.approx(clf.network_.table("class"), abs=1e-15)


def test_class_prior_replaces_the_frequencies(rows):
    X, y = rows
    nothing = pd.DataFrame({name: [np.nan] for name in X})
    for name in ("NaiveBayes", "TAN"):
        for prior in ([0.2, 0.3, 0.5], {2: 0.5, 0: 0.2, 1: 0.3}):
            clf = MAKERS[name](class_prior=prior).fit(X, y)
            assert clf.predict_proba(nothing)[0] == pytest.approx([0.2, 0.3, 0.5])


@everyone
def test_rows_are_abstained_from_and_have_support(make, rows, gaps):
    X, _ = rows
    clf = fit_once(make, gaps)
    sure = clf.predict_proba(X).max(axis=1) >= 0.6
    told = clf.predict(X, abstain_below=0.6)
    assert np.array_equal([label is not None for label in told], sure)
    support = clf.support(X)
    exact = X.groupby(list(X), dropna=False)["x0"].transform("size").to_numpy()
    complete = X.notna().all(axis=1).to_numpy()
    assert (support[complete] >= exact[complete] - 1e-9).all()
    assert (support <= len(X) + 1e-9).all()


@networks
def test_intervals_and_the_page_are_there_for_every_network(make, rows, gaps):
    X, _ = rows
    clf = fit_once(make, gaps)
    low, high = clf.predict_proba_interval(X.iloc[:20], n_draws=50, level=0.99)
    proba = clf.predict_proba(X.iloc[:20])
    assert ((low - 0.05 <= proba) & (proba <= high + 0.05)).all()
    assert clf.explore().html.startswith("<!doctype html>")


CHANGES = {
    "class_prior": [0.98, 0.02], "discretize": "uniform", "categorical_features": "all",
    "criterion": "bic", "root": 2, "parameters": 7.0, "learner": "naive", "options": {"criterion": "bic"},
    "arcs": [("class", "x1")], "temperature": 0.5,
}  # fmt: skip
ELSEWHERE = {"handle_unknown", "max_cells", "n_jobs", "missing", "suspicious"}  # see other tests


@pytest.mark.parametrize("cls", [tb.NaiveBayes, tb.TAN, tb.FixedStructure, tb.BayesNetClassifier])
def test_each_option_changes_something(cls):
    rng = np.random.default_rng(8)
    y = rng.integers(0, 2, 150)
    X = np.column_stack([np.round(rng.normal(y, 1) * 9), rng.integers(0, 4, 150) + y, rng.integers(0, 3, 150)])
    X[:, 2] = np.where(rng.random(150) < 0.5, X[:, 1] % 3, X[:, 2])
    base = {"arcs": [("class", "x0"), ("class", "x2")]} if cls is tb.FixedStructure else {}
    plain = cls(**base).fit(X, y).predict_proba(X)
    for name in set(inspect.signature(cls).parameters) - ELSEWHERE:
        changed = cls(**{**base, name: CHANGES[name]}).fit(X, y).predict_proba(X)
        assert not np.allclose(changed, plain), name
