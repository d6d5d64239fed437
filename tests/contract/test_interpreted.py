"""What Python does while a compiler would be waited for is bit by bit what compiled kernels do."""

import numpy as np
import pytest

import tanbark as tb
from tanbark import kernel as kernels

LEARNERS = {
    "naive": lambda: tb.NaiveBayes(),
    "tan": lambda: tb.TAN(),
    "aode": lambda: tb.AODE(),
    "bic": lambda: tb.GBN(),
    "bdeu": lambda: tb.GBN(criterion="bdeu", parameters="laplace"),
    "k2": lambda: tb.GBN(criterion="k2", max_parents=3),
    "aic": lambda: tb.BAN(criterion="aic", parameters="laplace"),
}


def tables():
    """Small tables: codes with many arcs, numbers, numbers with gaps; and weights."""
    draw = np.random.default_rng(0)
    y = draw.integers(0, 3, 150)
    codes = np.zeros((150, 12), int)
    for column in range(12):
        sources = codes[:, draw.integers(0, max(column, 1), 2)].sum(axis=1) + y * draw.integers(0, 2)
        codes[:, column] = (sources + (draw.random(150) < 0.3)) % 4
    numbers = codes + draw.normal(0, 0.4, codes.shape)
    gaps = np.where(draw.random(codes.shape) < 0.1, np.nan, codes)
    return {"codes": (codes, None), "weights": (codes, draw.random(150)), "numbers": (numbers, None),
            "gaps": (gaps, None)}, y  # fmt: skip


@pytest.fixture
def in_python(monkeypatch):
    """A function after whose call all kernels that can are run in Python; before it, none is."""
    monkeypatch.setattr(kernels, "interprets", False)

    def start():
        monkeypatch.setattr(kernels, "interprets", True)
        monkeypatch.setattr(kernels.Kernel, "waits", True)
        monkeypatch.setattr(kernels, "MOST_STEPS", np.inf)
        monkeypatch.setattr(kernels, "for_work", lambda kernel, *_: kernels.interpreted(kernel))

    return start


@pytest.mark.parametrize("name", LEARNERS)
def test_models_are_the_same_bits(name, in_python, tmp_path):
    (rows, labels), files = tables(), {}

    def learn(place):
        for kind, (X, weights) in rows.items():
            model = LEARNERS[name]().fit(X, labels, sample_weight=weights)
            path = tmp_path / f"{place} {kind}.json"
            model.save(path)
            files[place, kind] = path.read_bytes() + model.predict_proba(X).tobytes()

    learn("compiled")
    in_python()
    learn("python")
    for kind in rows:
        assert files["python", kind] == files["compiled", kind], kind
