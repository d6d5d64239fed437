"""The page's own inference against Python's, many networks in one tab."""

import numpy as np
import pandas as pd
import pytest

import tanbark as tb
from networks import alarm_sized, asia
from strategies import make_network
from tanbark.explorer.data import page_data

pytestmark = pytest.mark.xdist_group("browser")

ASK = """cases => cases.map(({ data, likelihoods, target, label }) => {
  const model = new tanbark.Model(data);
  const known = likelihoods.map((l) => (l === null ? null : Float64Array.from(l)));
  const asked = target ?? model.target;
  const found = tanbark.posterior(model, asked, known);
  const best = model.weighted ? null : model.engine.mostProbable(known);
  const why = tanbark.finish(tanbark.contributions(model, asked, known, label ?? 0));
  return {
    impossible: found.impossible,
    probabilities: Array.from(found.probabilities),
    log: found.log === -Infinity ? null : found.log,
    marginals: found.marginals.map((m) => Array.from(m)),
    bits: tanbark.information(model, asked, found),
    best: best === null ? null : { log: best.log, states: best.states },
    why: why.parts.map((part) => [part.node, Number.isFinite(part.nats) ? part.nats : null]),
    total: Number.isFinite(why.total) ? why.total : null,
    support: tanbark.support(model, known)?.rows ?? null,
  };
})"""


def one_hot(size, state):
    return [float(k == state) for k in range(size)]


def random_case(rng, network, *, hard=0.35, soft=0.2):
    """Draw evidence: some states, some likelihoods, some states ruled out."""
    sizes, names = network.schema.cardinalities, network.dag.names
    target = network.target if network.schema.has_class else len(sizes) - 1
    likelihoods, known, softly = [None] * len(sizes), {}, {}
    for node, size in enumerate(sizes):
        draw = rng.random()
        if node == target:
            continue
        if draw < hard:
            state = int(rng.integers(size))
            likelihoods[node], known[names[node]] = one_hot(size, state), network.schema.columns[node].states()[state]
        elif draw < hard + soft:
            likelihood = rng.random(size) if rng.random() < 0.5 else 1.0 - np.array(one_hot(size, 0))
            if likelihood.any():
                likelihoods[node] = softly[names[node]] = likelihood.tolist()
    return {"data": page_data(network), "likelihoods": likelihoods, "target": target}, known, softly


def check(told, network, target, known, softly):
    names = network.dag.names
    try:
        expected = np.asarray(network.query(names[target], known, soft=softly))
    except tb.errors.ImpossibleEvidenceError:
        assert told["impossible"]
        return "impossible"
    assert not told["impossible"]
    assert told["probabilities"] == pytest.approx(expected, abs=1e-9)
    assert told["log"] == pytest.approx(network.probability_of_evidence(known, soft=softly, log=True), abs=1e-9)
    for node, name in enumerate(names):
        if name not in known:
            assert told["marginals"][node] == pytest.approx(
                np.asarray(network.query(name, known, soft=softly)), abs=1e-9
            )
    best = network.mpe(known, soft=softly)
    assert told["best"]["log"] == pytest.approx(best.log_joint, abs=1e-9)
    return "possible"


def test_random_networks(compute):
    rng = np.random.default_rng(5)
    networks = [
        make_network(rng, n_features=int(rng.integers(1, 9)), zeros=k % 3 == 0, augmented=k % 2 == 0) for k in range(60)
    ]
    networks += [alarm_sized(seed, n=25, max_parents=3) for seed in range(4)] + [asia()]
    made = [random_case(rng, network) for network in networks]
    told = compute(ASK, [case for case, _, _ in made])
    kinds = [
        check(answer, network, case["target"], known, softly)
        for answer, network, (case, known, softly) in zip(told, networks, made, strict=True)
    ]
    assert kinds.count("impossible") >= 1
    assert kinds.count("possible") > 50


def test_information_is_the_expected_fall_of_the_entropy(compute):
    rng = np.random.default_rng(8)
    networks = [make_network(rng, n_features=5, max_parents=2) for _ in range(10)]
    made = [random_case(rng, network, soft=0.0) for network in networks]
    told = compute(ASK, [case for case, _, _ in made])
    for answer, network, (_, known, _) in zip(told, networks, made, strict=True):
        names, target = network.dag.names, network.target
        for node in range(target):
            if names[node] in known:
                continue
            joint = np.asarray(network.query([names[node], names[target]], known))
            outer = joint.sum(axis=1, keepdims=True) * joint.sum(axis=0, keepdims=True)
            assert answer["bits"][node] == pytest.approx((joint * np.log2(joint / outer)).sum(), abs=1e-9)


def fitted(kind, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, 300)
    a = np.where(rng.random(300) < 0.6, y, rng.integers(0, 3, 300))
    X = pd.DataFrame({"a": a, "b": rng.normal(a, 1), "c": rng.integers(0, 2, 300) ^ (a > 1), "d": rng.normal(y, 2)})
    X["c"] = X["c"].map({0: "no", 1: "yes"})
    return kind.fit(X.mask(rng.random(X.shape) < 0.05), pd.Series(y, name="y")), X


KINDS = {
    "naive": tb.NaiveBayes(),
    "tan": tb.TAN(),
    "general": tb.FixedStructure([("a", "y"), ("y", "b"), ("a", "c"), ("y", "c")]),
    "wanbia": tb.NaiveBayes(parameters=tb.WANBIA()),
    "awnb": tb.NaiveBayes(parameters=tb.AWNB(random_state=0)),
    "normalized": tb.NaiveBayes(parameters=tb.WANBIA(normalize=True)),
    "manb": tb.NaiveBayes(parameters=tb.MANB()),
    "category": tb.TAN(missing="category"),
    "em": tb.TAN(parameters=tb.EM()),
    "tempered": tb.TAN(temperature=0.6),
    "tempered below": tb.FixedStructure([("a", "y"), ("y", "b"), ("a", "c"), ("y", "c")], temperature=0.6),
    "tempered weights": tb.NaiveBayes(parameters=tb.WANBIA(), temperature=0.6),
}


@pytest.mark.parametrize("name", KINDS)
def test_classifiers_predict_and_explain_in_the_page_as_in_python(compute, name):
    clf, X = fitted(KINDS[name])
    ask = X.iloc[:12].mask(np.random.default_rng(1).random((12, 4)) < 0.4)
    codes, gap = clf._codes(ask), 255
    sizes = clf.schema_.cardinalities
    cases = [
        {
            "data": page_data(clf),
            "likelihoods": [*(None if c == gap else one_hot(r, c) for c, r in zip(row, sizes, strict=False)), None],
            "label": 2,
        }
        for row in codes.T.tolist()
    ]
    told = compute(ASK, cases)
    proba, explained, support = clf.predict_proba(ask), clf.explain(ask, label=2), clf.support(ask)
    names = clf.schema_.names
    for row, answer in enumerate(told):
        assert answer["probabilities"] == pytest.approx(proba[row], abs=1e-9)
        assert answer["support"] == pytest.approx(support[row])
        parts = {part.name: part.nats for part in explained[row].parts}
        page = {"prior" if node is None else names[node]: nats for node, nats in answer["why"]}
        assert page == pytest.approx(parts, abs=1e-9)
        assert answer["total"] == pytest.approx(sum(page.values()), abs=1e-9)


@pytest.mark.parametrize("name", ["naive", "tan", "general", "wanbia", "normalized", "tempered"])
def test_intervals_agree_with_python(read, name):
    clf, X = fitted(KINDS[name])
    ask = X.iloc[:3].mask(np.random.default_rng(1).random((3, 4)) < 0.3)
    codes, sizes = clf._codes(ask), clf.schema_.cardinalities
    rows = [
        [*(None if c == 255 else one_hot(r, c) for c, r in zip(row, sizes, strict=False)), None]
        for row in codes.T.tolist()
    ]
    told = (
        read()
        .open(asia())
        .tab.evaluate(
            """([data, rows]) => { const model = new tanbark.Model(data); return rows.map((row) =>
        tanbark.finish(tanbark.intervals(model, model.target, row.map((l) => l && Float64Array.from(l)), 0.9))); }""",
            [page_data(clf), rows],
        )
    )
    low, high = clf.predict_proba_interval(ask, n_draws=600)
    assert np.array(told)[:, :, 0] == pytest.approx(low, abs=0.06)
    assert np.array(told)[:, :, 1] == pytest.approx(high, abs=0.06)


def test_two_thousand_nats_are_no_trouble(compute):
    """Evidence far beyond the range of floats, on both sides."""
    X = np.repeat(np.eye(2, dtype=int), 300, axis=0)[:, [0] * 350]
    clf = tb.NaiveBayes(parameters=1e-3, suspicious="keep").fit(X, [0] * 300 + [1] * 300)
    row = [one_hot(2, 0)] * 349 + [one_hot(2, 1)] + [None]
    (told,) = compute(ASK, [{"data": page_data(clf), "likelihoods": row, "label": 1}])
    odds = clf.explain([[0] * 349 + [1]], label=1)[0].log_odds
    assert abs(odds) > 2000
    assert told["total"] == pytest.approx(odds, rel=1e-9)


def test_the_part_of_a_network_that_matters_has_the_same_posterior(read):
    rng = np.random.default_rng(9)
    networks = [make_network(rng, n_features=int(rng.integers(2, 9)), max_parents=2) for _ in range(20)]
    networks += [alarm_sized(seed, n=25, max_parents=3) for seed in range(4)]
    cases = [random_case(rng, network, hard=0.2, soft=0.1)[0] for network in networks]
    told = (
        read()
        .open(asia())
        .tab.evaluate(
            """cases => cases.map(({ data, likelihoods, target }) => {
        const model = new tanbark.Model(data);
        const known = likelihoods.map((l) => (l === null ? null : Float64Array.from(l)));
        const part = new tanbark.Part(model, [target, ...known.flatMap((l, node) => (l === null ? [] : [node]))]);
        const finite = (logs) => Array.from(logs, (log) => (log === -Infinity ? null : log));
        return [part.nodes.length, finite(part.logJoint(target, known)), finite(model.logJoint(target, known))];
      })""",
            cases,
        )
    )
    assert any(n < len(case["likelihoods"]) for (n, _, _), case in zip(told, cases, strict=True))
    for _, found, expected in told:
        assert found == pytest.approx(expected, abs=1e-9)
