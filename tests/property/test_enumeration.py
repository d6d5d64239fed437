"""Every classifier with one network, learnt and asked with random missing values, against enumeration of its joint."""

import numpy as np
import pytest

import naive
import tanbark as tb

N_FEATURES, N_STATES, N_ROWS, SEEDS = 5, 3, 90, (0, 1, 2)
CONFIGURATIONS = {
    "naive": tb.NaiveBayes, "tan": tb.TAN, "forest": lambda: tb.TAN(criterion="bic"), "kdb1": lambda: tb.KDB(1),
    "kdb2": lambda: tb.KDB(2), "spode": tb.SPODE, "gbn": tb.GBN, "gbn by k2": lambda: tb.GBN(criterion="k2"),
    "ban": tb.BAN, "chow-liu": tb.ChowLiuTree, "sparse candidate": tb.SparseCandidateGBN, "rai-anb": tb.RAIANB,
    "rai-gbn": tb.RAIGBN, "exact-anb": tb.ExactANB, "exact-gbn": tb.ExactGBN, "acll": tb.ACLLTAN, "bnc2p": tb.BNC2P,
    "cmdl": tb.CMDLGBN, "skdb": tb.SelectiveKDB, "missing state": lambda: tb.TAN(missing="category"),
    "em": lambda: tb.TAN(parameters=tb.EM()), "bdeu": lambda: tb.KDB(2, parameters="bdeu"),
    "zeros": lambda: tb.TAN(parameters=0), "one thread": lambda: tb.KDB(3, n_jobs=1),
}  # fmt: skip


def draw(rng, n_rows, missing):
    y = rng.integers(0, 3, n_rows)
    noise = rng.integers(0, N_STATES, (n_rows, N_FEATURES))
    X = np.where(rng.random(noise.shape) < 0.5, (y[:, None] + np.arange(N_FEATURES)) % N_STATES, noise).astype(float)
    X[:, 1] = np.where(rng.random(n_rows) < 0.6, X[:, 0], X[:, 1])
    X[rng.random(X.shape) < missing] = np.nan
    return X, y


def enumerated(clf, X):
    """Posteriors by summing the joint over every state of what is missing."""
    network = clf.network_
    codes = np.full(X.shape, 255)
    for j, column in enumerate(network.schema.features):
        levels = list(column.levels)
        for i, value in enumerate(X[:, int(column.name.lstrip("x"))]):
            if value == value:
                codes[i, j] = levels.index(value) + column.missing_state
            elif column.missing_state:
                codes[i, j] = 0
    joint = np.array([naive.class_joint(network, row[: len(network.schema.features)], 255) for row in codes])
    return joint / joint.sum(axis=1, keepdims=True), joint.sum(axis=1) > 0


def test_there_are_24_configurations():
    assert len(CONFIGURATIONS) == 24


@pytest.mark.filterwarnings("ignore::tanbark.errors.TanbarkWarning")
@pytest.mark.filterwarnings("ignore:invalid value")
@pytest.mark.parametrize("name", CONFIGURATIONS)
def test_posteriors_are_those_of_enumeration(name):
    for seed in SEEDS:
        rng = np.random.default_rng(seed)
        X, y = draw(rng, N_ROWS, rng.choice([0.0, 0.1, 0.3]))
        clf = CONFIGURATIONS[name]()
        clf.set_params(categorical_features=list(range(N_FEATURES)), suspicious="keep").fit(X, y)
        new, _ = draw(rng, 25, rng.choice([0.2, 0.5, 0.9]))
        wanted, possible = enumerated(clf, new)
        assert clf.predict_proba(new)[possible] == pytest.approx(wanted[possible], abs=1e-12)
