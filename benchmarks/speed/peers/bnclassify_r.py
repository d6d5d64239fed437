"""R's bnclassify: tan_cl to fit (the structure alone, without lp), predict with prob = TRUE (by gRain if with gaps).

Naive Bayes is fitted with its parameters."""

from __future__ import annotations

from contextlib import AbstractContextManager

import numpy as np

from benchmarks.speed.data import Table
from benchmarks.speed.peers.r_package import command, r_version, why_not
from benchmarks.speed.peers.worker import worker
from benchmarks.speed.runner import Work

NAME = "R bnclassify"
INSTALL = "R, and install.packages(c('bnclassify', 'gRain'))"
MAX_ROWS_GAPS = 100


def available() -> str | None:
    return why_not("bnclassify")


def version() -> str:
    return str(r_version("bnclassify"))


def tan_fit(table: Table) -> AbstractContextManager[Work]:
    return worker(command("bnclassify"), table, table.X[:1], "fit")


def nb_fit(table: Table) -> AbstractContextManager[Work]:
    return worker(command("bnclassify"), table, table.X[:1], "nb_fit")


def nb_predict(table: Table, X: np.ndarray) -> AbstractContextManager[Work]:
    return worker(command("bnclassify"), table, X, "nb_predict")


def tan_predict(table: Table, X: np.ndarray) -> AbstractContextManager[Work]:
    return worker(command("bnclassify"), table, X, "predict")


tan_predict_gaps = tan_predict  # it turns to gRain by itself
