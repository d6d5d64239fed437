"""Tanbark: Bayesian network classifiers that are exact about gaps, explain themselves, and are fast.

>>> import tanbark as tb
>>> clf = tb.TAN(score="bic").fit([["a", 1], ["a", 0], ["b", 1], ["b", None]], [0, 0, 1, 1])
>>> clf.predict([["b", None]]).tolist()
[1]
"""

from tanbark.errors import (
    EmptyColumnWarning,
    ImpossibleEvidenceWarning,
    InputError,
    MissingPackageError,
    ModelFileError,
    OptionError,
    TableTooLargeError,
    TanbarkError,
    TanbarkWarning,
    UnseenCategoryWarning,
)
from tanbark.estimators import (
    TAN,
    BayesNetClassifier,
    Explanation,
    FixedStructure,
    MDLPDiscretizer,
    MedianDiscretizer,
    NaiveBayes,
    QuantileDiscretizer,
    RowExplanation,
    UniformDiscretizer,
    load,
)
from tanbark.graph import Dag, Network
from tanbark.structure import LEARNERS
from tanbark.table import Column, Schema

__version__ = "0.1.0"

__all__ = [
    "LEARNERS",
    "TAN",
    "BayesNetClassifier",
    "Column",
    "Dag",
    "EmptyColumnWarning",
    "Explanation",
    "FixedStructure",
    "ImpossibleEvidenceWarning",
    "InputError",
    "MDLPDiscretizer",
    "MedianDiscretizer",
    "MissingPackageError",
    "ModelFileError",
    "NaiveBayes",
    "Network",
    "OptionError",
    "QuantileDiscretizer",
    "RowExplanation",
    "Schema",
    "TableTooLargeError",
    "TanbarkError",
    "TanbarkWarning",
    "UniformDiscretizer",
    "UnseenCategoryWarning",
    "__version__",
    "load",
]
