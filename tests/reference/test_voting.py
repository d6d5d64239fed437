"""Weighted naive Bayes on the votes of 1984, complete rows; the numbers are those of an independent script."""

import gzip
import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from pytest import approx
from scipy.optimize import minimize

import tanbark as tb

SHARED = Path(os.environ.get("TANBARK_SHARED", Path(__file__).parents[3] / "shared"))
DATA = SHARED / "data" / "congressional.csv.gz"

if not DATA.exists():
    if os.environ.get("CI"):
        pytest.fail(f"the data are missing in CI: {DATA}", pytrace=False)
    pytest.skip("the votes are not here", allow_module_level=True)


@pytest.fixture(scope="module")
def votes():
    with gzip.open(DATA, "rt") as file:
        frame = pd.read_csv(file, dtype=str).dropna()
    assert len(frame) == 232
    return frame.drop(columns="class"), frame["class"]


def test_plain_and_optimal_weights(votes):
    assert tb.NaiveBayes().fit(*votes).conditional_log_likelihood(*votes) == approx(-149.144163, abs=5e-7)
    clf = tb.NaiveBayes(parameters=tb.WANBIA()).fit(*votes)
    assert clf.conditional_log_likelihood(*votes) == approx(-19.173781, abs=5e-7)
    assert clf.parameters_.objective_ == approx(-19.173781, abs=5e-7)


def renormalised_loss(network, codes, labels, weights):
    """Minus the conditional log-likelihood of the model whose weighted tables are renormalised."""
    joint = np.tile(np.log(network.tables[-1]), (len(labels), 1))
    for weight, table, column in zip(weights, network.tables, codes, strict=False):
        raised = table**weight
        joint += np.log(raised / raised.sum(axis=0))[column]
    top = joint.max(axis=1, keepdims=True)
    posterior = joint - top - np.log(np.exp(joint - top).sum(axis=1, keepdims=True))
    return -posterior[np.arange(len(labels)), labels].sum()


def test_the_renormalised_model_has_an_optimum_of_its_own(votes):
    """19.298387 is the least loss of the renormalised model, with weights of its own.

    ``normalize=True`` keeps the weights that are best without renormalising, so its loss is higher: 19.395123.
    """
    X, y = votes
    clf = tb.NaiveBayes(parameters=tb.WANBIA(normalize=True)).fit(X, y)
    plain = tb.NaiveBayes().fit(X, y).network_
    codes = [(X[name] == "y").to_numpy().astype(int) for name in X]
    labels = (y == clf.classes_[1]).to_numpy().astype(int)

    def loss(weights):
        return renormalised_loss(plain, codes, labels, weights)

    kept = [clf.parameters_.weights_[name] for name in X]
    assert loss(kept) == approx(19.395123, abs=1e-5)
    assert -clf.conditional_log_likelihood(X, y) == approx(loss(kept), rel=1e-9)
    options = {"maxfun": 10**6, "ftol": 1e-13}
    own = minimize(loss, np.ones(16), method="L-BFGS-B", bounds=[(0, 1)] * 16, options=options)
    assert own.fun == approx(19.298387, abs=2e-6)
