"""Fit the Classifier on bundled data, measure it on held-out rows with and without missing values, explain, explore."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import accuracy_score, log_loss, roc_auc_score
from sklearn.model_selection import train_test_split

import tanbark as tb

FOLDER = Path("demo-output")
MISSING = 0.3


def main() -> None:
    data = load_breast_cancer(as_frame=True)
    X, y = data.data, data.target.map({0: "malignant", 1: "benign"}).rename("diagnosis")
    X, X_test, y, y_test = train_test_split(X, y, test_size=0.3, random_state=0, stratify=y)
    rows = f"{len(X)} training rows, {len(X_test)} held-out rows"
    print(f"Breast cancer (Wisconsin): {X.shape[1]} continuous features, {rows}\n")
    clf = fit(X, y)
    partial = X_test.mask(np.random.default_rng(0).random(X_test.shape) < MISSING)
    measure(clf, X, y, {"all values": X_test, f"{MISSING:.0%} missing": partial}, y_test)
    explain(clf, partial, y_test)
    save(clf, partial)
    explore(clf)


def fit(X, y):
    print("tb.Classifier().fit(X, y): networks whose likelihoods are pooled, and a correction if it helps.")
    start = time.perf_counter()
    clf = tb.Classifier().fit(X, y)
    print(f"{time.perf_counter() - start:.1f} s (the first run ever also compiles the kernels). Its choice_:\n")
    print("\n".join(f"  {line}" for line in str(clf.choice_).splitlines()), end="\n\n")
    return clf


def measure(clf, X, y, tests, y_test) -> None:
    """Compare with single networks on the same held-out rows."""
    models = {
        "Classifier": clf,
        "TAN, one network": tb.TAN(temperature="auto").fit(X, y),
        "naive Bayes": tb.NaiveBayes().fit(X, y),
    }
    heads = "".join(f"{name:^32}" for name in tests)
    print(f"  {'on the held-out rows':<22}{heads}".rstrip())
    measures = f"{'accuracy':>12}{'log-loss':>10}{'AUC':>8}  " * len(tests)
    print(f"  {'':<22}{measures}".rstrip())
    for name, model in models.items():
        line = f"  {name:<22}"
        for rows in tests.values():
            proba = model.predict_proba(rows)
            accuracy = accuracy_score(y_test, model.classes_[proba.argmax(axis=1)])
            loss, auc = log_loss(y_test, proba), roc_auc_score(y_test, proba[:, 1])
            line += f"{accuracy:>12.3f}{loss:>10.3f}{auc:>8.3f}  "
        print(line.rstrip())
    print("\nNothing was imputed: the networks sum missing values out.\n")


def explain(clf, partial, y_test) -> None:
    """Explain the held-out row of which the classifier is least sure."""
    place = int(clf.predict_proba(partial).max(axis=1).argmin())
    print(f"The held-out row that is hardest, number {place}; it is {y_test.iloc[place]}:\n")
    print(clf.explain(partial.iloc[[place]]))
    print()


def save(clf, rows) -> None:
    FOLDER.mkdir(exist_ok=True)
    path = FOLDER / "breast-cancer.json"
    clf.save(path)
    same = np.array_equal(tb.load(path).predict_proba(rows), clf.predict_proba(rows))
    size = path.stat().st_size / 1000
    print(f"Saved the model to {path} ({size:.0f} kB); loaded again, its predictions are identical: {same}")


def explore(clf) -> None:
    path = FOLDER / "breast-cancer.html"
    clf.explore(path, title="Breast cancer (Wisconsin)")
    size = path.stat().st_size / 1000
    print(f"Wrote the page of the classifier: {path.resolve()} ({size:.0f} kB)")
    print("Open it in a browser and click a state: the posterior is the classifier's, the picture clf.network_.")


if __name__ == "__main__":
    main()
