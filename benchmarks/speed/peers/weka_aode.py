"""Weka's AODE, through Java: Weka 3.6 has it, later versions keep it in a package of its own."""

from __future__ import annotations

import shutil
import zipfile
from contextlib import AbstractContextManager
from pathlib import Path

import numpy as np

from benchmarks.speed.data import Table
from benchmarks.speed.peers.weka_java import command, places, version_in
from benchmarks.speed.peers.worker import worker
from benchmarks.speed.runner import Work

NAME = "Weka AODE"
INSTALL = "a JDK, and Debian's weka, which is 3.6 (or WEKA_JAR=file)"
CLASS = "weka/classifiers/bayes/AODE.class"


def available() -> str | None:
    if shutil.which("java") is None or shutil.which("javac") is None:
        return "no JDK"
    return None if _jar() else "no weka.classifiers.bayes.AODE in any jar at hand"


def version() -> str:
    jar = _jar()
    assert jar is not None
    return version_in(jar)


def aode(table: Table, X: np.ndarray) -> AbstractContextManager[Work]:
    return worker(command(_jar()), table, X, "aode")


def _jar() -> Path | None:
    return next((jar for jar in places() if jar.is_file() and _has_aode(jar)), None)


def _has_aode(jar: Path) -> bool:
    with zipfile.ZipFile(jar) as archive:
        return CLASS in archive.namelist()
