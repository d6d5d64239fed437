"""The network: a graph, a table for every node, and the schema that gives the codes their meaning."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from tanbark.errors import MissingPackageError, find
from tanbark.graph.dag import Dag
from tanbark.graph.drawing import draw
from tanbark.table import Schema

Floats = NDArray[np.float64]


def family_axes(parents: tuple[int, ...], node: int, target: int) -> tuple[int, ...]:
    """Order a family's columns as the axes of its table: feature parents ascending, the node, the class last.

    >>> family_axes((0, 5), 2, 5), family_axes((0, 1), 5, 5)
    ((0, 2, 5), (0, 1, 5))
    """
    features = [p for p in sorted(parents) if p != target]
    return (*features, node, target) if target in parents else (*features, node)


@dataclass(frozen=True, eq=False)
class Network:
    """A Bayesian network over discrete columns.

    Parameters
    ----------
    schema : Schema
        Columns and their states; the class, where there is one, is the last column.
    dag : Dag
    tables : tuple of arrays
        For every column, P(column | parents), with the axes of :func:`family_axes`.
    exponents : tuple of float, optional
        A power for each column's probabilities: 0 leaves a column out, 1 leaves it as it is. Weighted tables are no
        distributions, so a missing value can only be dropped, not summed out.
    """

    schema: Schema
    dag: Dag
    tables: tuple[Floats, ...]
    exponents: tuple[float, ...] | None = None

    @property
    def target(self) -> int:
        """Index of the class, or -1."""
        return self.schema.target

    def axes(self, node: int) -> tuple[int, ...]:
        """Columns along the axes of a node's table."""
        return family_axes(self.dag.parents[node], node, self.target)

    @cached_property
    def log_tables(self) -> tuple[Floats, ...]:
        """Natural logarithms of the tables, times their exponents; zero becomes -inf."""
        with np.errstate(divide="ignore"):
            logs = tuple(np.log(table) for table in self.tables)
        if self.exponents is None:
            return logs
        weighted = zip(self.exponents, logs, strict=True)
        return tuple(power * table if power else np.zeros_like(table) for power, table in weighted)

    @cached_property
    def n_parameters(self) -> int:
        """Number of free parameters: the sum of (states - 1) x parent configurations."""
        sizes = self.schema.cardinalities
        return sum(
            (sizes[node] - 1) * math.prod(sizes[p] for p in parents) for node, parents in enumerate(self.dag.parents)
        )

    def families(self) -> dict[str, list[str]]:
        """Give the names of every column's parents."""
        names = self.dag.names
        return {names[node]: [names[p] for p in parents] for node, parents in enumerate(self.dag.parents)}

    def markov_blanket(self, node: str | int | None = None) -> list[str]:
        """Name the columns that, once known, make all others irrelevant to a node (the class by default)."""
        return self.dag.markov_blanket(self.target if node is None else node)

    def _feature_parents(self) -> list[tuple[int, ...]]:
        """Give the feature parents of the features that have the class as a parent."""
        linked = [parents for parents in self.dag.parents[: self.target] if self.target in parents]
        return [tuple(p for p in parents if p != self.target) for parents in linked]

    @property
    def is_augmented_naive(self) -> bool:
        """Whether the class has no parents and every feature that is in the model has it as a parent.

        A feature without any arc is not in the model.
        """
        idle = all(
            self.target in parents or not (parents or self.dag.children[node])
            for node, parents in enumerate(self.dag.parents[: self.target])
        )
        return self.schema.has_class and not self.dag.parents[self.target] and idle

    @property
    def is_naive(self) -> bool:
        """Whether the class is the only parent of every feature that is in the model."""
        return self.is_augmented_naive and not any(self._feature_parents())

    @property
    def is_one_dependence(self) -> bool:
        """Whether every feature that is in the model has the class and at most one feature as parents."""
        return self.is_augmented_naive and all(len(parents) <= 1 for parents in self._feature_parents())

    @property
    def is_semi_naive(self) -> bool:
        """Whether the features fall into groups, each a complete graph, so that a group is as one joint feature."""
        if not self.is_augmented_naive:
            return False
        around = [
            {*self.dag.parents[node], *self.dag.children[node], node} - {self.target} for node in range(self.target)
        ]
        return all(around[other] == group for group in around for other in group)

    def table(self, node: str | int) -> Floats:
        """Give P(node | parents) as an array; see :meth:`axes` for the order of its axes."""
        return self.tables[self.dag.index(node)].copy()

    def table_frame(self, node: str | int, *, backend: str | None = None) -> Any:
        """Give P(node | parents) as a frame: a row per parent configuration, a column per state.

        ``backend`` is "pandas", "polars" or "pyarrow"; by default the first of them that is installed.
        """
        index = self.dag.index(node)
        axes = self.axes(index)
        parents = [axis for axis in axes if axis != index]
        columns = self.schema.columns
        table = np.moveaxis(self.tables[index], axes.index(index), -1)
        grid = np.indices(table.shape[:-1]).reshape(len(parents), math.prod(table.shape[:-1]))
        data: dict[str, Any] = {
            columns[p].name: [columns[p].states()[k] for k in row] for p, row in zip(parents, grid, strict=True)
        }
        flat = table.reshape(-1, table.shape[-1])
        for state, label in enumerate(columns[index].labels()):
            data[f"{columns[index].name}={label}"] = flat[:, state]
        return make_frame(data, backend)

    def text(self) -> str:
        """Draw the network as text."""
        return draw(self.dag, self.target)

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        kind = f", class {self.dag.names[self.target]!r}" if self.schema.has_class else ""
        size = f"{len(self.dag.names)} columns, {self.dag.n_arcs} arcs"
        return f"Network({size}{kind}, {self.n_parameters:,} free parameters)"


def make_frame(data: dict[str, Any], backend: str | None = None) -> Any:
    """Build a frame of pandas, polars or pyarrow; without a choice, of the first that is installed."""
    from importlib.util import find_spec

    known = ("pandas", "polars", "pyarrow")
    if backend is not None:
        find("backend", backend, dict.fromkeys(known))
    for name in known if backend is None else (backend,):
        if find_spec(name) is not None:
            return nw.from_dict(data, backend=name).to_native()  # type: ignore[arg-type]  # one of the known names
    msg = f"A frame needs {backend or 'pandas'}, which is not installed: pip install {backend or 'pandas'}"
    raise MissingPackageError(msg)
