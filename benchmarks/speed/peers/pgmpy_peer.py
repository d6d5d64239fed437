"""pgmpy: TreeSearch and maximum likelihood to fit, variable elimination row by row to predict."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Any

import numpy as np

from benchmarks.speed.data import Table, TreeModel
from benchmarks.speed.runner import Work, timed

NAME = "pgmpy"
INSTALL = "pip install pgmpy"
MAX_PAIR_ROWS = 10_000_000
MAX_ROWS = MAX_ROWS_GAPS = 50


def available() -> str | None:
    return None if find_spec("pgmpy") else "not installed"


def version() -> str:
    from importlib.metadata import version as version_of

    return version_of("pgmpy")


@contextmanager
def tan_fit(table: Table) -> Iterator[Work]:
    import pandas as pd

    frame = pd.DataFrame(table.X, columns=_names(table.X.shape[1]))
    frame["class"] = table.y
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield timed(lambda: _fit(frame))


def _fit(frame: Any) -> Any:
    from pgmpy.estimators import TreeSearch
    from pgmpy.models import DiscreteBayesianNetwork

    search = TreeSearch(frame, root_node="f0", n_jobs=-1)
    dag = search.estimate(estimator_type="tan", class_node="class", show_progress=False)
    return DiscreteBayesianNetwork(dag.edges()).fit(frame)


@contextmanager
def tan_predict_gaps(table: Table, X: np.ndarray) -> Iterator[Work]:
    from pgmpy.inference import VariableElimination

    if table.model is None:
        raise ValueError("predicting needs the network that the data come from")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        engine = VariableElimination(_network(table.model))
        evidence = [{f"f{j}": int(v) for j, v in enumerate(row) if v == v} for row in X]
        yield timed(lambda: [engine.query(["class"], evidence=e, show_progress=False) for e in evidence])


tan_predict = tan_predict_gaps  # one query a row, whether it has gaps or not


def _network(model: TreeModel) -> Any:
    from pgmpy.factors.discrete import TabularCPD
    from pgmpy.models import DiscreteBayesianNetwork

    names = _names(len(model.parents))
    network = DiscreteBayesianNetwork([("class", name) for name in names])
    network.add_cpds(TabularCPD("class", model.n_classes, model.prior[:, None]))
    for name, parent, probs in zip(names, model.parents, model.tables, strict=True):
        above = [] if parent < 0 else [names[parent]]
        network.add_edges_from((p, name) for p in above)
        cards = [model.n_classes] + [probs.shape[1]] * len(above)
        columns = probs.reshape(-1, probs.shape[-1]).T
        network.add_cpds(TabularCPD(name, probs.shape[-1], columns, ["class", *above], cards))
    return network


def _names(n_features: int) -> list[str]:
    return [f"f{j}" for j in range(n_features)]
