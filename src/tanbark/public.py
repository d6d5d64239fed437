"""The names at the top: classifiers, their parts, and what is done with them; ``tanbark`` loads them with the first.

Errors and warnings are in ``tanbark.errors``, exchange with other programs in ``tanbark.export``, pictures in
``tanbark.plot``, counts in ``tanbark.counts``, schemas in ``tanbark.table``, and the types of results beside what
returns them: ``tanbark.graph`` for networks, ``tanbark.estimators`` for classifiers.
"""

from typing import TYPE_CHECKING

from tanbark.lazy import lazy_names

if TYPE_CHECKING:
    from tanbark.estimators import (
        A2DE,
        ACLLTAN,
        AODE,
        AWNB,
        BAN,
        BNC2P,
        BSEJ,
        CMDLGBN,
        EM,
        FSSJ,
        GBN,
        KDB,
        MANB,
        MMHCANB,
        MMHCGBN,
        PCANB,
        PCGBN,
        RAIANB,
        RAIGBN,
        SPODE,
        TAN,
        WANBIA,
        BayesNetClassifier,
        ChowLiuTree,
        Classifier,
        Discriminative,
        ExactANB,
        ExactGBN,
        FixedStructure,
        HillClimbTAN,
        KBestANB,
        KBestGBN,
        MarkovBlanketMML,
        MDLPDiscretizer,
        MDLPQuantileDiscretizer,
        MedianDiscretizer,
        ModelAveraging,
        NaiveBayes,
        NetworkEnsemble,
        QuantileDiscretizer,
        SelectiveKDB,
        SelectiveNaiveBayes,
        SparseCandidateGBN,
        SuperParentTAN,
        TextNaiveBayes,
        UniformDiscretizer,
        WrapperKDB,
        arc_report,
        compare_scores,
        cross_validate_network,
        load,
    )
    from tanbark.estimators.files.scan import scan
    from tanbark.graph import Dag, Network
    from tanbark.params import K2, BDeu, DataTemperature, Hierarchical, Laplace, MEstimate, PriorCounts
    from tanbark.structure import LEARNERS
    from tanbark.structure.constraint.values import BayesFactor, ChiSquareTest, GTest, PermutationTest, ShrinkageTest

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
    "K2",
    "KDB",
    "LEARNERS",
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
    "BDeu",
    "BayesFactor",
    "BayesNetClassifier",
    "ChiSquareTest",
    "ChowLiuTree",
    "Classifier",
    "Dag",
    "DataTemperature",
    "Discriminative",
    "ExactANB",
    "ExactGBN",
    "FixedStructure",
    "GTest",
    "Hierarchical",
    "HillClimbTAN",
    "KBestANB",
    "KBestGBN",
    "Laplace",
    "MDLPDiscretizer",
    "MDLPQuantileDiscretizer",
    "MEstimate",
    "MarkovBlanketMML",
    "MedianDiscretizer",
    "ModelAveraging",
    "NaiveBayes",
    "Network",
    "NetworkEnsemble",
    "PermutationTest",
    "PriorCounts",
    "QuantileDiscretizer",
    "SelectiveKDB",
    "SelectiveNaiveBayes",
    "ShrinkageTest",
    "SparseCandidateGBN",
    "SuperParentTAN",
    "TextNaiveBayes",
    "UniformDiscretizer",
    "WrapperKDB",
    "arc_report",
    "compare_scores",
    "cross_validate_network",
    "load",
    "scan",
]

PLACES = {
    "estimators": (
        "A2DE ACLLTAN AODE AWNB BAN BNC2P BSEJ CMDLGBN EM FSSJ GBN KDB MANB MMHCANB MMHCGBN PCANB PCGBN RAIANB RAIGBN "
        "SPODE TAN WANBIA BayesNetClassifier ChowLiuTree Classifier Discriminative ExactANB ExactGBN FixedStructure "
        "HillClimbTAN KBestANB KBestGBN MarkovBlanketMML MDLPDiscretizer MDLPQuantileDiscretizer MedianDiscretizer "
        "ModelAveraging NaiveBayes NetworkEnsemble QuantileDiscretizer SelectiveKDB SelectiveNaiveBayes "
        "SparseCandidateGBN SuperParentTAN TextNaiveBayes UniformDiscretizer WrapperKDB arc_report "
        "compare_scores cross_validate_network load"
    ),
    "estimators.files.scan": "scan",
    "graph": "Dag Network",
    "params": "K2 BDeu DataTemperature Hierarchical Laplace MEstimate PriorCounts",
    "structure": "LEARNERS",
    "structure.constraint.values": "BayesFactor ChiSquareTest GTest PermutationTest ShrinkageTest",
}

__getattr__, __dir__ = lazy_names("tanbark", PLACES, module=__name__)
