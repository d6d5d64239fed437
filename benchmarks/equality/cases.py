"""What is compared: data sets from disk or generated, and every learner with its main options."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import tanbark as tb

MOST_ROWS = 1200
TRAINING = 0.75

# The name on disk, and the most columns and rows that are used (wide and long sets are cut to keep the run short).
FILES = {
    "adult": 14, "car": 6, "cleve": 13, "congressional": 16, "crx": 15, "german": 20, "hepatitis": 19, "kr-vs-kp": 36,
    "lymphography": 18, "mushroom": 22, "nursery": 8, "splice": 24, "vehicle": 18, "zoo": 16, "letter": 16,
    "micro-mass": 60,
}  # fmt: skip
GENERATED = ("blocks", "weighted", "ties", "two-columns")


@dataclass(frozen=True)
class Data:
    """Rows to learn from and rows to predict; ``weights`` go with the first."""

    name: str
    X: pd.DataFrame
    y: pd.Series
    new: pd.DataFrame
    weights: np.ndarray | None = None


def _split(name: str, X: pd.DataFrame, y: pd.Series, weights: np.ndarray | None = None) -> Data:
    cut = int(len(X) * TRAINING)
    X, y = X.reset_index(drop=True), y.reset_index(drop=True)
    return Data(name, X[:cut], y[:cut], X[cut:], None if weights is None else weights[:cut])


def _read(folder: Path, name: str) -> Data:
    frame = pd.read_csv(folder / f"{name}.csv.gz", low_memory=False)
    frame = frame.sample(n=min(len(frame), MOST_ROWS), random_state=7)
    X = frame.drop(columns="class").iloc[:, : FILES[name]]
    return _split(name, X, frame["class"].astype(str))


def _generate(name: str) -> Data:
    generator = np.random.default_rng([ord(letter) for letter in name])
    n, d = (500, 2) if name == "two-columns" else (800, 9)
    y = generator.integers(0, 3, n)
    values = generator.integers(0, 3, (n, d))
    for column in range(d):
        copied = generator.random(n) < 0.5
        values[copied, column] = (y + (values[:, column - 1] if column % 2 else 0))[copied] % 3
    X = pd.DataFrame({f"x{i}": [f"s{value}" for value in values[:, i]] for i in range(d)})
    if name == "ties":  # columns that say the same: only the rule for ties decides
        X["again"], X["once more"] = X["x1"], X["x1"]
    if name == "blocks":
        X["number"] = generator.normal(size=n) + y
        X = X.mask(generator.random(X.shape) < 0.1)
    weights = generator.integers(0, 4, n) / 2.0 if name == "weighted" else None
    return _split(name, X, pd.Series(y, name="class").map({0: "no", 1: "maybe", 2: "yes"}), weights)


def data_sets(folder: Path) -> list[Data]:
    """Read those data sets that are there, and generate the others."""
    there = [name for name in FILES if (folder / f"{name}.csv.gz").exists()]
    return [_generate(name) for name in GENERATED] + [_read(folder, name) for name in there]


@dataclass(frozen=True)
class Case:
    """A classifier, and the most columns it is tried on (0: any number)."""

    make: Callable[[], Any]
    most_columns: int = 0
    streams: bool = True
    complete: bool = False


def _searched(cls: Any, **options: Any) -> Case:
    return Case(lambda: cls(random_state=3, cv=3, **options), most_columns=14, streams=False)


CASES: dict[str, Case] = {
    "naive": Case(lambda: tb.NaiveBayes()),
    "naive-ml": Case(lambda: tb.NaiveBayes(parameters=0.0)),
    "naive-m": Case(lambda: tb.NaiveBayes(parameters=tb.MEstimate(2.0))),
    "naive-quantile": Case(lambda: tb.NaiveBayes(discretize="quantile", parameters="k2")),
    "naive-category": Case(lambda: tb.NaiveBayes(missing="category")),
    "naive-drop": Case(lambda: tb.NaiveBayes(missing="drop")),
    "manb": Case(lambda: tb.NaiveBayes(parameters=tb.MANB())),
    "wanbia": Case(lambda: tb.NaiveBayes(parameters=tb.WANBIA(max_iter=50)), streams=False),
    "awnb": Case(lambda: tb.NaiveBayes(parameters=tb.AWNB(random_state=1)), streams=False),
    "naive-em": Case(lambda: tb.NaiveBayes(parameters=tb.EM(max_iter=5)), streams=False),
    "tan": Case(lambda: tb.TAN()),
    "tan-bic": Case(lambda: tb.TAN(criterion="bic")),
    "tan-aic": Case(lambda: tb.TAN(criterion="aic", parameters="bdeu")),
    "tan-mml": Case(lambda: tb.TAN(criterion="mml")),
    "tan-em": Case(lambda: tb.TAN(criterion="bic", parameters=tb.EM(max_iter=4)), most_columns=20, streams=False),
    "tan-wanbia": Case(lambda: tb.TAN(parameters=tb.WANBIA("mse", max_iter=30)), most_columns=20, streams=False),
    "chow-liu": Case(lambda: tb.ChowLiuTree(criterion="bic")),
    "kdb": Case(lambda: tb.KDB()),
    "kdb-3": Case(lambda: tb.KDB(3, min_cmi=0.01)),
    "spode": Case(lambda: tb.SPODE()),
    "aode": Case(lambda: tb.AODE()),
    "aode-30": Case(lambda: tb.AODE(min_rows=30)),
    "a2de": Case(lambda: tb.A2DE(), most_columns=16),
    "gbn": Case(lambda: tb.GBN(), most_columns=36),
    "gbn-bdeu": Case(lambda: tb.GBN(criterion="bdeu", ess=2.0), most_columns=24),
    "gbn-k2": Case(lambda: tb.GBN(criterion="k2", max_parents=2), most_columns=24),
    "gbn-mml": Case(lambda: tb.GBN(criterion="mml"), most_columns=16),
    "gbn-restarts": Case(lambda: tb.GBN(restarts=3, random_state=5, space="dags"), most_columns=20),
    "gbn-blanket": Case(lambda: tb.GBN(blanket_only=True), most_columns=24),
    "ban": Case(lambda: tb.BAN(), most_columns=24),
    "ban-bic": Case(lambda: tb.BAN(criterion="bic", conditional=False), most_columns=24),
    "sparse-candidate": Case(lambda: tb.SparseCandidateGBN(), most_columns=18),
    "sparse-candidate-shield": Case(lambda: tb.SparseCandidateGBN(3, measure="shield"), most_columns=18),
    "rai-anb": Case(lambda: tb.RAIANB(), most_columns=36),
    "rai-gbn": Case(lambda: tb.RAIGBN(), most_columns=24),
    "rai-gbn-1": Case(lambda: tb.RAIGBN(start_order=1, ess=4.0), most_columns=18),
    "acll-tan": Case(lambda: tb.ACLLTAN()),
    "bnc2p": Case(lambda: tb.BNC2P(), most_columns=16, streams=False),
    "cmdl-gbn": Case(lambda: tb.CMDLGBN(), most_columns=16, streams=False),
    "exact-anb": Case(lambda: tb.ExactANB(), most_columns=13, streams=False, complete=True),
    "exact-gbn": Case(lambda: tb.ExactGBN(), most_columns=13, streams=False, complete=True),
    "exact-ip": Case(lambda: tb.ExactANB(method="ip", max_parents=2), most_columns=9, streams=False, complete=True),
    "selective-mml": Case(
        lambda: tb.BayesNetClassifier("selective-mml", options={"criterion": "nb_joint"}),
        most_columns=20,
        streams=False,
    ),
    "selective-cpt": Case(
        lambda: tb.BayesNetClassifier("selective-mml", options={"criterion": "cpt"}), most_columns=14, streams=False
    ),
    "tan-hc": _searched(tb.HillClimbTAN),
    "tan-hcsp": _searched(tb.SuperParentTAN),
    "kdb-hc": _searched(tb.WrapperKDB),
    "fssj": _searched(tb.FSSJ),
    "bsej": _searched(tb.BSEJ),
    "selective": _searched(tb.SelectiveNaiveBayes),
    "selective-log-loss": _searched(tb.SelectiveNaiveBayes, scoring="log-loss"),
    "averaging": Case(lambda: tb.ModelAveraging(tb.TAN(), 3, random_state=2), most_columns=20, streams=False),
}
