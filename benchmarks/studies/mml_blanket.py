"""Which message length finds the Markov blanket of the class, and how often?

Networks with random tables are drawn from three worlds, rows are drawn from each, and a greedy forward search is run by
every length. A cell of the table says: share of exact blankets / mean number of members missed / of others taken in.

    python -m benchmarks.studies.mml_blanket                # writes docs/numbers/mml_blanket.json, prints Markdown
    python -m benchmarks.studies.mml_blanket --share 0.1    # a tenth of the networks
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import platform
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import scipy

import tanbark
from tanbark.structure.blanket import search
from tanbark.structure.blanket_scores import SCORERS, Options, Rows

TARGET = Path(__file__).resolve().parents[2] / "docs" / "numbers" / "mml_blanket.json"


@dataclass(frozen=True)
class World:
    """Children of the class, children of these, and noise, all with as many states."""

    title: str
    states: int
    children: int
    grandchildren: int
    noise: int

    @property
    def n_features(self) -> int:
        return self.children + self.grandchildren + self.noise


WORLDS = {
    "A": World("naive Bayes, 5 children and 5 noise columns, binary", 2, 5, 0, 5),
    "B": World("3 children, a child of each (redundant), 4 noise columns, binary", 2, 3, 3, 4),
    "C": World("naive Bayes, 4 children and 4 noise columns, 3 states and classes", 3, 4, 0, 4),
}
NETWORKS = {
    "A": {100: 200, 500: 200, 2000: 150, 10000: 60},
    "B": {100: 150, 500: 150, 2000: 100, 10000: 40},
    "C": {100: 60, 500: 60, 2000: 60, 10000: 20},
}
CONTESTANTS = {
    "cpt none": ("cpt", Options(n_jobs=1)),
    "cpt all": ("cpt", Options(stating="all", n_jobs=1)),
    "logit": ("logit", Options(n_jobs=1)),
    "nb_logit": ("nb_logit", Options(n_jobs=1)),
    "nb_adaptive": ("nb_adaptive", Options(n_jobs=1)),
    "nb_joint": ("nb_joint", Options(n_jobs=1)),
    "note_nb": ("note_nb", Options(legacy_strict=True, n_jobs=1)),
}


def draw_rows(world: World, n: int, rng: np.random.Generator) -> Rows:
    """Draw a network with tables from uniform Dirichlet distributions, and rows from it."""

    def draw(given: np.ndarray | None) -> np.ndarray:
        tables = rng.dirichlet(np.ones(world.states), world.states if given is not None else 1)
        chances = np.cumsum(tables, axis=1)[np.zeros(n, np.int64) if given is None else given]
        return np.minimum((rng.random(n)[:, None] > chances).sum(axis=1), world.states - 1)

    labels = draw(None)
    children = [draw(labels) for _ in range(world.children)]
    further = [draw(children[k]) for k in range(world.grandchildren)]
    noise = [draw(None) for _ in range(world.noise)]
    codes = np.array([*children, *further, *noise])
    return Rows(codes, labels, None, (world.states,) * world.n_features, world.states)


def measure(world: World, n: int, networks: int, seed: list[int]) -> dict[str, dict[str, float]]:
    """Run every length on the same rows; give exact rates, misses and false members with their standard errors."""
    found: dict[str, list[tuple[bool, int, int]]] = {name: [] for name in CONTESTANTS}
    truth = set(range(world.children))
    for network in range(networks):
        rows = draw_rows(world, n, np.random.default_rng([*seed, n, network]))
        for name, (score, options) in CONTESTANTS.items():
            if score == "note_nb" and world.states > 2:
                continue
            names = [f"x{k}" for k in range(world.n_features)]
            chosen = set(search(SCORERS[score](rows, options), range(world.n_features), names)[0])
            found[name].append((chosen == truth, len(truth - chosen), len(chosen - truth)))
    return {name: _summary(np.array(results, float)) for name, results in found.items() if results}


def _summary(results: np.ndarray) -> dict[str, float]:
    names = ("exact", "missed", "false")
    means, errors = results.mean(axis=0), results.std(axis=0) / math.sqrt(len(results))
    return {
        **{name: round(float(mean), 4) for name, mean in zip(names, means, strict=True)},
        **{f"{name}_error": round(float(error), 4) for name, error in zip(names, errors, strict=True)},
    }


def markdown(cells: list[dict[str, object]]) -> str:
    """Write the table of the page."""
    lines = ["| rows (networks) | " + " | ".join(CONTESTANTS) + " |", "|---" * (len(CONTESTANTS) + 1) + "|"]
    for cell in cells:
        scores = cell["scores"]
        parts = [_cell(scores.get(name)) for name in CONTESTANTS]
        lines.append(f"| {cell['world']} {cell['rows']} ({cell['networks']}) | " + " | ".join(parts) + " |")
    return "\n".join(lines)


def _cell(found: dict[str, float] | None) -> str:
    return "n/a" if found is None else " / ".join(f"{found[name]:.2f}" for name in ("exact", "missed", "false"))


def _commit() -> str:
    told = subprocess.run(["git", "rev-parse", "HEAD"], capture_output=True, text=True, check=False)
    return told.stdout.strip() or "unknown"


def main() -> None:
    parser = argparse.ArgumentParser(description="Markov blankets by message length: the simulation of docs/mml.md.")
    parser.add_argument("--share", type=float, default=1.0, help="share of the networks to draw")
    parser.add_argument("--seed", type=int, default=2017)
    parser.add_argument("--out", type=Path, default=TARGET)
    options = parser.parse_args()
    begun, cells = time.perf_counter(), []
    for place, (letter, world) in enumerate(WORLDS.items()):
        for n, wanted in NETWORKS[letter].items():
            networks = max(2, round(wanted * options.share))
            scores = measure(world, n, networks, [options.seed, place])
            cells.append({"world": letter, "rows": n, "networks": networks, "scores": scores})
            print(f"{letter} {n}: {time.perf_counter() - begun:.0f} s", file=sys.stderr, flush=True)
    document = {
        "command": "python -m benchmarks.studies.mml_blanket", "share": options.share, "seed": options.seed,
        "commit": _commit(), "seconds": round(time.perf_counter() - begun, 1),
        "versions": {
            "python": platform.python_version(), "numpy": np.__version__, "scipy": scipy.__version__,
            "tanbark": tanbark.__version__,
        },
        "machine": platform.machine(), "worlds": {letter: world.title for letter, world in WORLDS.items()},
        "data_hash": _data_hash(options.seed), "cells": cells,
    }  # fmt: skip
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(json.dumps(document, indent=1) + "\n")
    print(markdown(cells))


def _data_hash(seed: int) -> str:
    """Hash the first rows of every world, so that another generator of numbers is noticed."""
    digest = hashlib.sha256()
    for place, world in enumerate(WORLDS.values()):
        digest.update(draw_rows(world, 100, np.random.default_rng([seed, place, 100, 0])).codes.tobytes())
    return digest.hexdigest()[:16]


if __name__ == "__main__":
    main()
