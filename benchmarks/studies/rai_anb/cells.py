"""One cell of the study: a method on a fold of a data set. Cells are kept in a file of JSON lines, one each."""

from __future__ import annotations

import math
import time
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.studies.lines import append, read
from benchmarks.studies.rai_anb import data
from benchmarks.studies.rai_anb.methods import Method, learn
from tanbark.counts import MemoryCounts
from tanbark.graph import Dag
from tanbark.inference import joint_log_proba
from tanbark.params import BDeu, Laplace, Smoothing, family_counts, fit
from tanbark.structure.greedy.hill_climb import blanket
from tanbark.structure.result import Learnt
from tanbark.table import CodedTable

WHOLE = -1  # in place of a fold: learn from all rows, predict none
DENSE_CELLS = 1 << 22  # families with larger tables are counted for the tested rows alone
FEW_COLUMNS = 50  # graphs of at most as many columns are kept

SMOOTHINGS = {  # the paper's words, and two other readings of them
    "correct": BDeu(1.0),
    "correct_half": Laplace(0.5),
    "correct_one": Laplace(1.0),
}


Key = tuple[str, str, int, int]


@dataclass(frozen=True)
class Cell:
    """What to run: a method on a fold of a data set, shuffled by a seed."""

    name: str
    method: str
    fold: int
    seed: int

    @property
    def key(self) -> Key:
        return self.name, self.method, self.fold, self.seed


def run(cell: Cell, folder: Path, methods: dict[str, Method]) -> dict:
    """Learn a structure, time it, estimate its tables (EAP, one pseudo-row) and predict the test rows."""
    table = data.read(folder, cell.name)
    every = np.arange(table.n_rows)
    train, test = (every, every[:0]) if cell.fold == WHOLE else data.fold(table, cell.fold, cell.seed)
    counts = data.rows_of(table, train, 1)
    seconds = cpu = math.inf
    for _ in range(3 if cell.fold == WHOLE else 1):  # the best of three where a single run is reported
        begun, worked = time.perf_counter(), time.process_time()
        learnt = learn(counts, methods[cell.method])
        seconds, cpu = min(seconds, time.perf_counter() - begun), min(cpu, time.process_time() - worked)
    found = {
        "set": cell.name, "method": cell.method, "fold": cell.fold, "seed": cell.seed, "train": len(train),
        "test": len(test), "seconds": round(seconds, 6), "cpu": round(cpu, 6),
        **describe(learnt, table.schema.target),
    }  # fmt: skip
    if len(test):
        for key, smoothing in SMOOTHINGS.items():
            joint = predict(learnt.dag, counts, table.codes[:, test], smoothing)
            found[key] = int((joint.argmax(axis=1) == table.codes[-1, test]).sum())
        if cell.method == "RAI-GBN":  # what the parents of the class tell by themselves
            joint = predict(alone(learnt.dag, table.schema.target), counts, table.codes[:, test], SMOOTHINGS["correct"])
            found["correct_family"] = int((joint.argmax(axis=1) == table.codes[-1, test]).sum())
    if len(learnt.dag.names) <= FEW_COLUMNS:
        found["parents"] = learnt.dag.parents
    return found


def describe(learnt: Learnt, target: int) -> dict:
    """Measure a graph: its edges, those in the class's Markov blanket, the most parents, and what the learner tells."""
    dag, report = learnt.dag, learnt.report
    found = {
        "edges": dag.n_arcs, "blanket_edges": blanket(dag, target).n_arcs,
        "blanket": len(members(dag, target)), "max_parents": max(map(len, dag.parents)),
        "class_parents": len(dag.parents[target]),
        "score": learnt.score if learnt.score is None or math.isfinite(learnt.score) else None,
    }  # fmt: skip
    if hasattr(report, "n_splits"):
        found |= {"splits": report.n_splits, "parts": report.n_substructures, "tests": sum(report.tests.values())}
    return found


def alone(dag: Dag, target: int) -> Dag:
    """Keep the arcs into the class and no others."""
    return Dag(dag.names, tuple(parents if node == target else () for node, parents in enumerate(dag.parents)))


def members(dag: Dag, target: int) -> set[int]:
    """Find the Markov blanket of the class: its parents, its children and their parents."""
    families = [target, *dag.children[target]]
    return ({node for family in families for node in dag.parents[family]} | set(families)) - {target}


def predict(dag: Dag, counts: MemoryCounts, codes: np.ndarray, smoothing: Smoothing) -> np.ndarray:
    """Give log P(class, row) up to what all classes share, by the families that the class is in."""
    schema = counts.schema
    kept = blanket(dag, schema.target)
    sizes = [math.prod(schema.cardinalities[c] for c in (*parents, node)) for node, parents in enumerate(kept.parents)]
    if max(sizes) > DENSE_CELLS:
        return predict_by_rows(kept, counts.table, codes, smoothing)
    tables = family_counts(kept, counts, max_cells=DENSE_CELLS)
    network = fit(schema, kept, tables, smoothing)
    return joint_log_proba(network, np.ascontiguousarray(codes[:-1]), n_jobs=1)


def predict_by_rows(dag: Dag, table: CodedTable, codes: np.ndarray, smoothing: Smoothing) -> np.ndarray:
    """Predict without tables: count, for every family, class and row to predict, the training rows that agree."""
    states, target = table.schema.cardinalities, table.schema.target
    out = np.zeros((codes.shape[1], states[target]))
    for label in range(states[target]):
        asked = codes.copy()
        asked[target] = label
        for node, parents in enumerate(dag.parents):
            if node == target or target in parents:
                cells = math.prod(states[c] for c in (*parents, node))
                mass = smoothing.ess / cells if isinstance(smoothing, BDeu) else smoothing.alpha
                upper = agreeing(table.codes, asked, (*parents, node)) + mass
                out[:, label] += np.log(upper / (agreeing(table.codes, asked, parents) + states[node] * mass))
    return out


def agreeing(codes: np.ndarray, asked: np.ndarray, columns: tuple[int, ...]) -> np.ndarray:
    """Count, for each row that is asked for, the rows that equal it in some columns."""
    if not columns:
        return np.full(asked.shape[1], float(codes.shape[1]))
    both = np.concatenate([codes[list(columns)], asked[list(columns)]], axis=1)
    _, place = np.unique(both, axis=1, return_inverse=True)
    place = place.ravel()
    times = np.bincount(place[: codes.shape[1]], minlength=int(place.max()) + 1)
    return times[place[codes.shape[1] :]].astype(float)


# ---------------------------------------------------------------------- many cells, over days if need be


def load(path: Path) -> dict[Key, dict]:
    """Read the cells that are done."""
    return {(cell["set"], cell["method"], cell["fold"], cell["seed"]): cell for cell in read(path)}


def run_all(
    cells: list[Cell], path: Path, folder: Path, methods: dict[str, Method], *, workers: int, seconds: float
) -> None:
    """Run cells that are not done yet, in order, as many at once as there are workers, until the time is over."""
    done = load(path)
    todo = [cell for cell in cells if cell.key not in done]
    print(f"{len(cells) - len(todo)} of {len(cells)} cells are done", flush=True)
    if not todo:
        return
    end, running = time.monotonic() + seconds, {}
    used = {cell.method: methods[cell.method] for cell in todo}
    with ProcessPoolExecutor(workers, initializer=warm, initargs=(used,)) as pool:
        while todo or running:
            while todo and len(running) < workers and time.monotonic() < end:
                cell = todo.pop(0)
                running[pool.submit(run, cell, folder, methods)] = cell
            if not running:
                print(f"out of time, {len(todo)} cells left; the same command goes on with them", flush=True)
                return
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                cell = running.pop(future)
                try:
                    found = future.result()
                except (ArithmeticError, MemoryError, ValueError) as error:
                    place = {"set": cell.name, "method": cell.method, "fold": cell.fold, "seed": cell.seed}
                    found = {**place, "error": str(error)}
                append(path, found)
                print(f"{' '.join(map(str, cell.key))}: {found.get('seconds', 'failed')}", flush=True)


def warm(methods: dict[str, Method]) -> None:
    """Compile and load every kernel that the methods need before a clock runs."""
    rng = np.random.default_rng(0)
    for states in ((2,) * 9, (3, 15, 2, 5, 3)):
        codes = np.array([rng.integers(0, r, 300) for r in states])
        features = {f"x{place}": pd.Series(column) for place, column in enumerate(codes[:-1])}
        counts = MemoryCounts(data.code(features, pd.Series(codes[-1])), n_jobs=1)
        for method in methods.values():
            predict(learn(counts, method).dag, counts, counts.table.codes, BDeu(1.0))
