"""Run another exact learner on a stored table: one process, one answer on stdout. Needs numpy and that learner only.

    python benchmarks/speed/exact_peers.py pomegranate table.npy

The answer is JSON: seconds, the parents of every column, and the version. The table is (rows, columns) of codes.
"""

from __future__ import annotations

import json
import math
import sys
import time
from importlib.metadata import version

import numpy as np


def pomegranate(rows: np.ndarray) -> tuple[float, list[list[int]]]:
    from pomegranate import BayesianNetwork

    begun = time.perf_counter()
    network = BayesianNetwork.from_samples(rows, algorithm="exact")
    return time.perf_counter() - begun, [list(map(int, parents)) for parents in network.structure]


def causal_learn(rows: np.ndarray, score: object = None) -> tuple[float, list[list[int]]]:
    from causallearn.search.ScoreBased import ExactSearch

    if score is not None:
        ExactSearch.bic_score_node = score
    begun = time.perf_counter()
    found, _ = ExactSearch.bic_exact_search(rows - rows.mean(axis=0), search_method="astar")
    seconds = time.perf_counter() - begun
    return seconds, [np.flatnonzero(found[:, node]).tolist() for node in range(rows.shape[1])]


def causal_learn_bdeu(rows: np.ndarray) -> tuple[float, list[list[int]]]:
    """Give its search our score, so that both look for the same optimum; lower is better there."""
    codes = rows.astype(np.int64)

    def terms(columns: list[int]) -> float:
        key = np.zeros(len(codes), np.int64)
        for column in columns:
            key = 2 * key + codes[:, column]
        counts, a = np.unique(key, return_counts=True)[1], 1.0 / 2 ** len(columns)
        return sum(math.lgamma(a + n) - math.lgamma(a) for n in counts.tolist())

    return causal_learn(rows, lambda _, node, parents: terms(list(parents)) - terms([*parents, node]))


PEERS = {"pomegranate": pomegranate, "causal-learn": causal_learn, "causal-learn with BDeu": causal_learn_bdeu}

if __name__ == "__main__":
    seconds, parents = PEERS[sys.argv[1]](np.load(sys.argv[2]))
    print(json.dumps({"seconds": seconds, "parents": parents, "version": version(sys.argv[1].split(" ")[0])}))
