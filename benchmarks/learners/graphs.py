"""Graphs that searches find from samples of published networks: scores by one scorer, distance to the truth, seconds.

    python -m benchmarks.learners.graphs --peer pybnesian=PYTHON --peer bnlearn-tabu=Rscript --numbers graphs.json

A case is a network of the folder ``--networks``, a number of rows, a sample, an order of the columns and a score.
Tanbark runs as it does by default, as plain hill climbing, and with ten times the seconds of ``--pace``, a peer. The
distance is the structural Hamming distance to the CPDAG of the network. Seconds are those of the processor, for the
search alone, from rows in memory in each program's own form: coded columns here, a data frame and a score made of it
there. Ten times are had by doubling ``patience``, which other load does not disturb as it does a time limit. Every case
is written to ``--numbers`` when it is done; a second run goes on where the first ended, and asks only peers that are
new; ``--again`` runs Tanbark and the peer of ``--pace``, if it is among the peers, anew, one right after the other.
Seconds are the least of five rounds, or of as many as a tenth of a second has. ``--report`` prints the table. R finds
its packages by R_LIBS.
"""

from __future__ import annotations

import argparse
import json
import platform
import statistics
import subprocess
import tempfile
import time
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.learners.__main__ import make_counts, score_of
from benchmarks.learners.networks import Known, published, random_network, sample
from tanbark import kernel
from tanbark.structure.greedy.hill_climb import PATIENCE, learn
from tanbark.structure.greedy.kernels.cpdag_kernels import find_cpdag

NETWORKS = (
    "cancer", "earthquake", "survey", "asia", "sachs", "child", "insurance", "water", "alarm", "mildew", "hailfinder",
    "barley",
)  # fmt: skip
OURS = {"tanbark": {}, "tanbark, plain": {"space": "dags", "tabu": 0}, "tanbark, ten times": {}}
ROUNDS = 5
ENOUGH = 0.1  # seconds of the processor, of all rounds
CLOSE = 1e-4  # 0.01 %, relative to the best score that anybody found
EQUAL = 1e-9

Arcs = list[tuple[str, str]]
Case = tuple[str, int, int, int, str]  # network, rows, sample, order of the columns, score


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--networks", type=Path, default=Path("../shared/networks"), help="folder of NAME.bif.gz")
    parser.add_argument("--network", action="append", help='by default those that fit; "random-N" is drawn')
    parser.add_argument("--rows", action="append", type=int, help="by default 500, 5,000 and 50,000")
    parser.add_argument("--samples", type=int, default=3)
    parser.add_argument("--orders", type=int, default=2)
    parser.add_argument("--score", action="append", choices=["bic", "bdeu"])
    parser.add_argument(
        "--peer", action="append", default=[], help="NAME=PROGRAM: pybnesian, pyagrum, pgmpy, bnlearn-hc…"
    )
    parser.add_argument("--peer-seconds", type=int, default=900, help="after which a peer is stopped")
    parser.add_argument("--pace", default="pybnesian", help="the peer whose seconds ours are compared with")
    parser.add_argument("--numbers", type=Path, default=Path("build/graphs.json"))
    parser.add_argument("--again", action="store_true", help="run Tanbark and the peer of --pace anew in all cases")
    parser.add_argument("--report", action="store_true", help="only print what is in the file")
    return parser.parse_args()


def cases(options: argparse.Namespace) -> Iterator[Case]:
    names = options.network or [name for name in NETWORKS if (options.networks / f"{name}.bif.gz").exists()]
    orders, scores = range(options.orders), options.score or ["bic", "bdeu"]
    for number, rows in product(range(1, options.samples + 1), options.rows or [500, 5_000, 50_000]):
        yield from ((name, rows, number, order, score) for name in names for order in orders for score in scores)


def names_of(peers: list[str]) -> dict[str, str]:
    """Map the names of peers to their programs."""
    return dict(peer.split("=", 1) for peer in peers)


def open_network(folder: Path, name: str) -> Known:
    """Open a published network; "random" is drawn, and "random-N" is the N-th of others of as many columns."""
    if name.startswith("random"):
        return random_network(seed=int(name.removeprefix("random").lstrip("-") or 0))
    return published(folder / f"{name}.bif.gz")


def run_ours(codes: np.ndarray, score: str, **options: Any) -> dict[str, Any]:
    """Search as many times as the peers do, each time from counts of coded rows that nobody asked for anything yet."""
    kernel.interprets = False
    learn(make_counts(codes), criterion=score, **(options | {"patience": 0}))  # which compiles
    cpu, wall = [], []
    while len(cpu) < ROUNDS or sum(cpu) < ENOUGH:
        counts = make_counts(codes)
        begun, cpu_begun = time.perf_counter(), time.process_time()
        found = learn(counts, criterion=score, **options)
        cpu.append(time.process_time() - cpu_begun)
        wall.append(time.perf_counter() - begun)
        if options.get("patience"):
            break
    return {"cpu_seconds": cpu, "seconds": wall, "arcs": found.dag.arcs()}


def run_within(codes: np.ndarray, score: str, seconds: float) -> dict[str, Any]:
    """Search with the most patience, of 3, 4, 6, 12 …, that takes no more than some seconds of the processor."""
    found = run_ours(codes, score, patience=PATIENCE)
    for patience in (4, 6, 12, 25, 50, 100, 200, 400):
        if 2 * found["cpu_seconds"][0] > seconds:
            break
        more = run_ours(codes, score, patience=patience)
        if more["cpu_seconds"][0] > seconds:
            break
        found = more
    return found


def run_peer(name: str, program: str, codes: np.ndarray, score: str, seconds: int) -> dict[str, Any]:
    rounds = str(1 if name in ("pgmpy", "pyagrum") else ROUNDS)
    with tempfile.TemporaryDirectory() as folder:
        if name.startswith("bnlearn"):
            file = Path(folder, "rows.csv")
            header = ",".join(f"x{i}" for i in range(codes.shape[1]))
            np.savetxt(file, codes, "%d", ",", header=header, comments="")
            start = [program, str(Path(__file__).with_name("peer.R")), name.removeprefix("bnlearn-")]
        else:
            file = Path(folder, "rows.npy")
            np.save(file, codes)
            start = [program, str(Path(__file__).with_name("peer.py")), name]
        command = [*start, str(file), score, rounds]
        try:
            done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=seconds)
        except subprocess.TimeoutExpired:
            return {"error": f"more than {seconds} seconds"}
    if done.returncode:
        return {"error": done.stderr.strip()[-200:]}
    return dict(json.loads(done.stdout.splitlines()[-1]))


def matrix(arcs: Arcs, n: int) -> np.ndarray:
    found = np.zeros((n, n), bool)
    for a, b in arcs:
        found[int(a[1:]), int(b[1:])] = True
    return found


def hamming(mine: np.ndarray, truth: np.ndarray) -> int:
    """Count the pairs of columns whose edge differs between the CPDAGs of two graphs."""
    none = np.zeros_like(mine)
    differs = find_cpdag(mine, none) != find_cpdag(truth, none)
    return int(np.triu(differs | differs.T).sum())


def run_case(case: Case, options: argparse.Namespace, before: dict[str, Any]) -> dict[str, Any]:
    """Run a case; ``before`` has what is known of it."""
    name, rows, number, order, score = case
    anew = {*OURS, options.pace} & {*OURS, *names_of(options.peer)} if options.again else set()
    network = open_network(options.networks, name)
    n = len(network.names)
    drawn = sample(network, rows, seed=number)
    shuffle = np.arange(n) if order == 0 else np.random.default_rng(order).permutation(n)
    codes = np.ascontiguousarray(drawn[:, shuffle])
    place = np.argsort(shuffle)
    truth = [(f"x{place[p]}", f"x{place[c]}") for c, parents in enumerate(network.parents) for p in parents]
    counts, lines = make_counts(codes), {who: line for who, line in before.items() if who not in anew}

    def note(who: str, answer: dict[str, Any]) -> None:
        arcs = [(a, b) for a, b in answer.get("arcs", ())]
        lines[who] = answer if "error" in answer else {
            "score": score_of(counts, arcs, score), "distance": hamming(matrix(arcs, n), matrix(truth, n)),
            "cpu_seconds": min(answer["cpu_seconds"]), "seconds": min(answer["seconds"]), "arcs": len(arcs),
        }  # fmt: skip

    for who, program in names_of(options.peer).items():
        if who not in lines:
            note(who, run_peer(who, program, codes, score, options.peer_seconds))
    for who, our_options in OURS.items():
        pace = lines.get(options.pace, {}).get("cpu_seconds")
        if who in lines or (who == "tanbark, ten times" and not pace):
            continue
        if who == "tanbark, ten times":
            note(who, run_within(codes, score, 10 * pace))
        else:
            note(who, run_ours(codes, score, **our_options))
    return {
        "network": name, "rows": rows, "sample": number, "order": order, "score": score, "columns": n,
        "true_score": score_of(counts, truth, score), "found": lines,
    }  # fmt: skip


def report(results: list[dict[str, Any]], pace: str) -> str:
    """Say in how many cases ours are as good as every peer, as quick as one, and close to the best graph."""
    groups: dict[str, list[dict[str, Any]]] = {"all": results}
    for result in results:
        groups.setdefault(f"{result['rows']:,} rows, {result['score']}", []).append(result)
    lines = [f"{'cases':<22}{'n':>4}  {'default >= peers':>16}  {'time <= ' + pace:>18}  {'x10 within 0.01 %':>17}"]
    for title, group in groups.items():
        good = [_as_good(result) for result in group]
        quick = [q for q in (_as_quick(result, pace) for result in group) if q is not None]
        close = [c for c in map(_is_close, group) if c is not None]
        cells = "  ".join(f"{_percent(values):>{width}}" for values, width in ((good, 16), (quick, 18), (close, 17)))
        lines.append(f"{title:<22}{len(group):>4}  {cells}")
    who = sorted({name for result in results for name in result["found"]})
    lines += ["", f"{'':<22}{'n':>4}  {'nats below the best':>20}  {'distance':>9}  {'cpu, of ours':>12}"]
    for name in who:
        mine = [(result, result["found"][name]) for result in results if "score" in result["found"].get(name, {})]
        if not mine:
            continue
        behind = statistics.median(_best(result) - line["score"] for result, line in mine)
        distance = statistics.mean(line["distance"] for _, line in mine)
        ratio = statistics.median(
            line["cpu_seconds"] / result["found"]["tanbark"]["cpu_seconds"] for result, line in mine
        )
        lines.append(f"{name:<22}{len(mine):>4}  {behind:>20.1f}  {distance:>9.1f}  {ratio:>11.2f}x")
    return "\n".join(lines)


def _scores(result: dict[str, Any]) -> dict[str, float]:
    return {who: line["score"] for who, line in result["found"].items() if "score" in line}


def _best(result: dict[str, Any]) -> float:
    return max(_scores(result).values())


def _as_good(result: dict[str, Any]) -> bool:
    theirs = [score for who, score in _scores(result).items() if not who.startswith("tanbark")]
    mine = result["found"]["tanbark"]["score"]
    return all(mine >= score - EQUAL * abs(score) for score in theirs)


def _as_quick(result: dict[str, Any], pace: str) -> bool | None:
    line = result["found"].get(pace, {})
    return result["found"]["tanbark"]["cpu_seconds"] <= line["cpu_seconds"] if "cpu_seconds" in line else None


def _is_close(result: dict[str, Any]) -> bool | None:
    line = result["found"].get("tanbark, ten times")
    return None if line is None else line["score"] >= _best(result) * (1 + CLOSE)


def _percent(values: list[bool]) -> str:
    return f"{sum(values)} ({sum(values) / len(values):.0%})" if values else "-"


def main() -> None:
    options = arguments()
    stored = json.loads(options.numbers.read_text()) if options.numbers.exists() else {"results": []}
    stored |= {"python": platform.python_version(), "numpy": np.__version__, "machine": platform.machine()}
    known = {(r["network"], r["rows"], r["sample"], r["order"], r["score"]): r for r in stored["results"]}
    wanted = {*OURS, *names_of(options.peer)}
    for case in [] if options.report else cases(options):
        before = known.get(case, {}).get("found", {})
        if wanted <= before.keys() and not options.again:
            continue
        result = known[case] = run_case(case, options, before)
        stored["results"] = list(known.values())
        options.numbers.parent.mkdir(parents=True, exist_ok=True)
        options.numbers.write_text(json.dumps(stored, indent=1) + "\n")
        told = "  ".join(
            f"{who} {line['score']:.1f} {line['cpu_seconds'] * 1e3:.0f} ms"
            if "score" in line
            else f"{who}: {line['error']}"
            for who, line in result["found"].items()
        )
        print(*case, f"true {result['true_score']:.1f} ", told, flush=True)
    print(report(stored["results"], options.pace))


if __name__ == "__main__":
    main()
