"""The cells of a family, against one row after another through the context tree or the correction."""

from itertools import product

import numpy as np
import pytest

from tanbark.export.sql.cells import FILLED, NO_STATE
from tanbark.export.sql.contexts import correction_source, family_cells, likelihood_source
from tanbark.params.boosting.correction import add_corrections, grow_families
from tanbark.params.hierarchical.context_tree import dense, fit_tree

SIZES = [3, 2, 4, 3, 3]  # the last one is the class
TARGET = 4
N_CLASSES = SIZES[TARGET]
KINDS = ["likelihood", "correction"]


def less_first(values):
    return values[1:] - values[0]


def make_source(kind, family, n_rows=60):
    """Return the source of a family, and the value of any states of it, less that of the first class."""
    rng = np.random.default_rng(len(family))
    codes = np.array([rng.integers(0, size, n_rows) for size in SIZES]).astype(np.uint8)
    sizes = tuple(SIZES[c] for c in family)
    if kind == "likelihood":
        tree, _ = fit_tree(codes, family[0], [TARGET, *family[1:]], SIZES)
        logs = 0.7 * np.log(dense(tree))
        return likelihood_source(tree, sizes, 0.7), lambda s: less_first(logs[(slice(None), *s[1:], s[0])])
    families, _ = grow_families(codes[:TARGET], [(1, 3), family], SIZES[:TARGET], N_CLASSES)
    families.sums[1:] = rng.normal(size=families.sums[1:].shape)
    alone, _ = grow_families(codes[:TARGET], [(1, 3)], SIZES[:TARGET], N_CLASSES)
    families.sums[: len(alone.sums)] = 0.0
    families.sums[families.firsts[families.spans[1]]] = 0.0

    def value(states):
        row = np.full((TARGET, 1), 255, np.uint8)
        row[list(family[: len(states)]), 0] = states
        change = np.zeros((1, N_CLASSES))
        add_corrections(families, row, change)
        return less_first(change[0])

    return correction_source(families, 1, sizes), value


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


@pytest.mark.parametrize("family", [(0, 1), (2, 0, 3), (3, 2, 1, 0)])
@pytest.mark.parametrize("kind", KINDS)
def test_the_longest_context_has_the_value_of_the_row(family, kind):
    source, value = make_source(kind, family)
    cells = family_cells(source, missing=False)
    for states in product(*(range(size) for size in source.sizes)):
        assert looked_up(cells, states) == pytest.approx(value(states))


def test_contexts_that_were_not_seen_are_not_listed():
    source, _ = make_source("correction", (3, 2, 1, 0), 20)
    cells = family_cells(source, missing=False)
    assert len(cells[2][0]) == 3 * 4, "all of the shortest"
    assert len(cells[4][0]) <= 20


def test_a_missing_parent():
    source, value = make_source("correction", (2, 0, 3))
    cells = family_cells(source, missing=True)
    for state in range(4):
        assert looked_up(cells, (state, NO_STATE)) == pytest.approx(value((state,)))


@pytest.mark.parametrize("kind", KINDS)
def test_a_family_of_one_column(kind):
    source, value = make_source(kind, (1,))
    cells = family_cells(source, missing=False)
    for state in range(2):
        assert looked_up(cells, (state, FILLED)) == pytest.approx(value((state,)))
