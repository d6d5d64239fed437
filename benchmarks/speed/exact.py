"""Exact search beside other exact learners: the same binary tables, one run, seconds and optima.

    python -m benchmarks.speed.exact --pomegranate PYTHON --causal-learn PYTHON [--sizes 12 16 20] [--limit 600]
    python -m benchmarks.speed.exact --sizes --cases alarm-30 kr-vs-kp-36 [--max-parents 4] [--limit 600]
    python -m benchmarks.speed.exact --page     # writes the table of docs/guides/exact_search.md

A peer is run by the interpreter that has it, in a process of its own, once per table; past the limit it is stopped.
Each looks for the best network by its own score (pomegranate: minimum description length; causal-learn: the BIC of
Gaussian variables), so the optima are compared where they can be: causal-learn's search is run once more with our BDeu
put in the place of its score, and pomegranate's network is compared with the optimum of its own score, found by our
dynamic programme. pygobnilp needs the Gurobi solver and its licence, and is not run. ``--cases`` are those of
``exact_curve``: columns against seconds and memory. What is not measured again stays in the file.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import platform
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import tanbark as tb
from benchmarks.speed import exact_curve
from benchmarks.speed.exact_peers import PEERS
from benchmarks.speed.rai import chain, count
from tanbark.counts import CountEngine
from tanbark.structure.exact import kernels
from tanbark.structure.exact import learn as exact

SCRIPT = Path(__file__).with_name("exact_peers.py")
PAGE = Path(__file__).resolve().parents[2] / "docs" / "guides" / "exact_search.md"


def ask(peer: str, python: str, table: Path, limit: float) -> dict[str, object]:
    """Run a peer and read its answer; without one, say why."""
    command = [python, str(SCRIPT), peer, str(table)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=limit, check=False)
    except subprocess.TimeoutExpired:
        return {"failed": f"not finished in {limit:.0f} s"}
    if done.returncode:
        return {"failed": (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]}
    answer: dict[str, object] = json.loads(done.stdout.splitlines()[-1])
    return answer


def mdl_of_subsets(codes: np.ndarray) -> np.ndarray:
    """Give the set function whose differences are pomegranate's score: n ln n over the cells, less its penalty."""
    n, n_rows = codes.shape
    penalty = math.log2(n_rows) / 2
    out = np.empty(1 << n)
    for mask in range(1 << n):
        members = [i for i in range(n) if mask >> i & 1]
        key = np.zeros(n_rows, np.int64)
        for column in members:
            key = 2 * key + codes[column]
        cells = np.unique(key, return_counts=True)[1]
        out[mask] = (cells * np.log(cells)).sum() - penalty * 2.0 ** len(members)
    return out


def best_sum(h: np.ndarray, n: int) -> float:
    """Give the highest score of a network from a set function, by the dynamic programme."""
    best, total, sink = np.empty((n, 1 << (n - 1))), np.empty(1 << n), np.zeros(1 << n, np.int8)
    for node in range(n):
        kernels.best_families(h, node, n, n, best[node])
    kernels.best_sinks(best, n, total, sink)
    return float(total[-1])


def sum_of(h: np.ndarray, parents: list[list[int]]) -> float:
    masks = [sum(1 << p for p in found) for found in parents]
    return float(sum(h[mask | 1 << node] - h[mask] for node, mask in enumerate(masks)))


def compare(n: int, n_rows: int, peers: dict[str, str], limit: float) -> dict[str, object]:
    codes = chain(n - 1, n_rows)
    counts = count(codes, None)
    begun, used = time.perf_counter(), time.process_time()
    learnt = exact.learn_general(counts)
    result: dict[str, object] = {
        "columns": n, "rows": n_rows, "seconds": time.perf_counter() - begun,
        "cpu_seconds": time.process_time() - used, "bdeu": learnt.score, "peers": {},
    }  # fmt: skip
    print(f"{n:>3} columns  {'tanbark':<24}{result['seconds']:>10.3f} s   BDeu {learnt.score:.6f}", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder) / "table.npy"
        np.save(table, np.ascontiguousarray(codes.T.astype(float)))
        for peer, python in peers.items():
            answer = ask(peer, python, table, limit)
            result["peers"][peer] = answer  # type: ignore[index]
            if "parents" in answer:
                judge(peer, answer, codes, counts, learnt.score, float(result["seconds"]))  # type: ignore[arg-type]
            told = {key: value for key, value in answer.items() if key != "parents"}
            print(f"{n:>3} columns  {peer:<24}{json.dumps(told)}", flush=True)
    return result


def judge(peer: str, answer: dict, codes: np.ndarray, counts: CountEngine, best: float, ours: float) -> None:
    """Add to an answer its network's BDeu, how it compares with the optimum, and the ratio of the seconds."""
    families = [(*parents, node) for node, parents in enumerate(answer["parents"])]
    answer["bdeu"] = float(counts.family_scores(families, ess=1.0).sum())
    answer["ratio"] = answer["seconds"] / ours
    if peer.endswith("BDeu"):
        answer["same_optimum"] = abs(answer["bdeu"] - best) < 1e-6
    elif peer == "pomegranate" and len(codes) <= 16:
        h = mdl_of_subsets(codes)
        answer["mdl"], answer["best_mdl"] = sum_of(h, answer["parents"]), best_sum(h, len(codes))
        answer["same_optimum"] = abs(answer["mdl"] - answer["best_mdl"]) < 1e-6


def write_page(told: dict) -> None:
    """Put the table of the curve between the marks of the page."""
    begin, end = "<!-- curve -->\n", "<!-- end of curve -->"
    head, rest = PAGE.read_text(encoding="utf-8").split(begin)
    PAGE.write_text(head + begin + exact_curve.table(told["curve"]) + end + rest.split(end)[1], encoding="utf-8")


def told_of(options: argparse.Namespace, rows: list[dict], curve: list[dict]) -> dict:
    """Gather results with versions and machine; those of tables and cases not run now are kept from the file."""
    old = json.loads(options.out.read_text()) if options.out.exists() else {}
    given = ["PYTHON" if word in (options.pomegranate, options.causal_learn) else word for word in sys.argv[1:]]
    folders = (str(options.networks), str(options.data))
    command = " ".join(["python -m benchmarks.speed.exact", *("FOLDER" if word in folders else word for word in given)])
    return {
        "command": command if rows else old.get("command"),
        "curve_command": command if curve else old.get("curve_command"),
        "tanbark": tb.__version__, "python": sys.version.split()[0], "numpy": np.__version__,
        "machine": platform.machine(), "cores": os.cpu_count(), "load": os.getloadavg()[0],
        "results": rows or old.get("results", []), "curve": merged(old.get("curve", []), curve),
    }  # fmt: skip


def merged(old: list[dict], new: list[dict]) -> list[dict]:
    """Replace the cases that were measured again."""
    fresh = {(row["case"], row.get("max_parents")): row for row in new if "failed" not in row}
    kept = [fresh.pop((row["case"], row.get("max_parents")), row) for row in old]
    return [*kept, *fresh.values()]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pomegranate", metavar="PYTHON")
    parser.add_argument("--causal-learn", metavar="PYTHON")
    parser.add_argument("--sizes", nargs="*", type=int, default=[12, 16, 20])
    parser.add_argument("--rows", type=int, default=5000)
    parser.add_argument("--limit", type=float, default=600.0, help="seconds that a peer, or a search, may take")
    parser.add_argument("--out", type=Path, default=Path("docs/numbers/speed_exact.json"))
    parser.add_argument("--page", action="store_true", help="only write the table of the page from the file")
    exact_curve.add_options(parser)
    parser.set_defaults(cases=[])
    options = parser.parse_args()
    if not options.page:
        pythons = {"pomegranate": options.pomegranate, "causal-learn": options.causal_learn}
        peers = {peer: pythons[peer.split(" ")[0]] for peer in PEERS if pythons[peer.split(" ")[0]]}
        exact.learn_general(count(chain(8, 200), None))  # kernels are compiled once, before the clock runs
        rows = [compare(n, options.rows, peers, options.limit) for n in options.sizes]
        told = told_of(options, rows, exact_curve.curve(options))
        options.out.parent.mkdir(parents=True, exist_ok=True)
        temporary = options.out.with_suffix(".tmp")
        temporary.write_text(json.dumps(told, indent=1) + "\n")
        temporary.replace(options.out)
    write_page(json.loads(options.out.read_text()))


if __name__ == "__main__":
    main()
