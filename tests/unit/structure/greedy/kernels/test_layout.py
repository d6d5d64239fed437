"""Tables in a flat array: gathered into stacks, and with the prior masses of their cells."""

import numpy as np

from tanbark.structure.greedy.kernels.layout import (
    FIELDS,
    INNER,
    INNER_STEP,
    LEVEL_STEP,
    LEVELS,
    OUTER,
    OUTER_STEP,
    START,
    STATE_STEP,
    STATES,
    prior_masses,
    stack_tables,
)


def describe(start, shape, candidate):
    """Lay out a table (parents..., child) in C order, one of whose parents is the candidate."""
    *parents, states = shape
    row = np.ones(FIELDS, np.int64)
    inner = int(np.prod(parents[candidate + 1 :]))
    row[START], row[OUTER], row[INNER] = start, int(np.prod(parents[:candidate])), inner
    row[LEVELS], row[STATES], row[STATE_STEP], row[INNER_STEP] = parents[candidate], states, 1, states
    row[LEVEL_STEP], row[OUTER_STEP] = inner * states, parents[candidate] * inner * states
    return row


def test_stacks_have_the_candidate_last():
    shape = (2, 3, 4, 2)
    flat = np.arange(7 + 2 * 48)
    for candidate in range(3):
        layout = np.stack([describe(start, shape, candidate) for start in (7, 55)])
        for start, found in zip((7, 55), stack_tables(flat, layout), strict=True):
            table = np.moveaxis(flat[start : start + 48].reshape(shape), candidate, -1)
            assert np.array_equal(found, table.reshape(-1, 2, shape[candidate]))


def test_prior_masses():
    layout = describe(0, (2, 3, 4, 5), 1)[None]  # 8 configurations of the others, 3 levels, 5 states
    assert prior_masses("bdeu", layout, 6.0).tolist() == [[6 / 120, 6 / 24, 6 / 40, 6 / 8]]
    assert prior_masses("k2", layout, 6.0).tolist() == [[1, 5, 1, 5]]
    assert prior_masses("bic", layout, 6.0).tolist() == [[0, 0, 0, 0]]
