"""The memory of an elimination: places that are used again, slices that take less, and the limits."""

import math
import resource
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from pytest import approx

from networks import grid
from tanbark import machine
from tanbark.errors import ImpossibleEvidenceError, OptionError, TableTooLargeError
from tanbark.graph import Network
from tanbark.inference.factors import elimination as engine
from tanbark.inference.factors import memory_kernels, order_kernels, plan_kernels
from tanbark.inference.layout import flat_network
from tanbark.inference.queries import Limits

NETWORK = grid(5, 3, seed=1)
SEEN = {"v02": 1, "v31": 0, "v44": 2}
PATTERN = ((0,), (), tuple(NETWORK.dag.names.index(name) for name in SEEN), (), False)


def limit_of(pattern, fraction):
    """A fraction of what a pattern's results take, beside the CPTs."""
    made = engine.plan(NETWORK, pattern)
    return 8 * len(made.cpts) + fraction * (made.memory - 8 * len(made.cpts))


@pytest.fixture(params=[1e-200, 1e300], ids=["numbers", "logarithms"])
def underflow(request, monkeypatch):
    monkeypatch.setattr(engine, "UNDERFLOW", request.param)


@pytest.mark.parametrize("fraction", [0.9, 0.3, 0.1])
def test_slices_are_the_same_sums(fraction, underflow):
    most = limit_of(PATTERN, fraction)
    made = engine.plan(NETWORK, PATTERN, Limits(None, most))
    assert made.sliced
    assert made.memory <= most
    whole = NETWORK.query("v00", SEEN)
    assert NETWORK.query("v00", SEEN, max_memory=most).values == approx(whole.values, rel=1e-12)
    rows = pd.DataFrame([SEEN, {**SEEN, "v02": 0}])
    assert NETWORK.query("v00", rows, max_memory=most).values == approx(NETWORK.query("v00", rows).values, rel=1e-12)


def test_slices_of_maxima_and_probabilities(underflow):
    everything = tuple(k for k in range(25) if k not in PATTERN[2])
    most = limit_of(((), everything, PATTERN[2], (), True), 0.4)
    assert engine.plan(NETWORK, ((), everything, PATTERN[2], (), True), Limits(None, most)).sliced
    assert NETWORK.mpe(SEEN, max_memory=most).states == NETWORK.mpe(SEEN).states
    assert NETWORK.mpe(SEEN, max_memory=most).joint == approx(NETWORK.mpe(SEEN).joint)
    wanted = ["v11", "v12", "v22", "v23", "v33"]
    columns = tuple(NETWORK.dag.names.index(name) for name in wanted)
    most = limit_of(((), columns, PATTERN[2], (), True), 0.8)
    assert engine.plan(NETWORK, ((), columns, PATTERN[2], (), True), Limits(None, most)).sliced
    assert NETWORK.map(wanted, SEEN, max_memory=most) == NETWORK.map(wanted, SEEN)
    assert NETWORK.probability_of_evidence(SEEN, max_memory=most) == approx(NETWORK.probability_of_evidence(SEEN))


def test_evidence_that_slices_find_impossible():
    tables = [table.copy() for table in NETWORK.tables]
    tables[24][..., 2] = 0.0
    tables[24] /= tables[24].sum(-1, keepdims=True)
    network = Network(NETWORK.schema, NETWORK.dag, tuple(tables))
    with pytest.raises(ImpossibleEvidenceError, match="probability zero"):
        network.query("v00", SEEN, max_memory=limit_of(PATTERN, 0.3))


def test_soft_evidence_is_not_sliced():
    soft = {name: [0.2, 0.5, 0.3] for name in ("v22", "v11", "v33")}
    most = limit_of(PATTERN, 0.3)
    found = NETWORK.query("v00", SEEN, soft=soft, max_memory=most)
    assert found.values == approx(NETWORK.query("v00", SEEN, soft=soft).values, rel=1e-12)


def test_what_cannot_be_divided_raises_an_error_with_its_memory(monkeypatch):
    with pytest.raises(TableTooLargeError, match=r"GiB of memory, above the 0\.000 GiB .* max_memory"):
        NETWORK.query("v00", SEEN, max_memory=64)
    with pytest.raises(OptionError, match="max_memory must be"):
        NETWORK.query("v00", SEEN, max_memory=-1)
    with pytest.raises(TableTooLargeError, match="max_memory"):
        NETWORK.sample(2, SEEN, random_state=0, max_memory=limit_of(PATTERN, 0.3))
    assert NETWORK.query("v00", SEEN, max_memory=64, method="auto").method != "exact"
    monkeypatch.setattr(engine, "MAX_OPERATIONS", 100)
    with pytest.raises(TableTooLargeError, match="multiplications in all, more than 100"):
        NETWORK.query("v00", SEEN)
    assert NETWORK.query("v00", SEEN, max_entries=1 << 20).values.sum() == approx(1)


def test_the_cost_has_the_memory():
    cost = NETWORK.query_cost("v00", list(SEEN))
    assert cost.memory == engine.plan(NETWORK, PATTERN).memory
    assert cost.memory >= 8 * cost.largest / 3
    assert math.isnan(grid(9, 9).query_cost([f"v{k}{k}" for k in range(9)] + [f"v{k}0" for k in range(1, 9)]).memory)


def test_results_that_are_needed_share_no_place():
    made = engine.plan(NETWORK, PATTERN)
    lean = memory_kernels.reuse_places(made.program, made.sizes)
    lengths = memory_kernels.result_lengths(made.program, made.sizes)
    sections = [plan_kernels.section(lean, number) for number in range(plan_kernels.N_SECTIONS)]
    base, totals, n_given = sections[plan_kernels.BASE], sections[plan_kernels.TOTALS], len(made.program)
    n_given = totals[plan_kernels.N_GIVEN]
    used_by = np.empty(len(base), np.int64)
    bounds = sections[plan_kernels.INPUT_BOUNDS]
    for step in range(len(lengths)):
        used_by[sections[plan_kernels.INPUTS][bounds[step] : bounds[step + 1]]] = step
    used_by[-1] = len(lengths)
    taken = np.zeros(totals[plan_kernels.MEMORY_SIZE], bool)
    taken[: len(made.cpts)] = True
    for step, length in enumerate(lengths):
        place = slice(base[n_given + step], base[n_given + step] + length)
        assert not taken[place].any()
        taken[place] = True
        for other in np.flatnonzero(used_by[n_given : n_given + step] == step):
            taken[base[n_given + other] : base[n_given + other] + lengths[other]] = False
    assert totals[plan_kernels.MEMORY_SIZE] < plan_kernels.section(made.program, plan_kernels.TOTALS)[0]
    again = made._replace(lean=lean)
    codes = np.array([list(SEEN.values()), [0, 0, 0], [0, 0, 1]])
    none = np.zeros(0)
    assert engine.execute(again, codes, none)[0] == approx(engine.execute(made, codes, none)[0], rel=0)


def test_more_orders_are_tried_where_the_sums_are_long():
    network = grid(8, 4)
    flat, n = flat_network(network), 64
    used, phase = np.ones(n, np.bool_), np.zeros(n, np.int8)
    found = order_kernels.best_order(flat.sizes, flat.cpts, used, phase, n)
    free, place = order_kernels._free(flat.cpts, used, phase)
    linked = order_kernels._interactions(flat.cpts, used, place, n)
    states = flat.sizes[free].astype(float)
    _, first, _ = order_kernels._greedy(linked, free, phase, states, False, np.ones(n), np.inf)
    assert found.entries.sum() < 0.8 * first
    again = order_kernels.best_order(flat.sizes, flat.cpts, used, phase, n)
    assert again.variables.tolist() == found.variables.tolist()
    assert sorted(found.variables.tolist()) == list(range(n))


def test_free_memory_is_that_of_the_process_where_it_is_limited(monkeypatch):
    free = machine.free_memory()
    assert 1 << 20 < free < 1 << 50
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    monkeypatch.setattr(resource, "getrlimit", lambda _: (used + (64 << 20), -1))
    assert machine.free_memory() <= 65 << 20
