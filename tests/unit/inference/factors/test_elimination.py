"""Plans of variable elimination: their cost, their limits, their results in plain numbers and in logarithms."""

import numpy as np
import pandas as pd
import pytest
from pytest import approx

import naive
import tanbark as tb
from networks import alarm_sized, asia
from strategies import make_network
from tanbark.errors import TableTooLargeError
from tanbark.graph import Network
from tanbark.inference.factors import elimination as engine
from tanbark.inference.factors import order_kernels, plan_kernels, run_kernels
from tanbark.inference.layout import flat_network
from tanbark.kernel import interpreted


def test_the_cost_is_known_and_too_large_a_factor_raises_an_error():
    network = alarm_sized(1)
    cost = network.query_cost(["v36", "v0"], ["v10"])
    assert cost.width >= 1
    assert cost.largest <= cost.operations
    assert "v10" not in cost.order
    assert f"width {cost.width}" in str(cost)
    with pytest.raises(tb.errors.TableTooLargeError, match=rf"width {cost.width}\), more than 2"):
        network.query(["v36", "v0"], {"v10": "s0"}, max_entries=2)
    everything = [f"v{k}" for k in range(37)]
    assert network.query_cost(everything).largest > 1e12
    with pytest.raises(tb.errors.TableTooLargeError, match="Observe some of them"):
        network.query(everything)


def test_the_last_plans_are_kept(monkeypatch):
    network = asia()
    network.query("lung", {"xray": "yes"})
    network.query("lung", {"xray": "no"})
    assert len(engine.kept_plans(network).plans) == 1
    monkeypatch.setattr(engine, "PLANS_KEPT", 3)
    for name in network.dag.names[:6]:
        network.query("dysp", {name: "yes"})
    assert len(engine.kept_plans(network).plans) == 3


def test_weighted_cpts_raise_an_error():
    network = asia()
    weighted = Network(network.schema, network.dag, network.tables, exponents=(1.0,) * 8)
    with pytest.raises(tb.errors.InputError, match="weighted"):
        weighted.query("dysp")


def test_a_budget_holds_for_probabilities_and_draws_too():
    network = asia()
    for ask in (
        lambda most: network.probability_of_evidence({"dysp": "yes"}, max_entries=most),
        lambda most: network.sample(2, {"dysp": "yes"}, random_state=0, max_entries=most),
        lambda most: network.log_likelihood(pd.DataFrame({"dysp": ["yes"]}), max_entries=most),
    ):
        with pytest.raises(TableTooLargeError, match="width"):
            ask(3)
        ask(64)


@pytest.mark.parametrize("underflow", [1e-200, 2.0])
def test_logarithms_of_every_entry(underflow, monkeypatch):
    """With the limit at 2 every row is computed in logarithms."""
    monkeypatch.setattr(engine, "UNDERFLOW", underflow)
    network = make_network(np.random.default_rng(4), n_features=5, zeros=True)
    made = engine.make_plan(network, ((5,), (), (0, 2), (), True), 1000, "")
    codes = np.array([[a, b] for a in range(network.schema.cardinalities[0]) for b in (0, 0)])
    for row, found in zip(codes, np.exp(engine.execute_logarithms(made, codes)), strict=True):
        seen = [row[0], 255, row[1], 255, 255]
        assert found == approx(naive.class_joint(network, seen, 255), abs=1e-12)


def test_patterns_group_rows_by_their_missing_values():
    missing = np.array([[0, 1, 0], [0, 0, 0], [0, 1, 0], [1, 1, 1]], bool)
    found = {tuple(rows.tolist()): observed.tolist() for rows, observed in engine.patterns(missing)}
    assert found == {(1,): [0, 1, 2], (0, 2): [0, 2], (3,): []}
    ((rows, observed),) = engine.patterns(np.zeros((2, 3), bool))
    assert (rows.tolist(), observed.tolist()) == ([0, 1], [0, 1, 2])


def test_too_many_unknown_variables_raise_an_error(monkeypatch):
    network = asia()
    monkeypatch.setattr(plan_kernels, "MAX_FREE", 3)
    monkeypatch.setattr(order_kernels, "MAX_FREE", 3)
    for name in ("find_order", "make"):
        monkeypatch.setattr(plan_kernels, name, getattr(plan_kernels, name).py_func)  # reads the limit anew
    with pytest.raises(TableTooLargeError, match="More than 3 variables"):
        network.query("dysp")
    assert network.query("asia").values == approx([0.01, 0.99])  # the others are barren


@pytest.mark.parametrize("network", [asia(), alarm_sized(2)], ids=["asia", "37 variables"])
def test_small_queries_have_the_same_bits_without_a_compiler(network):
    flat, last = flat_network(network), len(network.dag.names) - 1
    pattern = ((last,), (0,), (1,), (), False)
    found = []
    for make, run in (
        (plan_kernels.make, run_kernels.run_one),
        (interpreted(plan_kernels.make), interpreted(run_kernels.run_one)),
    ):
        largest, program, cpts = make(flat, *engine._members(pattern), False, 0, 1e6)
        values, total, states = run(program, flat.sizes, cpts, np.zeros(1, np.int64), int(flat.sizes[last]))
        found.append((largest, program.tobytes(), cpts.tobytes(), values.tobytes(), total, states.tobytes()))
    assert found[0] == found[1]
