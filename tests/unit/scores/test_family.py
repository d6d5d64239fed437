"""Stacked family scores by name, against the scores of single families."""

import numpy as np
import pytest
from pytest import approx

from tanbark.scores import FAMILY_SCORES, bdeu, free_parameters, k2, log_likelihood, penalty
from tanbark.scores.mml import family_score

COUNTS = np.random.default_rng(0).integers(0, 6, (4, 6, 3)).astype(float)


def single(name, counts):
    if name in ("bdeu", "k2", "mml"):
        return {"bdeu": lambda n: bdeu(n, ess=2.0), "k2": k2, "mml": family_score}[name](counts)
    return log_likelihood(counts) - penalty(name, counts.sum()) * free_parameters(counts)


@pytest.mark.parametrize("name", FAMILY_SCORES)
def test_a_stack_is_its_families(name):
    assert FAMILY_SCORES[name](COUNTS, 6, 2.0) == approx([single(name, n) for n in COUNTS], abs=1e-10)


@pytest.mark.parametrize("name", FAMILY_SCORES)
def test_configurations_without_rows_may_be_left_out(name):
    counts = COUNTS.copy()
    counts[:, 4:] = 0
    assert FAMILY_SCORES[name](counts[:, :4], 6, 2.0) == approx(FAMILY_SCORES[name](counts, 6, 2.0), abs=1e-10)
