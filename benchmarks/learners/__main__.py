"""Hill climbing beside other programs, and the cost of an iteration of EM.

    python -m benchmarks.learners --network alarm.bif.gz --peer pybnesian=PYTHON --peer pyagrum=PYTHON

A peer (pybnesian, pyagrum or pgmpy) runs in the Python that has it. Every graph is scored by the same function, so that
scores can be compared. ``--seed`` draws other rows and ``--order`` shuffles the columns, whose order matters;
``--json`` writes every figure to a file, the seconds by the clock and those of the processor, of all threads together.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.learners.networks import published, random_network, sample
from tanbark.counts import MemoryCounts
from tanbark.structure.greedy.gains import Gains
from tanbark.structure.greedy.hill_climb import learn
from tanbark.table import CodedTable, Column, Schema

ROUNDS = 7


def make_counts(codes: np.ndarray) -> MemoryCounts:
    states = [int(r) for r in codes.max(axis=0) + 1]
    columns = [Column(f"x{i}", "category", "number", tuple(range(r))) for i, r in enumerate(states)]
    return MemoryCounts(CodedTable(Schema(tuple(columns)), np.ascontiguousarray(codes.T)))


def timed(run: Callable[[], Any], rounds: int) -> tuple[list[float], list[float], Any]:
    """Run once to warm up, then give the seconds of each round by the clock and of the processor, and the result."""
    run()
    seconds, cpu_seconds = [], []
    for _ in range(rounds):
        start, cpu_start = time.perf_counter(), time.process_time()
        found = run()
        seconds.append(time.perf_counter() - start)
        cpu_seconds.append(time.process_time() - cpu_start)
    return seconds, cpu_seconds, found


def score_of(counts: MemoryCounts, arcs: list[tuple[str, str]], score: str) -> float:
    n = len(counts.schema.names)
    gains = Gains(counts, score, ess=1.0, allowed=np.zeros((n, n), bool), max_cells=1 << 24)
    parents: list[list[int]] = [[] for _ in range(n)]
    for a, b in arcs:
        parents[int(b[1:])].append(int(a[1:]))
    return sum(gains.family_scores([(node, tuple(sorted(found))) for node, found in enumerate(parents)]))


def record(who: str, seconds: list[float], cpu_seconds: list[float], score: float, arcs: int) -> dict[str, Any]:
    found = {
        "who": who, "seconds": statistics.median(seconds), "least_seconds": min(seconds),
        "cpu_seconds": statistics.median(cpu_seconds), "least_cpu_seconds": min(cpu_seconds), "rounds": len(seconds),
        "score": score, "arcs": arcs,
    }  # fmt: skip
    print(
        f"  {who:<28} {found['seconds']:9.4f} s  (least {min(seconds):.4f}; processor {found['cpu_seconds']:.4f}, "
        f"least {min(cpu_seconds):.4f}; {len(seconds)} rounds)  score {score:14.3f}  {arcs} arcs",
        flush=True,
    )
    return found


def our_ways(codes: np.ndarray, score: str) -> dict[str, Callable[[], Any]]:
    import pandas as pd

    import tanbark as tb

    frame = pd.DataFrame({f"x{i}": pd.Categorical(codes[:, i].astype(str)) for i in range(codes.shape[1])})
    X, y = frame.iloc[:, :-1], frame.iloc[:, -1]
    return {
        "tanbark": lambda: learn(make_counts(codes), criterion=score).dag,
        "tanbark, over classes": lambda: (
            learn(make_counts(codes), criterion=score, space="equivalence-classes", tabu=10).dag
        ),
        "tanbark, over graphs": lambda: learn(make_counts(codes), criterion=score, space="dags", tabu=0).dag,
        "tanbark, GBN fit of a frame": lambda: tb.GBN(criterion=score).fit(X, y).dag_,
    }


def hill_climbing(codes: np.ndarray, peers: dict[str, str], score: str, rounds: int) -> list[dict[str, Any]]:
    print(f"hill climbing by {score}, {codes.shape[0]:,} rows x {codes.shape[1]} columns")
    counts, told = make_counts(codes), []
    for who, run in our_ways(codes, score).items():
        seconds, cpu_seconds, dag = timed(run, rounds)
        told.append(record(who, seconds, cpu_seconds, score_of(counts, dag.arcs(), score), dag.n_arcs))
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "rows.npy")
        np.save(file, codes)
        for name, python in peers.items():
            times = str(1 if name == "pgmpy" else rounds)
            command = [python, str(Path(__file__).with_name("peer.py")), name, str(file), score, times]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode:
                print(f"  {name}: {done.stderr.strip()[-200:]}")
                continue
            answer = json.loads(done.stdout.splitlines()[-1])
            arcs = answer["arcs"]
            who = f"{name} {answer['version']}"
            told.append(record(who, answer["seconds"], answer["cpu_seconds"], score_of(counts, arcs, score), len(arcs)))
    return told


def em(n_rows: int = 10_000, n_columns: int = 20, gaps: float = 0.2) -> None:
    import tanbark as tb

    codes = sample(random_network(n_columns + 1, 2 * n_columns, seed=3), n_rows, seed=4).astype(float)
    X, y = codes[:, :-1], codes[:, -1].astype(int)
    holed = X.copy()
    holed[np.random.default_rng(5).random(X.shape) < gaps] = np.nan
    print(f"EM, {n_rows:,} rows x {n_columns} columns, {gaps:.0%} missing; an iteration against fit + predict_proba")
    for name in ("NaiveBayes", "TAN", "BAN"):
        make = getattr(tb, name)
        base, _, _ = timed(lambda make=make: make().fit(X, y).predict_proba(X), ROUNDS)
        few, _, _ = timed(lambda make=make: make(parameters=tb.EM(max_iter=2, tol=1e-300)).fit(holed, y), 3)
        many, _, _ = timed(lambda make=make: make(parameters=tb.EM(max_iter=12, tol=1e-300)).fit(holed, y), 3)
        each = (statistics.median(many) - statistics.median(few)) / 10
        whole = statistics.median(base)
        print(f"  {name:<12} {each:8.4f} s an iteration, {whole:8.4f} s: {each / whole:5.1f} x", flush=True)


def shuffled(codes: np.ndarray, order: int) -> np.ndarray:
    """Put the columns into another order; order 0 leaves them as they are."""
    if order == 0:
        return codes
    return np.ascontiguousarray(codes[:, np.random.default_rng(order).permutation(codes.shape[1])])


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--network", type=Path, help="a network in the BIF format; by default a random one")
    parser.add_argument("--rows", type=int, default=10_000)
    parser.add_argument("--peer", action="append", default=[], help="NAME=PYTHON")
    parser.add_argument("--score", action="append", choices=["bic", "bdeu"])
    parser.add_argument("--seed", action="append", type=int, help="of the rows; may be given several times")
    parser.add_argument("--order", action="append", type=int, help="of the columns; 0 is that of the network")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--no-em", action="store_true", help="hill climbing only")
    parser.add_argument("--json", type=Path, help="also write the figures of hill climbing to this file")
    return parser.parse_args()


def main() -> None:
    options = arguments()
    peers = dict(peer.split("=", 1) for peer in options.peer)
    network = published(options.network) if options.network else random_network()
    name = options.network.name if options.network else "random"
    about = {
        "network": name, "rows": options.rows, "python": platform.python_version(), "numpy": np.__version__,
        "machine": platform.machine(), "cores": os.cpu_count(),
    }  # fmt: skip
    print(f"Python {about['python']}, numpy {np.__version__}, network {name}")
    results = []
    for seed, order in product(options.seed or [1], options.order or [0]):
        codes = shuffled(sample(network, options.rows, seed=seed), order)
        for score in options.score or ["bic", "bdeu"]:
            print(f"seed {seed}, order {order}:", end=" ")
            told = hill_climbing(codes, peers, score, options.rounds)
            results.append({"seed": seed, "order": order, "score": score, "found": told})
    if options.json:
        options.json.write_text(json.dumps({**about, "results": results}, indent=1) + "\n")
    if not options.no_em:
        em()


if __name__ == "__main__":
    main()
