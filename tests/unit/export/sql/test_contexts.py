"""The cells of a family, against one row after another through the context tree and the correction."""

from itertools import product

import numpy as np
import pytest

from tanbark.export.sql.cells import FILLED, NO_STATE
from tanbark.export.sql.contexts import Source, family_cells
from tanbark.params.context_tree import dense, fit_tree
from tanbark.params.correction import add_corrections, grow_families

SIZES = [3, 2, 4, 3, 2]  # the last one is the class
TARGET = 4


def make_source(family, n_rows=60, *, tree=True, correction=True):
    rng = np.random.default_rng(len(family))
    codes = np.array([rng.integers(0, size, n_rows) for size in SIZES]).astype(np.uint8)
    found, _ = fit_tree(codes, family[0], [TARGET, *family[1:]], SIZES)
    families, _ = grow_families(codes[:TARGET], [family], SIZES[:TARGET], SIZES[TARGET])
    families.sums[1:] = rng.normal(size=families.sums[1:].shape)
    return Source(
        tuple(SIZES[c] for c in family), SIZES[TARGET], found if tree else None, 0.7,
        families if correction else None, 0, 1.3,
    )  # fmt: skip


def looked_up(cells, states):
    """Find the longest context, as the statement does."""
    found = None
    for length in sorted(cells):
        contexts, values = cells[length]
        same = np.flatnonzero((contexts == states[:length]).all(axis=1)) if length <= len(states) else []
        assert len(same) <= 1, "keys are different"
        if len(same) == 0:
            break
        found = values[same[0]]
    return found


def wanted(source, family, states):
    """Return the value of one row, less that of the first class."""
    total = np.zeros(source.n_classes)
    if source.tree is not None:
        total += 0.7 * np.log(dense(source.tree)[(slice(None), *states[1:], states[0])])
    if source.families is not None:
        codes = np.full((TARGET, 1), 255, np.uint8)
        codes[list(family), 0] = states
        change = np.zeros((1, source.n_classes))
        add_corrections(source.families, codes, change)
        total += 1.3 * change[0]
    return total[1:] - total[0]


@pytest.mark.parametrize("family", [(0, 1), (2, 0, 3), (3, 2, 1, 0)])
@pytest.mark.parametrize("parts", [{}, {"tree": False}, {"correction": False}], ids=["both", "correction", "tree"])
def test_the_longest_context_has_the_value_of_the_row(family, parts):
    source = make_source(family, **parts)
    cells = family_cells(source, missing=False)
    for states in product(*(range(size) for size in source.sizes)):
        assert looked_up(cells, states) == pytest.approx(wanted(source, family, states))


def test_contexts_that_were_not_seen_are_not_listed():
    source = make_source((3, 2, 1, 0), 20, tree=False)
    cells = family_cells(source, missing=False)
    assert len(cells[2][0]) == 3 * 4, "all of the shortest"
    assert len(cells[4][0]) <= 20


def test_a_missing_parent_and_a_family_of_one_column():
    source = make_source((2, 0, 3), tree=False)
    cells = family_cells(source, missing=True)
    for state in range(4):
        assert looked_up(cells, (state, NO_STATE)) == pytest.approx(wanted(source, (2,), (state,)))
    source = make_source((1,))
    cells = family_cells(source, missing=False)
    for state in range(2):
        assert looked_up(cells, (state, FILLED)) == pytest.approx(wanted(source, (1,), (state,)))
