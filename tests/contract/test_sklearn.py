"""Every check of scikit-learn for every estimator; an exemption has its reason here."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

import tanbark as tb
from tanbark.estimators import Discriminative

BY_NAME = "columns are matched by name, so that another order is right and not an error (see test_frames.py)"

FOLDS = "repeated rows are dealt out to the folds one by one, so that a row may be learnt from while it is predicted"
SUBSETS = "a subset of repeated rows is not one of weighted rows"
BOOTSTRAP = "a bootstrap sample of repeated rows has another size than one of weighted rows"
NO_ARCS = "the default graph has no arcs, so that every row gets the commonest class"

CLASSIFIERS = [
    tb.NaiveBayes(),
    tb.NaiveBayes(discretize="quantile", parameters="bdeu"),
    tb.TAN(),
    tb.TAN(criterion="bic"),
    tb.KDB(),
    tb.SelectiveKDB(),
    tb.SPODE(),
    tb.AODE(),
    tb.A2DE(),
    tb.FixedStructure(),
    tb.ChowLiuTree(),
    tb.GBN(criterion="aic"),
    tb.BAN(),
    tb.SparseCandidateGBN(),
    tb.NaiveBayes(missing="em"),
    tb.NaiveBayes(missing="category"),
    tb.TAN(missing="drop"),
    tb.TAN(temperature="auto"),
    tb.ACLLTAN(),
    tb.BNC2P(),
    tb.CMDLGBN(),
    tb.RAIANB(),
    tb.RAIGBN(),
    tb.PCANB(),
    tb.PCGBN(),
    tb.MMHCANB(),
    tb.MMHCGBN(),
    tb.ExactANB(),
    tb.ExactGBN(),
    tb.KBestANB(3, max_memory=1 << 22),  # few columns are searched exactly, the thirty of one check are not
    tb.KBestGBN(2),
    tb.BayesNetClassifier("naive"),
    tb.BayesNetClassifier("tan", options={"criterion": "aic"}),
]
SEARCHED = [
    tb.HillClimbTAN(cv=2),
    tb.SuperParentTAN(cv=2),
    tb.WrapperKDB(cv=2, scoring="log-loss"),
    tb.FSSJ(cv=2),
    tb.BSEJ(cv=2),
    tb.SelectiveNaiveBayes(cv=2),
    tb.SelectiveNaiveBayes(criterion="mml"),
]
AVERAGES = [tb.ModelAveraging(tb.NaiveBayes(), 3, random_state=0), tb.ModelAveraging(n_estimators=2, random_state=0)]
POOLED = [tb.NetworkEnsemble(3), tb.Classifier(3)]
SELECTORS = [tb.MarkovBlanketMML(), tb.MarkovBlanketMML("cpt"), tb.MarkovBlanketMML("nb_joint", direction="both")]
WEIGHTED = [tb.NaiveBayes(parameters=p) for p in (tb.MANB(), tb.WANBIA(), tb.AWNB(random_state=0))]
WEIGHTED += [
    tb.KDB(parameters=p)
    for p in (Discriminative(), Discriminative(1.0, rounds=3), Discriminative(1.0, rounds=1, normalize=True))
]
TEXTS = [tb.TextNaiveBayes()]
DISCRETIZERS = [
    tb.MDLPDiscretizer(), tb.MedianDiscretizer(), tb.QuantileDiscretizer(), tb.UniformDiscretizer(),
    tb.MDLPQuantileDiscretizer(),
]  # fmt: skip


def exemptions(estimator):
    failed = {}
    if isinstance(estimator, tuple(type(clf) for clf in [*CLASSIFIERS, *SEARCHED, *AVERAGES, *POOLED, *SELECTORS])):
        failed["check_dataframe_column_names_consistency"] = BY_NAME
    by_length = estimator.get_params().get("criterion") == "mml"
    if isinstance(estimator, tuple(type(clf) for clf in SEARCHED)) and not by_length:
        failed["check_sample_weight_equivalence_on_dense_data"] = FOLDS
    if isinstance(getattr(estimator, "parameters", None), tb.AWNB):
        failed["check_sample_weight_equivalence_on_dense_data"] = BOOTSTRAP
    if getattr(getattr(estimator, "parameters", None), "rounds", 0) is None:
        failed["check_sample_weight_equivalence_on_dense_data"] = FOLDS
    if isinstance(estimator, tb.ModelAveraging):
        failed["check_sample_weight_equivalence_on_dense_data"] = SUBSETS
    if isinstance(estimator, tb.FixedStructure):
        failed["check_classifiers_train"] = NO_ARCS
    return failed


@pytest.mark.filterwarnings("default")  # scikit-learn's checks warn of their own accord
@parametrize_with_checks(
    [*CLASSIFIERS, *SEARCHED, *AVERAGES, *POOLED, *WEIGHTED, *SELECTORS, *TEXTS, *DISCRETIZERS],
    expected_failed_checks=exemptions,
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)
