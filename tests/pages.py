"""Rows and models for pages, and what a page is asked; some names try to break out."""

import numpy as np
import pandas as pd

import tanbark as tb

NASTY = [
    "</script><script>window.hacked = 1</script>",
    "\"quotes\" & 'more'",
    "😀 <!-- -->",
    "<img src=x onerror=hacked()>",
]


WRONG = 0.03  # fraction of labels


def nasty_model():
    X = [[f"{a}{NASTY[2]}", f"{b}{NASTY[0]}"] for a in "xy" for b in "uv"] * 5
    frame = pd.DataFrame(X, columns=NASTY[:2])
    return tb.TAN().fit(frame, pd.Series([NASTY[3], "]]>"] * 10, name="\u2028class\ud800"))


ASK = """([data, rows, label]) => { const model = new tanbark.Model(data); return rows.map((row) => {
  const known = model.nothing.slice();
  row.forEach((value, node) => {
    if (value === null) return;
    known[node] = model.observed(node, tanbark.codeValue(model.columns[node], value), Number(value));
  });
  const found = tanbark.posterior(model, model.target, known);
  const why = tanbark.finish(tanbark.contributions(model, model.target, known, label));
  return {
    probabilities: Array.from(found.probabilities),
    why: why.parts.map(({ node, nats }) => [node, nats]),
    total: why.total,
    support: tanbark.support(model, known)?.rows ?? null,
    bits: tanbark.finish(tanbark.expectedInformation(model, model.target, known)),
    marginals: found.marginals.map((m) => Array.from(m)),
  };
}); }"""


def mixed_rows(seed=0, n=400, classes=3):
    """Draw rows with numbers, categories and missing values; the class also depends on a pair of columns."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, classes, n)
    a = np.where(rng.random(n) < 0.5, y, rng.integers(0, classes, n))
    X = pd.DataFrame(
        {
            "height": np.round(rng.normal(170 + 4 * y, 8), 1),
            "town": np.array(["Oslo", "Bergen", "Paris"])[a % 3],
            "weight": np.round(rng.normal(70 + 3 * a, 9), 1),
            "noise": np.round(rng.normal(size=n), 3),
            "pair": np.where(rng.random(n) < 0.85, (a + y) % 2, rng.integers(0, 2, n)).astype(float),
            "free": np.array(["u", "v"])[rng.integers(0, 2, n)],
        }
    )
    return X.mask(rng.random(X.shape) < 0.04), pd.Series(y, name="kind")


def rule_rows(n=600):
    """Draw rows of a rule that networks miss, so that a correction pays; a few wrong labels end its trees early."""
    rng = np.random.default_rng(3)
    X = rng.integers(0, 3, (n, 6))
    y = ((X[:, 0] == X[:, 1]) & (X[:, 2] > 0)) | (X[:, 3] + X[:, 4] + X[:, 5] == 5)
    y ^= rng.random(n) < WRONG
    return pd.DataFrame(X, columns=list("abcdef")).astype(str), pd.Series(y.astype(int), name="rule")


def rule_numbers(n=700):
    """Draw numbers and a category whose rule networks miss, with a few wrong labels too."""
    rng = np.random.default_rng(8)
    X = pd.DataFrame(rng.normal(size=(n, 3)).round(2), columns=["left", "right", "size"])
    X["town"] = rng.choice(["Oslo", "Bergen", "Paris"], n)
    y = ((X["left"] * X["right"] > 0) ^ (X["town"] == "Oslo")) | (X["size"] > 1.2)
    y ^= rng.random(n) < WRONG
    return X, y.astype(int).rename("rule")


_FITTED = {}


def fit_once(model, make):
    """Fit a model to the rows that a function makes, once for all tests that ask for the same; return it and X."""
    key = repr(model), make.__module__, make.__qualname__
    if key not in _FITTED:
        X, y = make()
        _FITTED[key] = model.fit(X, y), X
    return _FITTED[key]


def texts(frame):
    """Write rows as a reader types them."""
    return [[None if pd.isna(v) else str(v) for v in row] for row in frame.itertuples(index=False)]


def asked(X, seed=1, n=24):
    """Take rows with all fractions of missing values, from none to all."""
    rng = np.random.default_rng(seed)
    rows = X.sample(n, random_state=seed).reset_index(drop=True)
    return rows.mask(rng.random(rows.shape) < np.linspace(0.0, 1.0, n)[:, None])
