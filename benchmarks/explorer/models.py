"""Models of 30 to 1,300 features, and of 26 classes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

import tanbark as tb

SEED = 0


def rows(n_features: int, n_classes: int, n: int) -> tuple[pd.DataFrame, pd.Series]:
    """Draw features of three states; each says more or less about the class."""
    rng = np.random.default_rng(SEED)
    y = rng.integers(0, n_classes, n)
    strength = 0.05 + 0.3 * rng.random(n_features)
    codes = np.column_stack(
        [np.where(rng.random(n) < s, (y * (k + 1)) % 3, rng.integers(0, 3, n)) for k, s in enumerate(strength)]
    )
    return pd.DataFrame(codes, columns=[f"x{k:04d}" for k in range(n_features)]), pd.Series(y, name="class")


def breast_cancer() -> tuple[pd.DataFrame, pd.Series]:
    from sklearn.datasets import load_breast_cancer

    data = load_breast_cancer(as_frame=True)
    return data.data, data.target.map({0: "malignant", 1: "benign"}).rename("diagnosis")


def models(*, only: str | None = None) -> dict[str, Any]:
    """Fit the models by name; ``only`` takes those whose name has this in it."""
    makers = {
        "TAN, 30 features": lambda: tb.TAN().fit(*breast_cancer()),
        "Classifier, 30 features": lambda: tb.Classifier(random_state=SEED).fit(*breast_cancer()),
        "TAN, 200 features": lambda: tb.TAN().fit(*rows(200, 2, 600)),
        "Classifier, 200 features": lambda: tb.Classifier(random_state=SEED).fit(*rows(200, 2, 600)),
        "NaiveBayes, 300 features": lambda: tb.NaiveBayes().fit(*rows(300, 2, 600)),
        "TAN, 300 features": lambda: tb.TAN().fit(*rows(300, 2, 600)),
        "NaiveBayes, 1300 features": lambda: tb.NaiveBayes().fit(*rows(1300, 2, 600)),
        "TAN, 1300 features": lambda: tb.TAN().fit(*rows(1300, 2, 600)),
        "TAN, 26 classes": lambda: tb.TAN().fit(*rows(16, 26, 4000)),
    }
    return {name: make() for name, make in makers.items() if only is None or only in name}
