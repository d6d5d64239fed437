"""Small mixed tables, and every learner that the engines are compared on."""

import json

import numpy as np
import pandas as pd

import tanbark as tb
from tanbark.counts import StreamCounts
from tanbark.estimators import Discriminative
from tanbark.table import CodedTable

GENERAL = [("text", "class"), ("level", "class"), ("class", "few"), ("number", "few")]

LEARNERS = {
    "NaiveBayes": tb.NaiveBayes,
    "TAN": tb.TAN,
    "TAN bic": lambda: tb.TAN(criterion="bic"),
    "TAN mml": lambda: tb.TAN(criterion="mml"),
    "KDB": tb.KDB,
    "SelectiveKDB": tb.SelectiveKDB,
    "SelectiveKDB tempered": lambda: tb.SelectiveKDB(2, temperature="auto"),
    "SPODE": tb.SPODE,
    "AODE": tb.AODE,
    "A2DE": tb.A2DE,
    "ACLLTAN": tb.ACLLTAN,
    "RAIANB": tb.RAIANB,
    "RAIGBN": tb.RAIGBN,
    "RAIANB g2": lambda: tb.RAIANB(test="g2"),
    "RAIGBN permutation": lambda: tb.RAIGBN(test=tb.PermutationTest(n_permutations=99)),
    "PCANB": tb.PCANB,
    "PCGBN": tb.PCGBN,
    "MMHCANB": tb.MMHCANB,
    "MMHCGBN": lambda: tb.MMHCGBN(test="bayes-factor"),
    "GBN": tb.GBN,
    "BAN": tb.BAN,
    "ChowLiuTree": tb.ChowLiuTree,
    "SparseCandidateGBN": lambda: tb.SparseCandidateGBN(n_candidates=2),
    "FixedStructure": lambda: tb.FixedStructure(GENERAL),
    "ExactANB": tb.ExactANB,
    "ExactGBN": tb.ExactGBN,
    "MANB": lambda: tb.NaiveBayes(parameters=tb.MANB()),
    "WANBIA": lambda: tb.NaiveBayes(parameters=tb.WANBIA()),
    "EM": lambda: tb.TAN(parameters=tb.EM(max_iter=3)),
    "HillClimbTAN": lambda: tb.HillClimbTAN(cv=3, random_state=1),
    "SelectiveNaiveBayes mml": lambda: tb.SelectiveNaiveBayes(criterion="mml"),
    "Discriminative": lambda: tb.KDB(parameters=Discriminative()),
    "category": lambda: tb.TAN(missing="category"),
    "drop": lambda: tb.TAN(missing="drop"),
    "quantile": lambda: tb.TAN(discretize="quantile"),
    "mdlp+quantile": lambda: tb.TAN(discretize="mdlp+quantile"),
    "uniform": lambda: tb.TAN(discretize="uniform"),
    "median": lambda: tb.TAN(discretize="median"),
    "NetworkEnsemble": lambda: tb.NetworkEnsemble(3),
    "Classifier": lambda: tb.Classifier(3),
    "tempered": lambda: tb.KDB(temperature="auto"),
    "tempered hierarchical": lambda: tb.KDB(parameters="hierarchical", temperature="auto"),
}


def mixed_table(rows=60, seed=0, *, gaps=True):
    """Strings, whole numbers, a continuous column, booleans, a declared category, gaps, and a class."""
    rng = np.random.default_rng(seed)
    label = rng.integers(0, 3, rows)
    level = (label + rng.integers(0, 2, rows)) % 3
    frame = pd.DataFrame({
        "text": np.array(["red", "blue", "green", "grey"])[(level + rng.integers(0, 2, rows)) % 4],
        "level": level,
        "number": np.round(label * 2.0 + rng.normal(0, 1, rows), 2),
        "few": rng.integers(0, 2, rows) * 5,
        "flag": (label == 1) ^ (rng.random(rows) < 0.2),
        "kind": pd.Categorical(np.array(["a", "b"])[rng.integers(0, 2, rows)], categories=["a", "b", "never"]),
        "class": np.array(["no", "maybe", "yes"])[label],
    })  # fmt: skip
    if gaps:
        for name in ("text", "number", "kind"):
            frame.loc[rng.random(rows) < 0.1, name] = None
    return frame


def saved(model, path):
    """Give the bytes of a model's file."""
    model.save(path)
    return path.read_bytes()


def saved_without_report(model, path):
    """Give a model's file without what the pass that learns the schema sees beside it."""
    document = json.loads(saved(model, path))
    document.pop("seen", None)
    return document


class TableReader:
    """A reader of a coded table, in pieces of ten rows and batches of three."""

    leaves_out = False

    def __init__(self, table):
        self.table = table

    def pieces(self):
        return list(range(0, self.table.n_rows, 10))

    def coded(self, piece, schema, n_jobs=None):
        for low in range(piece, min(piece + 10, self.table.n_rows), 3):
            rows = slice(low, min(low + 3, piece + 10))
            weights = None if self.table.weights is None else self.table.weights[rows]
            yield CodedTable(schema, np.ascontiguousarray(self.table.codes[:, rows]), weights)


def stream(table, *, max_memory=1 << 20, **options):
    """Open the streaming engine on a coded table."""
    return StreamCounts(TableReader(table), table.schema, max_memory=max_memory, **options)
