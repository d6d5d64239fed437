"""Hill climbing beside other programs, and the cost of an iteration of EM.

    python -m benchmarks.learners --network alarm.bif.gz --peer pybnesian=PYTHON --peer pyagrum=PYTHON

A peer (pybnesian, pyagrum or pgmpy) runs in the Python that has it. Every graph is scored by the same function, so that
scores can be compared.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.learners.networks import published, random_network, sample
from tanbark.counts import MemoryCounts
from tanbark.structure.gains import Gains
from tanbark.structure.hill_climb import learn
from tanbark.table import CodedTable, Column, Schema

ROUNDS = 7


def make_counts(codes: np.ndarray) -> MemoryCounts:
    states = [int(r) for r in codes.max(axis=0) + 1]
    columns = [Column(f"x{i}", "category", "number", tuple(range(r))) for i, r in enumerate(states)]
    return MemoryCounts(CodedTable(Schema(tuple(columns)), np.ascontiguousarray(codes.T)))


def timed(run: Callable[[], Any], rounds: int) -> tuple[list[float], Any]:
    run()
    seconds = []
    for _ in range(rounds):
        start = time.perf_counter()
        found = run()
        seconds.append(time.perf_counter() - start)
    return seconds, found


def score_of(counts: MemoryCounts, arcs: list[tuple[str, str]], score: str) -> float:
    n = len(counts.schema.names)
    gains = Gains(counts, score, ess=1.0, allowed=np.zeros((n, n), bool), max_cells=1 << 24)
    parents: list[list[int]] = [[] for _ in range(n)]
    for a, b in arcs:
        parents[int(b[1:])].append(int(a[1:]))
    return sum(gains.family_scores([(node, tuple(sorted(found))) for node, found in enumerate(parents)]))


def tell(who: str, seconds: list[float], score: float, arcs: int) -> None:
    print(
        f"  {who:<28} {statistics.median(seconds):9.4f} s  (least {min(seconds):.4f}, {len(seconds)} rounds)"
        f"  score {score:14.3f}  {arcs} arcs",
        flush=True,
    )


def hill_climbing(codes: np.ndarray, peers: dict[str, str], score: str) -> None:
    import pandas as pd

    import tanbark as tb

    print(f"hill climbing by {score}, {codes.shape[0]:,} rows x {codes.shape[1]} columns")
    counts = make_counts(codes)
    frame = pd.DataFrame({f"x{i}": pd.Categorical(codes[:, i].astype(str)) for i in range(codes.shape[1])})
    X, y = frame.iloc[:, :-1], frame.iloc[:, -1]
    ways: dict[str, Callable[[], Any]] = {
        "tanbark, over classes": lambda: learn(make_counts(codes), score=score, over="classes", tabu=10).dag,
        "tanbark, over graphs": lambda: learn(make_counts(codes), score=score).dag,
        "tanbark, GBN fit of a frame": lambda: tb.GBN(score=score).fit(X, y).dag_,
    }
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "rows.npy")
        np.save(file, codes)
        for who, run in ways.items():
            seconds, dag = timed(run, ROUNDS)
            tell(who, seconds, score_of(counts, dag.arcs(), score), dag.n_arcs)
        for name, python in peers.items():
            rounds = 1 if name == "pgmpy" else ROUNDS
            command = [python, str(Path(__file__).with_name("peer.py")), name, str(file), score, str(rounds)]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode:
                print(f"  {name}: {done.stderr.strip()[-200:]}")
                continue
            answer = json.loads(done.stdout.splitlines()[-1])
            tell(name, answer["seconds"], score_of(counts, answer["arcs"], score), len(answer["arcs"]))


def em(n_rows: int = 10_000, n_columns: int = 20, gaps: float = 0.2) -> None:
    import tanbark as tb

    codes = sample(random_network(n_columns + 1, 2 * n_columns, seed=3), n_rows, seed=4).astype(float)
    X, y = codes[:, :-1], codes[:, -1].astype(int)
    holed = X.copy()
    holed[np.random.default_rng(5).random(X.shape) < gaps] = np.nan
    print(f"EM, {n_rows:,} rows x {n_columns} columns, {gaps:.0%} missing; an iteration against fit + predict_proba")
    for name in ("NaiveBayes", "TAN", "BAN"):
        make = getattr(tb, name)
        base, _ = timed(lambda make=make: make().fit(X, y).predict_proba(X), ROUNDS)
        few, _ = timed(lambda make=make: make(parameters=tb.EM(max_iter=2, tol=1e-300)).fit(holed, y), 3)
        many, _ = timed(lambda make=make: make(parameters=tb.EM(max_iter=12, tol=1e-300)).fit(holed, y), 3)
        each = (statistics.median(many) - statistics.median(few)) / 10
        whole = statistics.median(base)
        print(f"  {name:<12} {each:8.4f} s an iteration, {whole:8.4f} s: {each / whole:5.1f} x", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--network", type=Path, help="a network in the BIF format; by default a random one")
    parser.add_argument("--rows", type=int, default=10_000)
    parser.add_argument("--peer", action="append", default=[], help="NAME=PYTHON")
    parser.add_argument("--score", action="append", choices=["bic", "bdeu"])
    options = parser.parse_args()
    peers = dict(peer.split("=", 1) for peer in options.peer)
    network = published(options.network) if options.network else random_network()
    codes = sample(network, options.rows, seed=1)
    print(f"Python {sys.version.split()[0]}, numpy {np.__version__}, network {options.network or 'random'}")
    for score in options.score or ["bic", "bdeu"]:
        hill_climbing(codes, peers, score)
    em()


if __name__ == "__main__":
    main()
