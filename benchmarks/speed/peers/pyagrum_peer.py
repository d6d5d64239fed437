"""pyAgrum: the TAN of its scikit-learn classifier to fit, lazy propagation row by row to predict.

``BNClassifier.fit`` itself writes a CSV file, reads it back and tunes a threshold on every row; only the learning in
the middle of it is timed, on a learner already filled, so pyAgrum is shown at its best.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Any

import numpy as np

from benchmarks.speed.data import Table, TreeModel
from benchmarks.speed.runner import Work, timed

NAME = "pyAgrum"
INSTALL = "pip install pyagrum"
MAX_PAIR_ROWS = 5_000_000_000
MAX_ROWS = 2_000
MAX_ROWS_GAPS = 200


def available() -> str | None:
    return None if find_spec("pyagrum") else "not installed"


def version() -> str:
    import pyagrum

    return pyagrum.__version__


@contextmanager
def tan_fit(table: Table) -> Iterator[Work]:
    import pandas as pd
    import pyagrum as gum
    from pyagrum.skbn._learningMethods import _fitTAN

    nodes = _nodes(table.states, table.n_classes)
    names = [f"f{j}" for j in range(len(table.states))]
    frame = pd.DataFrame(table.X, columns=names)
    frame.insert(0, "class", table.y)
    learner = gum.BNLearner(frame, nodes)
    learner.useSmoothingPrior(1)  # without one it refuses parents that never occur together
    yield timed(lambda: _fitTAN(table.X, table.y, gum.BayesNet(nodes), learner, names, "class"))


@contextmanager
def tan_predict(table: Table, X: np.ndarray) -> Iterator[Work]:
    import pandas as pd
    from pyagrum.skbn import BNClassifier

    network = _network(table)
    classifier = BNClassifier(type_processor=None, learningMethod="TAN")
    classifier.fromTrainedModel(network, targetAttribute="class", targetModality="1")
    frame = pd.DataFrame(X.astype(str), columns=[f"f{j}" for j in range(X.shape[1])])
    yield timed(lambda: classifier.predict_proba(frame))


@contextmanager
def tan_predict_gaps(table: Table, X: np.ndarray) -> Iterator[Work]:
    import pyagrum as gum

    engine = gum.LazyPropagation(_network(table))
    engine.setTargets({"class"})
    evidence = [{f"f{j}": int(v) for j, v in enumerate(row) if v == v} for row in X]
    yield timed(lambda: [_posterior(engine, e) for e in evidence])


def _posterior(engine: Any, evidence: dict[str, int]) -> np.ndarray:
    engine.setEvidence(evidence)
    engine.makeInference()
    return engine.posterior("class").toarray()


def _nodes(states: list[int], n_classes: int) -> Any:
    import pyagrum as gum

    network = gum.BayesNet()
    network.add(gum.RangeVariable("class", "", 0, n_classes - 1))
    for j, count in enumerate(states):
        network.add(gum.RangeVariable(f"f{j}", "", 0, count - 1))
    return network


def _network(table: Table) -> Any:
    if table.model is None:
        raise ValueError("predicting needs the network that the data come from")
    network = _nodes(table.states, table.n_classes)
    network.cpt("class").fillWith(table.model.prior.tolist())
    for j in range(len(table.states)):
        _add_feature(network, table.model, j)
    return network


def _add_feature(network: Any, model: TreeModel, j: int) -> None:
    parent = int(model.parents[j])
    network.addArc("class", f"f{j}")
    if parent >= 0:
        network.addArc(f"f{parent}", f"f{j}")
    for k, own in enumerate(model.tables[j]):
        for above, row in enumerate(own):
            where = {"class": k} if parent < 0 else {"class": k, f"f{parent}": above}
            network.cpt(f"f{j}")[where] = row
