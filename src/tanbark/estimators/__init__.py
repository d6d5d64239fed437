"""scikit-learn estimators: validate, encode, learn, store, predict."""

import sys
from typing import TYPE_CHECKING

from tanbark.lazy import lazy_names

if TYPE_CHECKING:
    from tanbark.estimators.ensemble.selection import Choice
    from tanbark.estimators.files.scan import Scan
    from tanbark.estimators.model_files.model_file import load
    from tanbark.estimators.models.aode import A2DE, AODE
    from tanbark.estimators.models.averaging import ModelAveraging
    from tanbark.estimators.models.by_name import BayesNetClassifier
    from tanbark.estimators.models.conditional import BNC2P, CMDLGBN
    from tanbark.estimators.models.constraint import MMHCANB, MMHCGBN, PCANB, PCGBN, RAIANB, RAIGBN
    from tanbark.estimators.models.ensemble import Classifier, NetworkEnsemble
    from tanbark.estimators.models.exact import ExactANB, ExactGBN
    from tanbark.estimators.models.fixed import KDB, SPODE, FixedStructure, NaiveBayes, SelectiveKDB
    from tanbark.estimators.models.greedy import BAN, GBN, SparseCandidateGBN
    from tanbark.estimators.models.ranked import KBestANB, KBestGBN
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
    "KBestANB",
    "KBestGBN",
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
]

PLACES = {
    "ensemble.selection": "Choice",
    "model_files.model_file": "load",
    "models.aode": "A2DE AODE",
    "models.averaging": "ModelAveraging",
    "models.by_name": "BayesNetClassifier",
    "models.conditional": "BNC2P CMDLGBN",
    "models.constraint": "MMHCANB MMHCGBN PCANB PCGBN RAIANB RAIGBN",
    "models.ensemble": "Classifier NetworkEnsemble",
    "models.exact": "ExactANB ExactGBN",
    "models.fixed": "KDB SPODE FixedStructure NaiveBayes SelectiveKDB",
    "models.greedy": "BAN GBN SparseCandidateGBN",
    "models.ranked": "KBestANB KBestGBN",
    "models.text": "TextExplanation TextNaiveBayes",
    "models.trees": "ACLLTAN TAN ChowLiuTree",
    "models.wrapper": "BSEJ FSSJ HillClimbTAN SelectiveNaiveBayes SuperParentTAN WrapperKDB",
    "parts.blanket": "MarkovBlanketMML",
    "parts.discretizers": (
        "MDLPDiscretizer MDLPQuantileDiscretizer MedianDiscretizer QuantileDiscretizer UniformDiscretizer"
    ),
    "parts.discriminative": "Discriminative",
    "parts.em": "EM",
    "parts.parameters": "MANB",
    "parts.weights": "AWNB WANBIA",
    "predict_set": "PredictionSets",
    "reports.arc_report": "Arc ArcReport arc_report",
    "reports.comparison": "Comparison compare_scores hommel",
    "reports.data_report": "DataReport describe",
    "reports.explain": "Explanation RowExplanation",
    "reports.graph_score": "graph_score",
    "reports.paired_tests": "SignedRank bayesian_signed_rank",
    "reports.validation": "CrossValidation cross_validate_network",
    "files.scan": "Scan",
}

__getattr__, __dir__ = lazy_names(__name__, PLACES)


def load_all() -> None:
    """Import every estimator, for lists of them all."""
    for name in __all__:
        getattr(sys.modules[__name__], name)
