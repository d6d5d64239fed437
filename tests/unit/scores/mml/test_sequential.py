"""Adaptive codes against worked fixtures and exact fractions."""

import numpy as np
import pytest
from pytest import approx

import fixtures_mml as known
import naive_mml
from tanbark.scores import mml

fixtures = pytest.mark.parametrize(("data", "chosen", "lengths"), known.LENGTHS)
SIX = 6e-7  # the fixtures have six decimals


@fixtures
def test_adaptive_codes(data, chosen, lengths):
    columns, states, labels, n_classes = data
    part, sizes = columns[list(chosen)], [states[j] for j in chosen]
    assert mml.nb_adaptive(part, labels, sizes, n_classes).total == approx(lengths["nb_adaptive"], abs=SIX)
    assert naive_mml.nb_adaptive(part, sizes, labels, n_classes) == approx(lengths["nb_adaptive"], abs=SIX)
    averaged = mml.mbp(part, labels, sizes, n_classes).total
    assert averaged == approx(lengths["mbp"], abs=SIX)
    slow, members = naive_mml.mbp(part, sizes, labels, n_classes)
    assert slow == approx(lengths["mbp"], abs=SIX)
    assert len(members) == mml.polytrees(len(chosen))
    assert min(members) - 1e-12 <= averaged <= max(members) + 1e-12


def test_the_order_of_rows_in_the_adaptive_code():
    """Over orders it is 413.6, give or take 1.0; the mean by the library, single orders by both."""
    rng, lengths = np.random.default_rng(0), []
    for k in range(300):
        order = rng.permutation(1000)
        rows, labels = known.NOTE_ROWS[:, order], known.NOTE_LABELS[order]
        lengths.append(mml.nb_adaptive(rows, labels, (2, 2, 2), 2).total)
        if k < 5:
            assert naive_mml.nb_adaptive_floats(rows, (2, 2, 2), labels, 2) == approx(lengths[-1], abs=1e-8)
    assert np.mean(lengths) == approx(413.6, abs=0.2)
    assert np.std(lengths) == approx(1.03, abs=0.15)
