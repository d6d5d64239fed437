"""Columns against seconds and memory of exact search, on samples of networks and on data sets, one process per case.

    python -m benchmarks.speed.exact_curve [--networks FOLDER] [--data FOLDER] [--cases alarm-30 noise-20]

A case is NAME-FEATURES, or NAME-FEATURES-gbn for exact-GBN instead of exact-ANB: a sample of the network NAME, with as
many of its columns as features and the next one as the class; a data set of that many features, whole; "random", a
sample of a random augmented network of two to four states and up to three parents besides the class; or "noise", binary
columns of independent coins, the worst case. Seconds are of the clock and of the processor, memory is the highest of
the process, Python and compiled kernels included. The limit is that of the search: past it the network and the bound so
far are reported. Called by ``exact --cases``.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
import warnings
from pathlib import Path
from unittest import mock

import numpy as np

from benchmarks.learners.networks import published, sample
from benchmarks.speed.rai import chain, count, read
from tanbark.counts import CountEngine
from tanbark.errors import NotProvedWarning
from tanbark.structure.exact import learn as exact
from tanbark.structure.exact import listing

CASES = [
    "chain-20", "chain-25", "noise-20", "alarm-20", "alarm-25", "insurance-26", "insurance-26-gbn", "alarm-30",
    "alarm-30-gbn", "hailfinder-30", "hailfinder-30-gbn", "random-30", "random-30-gbn", "kr-vs-kp-36",
]  # fmt: skip
GIB = 2**30


def make(case: str, options: argparse.Namespace) -> CountEngine:
    """Draw or read the rows of a case."""
    name, features = case.removesuffix("-gbn").rsplit("-", 1)
    n, rows = int(features), options.rows
    if name == "random":
        return count(random_anb(n, rows), None)
    if name == "noise":
        return count(np.random.default_rng(0).integers(0, 2, (n + 1, rows)), None)
    if name == "chain":
        return count(chain(n, rows), None)
    if (options.data / f"{name}.csv.gz").exists():
        found = read(options.data, name, None)
        if found.schema.target != n:
            raise SystemExit(f"{name} has {found.schema.target} features, not {n}")
        return found
    codes = sample(published(options.networks / f"{name}.bif.gz"), rows, seed=0).T[: n + 1]
    return count(np.array([np.unique(column, return_inverse=True)[1] for column in codes]), None)


def random_anb(n: int, n_rows: int) -> np.ndarray:
    """Sample a random augmented naive Bayes: CPTs from Dirichlet distributions of parameter 1/2, the class last."""
    rng = np.random.default_rng(0)
    states = rng.integers(2, 5, n + 1)
    codes = np.zeros((n + 1, n_rows), np.int64)
    codes[n] = rng.integers(0, states[n], n_rows)
    for node in range(n):
        chosen = rng.choice(node, min(node, int(rng.integers(0, 4))), replace=False) if node else []
        key = codes[n]
        for parent in chosen:
            key = key * states[parent] + codes[parent]
        cpt = rng.dirichlet(np.full(states[node], 0.5), int(key.max()) + 1)
        codes[node] = (rng.random(n_rows)[:, None] > cpt.cumsum(axis=1)[key]).sum(axis=1).clip(max=states[node] - 1)
    return np.array([np.unique(column, return_inverse=True)[1] for column in codes])


def measure(case: str, options: argparse.Namespace) -> dict[str, object]:
    """Run the search of a case in this process."""
    counts, small = make(case, options), count(chain(6, 100), None)
    learn = exact.learn_general if case.endswith("-gbn") else exact.learn_augmented
    learn(small, method="dp")  # kernels are compiled before the clock runs
    for bounding in (0.0, 1.0):
        with mock.patch.multiple(listing, ALL_SETS=0, SMALL_PARENTS=1, BOUNDING=bounding):
            learn(small, method="ip")
    begun, used = time.perf_counter(), time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotProvedWarning)
        learnt = learn(
            counts, method=options.method, max_parents=options.max_parents, time_limit=options.limit,
            max_memory=options.gib * GIB,
        )  # fmt: skip
    report = learnt.report
    return {
        "case": case, "max_parents": options.max_parents, "features": report.n_searched, "rows": int(counts.total),
        "method": report.method, "seconds": time.perf_counter() - begun, "cpu_seconds": time.process_time() - used,
        "gib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / GIB, "score": learnt.score,
        "bound": report.bound, "gap": report.gap, "proved": report.proved_optimal,
        "proved_parents": report.proved_parents, "candidates": report.n_candidates,
        "most_parents": max(map(len, learnt.dag.parents)) - (learn is exact.learn_augmented),
        "nodes": report.n_nodes, "states": report.n_states,
        "history": [[step.stage, step.seconds, step.score, step.bound] for step in report.history[-20:]],
    }  # fmt: skip


def curve(options: argparse.Namespace) -> list[dict[str, object]]:
    """Measure all cases, each in a process of its own."""
    found = []
    for case in options.cases:
        command = [
            sys.executable, "-m", "benchmarks.speed.exact_curve", "--one", case, "--rows", str(options.rows), "--limit",
            str(options.limit), "--gib", str(options.gib), "--networks", str(options.networks), "--data",
            str(options.data), "--method", options.method,
            *([] if options.max_parents is None else ["--max-parents", str(options.max_parents)]),
        ]  # fmt: skip
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
        row = json.loads(done.stdout.splitlines()[-1]) if done.returncode == 0 else {"case": case, "failed": True}
        found.append(row)
        print(json.dumps({key: value for key, value in row.items() if key != "history"}), flush=True)
    return found


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that a curve needs."""
    parser.add_argument("--networks", type=Path, default=Path("../shared/networks"), help="folder of NAME.bif.gz")
    parser.add_argument("--data", type=Path, default=Path("../shared/data"), help="folder of NAME.csv.gz")
    parser.add_argument("--cases", nargs="*", default=CASES, metavar="NAME-FEATURES")
    parser.add_argument("--method", choices=exact.METHODS, default="auto")
    parser.add_argument("--max-parents", type=int, help="the most parents of a column, the class of an ANB not counted")
    parser.add_argument("--gib", type=float, default=8.0, help="memory that a search may take")


def table(rows: list[dict[str, object]]) -> str:
    """Write the table of the page."""
    lines = [
        "| rows from | network | columns | parents allowed | outcome | clock, s | processor, s | GiB | method | sets "
        "| most parents | rows |",
        "|---|---|--:|--:|---|--:|--:|--:|---|--:|--:|--:|",
    ]
    for row in rows:
        case = str(row["case"])
        name, kind = case.removesuffix("-gbn").rsplit("-", 1)[0], "GBN" if case.endswith("-gbn") else "ANB"
        outcome = "proved" if row["proved"] else f"gap {row['gap']:,.1f} of {-float(row['score']):,.0f} nats"  # type: ignore[arg-type]
        if not row["proved"] and int(row.get("proved_parents", -1)) >= 0:  # type: ignore[call-overload]
            outcome = f"proved up to {row['proved_parents']} parents"
        allowed = "any" if row.get("max_parents") is None else row["max_parents"]
        sets = f"{row['candidates']:,}" if row["method"] == "ip" else "all"
        lines.append(
            f"| {name} | {kind} | {row['features']} | {allowed} | {outcome} | {row['seconds']:,.1f} | "
            f"{row['cpu_seconds']:,.1f} | {row['gib']:.2f} | {row['method']} | {sets} | {row['most_parents']} | "
            f"{row['rows']:,} |"
        )
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add_options(parser)
    parser.add_argument("--rows", type=int, default=5000)
    parser.add_argument("--limit", type=float, default=600.0, help="seconds that a search may take")
    parser.add_argument("--one", metavar="CASE", help="measure this case here, and print it as JSON")
    options = parser.parse_args()
    if options.one:
        print(json.dumps(measure(options.one, options)))
    else:
        curve(options)


if __name__ == "__main__":
    main()
