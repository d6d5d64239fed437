"""The exact columns read otherwise: graphs of one shuffle's training parts, tested on the folds of another.

Fold k of a shuffle is predicted with the graph that was learnt from the training part of fold k of the next shuffle, so
that most of the tested rows took part in choosing the graph; the CPTs come from the right training rows.
"""

from __future__ import annotations

from pathlib import Path

from benchmarks.studies.lines import append
from benchmarks.studies.rai_anb import data
from benchmarks.studies.rai_anb.cells import SMOOTHINGS, load, predict
from tanbark.graph import Dag

LEAKED = ("exact-GBN", "exact-ANB", "TAN", "RAI-GBN", "RAI-ANB")
SUFFIX = ", graph of another shuffle"
SHUFFLES = 5  # at most


def run(path: Path, folder: Path) -> None:
    """Predict with the graphs of the next shuffle, wherever two shuffles are done; skip what is done."""
    done = load(path)
    names = sorted({name for name, method, _, _ in done if method == "exact-GBN" and "," not in name})
    for name in names:
        for method in LEAKED:
            seeds = [
                seed
                for seed in sorted({s for n, m, _, s in done if (n, m) == (name, "exact-GBN")})
                if all("parents" in done.get((name, method, fold, seed), {}) for fold in range(10))
            ][:SHUFFLES]
            for place, seed in enumerate(seeds if len(seeds) > 1 else []):
                other = seeds[(place + 1) % len(seeds)]
                for fold in range(10):
                    if (name, method + SUFFIX, fold, seed) not in done:
                        append(path, one(folder, done[name, method, fold, other], fold, seed))
        print(name, flush=True)


def one(folder: Path, cell: dict, fold: int, seed: int) -> dict:
    """Predict a fold with the graph of a cell."""
    table = data.read(folder, cell["set"])
    train, test = data.fold(table, fold, seed)
    counts, codes = data.rows_of(table, train, 1), table.codes[:, test]
    dag = Dag(table.schema.names, tuple(tuple(parents) for parents in cell["parents"]))
    right = {
        key: int((predict(dag, counts, codes, smoothing).argmax(axis=1) == codes[-1]).sum())
        for key, smoothing in SMOOTHINGS.items()
    }
    return {
        "set": cell["set"], "method": cell["method"] + SUFFIX, "fold": fold, "seed": seed, "of_seed": cell["seed"],
        "train": len(train), "test": len(test), **right,
    }  # fmt: skip
