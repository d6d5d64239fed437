"""scikit-learn estimators: validate, encode, learn, store, predict."""

from tanbark.estimators.classifiers import TAN, BayesNetClassifier, FixedStructure, NaiveBayes
from tanbark.estimators.discretizers import (
    MDLPDiscretizer,
    MedianDiscretizer,
    QuantileDiscretizer,
    UniformDiscretizer,
)
from tanbark.estimators.explain import Explanation, RowExplanation
from tanbark.estimators.model_file import load

__all__ = [
    "TAN",
    "BayesNetClassifier",
    "Explanation",
    "FixedStructure",
    "MDLPDiscretizer",
    "MedianDiscretizer",
    "NaiveBayes",
    "QuantileDiscretizer",
    "RowExplanation",
    "UniformDiscretizer",
    "load",
]
