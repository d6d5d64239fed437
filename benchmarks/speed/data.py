"""The data the benchmarks run on: samples of a known tree-augmented network, and tables from disk."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

REACH = 10  # a feature's parent is one of the REACH features before it
CLASS_SHARE = 0.1  # how much of a feature's table is its class's own


@dataclass(frozen=True)
class TreeModel:
    """A tree-augmented naive Bayes network whose tables are known."""

    parents: np.ndarray  # the parent of each feature, -1 for the first
    prior: np.ndarray  # (classes,)
    tables: list[np.ndarray]  # one a feature: (classes, states of the parent or 1, states)

    @property
    def n_classes(self) -> int:
        return len(self.prior)

    @property
    def n_states(self) -> int:
        return self.tables[0].shape[-1]


@dataclass(frozen=True)
class Table:
    """Coded features and classes, and how many codes each feature and the class have."""

    X: np.ndarray  # (rows, features), int64, or floats with NaN for the gaps
    y: np.ndarray  # (rows,), int64
    states: list[int]
    n_classes: int
    model: TreeModel | None = None

    @property
    def shape_text(self) -> str:
        return f"{self.X.shape[0]:,} x {self.X.shape[1]}"


def tree_model(n_features: int, n_states: int, n_classes: int, seed: int) -> TreeModel:
    """Draw a tree over the features and tables in which a feature leans on its parent and on the class."""
    rng = np.random.default_rng(seed)
    parents = np.array([-1] + [int(rng.integers(max(0, j - REACH), j)) for j in range(1, n_features)])
    tables = [_leaning_table(rng, n_classes, 1 if parent < 0 else n_states, n_states) for parent in parents]
    return TreeModel(parents, rng.dirichlet(np.full(n_classes, 20.0)), tables)


def _leaning_table(rng: np.random.Generator, n_classes: int, n_above: int, n_states: int) -> np.ndarray:
    """Mix a table that all classes share with one of each class's own, so that no single feature decides."""
    shared = rng.dirichlet(np.full(n_states, 0.7), size=(1, n_above))
    own = rng.dirichlet(np.full(n_states, 1.0), size=(n_classes, n_above))
    return (1 - CLASS_SHARE) * shared + CLASS_SHARE * own


def sample(model: TreeModel, n_rows: int, seed: int) -> Table:
    """Draw rows from the network, feature by feature."""
    rng = np.random.default_rng(seed)
    y = rng.choice(model.n_classes, size=n_rows, p=model.prior)
    X = np.empty((n_rows, len(model.parents)), dtype=np.int64)
    for j, (parent, table) in enumerate(zip(model.parents, model.tables, strict=True)):
        above = np.zeros(n_rows, dtype=np.int64) if parent < 0 else X[:, parent]
        steps = table.cumsum(axis=-1)[y, above, :-1]
        X[:, j] = (rng.random(n_rows)[:, None] > steps).sum(axis=1)
    return Table(X, y, [model.n_states] * len(model.parents), model.n_classes, model)


def tree_table(n_rows: int, n_features: int, n_states: int, n_classes: int, seed: int = 0) -> Table:
    return sample(tree_model(n_features, n_states, n_classes, seed), n_rows, seed + 1)


def with_gaps(X: np.ndarray, share: float, seed: int = 0) -> np.ndarray:
    """Copy the codes as floats, with a share of them turned to NaN."""
    holed = X.astype(float)
    holed[np.random.default_rng(seed).random(X.shape) < share] = np.nan
    return holed


def as_strings(X: np.ndarray) -> Any:
    """Give the codes as a pandas DataFrame of words, one column a feature."""
    import pandas as pd

    words = np.array([f"state-{k}" for k in range(int(X.max()) + 1)], dtype=object)
    return pd.DataFrame({f"f{j}": words[X[:, j]] for j in range(X.shape[1])})


def from_disk(directory: Path, name: str) -> tuple[Table, Any, Any]:
    """Read a table of words whose class comes last: as codes, and as the frame of strings and its classes.

    An empty cell is a gap: NaN among the codes, None in the frame.
    """
    import pandas as pd

    frame = pd.read_csv(directory / f"{name}.csv.gz", dtype=str, keep_default_na=False)
    features, label = frame.drop(columns="class"), frame["class"]
    coded = [_codes(features[column].to_numpy(dtype=object)) for column in features]
    classes, y = np.unique(label.to_numpy(dtype=object), return_inverse=True)
    X = np.column_stack([codes for _, codes in coded])
    X = X if np.isnan(X).any() else X.astype(np.int64)
    frame = features.astype(object).where(features != "", None)
    return Table(X, y.astype(np.int64), [n for n, _ in coded], len(classes)), frame, label


def _codes(words: np.ndarray) -> tuple[int, np.ndarray]:
    """Number the words in their order; give how many there are, and the numbers, NaN for the empty word."""
    known, codes = np.unique(words, return_inverse=True)
    if known[0] != "":
        return len(known), codes.astype(float)
    return len(known) - 1, np.where(codes == 0, np.nan, codes - 1.0)
