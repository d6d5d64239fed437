"""Tanbark: Bayesian network classifiers that are exact about gaps, explain themselves, and are fast.

>>> import tanbark as tb
>>> clf = tb.TAN(score="bic").fit([["a", 1], ["a", 0], ["b", 1], ["b", None]], [0, 0, 1, 1])
>>> clf.predict([["b", None]]).tolist()
[1]
"""

from tanbark.counts import cmi
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
    A2DE,
    AODE,
    AWNB,
    BSEJ,
    FSSJ,
    KDB,
    MANB,
    RAIANB,
    RAIGBN,
    SPODE,
    TAN,
    WANBIA,
    BayesNetClassifier,
    CrossValidation,
    ExactANB,
    ExactGBN,
    Explanation,
    FixedStructure,
    HillClimbTAN,
    MDLPDiscretizer,
    MedianDiscretizer,
    NaiveBayes,
    QuantileDiscretizer,
    RowExplanation,
    SelectiveNaiveBayes,
    SuperParentTAN,
    UniformDiscretizer,
    WrapperKDB,
    cross_validate_network,
    load,
)
from tanbark.graph import Dag, Network
from tanbark.structure import LEARNERS
from tanbark.table import Column, Schema

__version__ = "0.1.0"

__all__ = [
    "A2DE",
    "AODE",
    "AWNB",
    "BSEJ",
    "FSSJ",
    "KDB",
    "LEARNERS",
    "MANB",
    "RAIANB",
    "RAIGBN",
    "SPODE",
    "TAN",
    "WANBIA",
    "BayesNetClassifier",
    "Column",
    "CrossValidation",
    "Dag",
    "EmptyColumnWarning",
    "ExactANB",
    "ExactGBN",
    "Explanation",
    "FixedStructure",
    "HillClimbTAN",
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
    "SelectiveNaiveBayes",
    "SuperParentTAN",
    "TableTooLargeError",
    "TanbarkError",
    "TanbarkWarning",
    "UniformDiscretizer",
    "UnseenCategoryWarning",
    "WrapperKDB",
    "__version__",
    "cmi",
    "cross_validate_network",
    "load",
]
