"""Sampled posteriors: near the exact ones by the errors that they state, and there where exact ones are not."""

import numpy as np
import pytest

import tanbark as tb
from tanbark.graph.random import random_network

ASKED = [(("x0",), {}), (("x1",), {"class": 0, "x3": 1}), (("x0", "x4"), {"x2": 1}), (("class",), {"x5": 0, "x1": 1})]


def draw(seed):
    return tb.Network.random(7, kind="dag", width=3, n_states=(2, 3), random_state=seed)


@pytest.mark.parametrize("method", ["likelihood-weighting", "gibbs"])
def test_errors_are_as_large_as_they_are_stated(method):
    """Of independent estimates, the share within two standard errors is that of a normal distribution."""
    off = []
    for seed in range(4):
        network = draw(seed)
        for targets, evidence in ASKED:
            exact = network.query(targets, evidence).values.ravel()
            found = network.query(targets, evidence, method=method, n_samples=5000, random_state=seed)
            assert found.method == method
            assert found.values.sum() == pytest.approx(1)
            off.append(((found.values.ravel() - exact) / found.errors.ravel())[0])
    assert np.mean(np.abs(off) < 2) >= 0.8
    assert np.mean(np.abs(off)) > 0.3


@pytest.mark.parametrize("method", ["likelihood-weighting", "gibbs"])
def test_soft_evidence_and_seeds(method):
    network = draw(9)
    options = {"soft": {"x2": [0.9] + [0.2] * (network.schema.cardinalities[2] - 1)}, "method": method}
    found = network.query("x3", {"x1": 0}, **options, random_state=1)
    exact = network.query("x3", {"x1": 0}, soft=options["soft"])
    assert found.values == pytest.approx(exact.values, abs=5 * found.errors.max())
    again = network.query("x3", {"x1": 0}, **options, random_state=1)
    assert np.array_equal(found.values, again.values)


def test_auto_is_exact_where_it_can_be():
    network = draw(2)
    found = network.query("x0", {"x1": 0}, method="auto")
    assert (found.method, found.errors) == ("exact", None)
    assert np.array_equal(found.values, network.query("x0", {"x1": 0}).values)
    frame = network.sample(3, random_state=0)[["x1"]]
    assert np.array_equal(network.query("x0", frame, method="auto").values, network.query("x0", frame).values)


def test_a_width_that_forbids_exact_posteriors():
    """Many causes of one effect in pairs: their moral graph is a clique of 40."""
    rng = np.random.default_rng(0)
    causes = [f"c{k}" for k in range(40)]
    pairs = {f"e{i}_{j}": ((causes[i], causes[j]), rng.dirichlet([1, 1], (2, 2))) for j in range(40) for i in range(j)}
    tables = {**{name: [0.5, 0.5] for name in causes}, **pairs}
    network = tb.Network.from_tables(dict.fromkeys(tables, (0, 1)), tables)
    evidence = {name: 0 for name in pairs if int(name.split("_")[1]) % 8 == 0 or name.startswith("e0")}
    seen = dict.fromkeys(pairs, 0)
    with pytest.raises(tb.errors.TableTooLargeError, match=r"width \d\d.*method='auto'"):
        network.query("c1", seen)
    found = network.query("c1", dict(list(evidence.items())[:6]), method="likelihood-weighting", n_samples=20_000)
    assert found.errors.max() < 0.05
    told = network.query("c1", seen, method="auto", n_samples=4000)
    assert told.method == "gibbs"
    assert "by gibbs, standard error up to" in str(told)
    assert "by gibbs" in repr(told)
    assert "gibbs" in told._repr_html_()


def test_gibbs_and_weights_agree_where_little_is_exact():
    network = random_network(20, kind="dag", width=6, n_states=2, n_classes=2, concentration=1.0, random_state=4)
    evidence = {"x1": 0, "x2": 1}
    first, second = (network.query("x7", evidence, method=m) for m in ("likelihood-weighting", "gibbs"))
    exact = network.query("x7", evidence)
    assert first.values == pytest.approx(exact.values, abs=0.02)
    assert second.values == pytest.approx(exact.values, abs=0.05)


def test_what_cannot_be_sampled_is_told():
    sure = tb.Network.from_tables(
        {"a": [0, 1], "b": [0, 1]}, {"a": [1.0, 0.0], "b": (("a",), [[1.0, 0.0], [0.5, 0.5]])}
    )
    with pytest.raises(tb.errors.InputError, match="None of 1,000 samples agrees"):
        sure.query("a", {"b": 1}, method="likelihood-weighting", n_samples=1000)
    with pytest.raises(tb.errors.InputError, match="No chain came to a state"):
        sure.query("a", {"b": 1}, method="gibbs", n_samples=1000)
    network = draw(1)
    with pytest.raises(tb.errors.OptionError, match="method must be one of"):
        network.query("x0", method="guess")
    with pytest.raises(tb.errors.OptionError, match="n_samples"):
        network.query("x0", method="gibbs", n_samples=0)
    with pytest.raises(tb.errors.InputError, match="one row of evidence at a time"):
        network.query("x0", network.sample(2, random_state=0)[["x1"]], method="gibbs")
    with pytest.warns(tb.errors.NotConvergedWarning, match="effective samples of 50"):
        network.query("x0", {"x1": 0}, method="likelihood-weighting", n_samples=50)
