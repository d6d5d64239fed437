"""Loopy belief propagation: exact on trees, near the truth on small loops, and honest about it."""

import itertools

import numpy as np
import pytest

import tanbark as tb
from tanbark.inference.loopy import propagate

ASKED = [(("x0",), {}), (("x1",), {"class": 0, "x3": 1}), (("x0", "x4"), {"x2": 1}), (("class",), {"x5": 0, "x1": 1})]


@pytest.mark.parametrize("seed", range(4))
def test_exact_on_trees(seed):
    network = tb.Network.random(8, kind="tree", n_states=(2, 4), concentration=0.5, random_state=seed)
    for targets, evidence in ASKED:
        found = network.query(targets, evidence, method="loopy")
        assert found.method == "loopy"
        assert found.values == pytest.approx(network.query(targets, evidence).values, abs=1e-9)
        assert found.errors.max() == 0


def test_exact_on_polytrees_chains_and_what_evidence_cuts():
    rng = np.random.default_rng(1)
    tables = {
        "a": rng.dirichlet([1, 1]), "b": rng.dirichlet([1, 1, 1]), "c": (("a", "b"), rng.dirichlet([1, 1], (2, 3))),
        "d": (("c",), rng.dirichlet([1, 1], 2)), "e": (("c",), rng.dirichlet([1, 1], 2)),
        "f": (("a",), rng.dirichlet([1, 1], 2)), "g": (("f", "c"), rng.dirichlet([1, 1], (2, 2))),
    }  # fmt: skip
    states = {name: (0, 1, 2) if name == "b" else (0, 1) for name in tables}
    network = tb.Network.from_tables(states, tables)
    for evidence in ({"d": 1}, {"d": 0, "e": 1}, {"a": 1, "g": 0}):  # g is barren, or a cuts its loop
        found = network.query("b", evidence, method="loopy", soft={"c": [0.3, 0.6]})
        assert found.values == pytest.approx(network.query("b", evidence, soft={"c": [0.3, 0.6]}).values, abs=1e-9)
        assert found.errors.max() == 0
    assert network.query("b", {"g": 1}, method="loopy").errors.max() > 0
    names = [f"n{k}" for k in range(200)]
    pairs = itertools.pairwise(names)
    chain = {"n0": [0.4, 0.6], **{name: ((above,), rng.dirichlet([1, 1], 2)) for above, name in pairs}}
    long = tb.Network.from_tables(dict.fromkeys(names, (0, 1)), chain)
    assert propagate(long, (0,), {199: 1}, {}).sweeps <= 3


def test_near_the_exact_posterior_with_loops():
    off, told = [], []
    for seed in range(8):
        network = tb.Network.random(7, kind="dag", width=2, n_states=(2, 3), random_state=seed)
        for targets, evidence in ASKED:
            found = network.query(targets, evidence, method="loopy")
            off.append(np.abs(found.values - network.query(targets, evidence).values).max())
            told.append(found.errors.max())
            assert found.values.sum() == pytest.approx(1)
    assert np.median(off) < 0.02
    assert max(off) < 0.15
    assert np.corrcoef(off, told)[0, 1] > 0.8  # the indication grows with what is off
    loops = np.array(off) > 1e-9
    assert np.mean(np.array(told)[loops] > 0.3 * np.array(off)[loops]) > 0.8


def test_zeros_and_impossible_evidence():
    tables = {"a": [0.5, 0.5], "b": (("a",), [[1, 0], [0, 1]]), "c": (("a", "b"), np.full((2, 2, 2), 0.5))}
    network = tb.Network.from_tables(dict.fromkeys("abc", (0, 1)), tables)
    assert network.query("a", {"b": 1}, method="loopy").values.tolist() == [0.0, 1.0]
    with pytest.raises(tb.errors.ImpossibleEvidenceError):
        network.query("c", {"a": 0, "b": 1}, method="loopy")
    assert "moves when a loop is cut" in str(network.query("a", {"c": 1}, method="loopy"))


def test_messages_that_do_not_settle_are_told(monkeypatch):
    from tanbark.inference import loopy

    monkeypatch.setattr(loopy, "DAMPING", ((2, 0.0),))
    network = tb.Network.random(7, kind="dag", width=3, random_state=0)
    with pytest.warns(tb.errors.NotConvergedWarning, match="after 2 sweeps"):
        network.query("x0", {"x6": 1, "x5": 0}, method="loopy")


def test_frustrated_loops_settle_by_damping():
    """Strong opposite couplings on a square: undamped messages swing, damped ones settle."""
    agree, differ = [[0.97, 0.03], [0.03, 0.97]], [[0.03, 0.97], [0.97, 0.03]]
    sides = {"ab": ("a", "b", agree), "bc": ("b", "c", agree), "cd": ("c", "d", agree), "da": ("d", "a", differ)}
    tables = {name: [0.52, 0.48] for name in "abcd"}
    for name, (one, other, favour) in sides.items():
        tables[name] = ((one, other), np.stack([1 - np.array(favour), np.array(favour)], axis=-1))
    network = tb.Network.from_tables(dict.fromkeys(tables, (0, 1)), tables)
    found = propagate(network, (0,), {list(tables).index(side): 1 for side in sides}, {})
    assert found.converged
    exact = network.query("a", dict.fromkeys(sides, 1)).values
    assert found.values == pytest.approx(exact, abs=0.05)


def test_auto_propagates_where_samples_are_worth_nothing():
    """Independent causes of pairwise effects that are nearly impossible, with a zero that rules Gibbs out."""
    rng = np.random.default_rng(0)
    causes = [f"c{k}" for k in range(9)]
    pairs = {}
    for j in range(9):
        for i in range(j):
            table = rng.uniform(0.001, 0.004, (2, 2))
            pairs[f"e{i}_{j}"] = ((causes[i], causes[j]), np.stack([table, 1 - table], axis=-1))
    tables = {**{name: [0.5, 0.5] for name in causes}, **pairs, "sure": [1.0, 0.0]}
    network = tb.Network.from_tables(dict.fromkeys(tables, (0, 1)), tables)
    found = network.query("c1", dict.fromkeys(pairs, 0), method="auto", n_samples=2000, max_entries=64)
    assert found.method == "loopy"
    exact = network.query("c1", dict.fromkeys(pairs, 0))
    assert found.values == pytest.approx(exact.values, abs=0.05)
