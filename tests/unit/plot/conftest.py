"""A small model with names that markup must escape; figures are closed after each test."""

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

import tanbark as tb


@pytest.fixture(autouse=True)
def _close():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def model():
    rng = np.random.default_rng(0)
    y = rng.choice(["a<b", "c&d"], 80)
    X = pd.DataFrame({"one": y, "two": rng.choice(["$x", "y_"], 80), "n": rng.normal(size=80) + 3 * (y == "a<b")})
    X["one"] = X["one"].where(rng.random(80) < 0.8, "other")
    return tb.TAN().fit(X, pd.Series(y, name="class<")), X, y
