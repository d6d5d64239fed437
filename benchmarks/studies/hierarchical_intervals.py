"""Do intervals with hierarchical CPTs, of one network and of pooled ones, hold the true posterior as often as they say?

Rows are drawn from networks of three kinds: trees with CPTs from the uniform prior, and structures with one or two
feature parents whose CPTs are drawn level by level, each around the one with a parent fewer. A network with the true
arcs, with Laplace and with hierarchical smoothing, and NetworkEnsemble, which does not know the arcs, are fitted, and
their 90 % intervals for fresh rows, whole and with 40 % of the values missing, are compared with the true posterior.

    python -m benchmarks.studies.hierarchical_intervals    # writes docs/numbers/hierarchical_intervals.json
"""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np

import tanbark as tb
from benchmarks.studies.intervals import (
    CLASSES,
    FEATURES,
    GAPS,
    LEVEL,
    QUERIES,
    STATES,
    draw_truth,
    fit,
    read_options,
    summary,
    write,
)
from tanbark.graph import Dag, Network
from tanbark.inference import joint_log_proba, normalize

TARGET = Path(__file__).resolve().parents[2] / "docs" / "numbers" / "hierarchical_intervals.json"
COMMAND = "python -m benchmarks.studies.hierarchical_intervals"
ROWS, NETWORKS = (30, 100, 300, 1000, 3000), 40
TRUTHS = {"uniform": 0, "nested, one parent": 1, "nested, two parents": 2}
CONCENTRATIONS = (8.0, 4.0, 4.0)  # of the levels of a nested CPT: the class, the first parent, the second
MODELS = ("true arcs, Laplace", "true arcs", "NetworkEnsemble")


def draw_nested(rng: np.random.Generator, n_parents: int) -> Network:
    """Draw a structure with the same schema as the trees, and CPTs level by level."""
    schema = draw_truth(rng).schema
    found = [tuple(sorted(rng.choice(k, min(k, n_parents), replace=False).tolist())) for k in range(FEATURES)]
    dag = Dag.augmented(schema.names, found)
    cpts = []
    for parents in found:
        cpt = rng.dirichlet(np.ones(STATES))
        for level, size in enumerate([CLASSES, *[STATES] * len(parents)]):
            drawn = rng.gamma(CONCENTRATIONS[level] * np.repeat(cpt[..., None, :], size, axis=-2)) + 1e-12
            cpt = drawn / drawn.sum(axis=-1, keepdims=True)
        cpts.append(np.ascontiguousarray(np.moveaxis(cpt, 0, -1)))  # the class, first when drawn, is the last axis
    return Network(schema, dag, (*cpts, rng.dirichlet(np.full(CLASSES, 3.0))))


def _make(name: str, truth: Network) -> object:
    if name == "NetworkEnsemble":
        return tb.NetworkEnsemble(categorical_features="all")
    return tb.FixedStructure(truth.dag.arcs(), parameters="laplace" if "Laplace" in name else None)


def measure(kind: str, n: int, networks: int, seed: int) -> dict[str, dict[str, float]]:
    """Return coverage and mean width of every model, for whole rows and for rows with missing values."""
    found: dict[str, list[tuple[float, float]]] = {}
    for place in range(networks):
        rng = np.random.default_rng([seed, n, place])
        truth = draw_nested(rng, TRUTHS[kind]) if TRUTHS[kind] else draw_truth(rng)
        rows = truth.sample(n, random_state=rng, backend="pandas")
        whole = truth.sample(QUERIES, random_state=rng, backend="pandas").drop(columns="class").astype(float)
        asked = {"whole": whole, "missing": whole.mask(rng.random(whole.shape) < GAPS)}
        for name in MODELS:
            clf = fit(_make(name, truth), truth, rows)
            for how, queries in asked.items():
                codes = np.where(queries.isna(), 255, queries).astype(np.uint8).T
                true = normalize(joint_log_proba(truth, np.ascontiguousarray(codes)), logs=False)[0][:, 0]
                low, high = (ends[:, 0] for ends in clf.predict_proba_interval(queries, level=LEVEL, n_draws=200))
                inside = float(((low <= true) & (true <= high)).mean())
                found.setdefault(f"{name}, {how}", []).append((inside, float((high - low).mean())))
    return {name: summary(np.array(results)) for name, results in found.items()}


def markdown(cells: list[dict[str, object]]) -> str:
    """Write the table of the page."""
    names = [f"{name}, {how}" for name in MODELS for how in ("whole", "missing")]
    lines = ["| CPTs | rows | " + " | ".join(names) + " |", "|---|--:" + "|--:" * len(names) + "|"]
    for cell in cells:
        parts = [f"{cell['models'][name]['coverage']:.2f} ({cell['models'][name]['width']:.2f})" for name in names]
        lines.append(f"| {cell['truth']} | {cell['rows']:,} | " + " | ".join(parts) + " |")
    return "\n".join(lines)


def main() -> None:
    options = read_options("Coverage of intervals with hierarchical CPTs.", TARGET)
    begun, networks = time.perf_counter(), max(2, round(NETWORKS * options.share))
    cells = [
        {"truth": kind, "rows": n, "networks": networks, "models": measure(kind, n, networks, options.seed)}
        for kind in TRUTHS
        for n in ROWS
    ]
    write(options, COMMAND, time.perf_counter() - begun, cells)
    print(markdown(cells))


if __name__ == "__main__":
    main()
