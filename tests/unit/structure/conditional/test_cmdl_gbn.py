"""GBN-CMDL: conditional log-likelihood with a penalty."""

import math

import numpy as np
from pytest import approx

import naive
from strategies import make_table
from tanbark.counts import MemoryCounts
from tanbark.structure.conditional import cmdl_gbn


def test_the_score_is_the_penalised_conditional_log_likelihood():
    table = make_table(np.random.default_rng(1), (2, 3, 2, 3), 250)
    codes = table.codes.copy()
    codes[3] = np.where(np.random.default_rng(2).random(250) < 0.8, codes[1], codes[3])
    table = type(table)(table.schema, codes)
    found = cmdl_gbn.learn(MemoryCounts(table))
    states = table.schema.cardinalities
    free = sum((states[v] - 1) * math.prod(states[p] for p in parents) for v, parents in enumerate(found.dag.parents))
    fit = naive.conditional_log_likelihood(table, found.dag.parents)
    assert found.score == approx(fit - 0.5 * math.log(250) * free)
    assert {"class", "x1"} in map(set, found.dag.arcs())


def test_noise_makes_no_arc():
    table = make_table(np.random.default_rng(0), (2, 2, 2), 500)
    codes = np.random.default_rng(3).integers(0, 2, (3, 500)).astype(np.uint8)
    assert cmdl_gbn.learn(MemoryCounts(type(table)(table.schema, codes))).dag.n_arcs == 0
