"""Explain a decision: the evidence of every value, how sure the model is, and a page to question it in a browser.

python examples/explain_decision.py [page.html]
"""

from __future__ import annotations

import sys
from pathlib import Path

from sklearn.datasets import load_breast_cancer

import tanbark as tb


def main() -> None:
    """Fit, explain the row of which the model is least sure, and write the page."""
    page = Path(sys.argv[1] if len(sys.argv) > 1 else "breast-cancer.html")
    data = load_breast_cancer(as_frame=True)
    X, y = data.data.iloc[:, :10], data.target.map({0: "malignant", 1: "benign"}).rename("diagnosis")
    clf = tb.TAN().fit(X, y)

    unsure = int(clf.predict_proba(X).max(axis=1).argmin())
    row = X.iloc[[unsure]]
    print(clf.explain(row))
    low, high = clf.predict_proba_interval(row)
    print(f"\nP({clf.classes_[0]}) with 90 % credible interval: {low[0, 0]:.3f} to {high[0, 0]:.3f}")
    print(f"training rows with these very values: at most {clf.support(row)[0]:.0f}")
    print(f"a prediction that may abstain: {clf.predict(row, abstain_below=0.9)[0]}\n")

    print("And if the radius were known only?")
    print(clf.network_.query("diagnosis", {"mean radius": float(row["mean radius"].iloc[0])}))
    clf.explore(page, title="Breast cancer (Wisconsin)")
    print(f"\nWrote {page}: open it in a browser and click a state.")


if __name__ == "__main__":
    main()
