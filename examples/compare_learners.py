"""Compare learners on the same folds: accuracy and log-loss, ranks, adjusted p-values.

python examples/compare_learners.py

The table is scikit-learn's breast-cancer data; each learner discretises and learns its structure anew in every fold.
"""

from __future__ import annotations

from sklearn.datasets import load_breast_cancer

import tanbark as tb


def main() -> None:
    """Run five folds of four learners."""
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    models = {
        "naive Bayes": tb.NaiveBayes(),
        "TAN": tb.TAN(),
        "2-DB": tb.KDB(),
        "AODE": tb.AODE(),
    }
    result = tb.cross_validate_network(models, X, y, cv=5, random_state=0)
    for measure in ("accuracy", "log_loss"):
        print(f"{result.compare(measure)}\n")


if __name__ == "__main__":
    main()
