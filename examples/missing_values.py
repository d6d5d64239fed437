"""Missing values in a clinical table: none is imputed, in training or in prediction.

python examples/missing_values.py

A third of the values of scikit-learn's breast-cancer table is deleted at random. Models that impute are compared with
those that leave missing values out of the counts (available-case) or use expectation and maximisation (EM). At
prediction the network marginalises whatever is missing, exactly.
"""

from __future__ import annotations

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.impute import SimpleImputer
from sklearn.metrics import accuracy_score, log_loss
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline

import tanbark as tb


def main() -> None:
    """Delete values, fit, and compare on test rows that miss values too."""
    data = load_breast_cancer(as_frame=True)
    X, y = data.data.iloc[:, :10], data.target.map({0: "malignant", 1: "benign"})
    X = X.mask(np.random.default_rng(0).random(X.shape) < 1 / 3)
    X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.3, random_state=0, stratify=y)
    print(f"{X_train.isna().to_numpy().mean():.0%} of the training values are missing; complete rows: ", end="")
    print(f"{X_train.notna().all(axis=1).sum()} of {len(X_train)}\n")

    models = {
        "mean imputed, Gaussian naive Bayes": make_pipeline(SimpleImputer(), GaussianNB()),
        "mean imputed, TAN": make_pipeline(SimpleImputer().set_output(transform="pandas"), tb.TAN()),
        "TAN, available-case": tb.TAN(),
        "TAN, EM": tb.TAN(missing="em"),
    }
    print(f"{'':36}accuracy  log-loss")
    for name, model in models.items():
        model.fit(X_train, y_train)
        accuracy = accuracy_score(y_test, model.predict(X_test))
        print(f"{name:36}{accuracy:8.3f}{log_loss(y_test, model.predict_proba(X_test)):10.3f}")

    patient = X_test.iloc[[0]]
    print(f"\n{models['TAN, EM'].explain(patient)}")


if __name__ == "__main__":
    main()
