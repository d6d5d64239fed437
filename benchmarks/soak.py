"""Hours of use in little: ``python -m benchmarks.soak --minutes 60``.

Two processes with four threads each fit, predict, update, forget, save and load without a pause. What is looked for:

- *lost or doubled rows*: every thread keeps a ledger of the batches that it added and took out again; now and then its
  counts must equal, cell by cell, those of a fit on what the ledger holds;
- *torn files*: all threads of both processes save to the same names and load them; each load must find a whole model;
- *answers that change*: posteriors of fitted models must equal those of the first minute, to the last bit;
- *memory*: the resident memory of each process, from a fifth of the time on, must not grow by more than 5 % and 20 MB.

It prints the operations, the memory and what was found, and exits with 1 if anything was.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import random
import sys
import tempfile
import threading
import time
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

PROCESSES, THREADS = 2, 4
SHARED_FILES = 3
GROWTH, SPARE = 1.05, 20 << 20
WARM = 0.2  # of the time


def data(seed: int, rows: int = 200) -> tuple[Any, Any]:
    """Rows of a few columns, some of them missing, and their classes."""
    draw = np.random.default_rng(seed)
    y = draw.integers(0, 3, rows)
    X = np.where(draw.random((rows, 6)) < 0.6, (y[:, None] + np.arange(6)) % 4, draw.integers(0, 4, (rows, 6)))
    return np.where(draw.random((rows, 6)) < 0.05, np.nan, X.astype(float)), y


def resident() -> int:
    """Bytes of memory that this process holds."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096


class Worker:
    """One thread: a model that is updated, with its ledger, and a share of everything else."""

    def __init__(self, seed: int, folder: Path, answers: dict[str, Any], minutes: float) -> None:
        import tanbark as tb

        self.tb, self.draw, self.folder, self.answers, self.minutes = tb, random.Random(seed), folder, answers, minutes
        self.done: Counter[str] = Counter()
        self.faults: list[str] = []
        self.options = {"categorical_features": list(range(6)), "suspicious": "keep"}
        self.start()

    def start(self) -> None:
        """Begin a model anew: all categories and classes are in the first batch."""
        self.ledger = [0]
        self.model = self.tb.TAN(**self.options).partial_fit(*data(0), classes=[0, 1, 2])

    def run(self) -> None:
        """Do something at random until the time is up."""
        steps = [
            self.fit,
            self.predict,
            self.partial_fit,
            self.partial_fit,
            self.forget,
            self.forget,
            self.save,
            self.load,
        ]
        end = time.time() + 60 * self.minutes
        while time.time() < end:
            step = self.draw.choice(steps)
            try:
                step()
                self.done[step.__name__] += 1
                if sum(self.done.values()) % 50 == 0:
                    self.check()
            except Exception as error:
                self.faults.append(f"{step.__name__}: {type(error).__name__}: {error}")
                if len(self.faults) > 20:
                    return

    def fit(self) -> None:
        name = self.draw.choice(["NaiveBayes", "TAN", "KDB", "AODE", "GBN"])
        found = getattr(self.tb, name)(n_jobs=self.draw.choice([1, 2])).fit(*data(1)).predict_proba(data(2)[0])
        self.same(name, found)

    def predict(self) -> None:
        X, _ = data(self.draw.randrange(3, 1000), 50)
        total = self.model.predict_proba(X).sum(axis=1)
        if not np.allclose(total, 1.0):
            self.faults.append("predict: probabilities do not add up to 1")

    def partial_fit(self) -> None:
        batch = self.draw.randrange(1, 1000)
        self.model.partial_fit(*data(batch))
        self.ledger.append(batch)

    def forget(self) -> None:
        if len(self.ledger) > 1:
            batch = self.ledger.pop(self.draw.randrange(1, len(self.ledger)))
            self.model.forget(*data(batch))

    def check(self) -> None:
        """Compare the counts with those of a fit on what the ledger holds, and begin anew where it grew long."""
        rows = [data(batch) for batch in self.ledger]
        X, y = np.vstack([x for x, _ in rows]), np.concatenate([labels for _, labels in rows])
        alone = self.tb.TAN(**self.options).partial_fit(*data(0), classes=[0, 1, 2])
        alone.partial_fit(X[200:], y[200:]) if len(X) > 200 else None
        if not np.array_equal(self.model.counts_.flat, alone.counts_.flat):
            self.faults.append(f"lost: counts differ from those of the {len(self.ledger)} batches in the ledger")
        self.done["checked"] += 1
        if len(self.ledger) > 40:
            self.start()

    def save(self) -> None:
        self.model.save(self.folder / f"model{self.draw.randrange(SHARED_FILES)}.json")

    def load(self) -> None:
        path = self.folder / f"model{self.draw.randrange(SHARED_FILES)}.json"
        if path.exists():
            self.tb.load(path).predict_proba(data(2)[0])

    def same(self, name: str, found: Any) -> None:
        wanted = self.answers.setdefault(name, found)
        if not np.array_equal(wanted, found):
            self.faults.append(f"changed: the posteriors of {name} are not those of before")


def process(number: int, folder: str, minutes: float, report: Any) -> None:
    """Run the threads of one process, and note its memory once a second."""
    warnings.simplefilter("ignore")
    answers: dict[str, Any] = {}
    workers = [Worker(100 * number + k, Path(folder), answers, minutes) for k in range(THREADS)]
    begun = time.time()
    threads = [threading.Thread(target=worker.run) for worker in workers]
    for thread in threads:
        thread.start()
    memory = []
    while any(thread.is_alive() for thread in threads):
        memory.append((time.time() - begun, resident()))
        time.sleep(1)
    done = sum((worker.done for worker in workers), Counter())
    report.put((number, done, [fault for worker in workers for fault in worker.faults], memory))


def grown(memory: list[tuple[float, int]], minutes: float) -> tuple[int, int]:
    """Return the memory after the first part of the time, and at the end: medians over a tenth of the time each."""
    span = 6 * minutes
    first = [size for at, size in memory if 60 * minutes * WARM <= at <= 60 * minutes * WARM + span]
    last = [size for at, size in memory if at >= 60 * minutes - span]
    return int(np.median(first or [memory[0][1]])), int(np.median(last or [memory[-1][1]]))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=60.0)
    minutes = parser.parse_args().minutes
    context = multiprocessing.get_context("spawn")
    report, faults = context.Queue(), []
    with tempfile.TemporaryDirectory() as folder:
        running = [context.Process(target=process, args=(k, folder, minutes, report)) for k in range(PROCESSES)]
        for each in running:
            each.start()
        found = sorted((report.get() for _ in running), key=lambda each: each[0])
        for each in running:
            each.join()
        left = [path.name for path in Path(folder).iterdir() if path.suffix == ".tmp"]
    faults += [f"a temporary file is left: {name}" for name in left]
    for number, done, own, memory in found:
        before, after = grown(memory, minutes)
        print(f"process {number}: {json.dumps(dict(sorted(done.items())))}")
        print(f"process {number}: {before / 2**20:.1f} MiB after warming up, {after / 2**20:.1f} MiB at the end")
        if after > before * GROWTH + SPARE:
            faults.append(f"process {number} grew from {before:,} to {after:,} bytes")
        faults += [f"process {number}: {fault}" for fault in own]
    for fault in faults[:40]:
        print(fault)
    print(f"{len(faults)} faults in {minutes:g} minutes")
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main())
