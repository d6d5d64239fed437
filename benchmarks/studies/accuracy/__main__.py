"""Accuracy of Tanbark's classifiers and of their peers, on the same splits, with and without missing values.

    python -m benchmarks.studies.accuracy run     # goes on where a stopped run ended; at most three hours on two cores
    python -m benchmarks.studies.accuracy page    # writes docs/accuracy.md, its figures and its numbers

The same on data sets that were not in use while defaults were chosen: see ``r_datasets``.

The peers are the packages of the extra ``bench``. Khiops needs an older scikit-learn and therefore an environment of
its own: ``--python Khiops=PATH``. The results are kept in build/studies/accuracy.
"""

from __future__ import annotations

import argparse
import subprocess
from pathlib import Path

from benchmarks.studies.accuracy import run as running
from benchmarks.studies.accuracy import tasks
from benchmarks.studies.accuracy.methods import METHODS
from benchmarks.studies.accuracy.numbers import PAGES

ROOT = Path(__file__).resolve().parents[3]


def arguments(words: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.studies.accuracy", description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=["run", "page"])
    parser.add_argument(
        "--data", type=Path, default=ROOT.parent / "shared" / "data", help="the folder of the data sets"
    )
    parser.add_argument("--results", type=Path, default=ROOT / "build" / "studies" / "accuracy")
    parser.add_argument("--docs", type=Path, default=ROOT / "docs", help="where the page is written")
    parser.add_argument("--page", choices=PAGES, default=PAGES[0], help="the name of the page")
    parser.add_argument(
        "--earlier", type=Path, metavar="NUMBERS", help="numbers of an earlier page, for what was not run again"
    )
    parser.add_argument("--sets", nargs="*", help="only these data sets")
    parser.add_argument("--methods", nargs="*", metavar="METHOD", help=f"only these, of {', '.join(METHODS)}")
    parser.add_argument("--only", choices=["ours", "peers", "splits", "curves"], help="only this part of the tasks")
    parser.add_argument("--jobs", type=int, default=2, help="tasks that run at the same time, each on one thread")
    parser.add_argument("--budget", type=float, default=165.0, help="minutes after which no task is begun")
    parser.add_argument("--limit", type=float, default=900.0, help="seconds that a task may take")
    parser.add_argument("--python", action="append", default=[], metavar="METHOD=PATH", help="interpreter of a method")
    parser.add_argument("--again", action="store_true", help="run also what was done at another commit")
    parser.add_argument("--retry", action="store_true", help="run also what failed")
    options = parser.parse_args(words)
    unknown = [name for name in options.methods or [] if name not in METHODS]
    if unknown:
        parser.error(f"unknown methods {unknown}; choose from {list(METHODS)}")
    if any("=" not in pair for pair in options.python):
        parser.error("--python takes METHOD=PATH, such as Khiops=../khiops/bin/python")
    return options


def chosen(options: argparse.Namespace, sets: dict[str, dict]) -> list[tasks.Task]:
    """Return the tasks that the options ask for."""
    unknown = [name for name in options.sets or [] if name not in sets]
    if unknown:
        raise SystemExit(f"unknown data sets {unknown}; {options.data} has {list(sets)}")
    kept = tasks.all_tasks({name: about for name, about in sets.items() if not options.sets or name in options.sets})
    parts = {
        "ours": lambda task: METHODS[task.method].group == "ours",
        "peers": lambda task: METHODS[task.method].group == "peers",
        "splits": lambda task: task.rows == 0,
        "curves": lambda task: task.rows > 0,
    }
    wanted = parts.get(options.only, lambda task: True)
    return [task for task in kept if wanted(task) and (not options.methods or task.method in options.methods)]


def commit() -> str:
    """Return the commit that runs, marked if tracked files differ from it."""
    told = subprocess.run(
        ["git", "describe", "--always", "--abbrev=12", "--exclude=*", "--dirty"],
        capture_output=True, text=True, check=False, cwd=ROOT,
    )  # fmt: skip
    return told.stdout.strip() or "unknown"


def main(words: list[str] | None = None) -> None:
    options = arguments(words)
    if options.what == "page":
        from benchmarks.studies.accuracy import page

        page.write(options.results, options.docs, options.page, options.earlier)
        return
    sets = tasks.index(options.data, options.results)
    pythons = dict(pair.split("=", 1) for pair in options.python)
    settings = running.Settings(
        options.data.resolve(), options.results, options.jobs, options.limit, options.budget * 60, pythons,
        options.again, options.retry,
    )  # fmt: skip
    asked = chosen(options, sets)
    missing = running.absent(settings, sorted({task.method for task in asked}))
    for name, reason in missing.items():
        print(f"{name} is skipped: {reason}")
    running.run_all([task for task in asked if task.method not in missing], settings, commit())


if __name__ == "__main__":
    main()
