"""What to ask next in the page against Python's ask_next."""

import numpy as np
import pandas as pd
import pytest

import tanbark as tb
from pages import fit_once
from tanbark.explorer.data import page_data

pytestmark = pytest.mark.xdist_group("browser")

BITS = """([data, rows]) => { const model = new tanbark.Model(data); return rows.map((row) => {
  const known = model.nothing.slice();
  row.forEach((value, node) => {
    if (value === null) return;
    known[node] = model.observed(node, tanbark.codeValue(model.columns[node], value), Number(value));
  });
  return tanbark.finish(tanbark.JOBS.information(model, { target: model.target, likelihoods: known }));
}); }"""


def make_rows(n=500):
    rng = np.random.default_rng(8)
    X = pd.DataFrame(rng.normal(size=(n, 3)).round(2), columns=["left", "right", "size"])
    X["town"] = rng.choice(["Oslo", "Bergen", "Paris"], n)
    y = ((X["left"] * X["right"] > 0) ^ (X["town"] == "Oslo")) | (X["size"] > 1.2)
    X["right"] += y * 0.8
    y ^= rng.random(n) < 0.03  # wrong labels, so that fewer trees pay
    return X.round(2), y.map({False: "no", True: "yes"}).rename("rule")


MODELS = {
    "tan": tb.TAN(),
    "tempered": tb.TAN(temperature=0.6),
    "weighted": tb.NaiveBayes(parameters=tb.WANBIA()),
    "corrected": tb.TAN(parameters=tb.Discriminative(penalty=1.0, rounds=6)),
    "ensemble": tb.NetworkEnsemble(4),
    "classifier": tb.Classifier(4),
}


@pytest.mark.parametrize("name", MODELS)
def test_what_to_ask_next_is_pythons(compute, name):
    clf, X = fit_once(MODELS[name], make_rows)
    rows = [{}, {"town": "Oslo"}, {"left": 0.31, "size": 1.5}, {"town": "Paris", "left": -0.7, "right": 0.2}]
    texts = [[None if feature not in row else str(row[feature]) for feature in X] for row in rows]
    told = compute(BITS, [page_data(clf), texts])
    most = 0.0
    for row, bits in zip(rows, told, strict=True):
        expected = {question.feature: question.bits for question in clf.ask_next(row)}
        assert set(expected) == set(X) - set(row)
        found = {feature: bits[column] for column, feature in enumerate(X) if feature not in row}
        assert found == pytest.approx(expected, abs=1e-9)
        most = max(most, *expected.values())
    assert most > 1e-3


def test_models_above_have_a_correction():
    assert fit_once(MODELS["classifier"], make_rows)[0].model_.trees is not None
