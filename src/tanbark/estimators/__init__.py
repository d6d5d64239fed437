"""scikit-learn estimators: validate, encode, learn, store, predict."""

from tanbark.estimators.arc_report import Arc, ArcReport, arc_report
from tanbark.estimators.averaged import A2DE, AODE
from tanbark.estimators.averaging import ModelAveraging
from tanbark.estimators.blanket import MarkovBlanketMML
from tanbark.estimators.classifiers import KDB, SPODE, TAN, BayesNetClassifier, FixedStructure, NaiveBayes
from tanbark.estimators.comparison import Comparison, compare_scores, hommel
from tanbark.estimators.discretizers import (
    MDLPDiscretizer,
    MedianDiscretizer,
    QuantileDiscretizer,
    UniformDiscretizer,
)
from tanbark.estimators.discriminative import BNC2P, CMDLGBN
from tanbark.estimators.explain import Explanation, RowExplanation
from tanbark.estimators.general import BAN, GBN, ChowLiuTree, SparseCandidateGBN
from tanbark.estimators.model_file import load
from tanbark.estimators.parameters import AWNB, EM, MANB, WANBIA
from tanbark.estimators.scan import Scan, scan
from tanbark.estimators.searched import (
    BSEJ,
    FSSJ,
    HillClimbTAN,
    SelectiveNaiveBayes,
    SuperParentTAN,
    WrapperKDB,
)
from tanbark.estimators.studied import ACLLTAN, RAIANB, RAIGBN, ExactANB, ExactGBN
from tanbark.estimators.text import TextExplanation, TextNaiveBayes
from tanbark.estimators.validation import CrossValidation, cross_validate_network

__all__ = [
    "A2DE",
    "ACLLTAN",
    "AODE",
    "AWNB",
    "BAN",
    "BNC2P",
    "BSEJ",
    "CMDLGBN",
    "EM",
    "FSSJ",
    "GBN",
    "KDB",
    "MANB",
    "RAIANB",
    "RAIGBN",
    "SPODE",
    "TAN",
    "WANBIA",
    "Arc",
    "ArcReport",
    "BayesNetClassifier",
    "ChowLiuTree",
    "Comparison",
    "CrossValidation",
    "ExactANB",
    "ExactGBN",
    "Explanation",
    "FixedStructure",
    "HillClimbTAN",
    "MDLPDiscretizer",
    "MarkovBlanketMML",
    "MedianDiscretizer",
    "ModelAveraging",
    "NaiveBayes",
    "QuantileDiscretizer",
    "RowExplanation",
    "Scan",
    "SelectiveNaiveBayes",
    "SparseCandidateGBN",
    "SuperParentTAN",
    "TextExplanation",
    "TextNaiveBayes",
    "UniformDiscretizer",
    "WrapperKDB",
    "arc_report",
    "compare_scores",
    "cross_validate_network",
    "hommel",
    "load",
    "scan",
]
