"""R's bnlearn: tree.bayes to fit (the structure alone, without bn.fit), predict with prob = TRUE.

Naive Bayes is fitted with its parameters."""

from __future__ import annotations

from contextlib import AbstractContextManager

import numpy as np

from benchmarks.speed.data import Table
from benchmarks.speed.peers.r_package import command, r_version, why_not
from benchmarks.speed.peers.worker import worker
from benchmarks.speed.runner import Work

NAME = "R bnlearn"
INSTALL = "R, and install.packages('bnlearn')"


def available() -> str | None:
    return why_not("bnlearn")


def version() -> str:
    return str(r_version("bnlearn"))


def tan_fit(table: Table) -> AbstractContextManager[Work]:
    return worker(command("bnlearn"), table, table.X[:1], "fit")


def nb_fit(table: Table) -> AbstractContextManager[Work]:
    return worker(command("bnlearn"), table, table.X[:1], "nb_fit")


def nb_predict(table: Table, X: np.ndarray) -> AbstractContextManager[Work]:
    return worker(command("bnlearn"), table, X, "nb_predict")


def tan_predict(table: Table, X: np.ndarray) -> AbstractContextManager[Work]:
    return worker(command("bnlearn"), table, X, "predict")
