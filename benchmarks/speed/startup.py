"""Processor seconds of short commands, each in a process of its own, beside ``import sklearn.base``.

``python -m benchmarks.speed.startup`` runs all in turns and writes docs/numbers/startup.json: commands that read a
saved model, a fit and a prediction in Python with kernels from the cache, and the very first ones of every learner,
with an empty cache. ``--first`` measures these only, of the learners that it names or of all, and keeps the rest.
Python keeps its bytecode in a folder of the run, whatever the environment says: pip compiles what it installs.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd

import tanbark as tb
from tanbark.estimators.catalogue import catalogue

ROOT = Path(__file__).parents[2]
OUT = ROOT / "docs" / "numbers" / "startup.json"
COMMAND = "python -m benchmarks.speed.startup"
REFERENCE = "import sklearn.base"
FIT = """
import numpy as np, tanbark as tb
rng = np.random.default_rng(0)
y = rng.integers(0, 2, {rows})
X = (y[:, None] + rng.integers(0, 3, (len(y), 10))) % 4
print({make}.fit(X, y).predict(X).sum())
"""
FITTED = ("NaiveBayes", "TAN", "Classifier")
COMPILED = "from tanbark import kernel; kernel.interprets = False\n"  # so that all kernels are kept afterwards
BY_NAME = "import warnings; warnings.simplefilter('ignore')\nfrom tanbark.estimators.catalogue import make_classifier\n"


def prepare(folder: Path) -> dict[str, list[str]]:
    """Write a table and models, and return the arguments of every command by its name."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 500)
    frame = pd.DataFrame({f"x{k}": (y + rng.integers(0, 3, 500)) % 4 for k in range(10)}).assign(y=y)
    table = folder / "rows.csv"
    frame.to_csv(table, index=False)
    X, labels = frame.drop(columns="y"), frame["y"]
    tb.TAN().fit(X, labels).save(folder / "tan.json")
    tb.TAN(parameters="laplace").fit(X, labels).save(folder / "laplace.json")
    tb.Classifier().fit(X, labels).save(folder / "pool.json")
    for name in FITTED:
        seconds(["-c", COMPILED + FIT.format(make=f"tb.{name}()", rows=1000)])
    program = ["-m", "tanbark"]
    tan, laplace, pool = (str(folder / name) for name in ("tan.json", "laplace.json", "pool.json"))
    return {
        REFERENCE: ["-c", REFERENCE],
        "import numpy": ["-c", "import numpy"],
        "--help": [*program, "--help"],
        "fit, no such file": [*program, "fit", str(folder / "row.csv"), "--class", "y", "--out", tan],
        "show, no such file": [*program, "show", str(folder / "tam.json")],
        "show": [*program, "show", tan],
        "show, Laplace": [*program, "show", laplace],
        "show, Classifier": [*program, "show", pool],
        "query": [*program, "query", tan, "-e", "x0=1"],
        "convert --to bif": [*program, "convert", tan, "--to", "bif"],
        "convert --to sql": [*program, "convert", tan, "--to", "sql"],
        "explain": [*program, "explain", tan, str(table)],
        "ask": [*program, "ask", tan],
        "decide": [*program, "decide", tan, str(table), "--cost", "0:1=1", "--cost", "1:0=5"],
        "predict": [*program, "predict", tan, str(table)],
        "predict, Classifier": [*program, "predict", pool, str(table)],
        "explain, Classifier": [*program, "explain", pool, str(table)],
        "ask, Classifier": [*program, "ask", pool],
        "decide, Classifier": [*program, "decide", pool, str(table), "--cost", "0:1=1", "--cost", "1:0=5"],
        **{f"Python: {name} fit, predict": ["-c", FIT.format(make=f"tb.{name}()", rows=1000)] for name in FITTED},
    }


def seconds(arguments: list[str], **environment: str) -> float:
    """Run Python, and return the processor seconds that it took."""
    known = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    ran = subprocess.run(
        [sys.executable, *arguments], capture_output=True, check=False, cwd=ROOT, env={**known, **environment}
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if ran.returncode not in (0, 2):  # 2 is the answer to a file that is not there
        raise RuntimeError(ran.stderr.decode())
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def first_ever(learner: str, bytecode: str) -> float:
    """Fit and predict with an empty kernel cache, and return the processor seconds, imports included."""
    make = f"make_classifier({learner!r})"
    with tempfile.TemporaryDirectory() as folder:
        place = {"NUMBA_CACHE_DIR": folder, "PYTHONPYCACHEPREFIX": bytecode}
        imports = ["-c", BY_NAME + FIT.format(make=make, rows=60)]
        seconds(imports, NUMBA_DISABLE_JIT="1", **place)  # writes bytecode, compiles nothing
        found = seconds(["-c", BY_NAME + FIT.format(make=make, rows=1000)], **place)
    print(f"first {learner} ever, with an empty kernel cache: {found:.2f} s", flush=True)
    return round(found, 2)


def measure(commands: dict[str, list[str]], times: int, bytecode: str) -> dict[str, list[float]]:
    """Run all commands once, to fill caches, and then in turns."""
    for arguments in commands.values():
        seconds(arguments, PYTHONPYCACHEPREFIX=bytecode)
    found: dict[str, list[float]] = {name: [] for name in commands}
    for _ in range(times):
        for name, arguments in commands.items():
            found[name].append(seconds(arguments, PYTHONPYCACHEPREFIX=bytecode))
    return found


def compare(found: dict[str, list[float]]) -> dict[str, dict[str, object]]:
    """Print and return the median and the quartiles of every command, and its ratio to the reference."""
    reference, compared = statistics.median(found[REFERENCE]), {}
    for name, values in found.items():
        low, middle, high = statistics.quantiles(values, n=4)
        compared[name] = {
            "seconds": round(middle, 3), "quartiles": [round(low, 3), round(high, 3)],
            "ratio": round(middle / reference, 3),
        }  # fmt: skip
        print(f"{name:32} {middle:6.3f} s  [{low:.3f}, {high:.3f}]  {middle / reference:5.2f} of {REFERENCE!r}")
    return compared


def source(commit: str) -> str:
    """Return the hash of the package's source at a commit."""
    found = subprocess.run(
        ["git", "rev-parse", f"{commit}:src"], capture_output=True, text=True, check=False, cwd=ROOT
    )  # fmt: skip
    return found.stdout.strip()


def origin() -> dict[str, object]:
    """Describe the code and the machine that were measured."""
    commit = subprocess.run(["git", "rev-parse", "HEAD"], capture_output=True, text=True, check=False, cwd=ROOT)
    return {
        "commit": commit.stdout.strip(),
        "machine": {
            "processor": platform.processor() or platform.machine(), "system": platform.platform(),
            "load_average": [round(load, 1) for load in os.getloadavg()],
        },
        "versions": {"python": platform.python_version(), "tanbark": tb.__version__, "numpy": np.__version__},
    }  # fmt: skip


def main() -> None:
    """Measure in turns, print and write the medians and quartiles."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=9)
    parser.add_argument("--first", nargs="*", metavar="LEARNER", help="only first fits ever, of these or of all")
    given = parser.parse_args()
    document = json.loads(OUT.read_text()) if OUT.exists() else {}
    with tempfile.TemporaryDirectory() as folder:
        bytecode = str(Path(folder) / "bytecode")
        if given.first is None:
            document |= {
                "command": COMMAND, "n": given.times, "reference": REFERENCE,
                "unit": "processor seconds, user and system", **origin(),
                "commands": compare(measure(prepare(Path(folder)), given.times, bytecode)),
            }  # fmt: skip
        else:
            seconds(["-c", "import numba; numba.njit(lambda x: x + 1)(1)"], PYTHONPYCACHEPREFIX=bytecode)
        before, code = document.get("first_ever", {}), origin()
        same = before.get("commit") and source(before["commit"]) == source(str(code["commit"]))
        found = dict(before["seconds"]) if same else {}
        for name in given.first or [name for name in catalogue() if name != "fixed"]:  # which needs a graph
            found[name] = first_ever(name, bytecode)
            document["first_ever"] = {**code, "seconds": found}
            OUT.write_text(json.dumps(document, indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
