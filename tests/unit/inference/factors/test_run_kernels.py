"""Programs at work: sums, maxima and draws, in plain numbers and in logarithms."""

import itertools

import numpy as np
import pytest
from pytest import approx

import naive
from networks import five_nodes
from tanbark.inference.factors import plan_kernels, run_kernels
from tanbark.inference.layout import flat_network

NETWORK = five_nodes()
FLAT = flat_network(NETWORK)


def plan(members, ends):
    return plan_kernels.make(FLAT, np.array(members, np.int64), ends, True, 0, 1e9)[1:]


def given(cpts, logs):
    with np.errstate(divide="ignore"):
        return np.log(cpts) if logs else cpts


@pytest.mark.parametrize("logs", [False, True])
def test_rows_are_summed_one_by_one(logs):
    """P(A, D, E) with D and E observed: rows that repeat a state run fewer steps."""
    program, cpts = plan([0, 3, 4], (1, 1, 3))
    codes = np.array([[0, 0], [0, 1], [1, 1], [1, 1]])
    out, states = np.empty((4, 2)), np.empty((4, 0), np.int64)
    run_kernels.run(program, FLAT.sizes, given(cpts, logs), codes, 0, 4, logs, out, states)
    for row, found in zip(codes, np.exp(out) if logs else out, strict=True):
        for a in range(2):
            total = sum(naive.joint(NETWORK, (a, b, c, *row)) for b, c in itertools.product(range(2), repeat=2))
            assert found[a] == approx(total)


@pytest.mark.parametrize("logs", [False, True])
def test_maxima_find_the_best_states(logs):
    program, cpts = plan([0, 1, 2, 4, 3], (0, 4, 5))
    out, states = np.empty((1, 1)), np.empty((1, 4), np.int64)
    run_kernels.run(program, FLAT.sizes, given(cpts, logs), np.array([[1]]), 0, 1, logs, out, states)
    order = plan_kernels.section(program, plan_kernels.ORDER).tolist()
    assert dict(zip(order, states[0].tolist(), strict=True)) == {0: 0, 1: 1, 2: 0, 4: 0}
    assert (np.exp(out[0, 0]) if logs else out[0, 0]) == approx(0.243)


@pytest.mark.parametrize("logs", [False, True])
def test_draws_look_back_into_the_memory(logs):
    program, cpts = plan([3], (0, 0, 1))
    memory = run_kernels.fill_memory(program, FLAT.sizes, given(cpts, logs), np.array([1]), logs)
    assert (np.exp(memory[-1]) if logs else memory[-1]) == approx(0.70136)
    rng, out = np.random.default_rng(0), np.ones((5, 8000), np.int64)
    run_kernels.draw_back(program, FLAT.sizes, memory, np.array([1]), logs, rng.random(out.shape), out)
    assert out[1].mean() == approx(0.547935, abs=0.02)


def test_draws_from_the_cpts():
    rng, out = np.random.default_rng(0), np.zeros((5, 8000), np.int64)
    run_kernels.draw_forward(FLAT, np.array(NETWORK.dag.order), rng.random(out.shape), out)
    assert out[0].mean() == approx(0.6, abs=0.02)
    assert out[1].mean() == approx(0.42, abs=0.02)
