"""The registry of methods: what runs, on which columns, in which variants. A new model of ours is one line of OURS."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any

from benchmarks.studies.accuracy import peers

NARROW = 62  # most columns of the first group of data sets


@dataclass(frozen=True)
class Method:
    """A way to learn a classifier.

    Attributes
    ----------
    name, group : its name, and "ours" or "peers"
    make : called with the places of the categorical columns, returns a classifier as scikit-learn knows it
    cost : processor seconds of a fit on a middling set, roughly; cheap methods run first
    columns : what it is given, a key of ``fitting.VIEWS``
    package : what must be installed
    variant : "" as it is; "tempered": with cross-fitted temperature; "simulated": trained on simulated missing values
    widest : sets of more columns are left out
    """

    name: str
    group: str
    make: Callable[[list[int]], Any]
    cost: float
    columns: str = "raw"
    package: str = "sklearn"
    variant: str = ""
    widest: int | None = None

    @property
    def base(self) -> str:
        """Return the name without the variant."""
        return self.name.partition(" + ")[0]


VARIANTS = {"tempered": " + temperature", "simulated": " + simulated missing"}
VARIANT_COST = {"tempered": 4.0, "simulated": 2.0}


def ours(name: str, cost: float, estimator: str, *, parameters: str | None = None, **options: Any) -> Method:
    """Describe an estimator of Tanbark by its name in the package, its parameter estimator's, and its options."""

    def make(categorical: list[int]) -> Any:
        package = import_module("tanbark")
        part = None if parameters is None else getattr(package, parameters)()
        return getattr(package, estimator)(n_jobs=1, **({} if part is None else {"parameters": part}), **options)

    return Method(name, "ours", make, cost, package="tanbark")


def peer(
    name: str, cost: float, make: Callable[[list[int]], Any], columns: str, package: str, *, simulated: bool = False,
    widest: int | None = None,
) -> list[Method]:  # fmt: skip
    """Describe a peer and its variants; the variants of slow peers run on the narrow sets only."""
    plain = Method(name, "peers", make, cost, columns, package, widest=widest)
    wide = NARROW if cost >= 5 else widest
    kinds = ["tempered", *(["simulated"] if simulated else [])]
    changed = [
        replace(plain, name=name + VARIANTS[kind], variant=kind, cost=cost * VARIANT_COST[kind], widest=wide)
        for kind in kinds
    ]
    return [plain, *changed]


OURS = [
    ours("NaiveBayes", 0.1, "NaiveBayes"),
    ours("TAN", 0.15, "TAN"),
    ours("KDB", 0.15, "KDB"),
    ours("AODE", 0.2, "AODE"),
    ours("RAIANB", 0.3, "RAIANB"),
    ours("SelectiveKDB, tempered", 0.3, "SelectiveKDB", temperature="auto"),
    ours("NetworkEnsemble", 0.5, "NetworkEnsemble"),
    ours("KDB, corrected", 0.5, "KDB", discretize="mdlp+quantile", parameters="Discriminative"),
    ours("Classifier", 3.0, "Classifier"),
]

PEERS = [
    *peer("Logistic regression", 0.1, peers.logistic, "few-valued", "sklearn"),
    *peer("Random forest", 1.5, peers.forest, "codes", "sklearn"),
    *peer("HistGradientBoosting", 2.0, peers.hist_boosting, "codes", "sklearn", simulated=True),
    *peer("XGBoost", 0.8, peers.xgboost, "categories", "xgboost", simulated=True),
    *peer("LightGBM", 0.8, peers.lightgbm, "categories", "lightgbm"),
    *peer("CatBoost", 6.0, peers.catboost, "words", "catboost", simulated=True),
    *peer("EBM", 7.0, peers.ebm, "raw", "interpret", widest=NARROW),
    *peer("Khiops", 0.2, peers.khiops, "raw", "khiops"),
]

METHODS = {method.name: method for method in [*OURS, *PEERS]}
