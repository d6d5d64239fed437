"""What there is to run: a method fitted on a split of a data set and measured under several conditions; the order."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from benchmarks.studies import lines
from benchmarks.studies.accuracy import data
from benchmarks.studies.accuracy.methods import METHODS, Method

CURVE_SETS = ("adult", "connect-4", "letter", "magic", "nursery", "pendigits")
CURVE_ROWS = (100, 300, 1000, 3000)  # and all, which every method learns from anyway

Key = tuple[str, int, str, int, str, int]


@dataclass(frozen=True)
class Task:
    """One fit: ``rows`` training rows (0: all), measured under ``conditions``."""

    name: str
    split: int
    method: str
    rows: int
    conditions: tuple[tuple[str, int], ...]

    @property
    def keys(self) -> list[Key]:
        """List the results that the task leaves, one per condition."""
        return [(self.name, self.split, self.method, self.rows, *condition) for condition in self.conditions]

    def without(self, done: set[Key]) -> Task:
        """Return the task with the conditions that are not done yet."""
        kept = tuple(condition for condition, key in zip(self.conditions, self.keys, strict=True) if key not in done)
        return Task(self.name, self.split, self.method, self.rows, kept)


def key(result: dict) -> Key:
    return tuple(result[part] for part in ("set", "split", "method", "rows", "mechanism", "percent"))


def index(folder: Path, results: Path) -> dict[str, dict]:
    """Describe the data sets; what is known from an earlier run is kept beside the results."""
    path = results / "sets.json"
    known = json.loads(path.read_text()) if path.exists() else {}
    found = {name: known.get(name) or data.describe(folder, name) for name in data.names(folder)}
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_suffix(".partial")
    partial.write_text(json.dumps(found, indent=1) + "\n")
    partial.replace(path)
    return found


def all_tasks(sets: dict[str, dict], methods: dict[str, Method] = METHODS) -> list[Task]:
    """List the tasks in the order in which they run, so that a stopped run is as balanced as can be.

    First every plain method on the first split of every set, cheap methods before dear ones; then the variants;
    the learning curves; at last the other splits.
    """
    found: list[tuple[tuple, Task]] = []
    for name, about in sets.items():
        size = about["rows"] * about["columns"] * about["classes"]
        for method in methods.values():
            if method.widest is not None and about["columns"] > method.widest:
                continue
            for split in range(about["splits"]):
                stage = (3 if split else 0) + (1 if method.variant else 0)
                task = Task(name, split, method.name, 0, data.CONDITIONS)
                found.append(((stage, method.cost, method.name, split, size), task))
            if name in CURVE_SETS and not method.variant:
                for rows in CURVE_ROWS:
                    if rows < about["train"]:
                        task = Task(name, 0, method.name, rows, (data.COMPLETE,))
                        found.append(((2, method.cost, method.name, rows, size), task))
    return [task for _, task in sorted(found, key=lambda pair: (pair[0], pair[1].name))]


def load(results: Path) -> dict[Key, dict]:
    """Read the results; of several for the same key the last counts."""
    return {key(result): result for result in lines.read(results / "results.jsonl")}
