"""Compare models on bundled data, fit one, explain a prediction with missing values, save, load and explore."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import StratifiedKFold, cross_validate

import tanbark as tb


def main() -> None:
    data = load_breast_cancer(as_frame=True)
    X, y = data.data, data.target.map({0: "malignant", 1: "benign"}).rename("diagnosis")
    print(f"Breast cancer (Wisconsin): {len(X)} rows, {X.shape[1]} continuous features, classes {sorted(set(y))}\n")
    compare(X, y)
    clf = tb.TAN(criterion="bic").fit(X, y)
    print("The tree that TAN with BIC learns:\n")
    print(clf.network_)
    print(f"\n{clf.network_!r}\n")
    explain_with_missing_values(clf, X, y)
    save(clf, X)
    explore(clf)


def compare(X, y) -> None:
    models = {
        "naive Bayes": tb.NaiveBayes(),
        "TAN, log-likelihood": tb.TAN(),
        "TAN, AIC": tb.TAN(criterion="aic"),
        "TAN, BIC": tb.TAN(criterion="bic"),
    }
    folds = StratifiedKFold(10, shuffle=True, random_state=0)
    print("Ten-fold cross-validation (discretisation and structure learnt anew in each fold):\n")
    print(f"  {'model':<22}{'accuracy':>10}{'log-loss':>10}{'AUC':>8}{'seconds':>9}")
    tb.TAN().fit(X, y).predict_proba(X)  # compile, once
    for name, model in models.items():
        start = time.perf_counter()
        scores = cross_validate(model, X, y, cv=folds, scoring=["accuracy", "neg_log_loss", "roc_auc"])
        seconds = time.perf_counter() - start
        accuracy, loss = scores["test_accuracy"].mean(), -scores["test_neg_log_loss"].mean()
        print(f"  {name:<22}{accuracy:>10.3f}{loss:>10.3f}{scores['test_roc_auc'].mean():>8.3f}{seconds:>9.2f}")
    print()


def explain_with_missing_values(clf, X, y) -> None:
    row = X.iloc[[81]].copy()
    complete = clf.predict_proba(row)[0]
    row["worst radius"] = np.nan
    row["worst concave points"] = np.nan
    print(f"Row 81 is {y.iloc[81]}. With all values P({clf.classes_[0]}) = {complete[0]:.4f}; now two are deleted:\n")
    print(clf.explain(row))
    low, high = clf.predict_proba_interval(row)
    print(
        f"\n90 % credible interval of P({clf.classes_[0]}): {low[0, 0]:.3f} to {high[0, 0]:.3f}; "
        f"at most {clf.support(row)[0]:.0f} training rows had all of these values\n"
    )


def save(clf, X) -> None:
    folder = Path("demo-output")
    folder.mkdir(exist_ok=True)
    path = folder / "breast-cancer-tan.json"
    clf.save(path)
    same = np.array_equal(tb.load(path).predict_proba(X), clf.predict_proba(X))
    size = path.stat().st_size / 1000
    print(f"Saved the model to {path} ({size:.0f} kB); loaded again, its predictions are identical: {same}")


def explore(clf) -> None:
    path = Path("demo-output") / "breast-cancer.html"
    clf.explore(path, title="Breast cancer (Wisconsin)")
    print(
        f"Wrote the explorer page {path} ({path.stat().st_size / 1000:.0f} kB): open it in a browser and click a state"
    )


if __name__ == "__main__":
    main()
