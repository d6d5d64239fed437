"""Processor seconds, log-loss and accuracy of one accurate network on the first splits of the accuracy study.

    python -m benchmarks.speed.one_network [--data FOLDER] [--times 3] [--against OTHER/src]

The network is ``KDB(discretize="mdlp+quantile", parameters=Discriminative())``, one thread, on every set of at most 62
columns. It is fitted several times after a first fit that is not counted, and the least processor time counts. Kernels
are compiled at their first call, as after ``tanbark warm-up``: in a new process small tables would run some of them in
Python, which would measure what is in the kernel cache. With --against, another source tree runs in a process of its
own, set by set in turns with this one.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
import warnings
from pathlib import Path
from typing import IO

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
MOST_COLUMNS = 62


def measure(folder: Path, name: str, times: int) -> list[float]:
    """Return the least processor seconds of a fit, log-loss and accuracy."""
    import tanbark as tb
    from benchmarks.studies.accuracy import data
    from benchmarks.studies.accuracy.measures import measure as measures

    table = data.load(folder, name)
    train, test = data.splits(name, table.y)[0]
    seconds = []
    for _ in range(times + 1):
        begun = time.process_time()
        clf = tb.KDB(discretize="mdlp+quantile", parameters=tb.Discriminative(), n_jobs=1)
        clf.fit(table.X.iloc[train], table.y[train])
        seconds.append(time.process_time() - begun)
    P = np.zeros((len(test), table.n_classes))
    P[:, clf.classes_] = clf.predict_proba(table.X.iloc[test])
    found = measures(P, table.y[test])
    return [min(seconds[1:]), found["log_loss"], found["accuracy"]]


def work(folder: Path, times: int) -> None:
    """Measure the sets that are named on the standard input, one line each."""
    from tanbark import kernel

    kernel.interprets = False
    warnings.filterwarnings("ignore")
    for line in sys.stdin:
        print(json.dumps(measure(folder, line.strip(), times)), flush=True)


def start(source: Path, options: argparse.Namespace) -> subprocess.Popen[str]:
    """Start a process that measures with a source tree."""
    command = [sys.executable, "-m", "benchmarks.speed.one_network", "--worker", "--times", str(options.times)]
    paths = os.pathsep.join([str(source.resolve()), str(ROOT)])
    return subprocess.Popen(
        [*command, "--data", str(options.data)], cwd=ROOT, env={**os.environ, "PYTHONPATH": paths}, text=True,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    )  # fmt: skip


def ask(process: subprocess.Popen[str], name: str) -> list[float]:
    """Have a set measured."""
    stdin, stdout = _pipes(process)
    stdin.write(f"{name}\n")
    stdin.flush()
    found: list[float] = json.loads(stdout.readline())
    return found


def _pipes(process: subprocess.Popen[str]) -> tuple[IO[str], IO[str]]:
    assert process.stdin is not None
    assert process.stdout is not None
    return process.stdin, process.stdout


def main() -> None:
    from benchmarks.studies.accuracy import data

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data")
    parser.add_argument("--times", type=int, default=3)
    parser.add_argument("--against", type=Path)
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        work(options.data, options.times)
        return
    trees = {"this": ROOT / "src", **({"other": options.against} if options.against else {})}
    processes = {label: start(source, options) for label, source in trees.items()}
    found: dict[str, list[list[float]]] = {label: [] for label in trees}
    for name in data.names(options.data):
        if data.load(options.data, name).X.shape[1] > MOST_COLUMNS:
            continue
        for label, process in processes.items():
            found[label].append(ask(process, name))
        told = ", ".join(f"{label} {f[-1][0]:.3f} s {f[-1][1]:.4f} {f[-1][2]:.4f}" for label, f in found.items())
        print(f"{name}: {told}", flush=True)
    for process in processes.values():
        _pipes(process)[0].close()
        process.wait()
    for label, rows in found.items():
        seconds, loss, accuracy = np.mean(rows, axis=0)
        print(f"{label}, mean of {len(rows)} sets: {seconds:.3f} s, log-loss {loss:.4f}, accuracy {accuracy:.4f}")


if __name__ == "__main__":
    main()
