"""Models of every kind and rows with missing values, for the tests of SQL and of Python modules."""

from contextlib import suppress
from functools import cache

import numpy as np
import pandas as pd

import tanbark as tb

GRAPHS = {
    "general": [("a", "y"), ("y", "b"), ("a", "b"), ("b", "c"), ("y", "c"), ("n", "c"), ("c", "flag")],
    "class below": [("a", "y"), ("b", "y"), ("y", "n")],
}


def rows(seed, n=150, *, gaps=0.0):
    rng = np.random.default_rng(seed)
    y = rng.choice(["no", "it's", 'per"haps'], n)
    a = rng.choice(["red", "green 'x'", "blue"], n)
    b = np.where(rng.random(n) < 0.7, (a == "red") + 2 * (y == "no"), rng.integers(0, 4, n))
    number = rng.normal(size=n) + 2 * (y == "no") + (b == 1)
    frame = pd.DataFrame({"a": a, "b": b.astype(float), "n": number, "c": rng.choice(["u", "v"], n)})
    frame["flag"] = (frame["b"] > 1) ^ (rng.random(n) < 0.2)
    frame = frame.astype({"flag": object})
    for column in frame.columns:
        frame[column] = frame[column].astype(object).where(rng.random(n) >= gaps, None)
    return frame, pd.Series(y, name="y")


def many_together():
    """Return rows whose class takes all columns together, more than a network has parents, so that trees pay."""
    X, y = rows(1, 500)
    places = (X["a"] == "red") + 2 * (X["c"] == "u") + (X["n"] > 1) * (1 + X["b"]) + (X["n"] > 2) * (X["c"] == "v")
    return X, pd.Series(np.unique(y)[(places.astype(int) % 3).to_numpy()], name="y")


def makers():
    yield "naive", tb.NaiveBayes()
    yield "tan", tb.TAN()
    yield "forest", tb.TAN(criterion="bic")
    yield "zeros", tb.TAN(parameters=0)
    yield "kdb", tb.KDB(max_parents=2)
    yield "weighted", tb.NaiveBayes(parameters=tb.WANBIA())
    yield "weighted tree", tb.TAN(parameters=tb.AWNB())
    yield "gap states", tb.TAN(missing="category")
    yield "chow-liu", tb.ChowLiuTree()
    yield "tempered", tb.TAN(temperature=0.6)
    yield "tempered zeros", tb.TAN(temperature=0.1, parameters=0)
    yield "tempered kdb", tb.KDB(max_parents=2, temperature="auto")
    yield "corrected naive", tb.NaiveBayes(parameters=tb.Discriminative(penalty=1.0, rounds=8))
    yield "corrected tan", tb.TAN(parameters=tb.Discriminative(penalty=1.0, rounds=8))
    yield "corrected kdb", tb.KDB(max_parents=3, parameters=tb.Discriminative(penalty=0.5, rounds=16))
    yield "corrected category", tb.TAN(missing="category", parameters=tb.Discriminative(penalty=1.0, rounds=8))
    yield "normalised", tb.TAN(parameters=tb.Discriminative(penalty=1.0, normalize=True), temperature=0.8)
    for name, arcs in GRAPHS.items():
        yield name, tb.FixedStructure(arcs)
        yield f"corrected {name}", tb.FixedStructure(arcs, parameters=tb.Discriminative(penalty=1.0, rounds=8))
        yield f"tempered {name}", tb.FixedStructure(arcs, temperature=1.5)


MODELS = dict(makers())
POOLED = {
    "ensemble": tb.NetworkEnsemble(3),
    "classifier": tb.Classifier(3),
    "another prior": tb.Classifier(3, class_prior=[0.1, 0.2, 0.7]),
    "impossible": tb.NetworkEnsemble(2, class_prior=[0.5, 0.5, 0.0]),
}


CORRECTED = {"classifier", "another prior"}  # by trees


@cache
def learnt(name):
    """Learn a model, once for all tests; none of them changes it."""
    X, y = rows(1, gaps=0.1 if name in {"gap states", "corrected category"} else 0.0)
    if name in CORRECTED:
        X, y = many_together()
    return {**MODELS, **POOLED}[name].fit(X, y)


@cache
def learn_rule():
    """Learn a rule of six columns that networks miss, once for all tests; return the model and its rows."""
    parts = np.random.default_rng(0).integers(0, 3, (6, 300))
    y = np.minimum(parts[0], parts[1]) + np.minimum(parts[2], parts[3]) >= 2
    X = pd.DataFrame(parts.T.astype(object), columns=list("abcdef"))
    return tb.Classifier(4).fit(X, y), X


def posteriors(clf, X):
    """Return each row's posterior, or None where weighted CPTs cannot marginalise a missing value."""
    with suppress(tb.errors.InputError):
        return list(clf.predict_proba(X))
    out = []
    for k in range(len(X)):
        try:
            out.append(clf.predict_proba(X.iloc[k : k + 1])[0])
        except tb.errors.InputError:
            out.append(None)
    return out
