"""Complete rows take joined factors; the results are those of the computation in logarithms."""

from functools import cache

import numba
import numpy as np
import pytest

import tanbark as tb
from tanbark.inference.aode import average as averaged
from tanbark.inference.aode import joint_tables as joined
from tanbark.inference.aode import kernels as average_kernels


def make_rows(n_classes, n=3000):
    rng = np.random.default_rng(4)
    y = rng.integers(0, n_classes, n)
    X = np.column_stack([rng.integers(0, 1 + k % 6, n) for k in range(9)])
    X[:, 3] = np.where(rng.random(n) < 0.4, y, X[:, 3])
    return X, y


@pytest.fixture
def rows():
    return make_rows(3)


def joint(clf, X, monkeypatch, *, fast):
    monkeypatch.setattr(averaged, "WORTH_ROWS", 1 if fast else 10**9)
    return clf.predict_joint_log_proba(X)


@pytest.mark.parametrize("cls", [tb.AODE, tb.A2DE])
@pytest.mark.parametrize(
    "options", [{}, {"min_rows": 500}, {"min_rows": 10**6}, {"parameters": "bdeu", "class_prior": [0.1, 0.2, 0.7]}]
)
def test_joined_tables_agree_with_logarithms(cls, options, rows, monkeypatch):
    clf = cls(**options).fit(*rows)
    assert clf.averages_[0].joined(np.array(clf.schema_.cardinalities[:-1])) is not None
    fast, slow = (joint(clf, rows[0], monkeypatch, fast=fast) for fast in (True, False))
    assert fast == pytest.approx(slow, abs=1e-10)


@cache
def kernel_for(together):
    """Return the kernel, which reads the limit when it is compiled; that takes seconds."""
    kept = together == average_kernels.MOST_TOGETHER
    return average_kernels.average_joined if kept else numba.njit(average_kernels.average_joined.py_func)


@pytest.mark.parametrize("cls", [tb.AODE, tb.A2DE])
@pytest.mark.parametrize("options", [{}, {"min_rows": 700}, {"min_rows": 1500}])
@pytest.mark.parametrize("together", [1, 12, average_kernels.MOST_TOGETHER])
def test_two_classes_agree_with_logarithms(cls, options, together, monkeypatch):
    """Two models at once where they have few states; 9 features leave one model over; 5000 rows are two blocks."""
    monkeypatch.setattr(average_kernels, "average_joined", kernel_for(together))
    monkeypatch.setattr(average_kernels, "MOST_TOGETHER", together)
    X, y = make_rows(2, 5000)
    clf = cls(**options).fit(X, y)
    fast, slow = (joint(clf, X, monkeypatch, fast=fast) for fast in (True, False))
    assert fast == pytest.approx(slow, abs=1e-10)


def test_no_joined_tables_where_they_would_be_unsafe_or_too_large(rows, monkeypatch):
    X, y = rows[0][:40, 3:6], rows[1][:40]
    impossible = tb.AODE(categorical_features="all", parameters=0).fit(X, y)
    assert impossible.averages_[0].joined(np.array(impossible.schema_.cardinalities[:-1])) is None
    slow = joint(impossible, X, monkeypatch, fast=False)
    assert np.array_equal(joint(impossible, X, monkeypatch, fast=True), slow)
    sizes = np.array(tb.AODE().fit(*rows).schema_.cardinalities[:-1])
    monkeypatch.setattr(joined, "MOST_BYTES", 1000)
    assert tb.AODE().fit(*rows).averages_[0].joined(sizes) is None


def test_four_hundred_features_do_not_underflow(monkeypatch):
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 2, (1500, 400)), rng.integers(0, 2, 1500)
    clf = tb.AODE().fit(X, y)
    fast = joint(clf, X, monkeypatch, fast=True)
    assert np.isfinite(fast).all()
    assert fast[:40] == pytest.approx(joint(clf, X[:40], monkeypatch, fast=False), rel=1e-12)
