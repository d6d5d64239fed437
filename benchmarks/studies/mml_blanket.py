"""Which message length finds the Markov blanket of the class, and how often?

Networks with random tables are drawn from three worlds, rows are drawn from each, and a greedy forward search is run by
every length. A cell of the table says: share of exact blankets / mean number of members missed / of others taken in.
The cells are set against those of an earlier run by another program, which drew a fifth as many networks.

    python -m benchmarks.studies.mml_blanket                # writes docs/numbers/mml_blanket.json, prints Markdown
    python -m benchmarks.studies.mml_blanket --share 0.1    # a tenth of the networks
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import os
import platform
import subprocess
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import scipy

import tanbark
from benchmarks.studies.mml_note import NoteScorer
from tanbark.structure.blanket.scores import SCORERS, Options, Rows
from tanbark.structure.blanket.search import search

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
    "A": {100: 1000, 500: 1000, 2000: 750, 10000: 300},
    "B": {100: 750, 500: 750, 2000: 500, 10000: 200},
    "C": {100: 300, 500: 300, 2000: 300, 10000: 100},
}
CONTESTANTS = {
    "cpt none": ("cpt", Options(n_jobs=1)),
    "cpt all": ("cpt", Options(stated="all", n_jobs=1)),
    "logit": ("logit", Options(n_jobs=1)),
    "nb_logit": ("nb_logit", Options(n_jobs=1)),
    "nb_adaptive": ("nb_adaptive", Options(n_jobs=1)),
    "nb_joint": ("nb_joint", Options(n_jobs=1)),
    "note_nb": ("note_nb", Options(n_jobs=1)),
}


WHAT = ("exact", "missed", "false")

# What another program found on networks of its own, in the order of CONTESTANTS: world, rows, networks, then the cells.
EARLIER = """
A 100 200 | .00/3.05/.15 .00/3.17/.07 .01/2.42/.40 .02/2.13/.54 .04/1.62/.83 .12/1.48/.41 .00/4.04/.13
A 500 200 | .00/2.37/.05 .00/2.44/.01 .10/1.62/.13 .12/1.43/.30 .15/1.09/.69 .27/1.06/.24 .01/2.96/.09
A 2000 150 | .02/1.76/.01 .01/1.82/.00 .29/.91/.09 .30/.77/.19 .19/.63/.66 .49/.55/.13 .09/1.79/.07
A 10000 60 | .22/1.22/.00 .22/1.23/.00 .58/.53/.02 .57/.52/.05 .30/.42/.67 .68/.38/.03 .45/.87/.05
B 100 150 | .08/1.53/.42 .05/1.60/.27 .09/1.40/.51 .12/1.25/.76 .09/1.11/1.19 .07/1.01/1.18 .00/2.37/.43
B 500 150 | .22/1.16/.07 .19/1.22/.05 .39/.83/.21 .38/.71/.42 .30/.61/.74 .03/.56/1.49 .11/1.69/.33
B 2000 100 | .42/.71/.00 .42/.71/.00 .58/.48/.05 .62/.41/.16 .48/.35/.45 .04/.29/1.80 .28/1.02/.20
B 10000 40 | .62/.42/.00 .62/.42/.00 .75/.28/.05 .68/.28/.12 .60/.28/.30 .07/.20/1.95 .42/.55/.33
C 100 60 | .00/2.35/.02 .00/2.50/.00 .25/1.15/.18 .40/.78/.20 .40/.52/.45 .57/.47/.17 n/a
C 500 60 | .00/1.77/.00 .00/1.92/.00 .67/.38/.00 .73/.22/.05 .68/.18/.23 .85/.13/.02 n/a
C 2000 60 | .23/.97/.00 .08/1.13/.00 .98/.03/.00 1.0/.00/.00 .90/.02/.10 .98/.02/.00 n/a
C 10000 20 | .60/.40/.00 .60/.40/.00 1.0/.00/.00 1.0/.00/.00 .95/.00/.05 1.0/.00/.00 n/a
"""


def read_earlier() -> dict[tuple[str, int], tuple[int, np.ndarray]]:
    """Read the earlier run: networks, and (contestants, 3) numbers, NaN where there are none."""
    found = {}
    for line in EARLIER.strip().splitlines():
        head, _, cells = line.partition(" | ")
        letter, rows, networks = head.split()
        parts = [
            [math.nan] * 3 if cell == "n/a" else [float(part) for part in cell.split("/")] for cell in cells.split()
        ]
        found[letter, int(rows)] = int(networks), np.array(parts)
    return found


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


def select(world: World, n: int, seed: list[int], network: int) -> np.ndarray:
    """Run every length on the rows of one network: (contestants, 3) with exact, missed, false; NaN if not able."""
    rows = draw_rows(world, n, np.random.default_rng([*seed, n, network]))
    truth, names = set(range(world.children)), [f"x{k}" for k in range(world.n_features)]
    found = np.full((len(CONTESTANTS), 3), np.nan)
    for place, (score, options) in enumerate(CONTESTANTS.values()):
        if score == "note_nb" and world.states > 2:
            continue
        scorer = NoteScorer(rows) if score == "note_nb" else SCORERS[score](rows, options)
        chosen = set(search(scorer, range(world.n_features), names)[0])
        found[place] = chosen == truth, len(truth - chosen), len(chosen - truth)
    return found


def summary(results: np.ndarray) -> dict[str, dict[str, float]]:
    """Give means over networks of exact rates, misses and false members, with their standard errors."""
    means, errors = results.mean(axis=0), results.std(axis=0) / math.sqrt(len(results))
    return {
        name: {
            **{what: round(float(value), 4) for what, value in zip(WHAT, means[k], strict=True)},
            **{f"{what}_error": round(float(value), 4) for what, value in zip(WHAT, errors[k], strict=True)},
        }
        for k, name in enumerate(CONTESTANTS)
        if not np.isnan(means[k]).any()
    }


def compare(results: np.ndarray, networks: int, told: np.ndarray, seed: int) -> dict[str, object]:
    """Set our cells against another run's with fewer networks.

    The error of a difference has both runs' errors in it, the rounding to two digits, and half a network, since a cell
    may hold one kind of result only. All lengths of a run see the same networks, so that one odd draw moves a whole
    line of the table: ``chance`` is the share of two runs of these sizes, drawn from our networks, that lie as far
    apart somewhere in the line as the other run and ours. The score of the note is left out: it follows rounding noise.
    """
    known = np.isfinite(told) & np.isfinite(results).all(axis=0)
    known[list(CONTESTANTS).index("note_nb")] = False
    ours = results[:, known]
    error = np.sqrt(ours.var(axis=0) * (1 / networks + 1 / len(ours)) + 0.01**2 / 12 + 0.25 / networks**2)
    off = (told[known] - ours.mean(axis=0)) / error
    rng = np.random.default_rng(seed)

    def draw(size: int) -> np.ndarray:
        return ours[rng.integers(0, len(ours), size)].mean(axis=0)

    furthest = np.array([np.abs((draw(networks) - draw(len(ours))) / error).max() for _ in range(2000)])
    return {
        "networks": networks, "cells": int(known.sum()), "beyond_2": int((np.abs(off) > 2).sum()),
        "beyond_3": int((np.abs(off) > 3).sum()), "furthest": round(float(np.abs(off).max()), 2),
        "chance": round(float((furthest >= np.abs(off).max()).mean()), 4),
    }  # fmt: skip


def markdown(cells: list[dict[str, object]]) -> str:
    """Write the table of the page."""
    lines = ["| rows (networks) | " + " | ".join(CONTESTANTS) + " |", "|---" * (len(CONTESTANTS) + 1) + "|"]
    for cell in cells:
        scores = cell["scores"]
        parts = [_cell(scores.get(name)) for name in CONTESTANTS]
        lines.append(f"| {cell['world']} {cell['rows']} ({cell['networks']}) | " + " | ".join(parts) + " |")
    return "\n".join(lines)


def _cell(found: dict[str, float] | None) -> str:
    return "n/a" if found is None else " / ".join(f"{found[what]:.2f}" for what in WHAT)


def _commit() -> str:
    told = subprocess.run(["git", "rev-parse", "HEAD"], capture_output=True, text=True, check=False)
    return told.stdout.strip() or "unknown"


def main() -> None:
    parser = argparse.ArgumentParser(description="Markov blankets by message length: the simulation of docs/mml.md.")
    parser.add_argument("--share", type=float, default=1.0, help="share of the networks to draw")
    parser.add_argument("--seed", type=int, default=2017)
    parser.add_argument("--out", type=Path, default=TARGET)
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="processes")
    options = parser.parse_args()
    begun, cells, earlier = time.perf_counter(), [], read_earlier()
    with ProcessPoolExecutor(options.jobs) as pool:
        for place, (letter, world) in enumerate(WORLDS.items()):
            for n, wanted in NETWORKS[letter].items():
                networks = max(2, round(wanted * options.share))
                work = partial(select, world, n, [options.seed, place])
                results = np.array(list(pool.map(work, range(networks), chunksize=10)))
                against = compare(results, *earlier[letter, n], options.seed)
                cells.append({
                    "world": letter, "rows": n, "networks": networks, "scores": summary(results), "earlier": against
                })  # fmt: skip
                print(f"{letter} {n}: {time.perf_counter() - begun:.0f} s, {against}", file=sys.stderr, flush=True)
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
