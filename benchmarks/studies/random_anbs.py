"""RAI-ANB against RAI-GBN where the truth is an augmented naive Bayes, and where it is not.

    python -m benchmarks.studies.random_anbs            # goes on where a killed run stopped
    python -m benchmarks.studies.random_anbs --page     # only writes the page from what is done

Writes docs/numbers/random_anbs.json, docs/figures/random_anbs.svg and docs/random_anbs.md. Networks are random: columns
in a random order, each with up to two parents among the earlier ones, Dirichlet(1) distributions.
"""

from __future__ import annotations

import argparse
import itertools
import json
import time
from pathlib import Path
from statistics import mean, stdev

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from benchmarks.studies.lines import append, read
from benchmarks.studies.rai_anb import cells
from benchmarks.studies.rai_anb.numbers import origin
from benchmarks.studies.rai_anb.page import markdown
from tanbark.counts import MemoryCounts
from tanbark.graph import Dag
from tanbark.params import BDeu
from tanbark.structure import LEARNERS
from tanbark.table import CodedTable, Column, Schema

ROOT = Path(__file__).resolve().parents[2]
CELLS = ROOT / "build" / "studies" / "random_anbs.jsonl"
TEMPLATE = Path(__file__).with_suffix(".md")
SIZES = (10, 20, 30, 50, 70, 100)  # features
ROWS = 5000  # to learn from; as many again are predicted
NETWORKS = 10
CLASSES, STATES = 3, 2
TRUTHS = {"anb": "an augmented naive Bayes", "dag": "a general network"}
METHODS = {"RAI-GBN": "rai-gbn", "RAI-ANB": "rai-anb"}
COLOURS = {"RAI-GBN": "#c0504d", "RAI-ANB": "#2f6b3f"}
AVERAGED = (
    "cpu", "tests", "order", "splits", "parts", "after_order_0", "true", "found", "missed", "extra", "class_arcs",
    "best", "accuracy",
)  # fmt: skip
MEASURES = {
    "tests": "tests of independence", "cpu": "processor seconds", "splits": "splits",
    "missed": "edges between features missed", "accuracy": "accuracy",
}  # fmt: skip


def random_graph(n: int, truth: str, rng: np.random.Generator) -> Dag:
    """Draw a graph over features and a class: columns in random order, each with 0 to 2 earlier parents."""
    order = rng.permutation(n if truth == "anb" else n + 1).tolist()
    parents: list[tuple[int, ...]] = [()] * (n + 1)
    for place, node in enumerate(order):
        count = min(int(rng.integers(0, 3)), place)
        parents[node] = tuple(sorted(rng.choice(order[:place], count, replace=False).tolist()))
    names = (*(f"x{i}" for i in range(n)), "class")
    return Dag.augmented(names, parents[:n]) if truth == "anb" else Dag(names, tuple(parents))


def sample(dag: Dag, rows: int, rng: np.random.Generator) -> tuple[CodedTable, list[np.ndarray]]:
    """Draw CPTs and rows."""
    n = len(dag.names) - 1
    states = [STATES] * n + [CLASSES]
    columns = [
        Column(name, "category", "text", tuple(map(str, range(r)))) for name, r in zip(dag.names, states, strict=True)
    ]
    codes, cpts = np.zeros((n + 1, rows), np.int64), [np.zeros(0)] * (n + 1)
    for node in dag.order:
        shape = [states[p] for p in dag.parents[node]]
        cpts[node] = rng.dirichlet(np.ones(states[node]), size=shape)
        lines = cpts[node][tuple(codes[p] for p in dag.parents[node])] if shape else np.tile(cpts[node], (rows, 1))
        codes[node] = (rng.random(rows)[:, None] > lines.cumsum(axis=1)[:, :-1]).sum(axis=1)
    return CodedTable(Schema(tuple(columns)), np.ascontiguousarray(codes.astype(np.int8))), cpts


def true_accuracy(dag: Dag, cpts: list[np.ndarray], codes: np.ndarray) -> float:
    """Predict with the network that the rows come from."""
    scores = []
    for label in range(CLASSES):
        asked = codes.astype(np.int64)
        asked[-1] = label
        with np.errstate(divide="ignore"):
            logs = [np.log(cpts[v][(*(asked[p] for p in dag.parents[v]), asked[v])]) for v in range(len(dag.names))]
        scores.append(np.sum(logs, axis=0))
    return float((np.argmax(scores, axis=0) == codes[-1]).mean())


def edges(dag: Dag, target: int) -> set[frozenset[int]]:
    """List the edges between features, without direction."""
    return {frozenset((p, v)) for v, parents in enumerate(dag.parents) for p in parents if target not in (p, v)}


def run(n: int, truth: str, seed: int) -> list[dict]:
    """Learn from one random network with both methods."""
    rng = np.random.default_rng([seed, n, truth == "dag"])
    dag = random_graph(n, truth, rng)
    table, cpts = sample(dag, 2 * ROWS, rng)
    codes = table.codes
    counts = MemoryCounts(CodedTable(table.schema, np.ascontiguousarray(codes[:, :ROWS])), n_jobs=1)
    tested, true = codes[:, ROWS:], edges(dag, n)
    best = true_accuracy(dag, cpts, tested)
    found = []
    for method, learner in METHODS.items():
        begun = time.process_time()
        learnt = LEARNERS[learner].learn(counts)
        cpu = time.process_time() - begun
        report, mine = learnt.report, edges(learnt.dag, n)
        joint = cells.predict(learnt.dag, counts, tested, BDeu(1.0))
        total = sum(report.tests.values())
        found.append({
            "features": n, "truth": truth, "seed": seed, "method": method, "cpu": round(cpu, 6), "tests": total,
            "order": round(sum(o * t for o, t in report.tests.items()) / total, 4), "splits": report.n_splits,
            "parts": report.n_substructures, "after_order_0": report.edges.get(0, 0), "true": len(true),
            "found": len(true & mine), "missed": len(true - mine), "extra": len(mine - true),
            "class_arcs": len(learnt.dag.parents[n]) + len(learnt.dag.children[n]), "best": best,
            "accuracy": float((joint.argmax(axis=1) == tested[n]).mean()),
        })  # fmt: skip
    return found


def collect(path: Path) -> dict:
    """Average over the networks of every size."""
    told, rows = list(read(path)), []
    for truth, n, method in itertools.product(TRUTHS, SIZES, METHODS):
        mine = [c for c in told if (c["truth"], c["features"], c["method"]) == (truth, n, method)]
        if mine:
            means = {key: round(mean(c[key] for c in mine), 6) for key in AVERAGED}
            spread = {f"{key}_sd": round(stdev(c[key] for c in mine), 6) if mine[1:] else 0.0 for key in MEASURES}
            rows.append({"truth": truth, "features": n, "method": method, "networks": len(mine), **means, **spread})
    command = "python -m benchmarks.studies.random_anbs"
    pairs = {truth: count_pairs([c for c in told if c["truth"] == truth]) for truth in TRUTHS}
    return {"command": command, **origin(), "seeds": [0, NETWORKS - 1], "rows": ROWS, "results": rows, "pairs": pairs}


def count_pairs(told: list[dict]) -> dict[str, int]:
    """Count the networks on which RAI-ANB has less, or more, of something than RAI-GBN."""
    both = {m: {(c["features"], c["seed"]): c for c in told if c["method"] == m} for m in METHODS}
    pairs = [(both["RAI-ANB"][key], both["RAI-GBN"][key]) for key in both["RAI-ANB"].keys() & both["RAI-GBN"].keys()]
    found = {"networks": len(pairs)}
    for key in ("tests", "cpu", "splits", "parts", "missed", "accuracy"):
        found[f"{'less' if key == 'accuracy' else 'fewer'}_{key}"] = sum(one[key] < other[key] for one, other in pairs)
        found[f"more_{key}"] = sum(one[key] > other[key] for one, other in pairs)
    return found


def table(found: dict, truth: str) -> str:
    """Write one line per size: both methods, RAI-GBN before RAI-ANB."""
    lines = []
    for n in SIZES:
        two = [
            r for m in METHODS for r in found["results"] if (r["truth"], r["features"], r["method"]) == (truth, n, m)
        ]
        if len(two) < 2:
            continue
        both = {key: [one[key] for one in two] for key in two[0]}
        lines.append([
            str(n), " / ".join(f"{v:,.0f}" for v in both["tests"]),
            " / ".join(f"{v:.2f}" for v in both["order"]), " / ".join(f"{v:.4f}" for v in both["cpu"]),
            " / ".join(f"{v:.1f}" for v in both["splits"]), f"{two[0]['true']:.1f}",
            " / ".join(f"{v:.1f}" for v in both["found"]), " / ".join(f"{v:.1f}" for v in both["missed"]),
            " / ".join(f"{v:.1f}" for v in both["extra"]),
            " / ".join(f"{v:.3f}" for v in both["accuracy"]), f"{two[0]['best']:.3f}",
        ])  # fmt: skip
    head = [
        "features", "tests", "mean order", "processor s", "splits", "true edges", "found", "missed",
        "extra", "accuracy", "truth's accuracy",
    ]  # fmt: skip
    return markdown(head, lines)


def draw(found: dict, path: Path) -> None:
    """Draw tests, seconds, splits, missed edges and accuracy against the number of features, ± a deviation."""
    with mpl.rc_context({"svg.hashsalt": "random_anbs", "svg.fonttype": "path", "font.size": 9.0}):
        figure = Figure(figsize=(9.0, 5.2), layout="constrained")
        axes = figure.subplots(2, len(MEASURES), sharex=True)
        for line, truth in zip(axes, TRUTHS, strict=True):
            for ax, (key, title) in zip(line, MEASURES.items(), strict=True):
                for method, colour in COLOURS.items():
                    mine = [r for r in found["results"] if r["truth"] == truth and r["method"] == method]
                    x, y = [r["features"] for r in mine], np.array([r[key] for r in mine])
                    spread = np.array([r[f"{key}_sd"] for r in mine])
                    ax.plot(x, y, color=colour, marker="o", markersize=3, label=method)
                    low = np.maximum(y - spread, y / 3) if key in ("tests", "cpu") else y - spread
                    ax.fill_between(x, low, y + spread, color=colour, alpha=0.15, linewidth=0)
                if key in ("tests", "cpu"):
                    ax.set_yscale("log")
                ax.spines[["top", "right"]].set_visible(False)
                ax.grid(color="#e6e6e6", linewidth=0.6)
                ax.set_title(title if truth == "anb" else "", fontsize=8)
                if truth == "dag":
                    ax.set_xlabel("features")
            line[0].set_ylabel(f"truth: {TRUTHS[truth]}", fontsize=8)
        for above, below in zip(axes[0][:2], axes[1][:2], strict=True):
            below.set_ylim(above.get_ylim())
        axes[0][0].legend(frameon=False, fontsize=8)
        path.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(path, metadata={"Date": None}, bbox_inches="tight", facecolor="white")


def render(found: dict) -> str:
    """Put the tables and figures of speech into the prose."""
    text = TEMPLATE.read_text()
    for truth in TRUTHS:
        text = text.replace("{{" + truth + "}}", table(found, truth))
        for key, value in found["pairs"][truth].items():
            text = text.replace("{{" + f"{truth}_{key}" + "}}", str(value))
    by = {(r["truth"], r["features"], r["method"]): r for r in found["results"]}
    most = max(r["features"] for r in found["results"] if r["truth"] == "anb")
    for method in METHODS:
        for key, value in by["anb", most, method].items():
            if isinstance(value, (int, float)):
                text = text.replace(
                    "{{" + f"{method}_{key}" + "}}", f"{value:,.0f}" if value >= 100 else f"{value:,.3g}"
                )
    return text.replace("{{most}}", str(most)).replace("{{made}}", made(found))


def made(found: dict) -> str:
    versions = ", ".join(f"{name} {version}" for name, version in found["versions"].items())
    first, last = found["seeds"]
    return f"commit {found['commit'][:12]}, seeds {first} to {last}, {found['machine']}, {versions}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cells", type=Path, default=CELLS)
    parser.add_argument("--page", action="store_true")
    options = parser.parse_args()
    done = {(c["features"], c["truth"], c["seed"]) for c in read(options.cells)}
    if not options.page:
        run(8, "anb", 99)  # compile first
        for n in SIZES:
            for seed in range(NETWORKS):
                for truth in TRUTHS:
                    if (n, truth, seed) not in done:
                        results = run(n, truth, seed)
                        for one in results:
                            append(options.cells, one)
                        print(n, truth, seed, [(o["tests"], o["cpu"], o["splits"]) for o in results], flush=True)
    found = collect(options.cells)
    (ROOT / "docs" / "numbers" / "random_anbs.json").write_text(json.dumps(found, indent=1) + "\n")
    draw(found, ROOT / "docs" / "figures" / "random_anbs.svg")
    (ROOT / "docs" / "random_anbs.md").write_text(render(found))


if __name__ == "__main__":
    main()
