"""Run the tasks that are not done yet on several worker processes, each task within a time limit."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.studies import lines
from benchmarks.studies.accuracy.methods import METHODS
from benchmarks.studies.accuracy.tasks import Task, load

ROOT = Path(__file__).resolve().parents[3]
THREADS = "OMP_NUM_THREADS OPENBLAS_NUM_THREADS MKL_NUM_THREADS NUMBA_NUM_THREADS KHIOPS_PROC_NUMBER".split()
STOPPED = "stopped after"
ONE_THREAD = dict.fromkeys(THREADS, "1")


@dataclass(frozen=True)
class Settings:
    """Where data and results are, how many workers there are, and the limits in seconds.

    ``pythons`` maps methods to interpreters that have their packages; ``again`` runs what another commit left.
    """

    data: Path
    results: Path
    jobs: int = 2
    limit: float = 900.0
    budget: float = float("inf")
    pythons: dict[str, str] = field(default_factory=dict)
    again: bool = False
    retry: bool = False

    def python(self, method: str) -> str:
        """Return the interpreter of a method."""
        return self.pythons.get(METHODS[method].base, sys.executable)


class Worker:
    """A worker process, which is ended and started again when a task exceeds its limit."""

    def __init__(self, python: str, settings: Settings) -> None:
        self.python, self.settings, self.process = python, settings, None
        self.versions: dict[str, str] = {}

    def start(self) -> subprocess.Popen:
        """Start the process with the folders of its interpreter first on the path, as if it were activated."""
        place = Path(self.python).parent
        path = [str(ROOT), *([str(ROOT / "src")] if (ROOT / "src").exists() else [])]
        changed = {
            **os.environ, **ONE_THREAD, "PYTHONPATH": os.pathsep.join(path), "VIRTUAL_ENV": str(place.parent),
            "PATH": os.pathsep.join([str(place), os.environ.get("PATH", "")]), "TANBARK_QUIET": "1",
        }  # fmt: skip
        command = [self.python, "-m", "benchmarks.studies.accuracy.worker", str(self.settings.data)]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, cwd=ROOT,
            env=changed,
        )  # fmt: skip
        hello = self.process.stdout.readline()
        if not hello:
            msg = f"{self.python} cannot run the worker; try: {' '.join(command)}"
            raise RuntimeError(msg)
        self.versions = json.loads(hello)["versions"]
        return self.process

    def run(self, task: Task) -> Iterator[dict]:
        """Yield a result per condition; after a failure, one with the error for each condition that is left."""
        process = self.process if self.process is not None else self.start()
        left, late, error = list(task.conditions), threading.Event(), "the worker process ended"

        def stop() -> None:
            late.set()
            process.kill()

        asked = {"set": task.name, "split": task.split, "method": task.method, "rows": task.rows}
        alarm = threading.Timer(self.settings.limit, stop)
        alarm.start()
        try:
            process.stdin.write(json.dumps({**asked, "conditions": task.conditions}) + "\n")
            process.stdin.flush()
            for line in process.stdout:
                found = json.loads(line)
                if "end" in found:
                    error = found.get("error")
                    break
                left.remove((found["mechanism"], found["percent"]))
                yield {**asked, **found}
            else:
                self.close()
        except BrokenPipeError:
            self.close()
        finally:
            alarm.cancel()
        if late.is_set():
            self.close()
            error = f"{STOPPED} {self.settings.limit:g} s"
        for mechanism, percent in left:
            yield {**asked, "mechanism": mechanism, "percent": percent, "error": error}

    def close(self) -> None:
        """End the process, if it still runs, and close its pipes."""
        if self.process is not None:
            with suppress(BrokenPipeError):
                self.process.stdin.close()
            self.process.wait()
            self.process.stdout.close()
            self.process = None


def absent(settings: Settings, methods: list[str]) -> dict[str, str]:
    """Return the methods whose package is not installed, each with the reason."""
    found, tried = {}, {}
    for name in methods:
        package, python = METHODS[name].package, settings.python(name)
        if (package, python) not in tried:
            test = [python, "-c", f"import importlib.util as u, sys; sys.exit(u.find_spec({package!r}) is None)"]
            env = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
            try:
                tried[package, python] = subprocess.run(test, env=env, check=False, cwd=ROOT).returncode == 0
            except OSError:
                tried[package, python] = False
        if not tried[package, python]:
            found[name] = f"{package} is not installed for {Path(python).name}"
    return found


def todo(tasks: list[Task], settings: Settings, commit: str) -> list[Task]:
    """Return what is left of the tasks; failures count as done unless they are to be tried again."""
    done = {
        key for key, result in load(settings.results).items()
        if not (settings.retry and "error" in result) and not (settings.again and result["commit"] != commit)
    }  # fmt: skip
    kept = [task.without(done) for task in tasks]
    return [task for task in kept if task.conditions]


def too_slow(task: Task, results: Iterable[dict]) -> bool:
    """Return whether the fit of the plain method exceeded its time on the same set, so that more of it would too."""
    base = METHODS[task.method].base
    return task.rows == 0 and any(
        result["set"] == task.name and result["method"] == base and result["rows"] == result["percent"] == 0
        and result.get("error", "").startswith(STOPPED)
        for result in results
    )  # fmt: skip


def run_all(tasks: list[Task], settings: Settings, commit: str) -> None:
    """Run tasks in order until all are done or no time is left."""
    left = deque(todo(tasks, settings, commit))
    print(f"{len(tasks) - len(left)} of {len(tasks)} tasks are done", flush=True)
    end, lock, errors = time.monotonic() + settings.budget, threading.Lock(), []
    known = load(settings.results).values()
    stopped = (
        [] if settings.retry else [r for r in known if "error" in r and (not settings.again or r["commit"] == commit)]
    )

    def serve() -> None:
        workers: dict[str, Worker] = {}
        try:
            while left and time.monotonic() < end and not errors:
                with lock:
                    task = left.popleft() if left else None
                if task is not None and too_slow(task, stopped):
                    note(task, "not run: the method was stopped on this set before", settings, commit, lock)
                elif task is not None:
                    python = settings.python(task.method)
                    worker = workers.setdefault(python, Worker(python, settings))
                    stopped.extend(one(worker, task, settings, commit, lock))
        except Exception as error:
            errors.append(error)
        finally:
            for worker in workers.values():
                worker.close()

    threads = [threading.Thread(target=serve) for _ in range(settings.jobs)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]
    print(f"{len(left)} tasks left" + ("; the same command goes on with them" if left else ""), flush=True)


def note(task: Task, error: str, settings: Settings, commit: str, lock: threading.Lock) -> None:
    """Write why a task has no results."""
    for name, split, method, rows, mechanism, percent in task.keys:
        result = {"set": name, "split": split, "method": method, "rows": rows, "mechanism": mechanism}
        with lock:
            lines.append(
                settings.results / "results.jsonl", {**result, "percent": percent, "error": error, "commit": commit}
            )


def one(worker: Worker, task: Task, settings: Settings, commit: str, lock: threading.Lock) -> list[dict]:
    """Run a task, write its results as they come, and return those that are errors."""
    begun, failed = time.monotonic(), []
    for result in worker.run(task):
        failed += [result] if "error" in result else []
        with lock:
            lines.append(settings.results / "results.jsonl", {**result, "commit": commit})
            note_versions(settings.results / "versions.json", worker.versions)
    rows = f" {task.rows} rows" if task.rows else ""
    told = f"{task.name} {task.split} {task.method}{rows}: {time.monotonic() - begun:.1f} s"
    print(told + (f" ({failed[-1]['error']})" if failed else ""), flush=True)
    return failed


def note_versions(path: Path, found: dict[str, str]) -> None:
    """Keep the versions of the packages; those of several interpreters stand beside each other."""
    known = json.loads(path.read_text()) if path.exists() else {}
    merged = {name: sorted({*known.get(name, []), *([found[name]] if name in found else [])})
              for name in {**known, **found}}  # fmt: skip
    if merged != known:
        path.write_text(json.dumps(merged, indent=1) + "\n")
