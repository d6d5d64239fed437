"""Weka's BayesNet with its TAN search, through Java.

Rows with gaps are left out: Weka fills them with the most frequent value, which is no exact answer.
"""

from __future__ import annotations

import os
import shutil
import zipfile
from collections.abc import Iterator
from contextlib import AbstractContextManager
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from benchmarks.speed.data import Table
from benchmarks.speed.peers.worker import worker
from benchmarks.speed.runner import Work

NAME = "Weka TAN"
INSTALL = "a JDK, and pip install --no-deps python-weka-wrapper3 (or Debian's weka, or WEKA_JAR=file)"
MAX_PAIR_ROWS = 2_000_000_000
SOURCE = Path(__file__).with_name("WekaWorker.java")


def available() -> str | None:
    if shutil.which("java") is None or shutil.which("javac") is None:
        return "no JDK"
    return None if _jar() else "not installed"


def version() -> str:
    jar = _jar()
    assert jar is not None
    return version_in(jar)


def version_in(jar: Path) -> str:
    with zipfile.ZipFile(jar) as archive:
        return archive.read("weka/core/version.txt").decode().strip().replace("-", ".")


def tan_fit(table: Table) -> AbstractContextManager[Work]:
    return worker(command(_jar()), table, table.X[:1], "fit")


def tan_predict(table: Table, X: np.ndarray) -> AbstractContextManager[Work]:
    return worker(command(_jar()), table, X, "predict")


def command(jar: Path | None) -> list[str]:
    return ["java", "-Djava.awt.headless=true", "-Xmx6g", "-cp", str(jar), str(SOURCE)]


def _jar() -> Path | None:
    return next((jar for jar in places() if jar.is_file()), None)


def places() -> Iterator[Path]:
    if "WEKA_JAR" in os.environ:
        yield Path(os.environ["WEKA_JAR"])
    spec = find_spec("weka")  # python-weka-wrapper3 carries Weka's jar
    for folder in (spec.submodule_search_locations or []) if spec else []:
        yield Path(folder, "lib", "weka.jar")
    starter = shutil.which("weka")
    if starter:
        yield Path(starter).resolve().parent.parent / "share" / "java" / "weka.jar"
