import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from pytest import approx

import tanbark as tb
from fixtures_small import L10, TRUE_ARCS, f500
from tanbark.errors import OptionError
from tanbark.params import K2, BDeu, Hierarchical, Laplace, MEstimate, estimate

families = st.tuples(st.integers(1, 4), st.integers(1, 4)).flatmap(
    lambda s: arrays(np.int64, s, elements=st.integers(0, 9))
)
numbered = [st.builds(cls, st.floats(0, 50)) for cls in (Laplace, BDeu, MEstimate)]
smoothings = st.one_of(st.builds(K2), st.builds(Hierarchical), *numbered)


@given(families, smoothings)
def test_rows_of_a_table_are_distributions(counts, smoothing):
    table = estimate(counts, 1, smoothing)
    assert table.sum(axis=1) == approx(1.0, abs=1e-12)
    assert (table >= 0).all()
    if all(value is None or value > 1e-3 for value in smoothing.get_params().values()):
        assert (table > 0).all()


@given(families)
def test_k2_is_laplace_with_one(counts):
    assert np.array_equal(estimate(counts, 1, K2()), estimate(counts, 1, Laplace(1.0)))


@given(families)
def test_much_smoothing_is_uniform_and_none_is_frequency(counts):
    assert estimate(counts, 1, Laplace(1e12)) == approx(1 / counts.shape[1], abs=1e-9)
    for row, found in zip(counts, estimate(counts, 1, BDeu(0.0)), strict=True):
        assert found == approx(row / row.sum() if row.sum() else 1 / len(row))


@given(families)
def test_m_estimate_with_uniform_margins_is_laplace(counts):
    states = counts.shape[1]
    both = np.vstack([counts, counts.max() - counts + 1])  # the margin over configurations is the same for every state
    expected = estimate(both, 1, Laplace(2.0))
    assert estimate(both, 1, MEstimate(2.0 * states)) == approx(expected)


def test_numbers_of_the_lectures_ten_rows():
    X, y = L10[:, 1:], L10[:, 0]
    for parameters, value in [("ml", 0.6), (tb.BDeu(1.0), 3.25 / 5.5), ("laplace", 4 / 7)]:
        clf = tb.NaiveBayes(parameters=parameters).fit(X, y)
        assert clf.network_.table("x0")[1, 1] == approx(value)
    margin = (7 + 1) / (10 + 2)
    clf = tb.NaiveBayes(parameters=tb.MEstimate(2.0)).fit(X, y)
    assert clf.network_.table("x0")[1, 1] == approx((3 + 2 * margin) / 7)


def test_bdeu_tables_of_the_synthetic_rows():
    rows = f500()
    frame = {name: rows[:, k] for k, name in enumerate("CABWVU")}
    import pandas as pd

    X = pd.DataFrame(frame)[list("ABWVU")]
    clf = tb.FixedStructure(TRUE_ARCS, parameters="bdeu").fit(X, rows[:, 0])
    assert clf.network_.table("class") == approx([0.645709, 0.354291], abs=1e-6)
    assert clf.network_.table("W")[0, 0, :, 0] == approx([0.807575, 0.135733, 0.056693], abs=1e-6)


@pytest.mark.parametrize("alpha", [-1, float("nan"), float("inf"), "1", None, True])
def test_bad_alpha_is_refused(alpha):
    with pytest.raises(OptionError, match="alpha must be"):
        Laplace(alpha).check()
