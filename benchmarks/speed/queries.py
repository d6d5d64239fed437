"""Posterior queries on ALARM (37 variables) and on a random network of its size, against pgmpy and pyAgrum in one run.

Run with ``python -m benchmarks.speed.queries`` where both are installed (``pip install -e ".[bench]"``). They get the
same network and the same evidence, drawn from the network itself; posteriors are compared before anything is timed.
On a machine with other work ``--clock cpu`` takes the seconds of the processor, of all threads together, on all sides.

``--networks FOLDER`` asks every published network of a folder instead, against pyAgrum, query by query, in processor
seconds: see :mod:`benchmarks.speed.wide_queries`.
"""

from __future__ import annotations

import argparse
import gzip
import os
import platform
import time
import warnings
from collections.abc import Callable
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

import tanbark as tb
from benchmarks.speed import wide_queries
from benchmarks.speed.runner import Line, Stat, Target, interleave, table, timed, times_faster, write_json
from tanbark.export import bif

Question = tuple[str, dict[str, Any]]
Clock = Callable[[], float]

CLOCKS: dict[str, Clock] = {"wall": time.perf_counter, "cpu": time.process_time}


def alarm() -> tb.Network:
    folder = files("pgmpy") / "utils" / "example_models"
    return bif.loads(gzip.decompress((folder / "alarm.bif.gz").read_bytes()).decode())


def random_network(seed: int) -> tb.Network:
    rng = np.random.default_rng(seed)
    states: dict[str, list[str]] = {}
    tables: dict[str, Any] = {}
    for node in range(37):
        states[f"v{node}"] = [f"s{k}" for k in range(int(rng.integers(2, 5)))]
        near = np.arange(max(0, node - 8), node)
        size = min(len(near), int(rng.choice([0, 1, 2, 4], p=[0.2, 0.45, 0.3, 0.05])))
        parents = tuple(f"v{p}" for p in np.sort(rng.choice(near, size, replace=False))) if size else ()
        shape = [len(states[p]) for p in parents]
        tables[f"v{node}"] = parents, rng.dirichlet(np.ones(len(states[f"v{node}"])), shape or None)
    return tb.Network.from_tables(states, tables)


def questions(network: tb.Network, n: int, seed: int) -> list[Question]:
    rng = np.random.default_rng(seed)
    names = network.dag.names
    asked = []
    for row in network.sample(n, random_state=seed, backend="pandas").to_dict("records"):
        chosen = [names[k] for k in rng.permutation(len(names))[: int(rng.integers(4, 13))]]
        asked.append((chosen[0], {name: row[name] for name in chosen[1:]}))
    return asked


def by_pyagrum(net: Any, asked: list[Question]) -> list[Any]:
    import pyagrum as gum

    found = []
    for target, evidence in asked:
        inference = gum.LazyPropagation(net)
        inference.setEvidence(evidence)
        inference.addTarget(target)
        inference.makeInference()
        found.append(inference.posterior(target).toarray())
    return found


def rows_by_pyagrum(net: Any, target: str, rows: list[dict[str, Any]]) -> Any:
    """Change the evidence of one inference row by row, which keeps its junction tree."""
    import pyagrum as gum

    inference = gum.LazyPropagation(net)
    inference.setEvidence(rows[0])
    inference.addTarget(target)
    found = []
    for row in rows:
        for name, state in row.items():
            inference.chgEvidence(name, state)
        inference.makeInference()
        found.append(inference.posterior(target).toarray())
    return np.array(found)


def single(name: str, network: tb.Network, n: int, rounds: int, clock: Clock) -> list[Line]:
    from pgmpy.inference import VariableElimination

    asked, net = questions(network, n, 1), tb.export.to_pyagrum(network)
    model = VariableElimination(tb.export.to_pgmpy(network))
    for (target, evidence), theirs in zip(asked, by_pyagrum(net, asked), strict=True):
        assert np.abs(network.query(target, evidence).values - theirs).max() < 1e-9
    fresh: Callable[[], tb.Network] = lambda: tb.Network(network.schema, network.dag, network.tables)  # noqa: E731

    def ask(some: tb.Network) -> None:
        for target, evidence in asked:
            some.query(target, evidence)

    works = {
        "new": timed(lambda: ask(fresh()), clock),
        "kept": timed(lambda: ask(network), clock),
        "pyAgrum": timed(lambda: by_pyagrum(net, asked), clock),
        "pgmpy": timed(lambda: [model.query([t], e, show_progress=False) for t, e in asked], clock),
    }
    stats, failures = interleave(works, rounds)
    assert not failures, failures
    per = {key: stat.times(1e6 / n) for key, stat in stats.items()}
    per = {key: Stat(s.median, s.low, s.high, s.runs, "µs") for key, s in per.items()}
    targets = {"pgmpy": Target(20.0), "pyAgrum": Target(1 / 3)}
    lines = []
    for ours, note in (("new", "every pattern of evidence is new"), ("kept", "patterns seen before")):
        for peer, target in targets.items():
            ratio = per[peer].median / per[ours].median
            work = f"one query, {name}"
            lines.append(Line(1, work, f"{n} queries", peer, per[ours], per[peer], ratio, target=target, note=note))
    return lines


def batch(name: str, network: tb.Network, n: int, n_seen: int, rounds: int, clock: Clock) -> Line:
    target, net = network.dag.names[3], tb.export.to_pyagrum(network)
    rng = np.random.default_rng(5)
    seen = [network.dag.names[k] for k in rng.permutation(len(network.dag.names)) if k != 3][:n_seen]
    frame = network.sample(n, random_state=2, backend="pandas")[seen]
    rows = frame.to_dict("records")
    found = network.query(target, frame)
    assert np.abs(found.values - rows_by_pyagrum(net, target, rows)).max() < 1e-9
    works = {
        "ours": timed(lambda: network.query(target, frame), clock),
        "pyAgrum": timed(lambda: rows_by_pyagrum(net, target, rows), clock),
    }
    stats, failures = interleave(works, rounds)
    assert not failures, failures
    distinct = len(frame.drop_duplicates())
    note = f"{n_seen} observed variables, {distinct:,} different rows"
    ratio = times_faster(stats["ours"], stats["pyAgrum"])
    return Line(
        2, f"rows of evidence, {name}", f"{n:,} rows", "pyAgrum", stats["ours"], stats["pyAgrum"], ratio,
        target=Target(1.0), note=note,
    )  # fmt: skip


def about(clock: str) -> dict[str, Any]:
    packages = {name: version(name) for name in ("numpy", "numba", "pgmpy", "pyagrum")}
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else None
    return {
        "command": f"python -m benchmarks.speed.queries --clock {clock}", "clock": clock, "tanbark": tb.__version__,
        "python": platform.python_version(), "machine": platform.machine(), "cores": os.cpu_count(),
        "load_before": load, **packages,
    }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="fewer queries, rows and rounds")
    parser.add_argument("--clock", choices=sorted(CLOCKS), default="wall")
    parser.add_argument("--json", type=Path, help="also write the lines to this file")
    parser.add_argument("--networks", type=Path, help="folder of .bif.gz files: random queries of each of them instead")
    parser.add_argument("--only", nargs="*", default=[], help="with --networks: the names of some of them")
    parser.add_argument("--queries", type=int, default=50, help="with --networks: number of queries of each kind")
    parser.add_argument(
        "--patience", type=float, default=600, help="with --networks: seconds that a peer has for a network"
    )
    given = parser.parse_args()
    if given.networks:
        wide_queries.run(given.networks, given.only, given.queries, given.patience, given.json)
        return
    warnings.simplefilter("ignore")
    n, n_rows, rounds = (50, 500, 2) if given.quick else (300, 10_000, 5)
    clock, facts = CLOCKS[given.clock], about(given.clock)
    lines: list[Line] = []
    for name, network in (("ALARM", alarm()), ("random", random_network(0))):
        lines += single(name, network, n, rounds, clock)
        lines += [batch(name, network, n_rows, n_seen, min(rounds, 3), clock) for n_seen in (6, 20)]
    print(table(lines))
    if given.json:
        write_json(given.json, lines, facts)


if __name__ == "__main__":
    main()
