"""Random queries of published networks, each compared with pyAgrum: answers, processor seconds, memory.

Of every network some queries have 0 to 30 findings anywhere, and as many have up to 30 findings at its leaves, the
symptoms, below which nothing can be pruned: those are the wide ones. Findings are drawn from the network, targets are
any other variable. Each side runs in a process of its own that may take 8 GiB of address space; pyAgrum has a limited
time for each network and kind, after which the queries that are left count as unanswered. Networks that are in the file
of results already are not asked again.
"""

from __future__ import annotations

import json
import math
import multiprocessing as mp
import os
import platform
import resource
import time
import warnings
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

import tanbark as tb

MOST_BYTES = 8 << 30
MOST_FINDINGS = 30
KINDS = ("anywhere", "leaves")
Asked = list[tuple[str, dict[str, Any]]]


def ask(network: tb.Network, kind: str, n: int, seed: int) -> Asked:
    """Draw targets and findings; at the leaves as many as there are, up to 30."""
    rng = np.random.default_rng(seed)
    names = network.dag.names
    parents = {p for each in network.dag.parents for p in each}
    leaves = [name for node, name in enumerate(names) if node not in parents]
    asked = []
    for row in network.sample(n, random_state=seed, backend="pandas").to_dict("records"):
        pool = list(names) if kind == "anywhere" else leaves
        most = min(MOST_FINDINGS, len(names) - 1)
        count = int(rng.integers(0, most + 1)) if kind == "anywhere" else min(most, len(leaves))
        seen = [str(name) for name in rng.permutation(pool)[:count]]
        target = str(rng.choice([name for name in names if name not in seen]))
        asked.append((target, {name: row[name] for name in seen}))
    return asked


def by_tanbark(path: Path, kind: str, n: int, send: Any) -> None:
    """Answer every query with new plans; send (answer, seconds, cost) one by one, then the peak of the memory."""
    network = tb.export.read_network(path)
    for target, evidence in ask(network, kind, 5, 99):  # kernels are compiled or read
        network.query(target, evidence)
    for target, evidence in ask(network, kind, n, 1):
        start = time.process_time()
        try:
            found: Any = network.query(target, evidence).values
        except tb.errors.TableTooLargeError as error:
            found = str(error)
        seconds = time.process_time() - start
        cost = network.query_cost(target, list(evidence))
        send.send((found, seconds, cost.largest, cost.memory))
    send.send(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024)


def by_pyagrum(path: Path, kind: str, n: int, send: Any) -> None:
    """Answer every query with a new lazy propagation."""
    import pyagrum as gum

    network = tb.export.read_network(path)
    net = tb.export.to_pyagrum(network)
    for target, evidence in ask(network, kind, n, 1):
        start = time.process_time()
        try:
            inference = gum.LazyPropagation(net)
            inference.setEvidence(evidence)
            inference.addTarget(target)
            inference.makeInference()
            found: Any = inference.posterior(target).toarray()
        except (gum.GumException, MemoryError) as error:
            found = f"{type(error).__name__}: {error}"
        send.send((found, time.process_time() - start, math.nan, math.nan))
    send.send(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024)


def _limited(work: Any, path: Path, kind: str, n: int, send: Any) -> None:
    warnings.simplefilter("ignore")
    resource.setrlimit(resource.RLIMIT_AS, (MOST_BYTES, MOST_BYTES))
    work(path, kind, n, send)


def answers(work: Any, path: Path, kind: str, n: int, patience: float) -> tuple[list[Any], float]:
    """Run one side in a process of its own; return what came within the time, and the peak of its memory."""
    receive, send = mp.get_context("spawn").Pipe(duplex=False)
    process = mp.get_context("spawn").Process(target=_limited, args=(work, path, kind, n, send))
    process.start()
    send.close()
    found: list[Any] = []
    peak, end = math.nan, time.monotonic() + patience
    try:
        while receive.poll(max(0.0, end - time.monotonic())):
            got = receive.recv()
            if isinstance(got, tuple):
                found.append(got)
            else:
                peak = float(got)
                break
    except EOFError:  # it died, of memory
        pass
    process.kill()
    process.join()
    return found, peak


def one(path: Path, kind: str, n: int, patience: float) -> dict[str, Any]:
    """Ask both sides; raise an error where answers differ."""
    ours, peak = answers(by_tanbark, path, kind, n, 36_000)
    theirs, their_peak = answers(by_pyagrum, path, kind, n, patience)
    both = [
        (a, b) for a, b in zip(ours, theirs, strict=False) if not isinstance(a[0], str) and not isinstance(b[0], str)
    ]
    worst = max((float(np.abs(a[0] - b[0]).max()) for a, b in both), default=math.nan)
    assert not worst > 1e-8, f"{path.name} {kind}: answers differ by {worst}"
    ratios = [b[1] / max(a[1], 1e-9) for a, b in both]
    return {
        "network": path.name.split(".")[0], "findings": kind, "queries": n,
        "answered": sum(not isinstance(a[0], str) for a in ours),
        "answered_pyagrum": sum(not isinstance(b[0], str) for b in theirs),
        "compared": len(both), "largest_difference": worst,
        "median_ms": 1e3 * float(np.median([a[1] for a in ours])), "worst_ms": 1e3 * max(a[1] for a in ours),
        "sum_s": sum(a[1] for a, _ in both), "sum_s_pyagrum": sum(b[1] for _, b in both),
        "median_ratio": float(np.median(ratios)) if ratios else math.nan,
        "largest_factor": max(a[2] for a in ours), "most_memory_planned": max(a[3] for a in ours),
        "peak_bytes": peak, "peak_bytes_pyagrum": their_peak, "seconds_for_pyagrum": patience,
    }  # fmt: skip


def show(line: dict[str, Any]) -> str:
    """One line of the printed table."""
    return (
        f"{line['network']:<11} {line['findings']:<9} {line['answered']:>3}/{line['queries']} "
        f"pyAgrum {line['answered_pyagrum']:>3}, {line['median_ms']:>9.2f} ms median, {line['worst_ms']:>9.1f} worst, "
        f"largest 2^{math.log2(line['largest_factor']):.1f}, {line['most_memory_planned'] / 2**20:>7.1f} MiB, "
        f"in all {line['sum_s']:.3f} s, pyAgrum {line['sum_s_pyagrum']:.3f}, median ratio {line['median_ratio']:.1f}"
    )


def run(folder: Path, only: list[str], n: int, patience: float, json_path: Path | None) -> None:
    """Ask every network, print a line for each kind of findings, and write all of them."""
    lines: list[dict[str, Any]] = []
    facts = {
        "command": "python -m benchmarks.speed.queries --networks FOLDER --json FILE", "clock": "processor seconds",
        "tanbark": tb.__version__, "pyagrum": version("pyagrum"), "numpy": version("numpy"),
        "numba": version("numba"), "python": platform.python_version(), "machine": platform.machine(),
        "cores": os.cpu_count(), "address_space": MOST_BYTES, "seed": 1,
    }  # fmt: skip
    if json_path and json_path.exists():
        lines = json.loads(json_path.read_text())["lines"]
    known = {line["network"] for line in lines}
    names = {path: path.name.split(".")[0] for path in sorted(folder.glob("*.bif.gz"))}
    paths = [path for path, name in names.items() if (not only or name in only) and name not in known]
    for path in paths:
        for kind in KINDS:
            lines.append(one(path, kind, n, patience))
            print(show(lines[-1]), flush=True)
        if json_path:  # after every network: a run of all of them takes long
            plain = [{key: None if value != value else value for key, value in line.items()} for line in lines]
            json_path.write_text(json.dumps({**facts, "lines": plain}, indent=1) + "\n")
