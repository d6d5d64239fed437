"""scikit-learn estimators: validate, encode, learn, store, predict."""

from tanbark.estimators.averaged import A2DE, AODE
from tanbark.estimators.classifiers import KDB, SPODE, TAN, BayesNetClassifier, FixedStructure, NaiveBayes
from tanbark.estimators.discretizers import (
    MDLPDiscretizer,
    MedianDiscretizer,
    QuantileDiscretizer,
    UniformDiscretizer,
)
from tanbark.estimators.explain import Explanation, RowExplanation
from tanbark.estimators.model_file import load
from tanbark.estimators.parameters import AWNB, MANB, WANBIA
from tanbark.estimators.searched import (
    BSEJ,
    FSSJ,
    HillClimbTAN,
    SelectiveNaiveBayes,
    SuperParentTAN,
    WrapperKDB,
)
from tanbark.estimators.studied import ACLLTAN, RAIANB, RAIGBN, ExactANB, ExactGBN
from tanbark.estimators.validation import CrossValidation, cross_validate_network

__all__ = [
    "A2DE",
    "ACLLTAN",
    "AODE",
    "AWNB",
    "BSEJ",
    "FSSJ",
    "KDB",
    "MANB",
    "RAIANB",
    "RAIGBN",
    "SPODE",
    "TAN",
    "WANBIA",
    "BayesNetClassifier",
    "CrossValidation",
    "ExactANB",
    "ExactGBN",
    "Explanation",
    "FixedStructure",
    "HillClimbTAN",
    "MDLPDiscretizer",
    "MedianDiscretizer",
    "NaiveBayes",
    "QuantileDiscretizer",
    "RowExplanation",
    "SelectiveNaiveBayes",
    "SuperParentTAN",
    "UniformDiscretizer",
    "WrapperKDB",
    "cross_validate_network",
    "load",
]
