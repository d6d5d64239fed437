"""scikit-learn estimators: validate, encode, learn, store, predict."""

from tanbark.estimators.ensemble.selection import Choice
from tanbark.estimators.model_file import load
from tanbark.estimators.models.aode import A2DE, AODE
from tanbark.estimators.models.averaging import ModelAveraging
from tanbark.estimators.models.by_name import BayesNetClassifier
from tanbark.estimators.models.conditional import BNC2P, CMDLGBN
from tanbark.estimators.models.constraint import MMHCANB, MMHCGBN, PCANB, PCGBN, RAIANB, RAIGBN
from tanbark.estimators.models.ensemble import Classifier, NetworkEnsemble
from tanbark.estimators.models.exact import ExactANB, ExactGBN
from tanbark.estimators.models.fixed import KDB, SPODE, FixedStructure, NaiveBayes, SelectiveKDB
from tanbark.estimators.models.greedy import BAN, GBN, SparseCandidateGBN
from tanbark.estimators.models.text import TextExplanation, TextNaiveBayes
from tanbark.estimators.models.trees import ACLLTAN, TAN, ChowLiuTree
from tanbark.estimators.models.wrapper import (
    BSEJ,
    FSSJ,
    HillClimbTAN,
    SelectiveNaiveBayes,
    SuperParentTAN,
    WrapperKDB,
)
from tanbark.estimators.parts.blanket import MarkovBlanketMML
from tanbark.estimators.parts.discretizers import (
    MDLPDiscretizer,
    MDLPQuantileDiscretizer,
    MedianDiscretizer,
    QuantileDiscretizer,
    UniformDiscretizer,
)
from tanbark.estimators.parts.discriminative import Discriminative
from tanbark.estimators.parts.em import EM
from tanbark.estimators.parts.parameters import MANB
from tanbark.estimators.parts.weights import AWNB, WANBIA
from tanbark.estimators.predict_set import PredictionSets
from tanbark.estimators.reports.arc_report import Arc, ArcReport, arc_report
from tanbark.estimators.reports.comparison import Comparison, compare_scores, hommel
from tanbark.estimators.reports.data_report import DataReport, describe
from tanbark.estimators.reports.explain import Explanation, RowExplanation
from tanbark.estimators.reports.graph_score import graph_score
from tanbark.estimators.reports.paired_tests import SignedRank, bayesian_signed_rank
from tanbark.estimators.reports.validation import CrossValidation, cross_validate_network
from tanbark.estimators.scan import Scan, scan

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
    "MMHCANB",
    "MMHCGBN",
    "PCANB",
    "PCGBN",
    "RAIANB",
    "RAIGBN",
    "SPODE",
    "TAN",
    "WANBIA",
    "Arc",
    "ArcReport",
    "BayesNetClassifier",
    "Choice",
    "ChowLiuTree",
    "Classifier",
    "Comparison",
    "CrossValidation",
    "DataReport",
    "Discriminative",
    "ExactANB",
    "ExactGBN",
    "Explanation",
    "FixedStructure",
    "HillClimbTAN",
    "MDLPDiscretizer",
    "MDLPQuantileDiscretizer",
    "MarkovBlanketMML",
    "MedianDiscretizer",
    "ModelAveraging",
    "NaiveBayes",
    "NetworkEnsemble",
    "PredictionSets",
    "QuantileDiscretizer",
    "RowExplanation",
    "Scan",
    "SelectiveKDB",
    "SelectiveNaiveBayes",
    "SignedRank",
    "SparseCandidateGBN",
    "SuperParentTAN",
    "TextExplanation",
    "TextNaiveBayes",
    "UniformDiscretizer",
    "WrapperKDB",
    "arc_report",
    "bayesian_signed_rank",
    "compare_scores",
    "cross_validate_network",
    "describe",
    "graph_score",
    "hommel",
    "load",
    "scan",
]
