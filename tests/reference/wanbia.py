"""Work out the numbers of test_wanbia.py without Tanbark: weighted naive Bayes on scikit-learn's breast-cancer table.

python tests/reference/wanbia.py

Every column is cut at its median. Naive Bayes has one pseudo-count per cell. The weights in [0, 1] that maximise the
conditional log-likelihood (Zaidi, Cerquides, Carman and Webb, 2013) are found by sequential quadratic programming.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize
from scipy.special import log_softmax
from sklearn.datasets import load_breast_cancer


def binary_table() -> tuple[np.ndarray, np.ndarray]:
    """Return the first ten features, 1 above the median, and the labels."""
    X, y = load_breast_cancer(return_X_y=True)
    X = X[:, :10]
    return (np.median(X, axis=0) < X).astype(int), y


def log_tables(X: np.ndarray, y: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return ln P(class) and ln P(value | class) of every row of values, (classes,) and (features, rows, classes)."""
    prior = np.log((np.bincount(y) + 1) / (len(y) + 2))
    rows = np.empty((X.shape[1], len(y), 2))
    for feature in range(X.shape[1]):
        for label in (0, 1):
            seen = np.bincount(X[y == label, feature], minlength=2) + 1
            rows[feature, :, label] = np.log(seen / seen.sum())[values[:, feature]]
    return prior, rows


def loss(weights: np.ndarray, prior: np.ndarray, rows: np.ndarray, y: np.ndarray) -> tuple[float, np.ndarray]:
    """Return minus the conditional log-likelihood, and its gradient."""
    log_posterior = log_softmax(prior + np.tensordot(weights, rows, 1), axis=1)
    wanted = np.eye(2)[y]
    return -(log_posterior * wanted).sum(), -((wanted - np.exp(log_posterior)) * rows).sum(axis=(1, 2))


def renormalised_loss(weights: np.ndarray, X: np.ndarray, y: np.ndarray) -> float:
    """Return minus the conditional log-likelihood of the model whose weighted CPTs are renormalised."""
    prior, rows = log_tables(X, y, X)
    _, other = log_tables(X, y, 1 - X)
    weighted, opposite = weights[:, None, None] * rows, weights[:, None, None] * other
    log_posterior = log_softmax(prior + (weighted - np.logaddexp(weighted, opposite)).sum(axis=0), axis=1)
    return -log_posterior[np.arange(len(y)), y].sum()


def main() -> None:
    """Print the numbers."""
    X, y = binary_table()
    prior, rows = log_tables(X, y, X)
    start = np.ones(X.shape[1])
    print("naive Bayes", -loss(start, prior, rows, y)[0])
    options = {"ftol": 1e-14, "maxiter": 10_000}
    best = minimize(
        loss, start, (prior, rows, y), method="SLSQP", jac=True, bounds=[(0, 1)] * len(start), options=options
    )
    print("best weights", -best.fun, best.x.round(4).tolist())
    print("the same weights, CPTs renormalised", -renormalised_loss(best.x, X, y))
    own = minimize(renormalised_loss, best.x, (X, y), method="SLSQP", bounds=[(0, 1)] * len(start), options=options)
    print("weights best for renormalised CPTs", -own.fun)


if __name__ == "__main__":
    main()
