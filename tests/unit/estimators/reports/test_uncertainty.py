"""Credible intervals, abstention, and the rows behind a prediction."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import tanbark as tb
from strategies import make_network
from tanbark.estimators.reports.uncertainty import Drawing, draw_table
from tanbark.params import K2, BDeu, Hierarchical, Laplace, MEstimate, estimate
from tanbark.params.hierarchical.family import context_tree


def rows(seed=0, n=300, gaps=0.0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    a = np.where(rng.random(n) < 0.6, y, rng.integers(0, 3, n))
    b = np.where(rng.random(n) < 0.5, a, rng.integers(0, 4, n))
    X = pd.DataFrame({"a": a, "b": b, "c": rng.integers(0, 2, n), "d": (b + y) % 3}).astype(float)
    X = X.mask(rng.random(X.shape) < gaps)
    return X, pd.Series(y, name="y").map({0: "low", 1: "mid", 2: "high"})


@pytest.mark.parametrize("smoothing", [Laplace(2.0), K2(), BDeu(2.0), MEstimate(2.0)])
def test_drawn_tables_have_the_dirichlet_mean_and_variance(smoothing):
    counts = np.array([[3, 0, 9], [1, 0, 2]])
    rng = np.random.default_rng(1)
    drawn = np.array([draw_table(counts, 1, smoothing, rng) for _ in range(20_000)])
    shape = counts + smoothing.mass(counts, 1)
    total = shape.sum(axis=1, keepdims=True)
    mean = shape / total
    assert drawn.sum(axis=2) == pytest.approx(1.0)
    assert mean == pytest.approx(estimate(counts, 1, smoothing))
    assert drawn.mean(axis=0) == pytest.approx(mean, abs=0.01)
    assert drawn.var(axis=0) == pytest.approx(mean * (1 - mean) / (total + 1), rel=0.1)


def slow_moments(tree, order, counts, configuration):
    """Follow one configuration of the parents down: the exact mean and variance of what is drawn for it."""
    states = counts.shape
    share = 1.0 / tree.counts.shape[1]
    context, mean, variance = 0, np.full(tree.counts.shape[1], share), np.zeros(tree.counts.shape[1])
    for level in range(len(order) + 1):
        c = tree.concentrations[level]
        if level and context is not None:
            at = (context - tree.levels[level - 1]) * states[order[level - 1]] + configuration[level - 1]
            child = int(tree.children[tree.starts[level - 1] + at])
            context = child if child >= 0 else None
        rows = np.zeros(len(mean)) if context is None else tree.counts[context]
        total = rows.sum() + c
        mean = (rows + c * mean) / total
        above = (c / total) ** 2 * variance  # of the parameters' mean
        variance = above + (mean * (1 - mean) - above) / (total + 1)
    return mean, variance


def test_hierarchical_draws_add_the_uncertainty_of_every_level():
    """The law of total variance, level by level; held distributions with a parent fewer would vary less."""
    rng = np.random.default_rng(1)
    counts = rng.integers(0, 6, (2, 3, 3, 2)) * rng.integers(0, 2, (2, 3, 3, 2))
    drawn = np.array([draw_table(counts, 2, Hierarchical(), rng) for _ in range(8000)])
    tree, order = context_tree(counts, 2)
    held = counts + Hierarchical().mass(counts, 2)
    assert drawn.sum(axis=3) == pytest.approx(1.0)
    assert drawn.mean(axis=0) == pytest.approx(estimate(counts, 2, Hierarchical()), abs=0.012)
    for configuration in np.ndindex(*(counts.shape[k] for k in order)):
        place = [slice(None)] * 4
        for axis, state in zip(order, configuration, strict=True):
            place[axis] = state
        mean, variance = slow_moments(tree, order, counts, configuration)
        part = drawn[(slice(None), *place)]
        assert part.mean(axis=0) == pytest.approx(mean, abs=0.012)
        assert part.var(axis=0) == pytest.approx(variance, rel=0.1, abs=1e-4)
        shapes = held[tuple(place)]
        alone = shapes / shapes.sum() * (1 - shapes / shapes.sum()) / (shapes.sum() + 1)
        assert (variance > alone).all()


def test_a_hierarchical_network_with_a_given_prior_draws_nothing_else():
    X, y = rows()
    clf = tb.KDB(class_prior=[0.2, 0.3, 0.5]).fit(X, y)
    drawn = Drawing(clf).draw(np.random.default_rng(0))
    assert np.array_equal(drawn.tables[-1], clf.network_.tables[-1])
    for node in range(4):
        assert drawn.tables[node].shape == clf.network_.tables[node].shape
        assert not np.array_equal(drawn.tables[node], clf.network_.tables[node])


def test_tiny_prior_mass_still_draws_distributions():
    drawn = draw_table(np.zeros((4, 2)), 0, Laplace(1e-6), np.random.default_rng(0))
    assert drawn.sum(axis=0) == pytest.approx(1.0)
    assert np.isfinite(drawn).all()


def test_a_configuration_without_rows_or_mass_may_be_anything():
    rng = np.random.default_rng(0)
    drawn = np.array([draw_table(np.array([[2, 0], [0, 0]]), 1, Laplace(0.0), rng) for _ in range(4000)])
    assert (drawn[:, 0] == [1.0, 0.0]).all()
    assert stats.kstest(drawn[:, 1, 0], "uniform").pvalue > 0.001


def test_the_interval_of_one_feature_is_that_of_beta_variates():
    """P(y = 1 | a) with a class prior that is given has a distribution that is simple to draw in another way."""
    X, y = [["p"]] * 30 + [["q"]] * 30, [0] * 24 + [1] * 6 + [0] * 10 + [1] * 20
    clf = tb.NaiveBayes(class_prior=[0.5, 0.5], parameters="laplace").fit(X, y)
    low, high = clf.predict_proba_interval([["p"]], level=0.8, n_draws=6000)
    rng = np.random.default_rng(3)
    zero, one = rng.beta(24 + 1, 10 + 1, 200_000), rng.beta(6 + 1, 20 + 1, 200_000)
    ends = np.quantile(one / (zero + one), [0.1, 0.9])
    assert [low[0, 1], high[0, 1]] == pytest.approx(ends, abs=0.006)
    assert low[0] == pytest.approx(1 - high[0, ::-1])


MODELS = {
    "naive": tb.NaiveBayes(),
    "tan": tb.TAN(parameters="laplace"),
    "general": tb.FixedStructure([("a", "y"), ("y", "b"), ("a", "b"), ("b", "c")]),
    "bdeu": tb.TAN(parameters=tb.BDeu(4.0)),
    "m-estimate": tb.TAN(parameters=tb.MEstimate(3.0)),
    "likelihood": tb.TAN(parameters=0.0),
    "hierarchical": tb.NaiveBayes(parameters="hierarchical"),
    "hierarchical tan": tb.TAN(),
    "hierarchical kdb": tb.KDB(),
    "manb": tb.NaiveBayes(parameters=tb.MANB()),
    "wanbia": tb.NaiveBayes(parameters=tb.WANBIA()),
    "normalized": tb.NaiveBayes(parameters=tb.WANBIA(normalize=True)),
    "em": tb.TAN(parameters=tb.EM()),
    "category": tb.TAN(missing="category"),
}


@pytest.mark.filterwarnings("ignore::tanbark.errors.ImpossibleEvidenceWarning")
@pytest.mark.parametrize("name", MODELS)
def test_intervals_hold_the_prediction_and_grow_with_the_level(name):
    X, y = rows(gaps=0.1)
    clf = MODELS[name].fit(X, y)
    X = X.iloc[:100]
    proba = clf.predict_proba(X)
    narrow, wide = (clf.predict_proba_interval(X, level=level, n_draws=200) for level in (0.5, 0.95))
    assert (wide[0] <= narrow[0]).all()
    assert (narrow[0] <= narrow[1]).all()
    assert (narrow[1] <= wide[1]).all()
    assert ((wide[0] - 1e-9 <= proba) & (proba <= wide[1] + 1e-9)).mean() > 0.99
    assert wide[0].shape == proba.shape
    nothing = clf.predict_proba_interval(X.iloc[:1] * np.nan, n_draws=50)
    assert (nothing[0] <= nothing[1]).all()


@pytest.mark.parametrize("gaps", [0.0, 0.4])
def test_the_intervals_hold_the_truth_as_often_as_they_say(gaps):
    """Truths drawn from the prior: a 80 % interval must hold 80 % of the true posteriors."""
    inside, n = [], 120
    for seed in range(n):
        rng = np.random.default_rng(seed)
        truth = make_network(rng, n_features=3, max_parents=1, augmented=True, max_states=3)
        tables = [
            draw_table(np.zeros_like(table), truth.axes(node).index(node), Laplace(), rng)
            for node, table in enumerate(truth.tables)
        ]
        truth = tb.Network(truth.schema, truth.dag, tuple(tables))
        data = truth.sample(60, random_state=seed)
        ask = truth.sample(1, random_state=seed + 10_000).drop(columns="class")
        ask = ask.mask(rng.random(ask.shape) < gaps)
        clf = tb.FixedStructure(truth.dag.arcs(), categorical_features="all", parameters="laplace")
        if data["class"].nunique() < truth.schema.cardinalities[-1] or truth.schema.cardinalities[-1] < 2:
            continue
        if any(data[c].nunique() < r for c, r in zip(data, truth.schema.cardinalities, strict=True)):
            continue
        clf.fit(data.drop(columns="class"), data["class"])
        evidence = {name: value for name, value in ask.iloc[0].items() if value == value}
        true = np.asarray(truth.query("class", evidence))
        low, high = clf.predict_proba_interval(ask.astype(float), level=0.8, n_draws=100, random_state=seed)
        inside.append(low[0, 0] <= true[0] <= high[0, 0])
    assert len(inside) > 60
    assert abs(np.mean(inside) - 0.8) < 3 * np.sqrt(0.16 / len(inside))


def draw_level(rng, above, states, concentration):
    """Draw a distribution around the one above for each state of a further parent."""
    drawn = rng.gamma(concentration * np.repeat(above[..., None, :], states, axis=-2)) + 1e-12
    return drawn / drawn.sum(axis=-1, keepdims=True)


def test_hierarchical_intervals_hold_hierarchical_truths():
    """Truths with three levels; with the distributions above held, 75 % of them were inside instead of 90 %."""
    inside = []
    for seed in range(30):
        rng = np.random.default_rng(seed)
        arcs = [("class", "a"), ("class", "b"), ("a", "b"), ("class", "c"), ("a", "c"), ("b", "c")]
        cpts = {}
        for node, parents in {"a": (), "b": (3,), "c": (3, 3)}.items():
            cpt = rng.dirichlet(np.ones(3))
            for states in (2, *parents):
                cpt = draw_level(rng, cpt, states, 4.0)
            cpts[node] = cpt  # class, parents, node
        y = rng.integers(0, 2, 130)
        a = np.array([rng.choice(3, p=cpts["a"][k]) for k in y])
        b = np.array([rng.choice(3, p=cpts["b"][k, i]) for k, i in zip(y, a, strict=True)])
        c = np.array([rng.choice(3, p=cpts["c"][k, i, j]) for k, i, j in zip(y, a, b, strict=True)])
        X = pd.DataFrame({"a": a, "b": b, "c": c}).astype(str)
        labels = pd.Series(y, name="class")
        clf = tb.FixedStructure(arcs, class_prior=[0.5, 0.5]).fit(X[:100], labels[:100])
        asked = X[100:][(X[100:].isin({name: list(X[name][:100]) for name in X})).all(axis=1)]
        at = asked.index.to_numpy()
        likelihood = np.array([
            cpts["a"][k, a[at]] * cpts["b"][k, a[at], b[at]] * cpts["c"][k, a[at], b[at], c[at]] for k in (0, 1)
        ])  # fmt: skip
        low, high = clf.predict_proba_interval(asked, n_draws=100)
        true = likelihood[0] / likelihood.sum(axis=0)
        inside.append(((low[:, 0] <= true) & (true <= high[:, 0])).mean())
    assert 0.8 < np.mean(inside) < 0.97


def test_the_same_seed_gives_the_same_ends_whatever_the_threads():
    X, y = rows()
    one = tb.TAN(n_jobs=1).fit(X, y).predict_proba_interval(X, n_draws=20)
    two = tb.TAN(n_jobs=2).fit(X, y).predict_proba_interval(X, n_draws=20)
    other = tb.TAN().fit(X, y).predict_proba_interval(X, n_draws=20, random_state=1)
    assert np.array_equal(one[0], two[0])
    assert not np.array_equal(one[0], other[0])


def test_blocks_of_rows_change_nothing(monkeypatch):
    X, y = rows()
    clf = tb.TAN().fit(X, y)
    whole = clf.predict_proba_interval(X, n_draws=20)
    monkeypatch.setattr("tanbark.estimators.reports.uncertainty.KEPT", 20 * 3 * 7)
    assert np.array_equal(clf.predict_proba_interval(X, n_draws=20)[1], whole[1])


def test_a_loaded_model_gives_the_same_intervals_and_support(tmp_path):
    X, y = rows(gaps=0.1)
    for name in ("tan", "manb", "wanbia"):
        clf = MODELS[name].fit(X, y)
        clf.save(tmp_path / "model.json")
        again = tb.load(tmp_path / "model.json")
        ours, theirs = clf.predict_proba_interval(X, n_draws=20), again.predict_proba_interval(X, n_draws=20)
        assert np.array_equal(ours[0], theirs[0])
        assert np.array_equal(clf.support(X), again.support(X))


def test_manb_draws_one_distribution_where_the_arc_is_not_there():
    X, y = rows()
    clf = tb.NaiveBayes(parameters=tb.MANB(arc_prior=0.0)).fit(X, y)
    drawn = Drawing(clf).draw(np.random.default_rng(0))
    for table in drawn.tables[:-1]:
        assert (table == table[:, :1]).all()


@pytest.mark.parametrize("options", [{"level": 0}, {"level": 1.0}, {"level": "x"}, {"n_draws": 1}, {"n_draws": 2.5}])
def test_options_of_intervals_are_checked(options):
    X, y = rows(n=30)
    with pytest.raises(tb.errors.OptionError, match=next(iter(options))):
        tb.TAN().fit(X, y).predict_proba_interval(X, **options)


def test_averages_have_no_intervals():
    assert not hasattr(tb.AODE(), "predict_proba_interval")


@pytest.mark.parametrize("make", [tb.TAN, tb.AODE])
def test_abstaining(make):
    X, y = rows(gaps=0.2)
    clf = make().fit(X, y)
    best = clf.predict_proba(X).max(axis=1)
    told = clf.predict(X, abstain_below=0.7)
    assert told.dtype == object
    assert np.array_equal([label is None for label in told], best < 0.7)
    sure = best >= 0.7
    assert 0 < sure.sum() < len(X)
    assert np.array_equal(told[sure], clf.predict(X)[sure])
    assert np.array_equal(clf.predict(X, abstain_below=0.0), clf.predict(X))
    with pytest.raises(tb.errors.OptionError, match="abstain_below"):
        clf.predict(X, abstain_below=1.5)


def matching(X, values):
    keep = np.ones(len(X), bool)
    for name, value in values.items():
        if value == value:
            keep &= (X[name] == value).to_numpy()
    return int(keep.sum())


@pytest.mark.parametrize("name", ["naive", "tan", "general"])
def test_support_counts_rows_with_a_value_and_its_parents(name):
    X, y = rows(1)
    clf = MODELS[name].fit(X, y)
    ask = rows(2, n=40, gaps=0.25)[0]
    told, least = clf.support(ask, per_feature=True), clf.support(ask)
    families = clf.network_.families()
    for row in range(len(ask)):
        values = ask.iloc[row]
        parts = [len(X)]
        for place, feature in enumerate(X):
            if np.isnan(values[feature]):
                assert np.isnan(told[row, place])
                continue
            family = [feature, *(p for p in families[feature] if p != "y")]
            parts.append(matching(X, {member: values[member] for member in family}))
            assert told[row, place] == parts[-1]
        of_class = {parent: values[parent] for parent in families["y"]}
        parts.append(matching(X, of_class))
        assert least[row] == min(parts)
        assert matching(X, dict(values)) <= least[row]


@pytest.mark.parametrize(("make", "size"), [(tb.AODE, 2), (tb.A2DE, 3)])
def test_support_of_averages_counts_rows_with_values_together(make, size):
    from itertools import combinations

    X, y = rows(1)
    ask = rows(2, n=20, gaps=0.2)[0]
    told = make().fit(X, y).support(ask)
    for row in range(len(ask)):
        seen = {name: value for name, value in ask.iloc[row].items() if value == value}
        sets = [dict(part) for k in range(1, size + 1) for part in combinations(seen.items(), k)]
        assert told[row] == min([len(X), *(matching(X, part) for part in sets)])


def test_support_of_weighted_rows_is_their_weight():
    X, y = rows(n=50)
    clf = tb.TAN().fit(X, y, sample_weight=np.full(50, 0.5))
    assert clf.support(X.iloc[:1] * np.nan) == [25.0]
