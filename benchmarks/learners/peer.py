"""One round of another program's hill climbing, in that program's own Python: ``peer.py NAME FILE SCORE ROUNDS``.

Reads the rows of FILE (.npy), and prints a line of JSON with the seconds of each round, by the
clock and of the processor, and the arcs that were found.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from importlib.metadata import version
from typing import Any

import numpy as np

ENOUGH = 0.1  # seconds of the processor, of all rounds where there are several


def _frame(codes: np.ndarray) -> Any:
    import pandas as pd

    return pd.DataFrame({f"x{i}": pd.Categorical(codes[:, i].astype(str)) for i in range(codes.shape[1])})


def pybnesian(codes: np.ndarray, score: str) -> Callable[[], list[tuple[str, str]]]:
    import pybnesian as pbn

    frame = _frame(codes)
    measure = pbn.BIC(frame) if score == "bic" else pbn.BDe(frame, iss=1.0)
    climb, start = pbn.GreedyHillClimbing(), pbn.DiscreteBN(list(frame.columns))
    return lambda: list(climb.estimate(pbn.ArcOperatorSet(), measure, start).arcs())


def pyagrum(codes: np.ndarray, score: str) -> Callable[[], list[tuple[str, str]]]:
    import pyagrum as gum

    frame = _frame(codes)

    def run() -> list[tuple[str, str]]:
        learner = gum.BNLearner(frame)
        learner.useGreedyHillClimbing()
        learner.useScoreBIC() if score == "bic" else learner.useScoreBDeu()
        names = list(learner.names())
        return [(names[a], names[b]) for a, b in learner.learnDAG().arcs()]

    return run


def pgmpy(codes: np.ndarray, score: str) -> Callable[[], list[tuple[str, str]]]:
    from pgmpy.estimators import HillClimbSearch

    frame = _frame(codes)
    name = {"bic": "bic-d", "bdeu": "bdeu"}[score]
    return lambda: list(HillClimbSearch(frame).estimate(scoring_method=name, show_progress=False).edges())


def main(name: str, path: str, score: str, rounds: str) -> None:
    run = {"pybnesian": pybnesian, "pyagrum": pyagrum, "pgmpy": pgmpy}[name](np.load(path), score)
    seconds, cpu_seconds = [], []
    while len(seconds) < int(rounds) or (int(rounds) > 1 and sum(cpu_seconds) < ENOUGH):
        start, cpu_start = time.perf_counter(), time.process_time()
        arcs = run()
        seconds.append(time.perf_counter() - start)
        cpu_seconds.append(time.process_time() - cpu_start)
    print(json.dumps({"seconds": seconds, "cpu_seconds": cpu_seconds, "arcs": arcs, "version": version(name)}))


if __name__ == "__main__":
    main(*sys.argv[1:])
