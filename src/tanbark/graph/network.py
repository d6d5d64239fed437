"""The network: a graph, a CPT for every node, and the schema that maps codes to states."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from tanbark.arrays import Floats
from tanbark.errors import InputError
from tanbark.graph.dag import Dag
from tanbark.graph.queries import Queries, Targets
from tanbark.table import Level, Schema
from tanbark.table.frames import make_frame

if TYPE_CHECKING:
    from tanbark.draw.svg import Svg


def family_axes(parents: tuple[int, ...], node: int, target: int) -> tuple[int, ...]:
    """Order a family's columns as the axes of its CPT: feature parents ascending, the node, the class last.

    >>> family_axes((0, 5), 2, 5), family_axes((0, 1), 5, 5)
    ((0, 2, 5), (0, 1, 5))
    """
    features = [p for p in sorted(parents) if p != target]
    return (*features, node, target) if target in parents else (*features, node)


@dataclass(frozen=True, eq=False)
class Network(Queries):
    """A Bayesian network over discrete columns.

    Parameters
    ----------
    schema : Schema
        Columns and their states; the class, where there is one, is the last column.
    dag : Dag
    tables : tuple of arrays
        For every column, P(column | parents), with the axes of :func:`family_axes`.
    exponents : tuple of float, optional
        A power for each column's probabilities: 0 leaves a column out, 1 leaves it as it is. Weighted CPTs are
        not normalised, so that a missing value can only be dropped, not summed out.
    """

    schema: Schema
    dag: Dag
    tables: tuple[Floats, ...]
    exponents: tuple[float, ...] | None = None

    @classmethod
    def from_tables(
        cls, states: Mapping[str, Iterable[Level]], tables: Mapping[str, Any], *, target: str | None = None
    ) -> Network:
        """Build a network by hand.

        Parameters
        ----------
        states : dict of name to list of states
            Strings, numbers or booleans; their order is that of the CPTs' axes.
        tables : dict of name to (parents, array)
            P(name | parents), with an axis for every parent in the given order and the variable's own axis last. A root
            may have its array alone.
        target : str, optional
            The class, if one variable is; it becomes the last column.

        Examples
        --------
        >>> network = Network.from_tables(
        ...     {"rain": [False, True], "wet": ["no", "yes"]},
        ...     {"rain": [0.8, 0.2], "wet": (("rain",), [[0.9, 0.1], [0.2, 0.8]])},
        ... )
        >>> print(network.query("rain", {"wet": "yes"}))
        rain   probability
        False     0.333333
        True      0.666667
        """
        from tanbark.graph.build import from_tables

        return from_tables(states, tables, target=target)

    @classmethod
    def random(
        cls, n_features: int, *, kind: str = "anb", width: int = 2, n_states: Any = 2, n_classes: int = 2,
        concentration: float = 1.0, random_state: Any = None,
    ) -> Network:  # fmt: skip
        """Draw a network with random arcs and CPTs, the class last.

        Parameters
        ----------
        n_features : int
        kind : {"anb", "tan", "naive", "tree", "dag"}, default "anb"
            The class is a parent of every feature, beside a graph of the features, a tree, or nothing; or a tree or a
            graph over all columns, the class at a random place.
        width : int, default 2
            Of "anb" and "dag": the parents of a node (those of the first ones are fewer, and the class is not counted),
            which are a clique, so that it is also the tree-width of the drawn graph.
        n_states : int or (least, most), default 2
            States of a feature.
        n_classes : int, default 2
        concentration : float, default 1.0
            Parameter of the symmetric Dirichlet distribution of every row of a CPT: near 0 they are nearly
            deterministic, and large ones nearly uniform.
        random_state : int, Generator or None

        Examples
        --------
        >>> network = Network.random(10, kind="dag", width=3, n_states=(2, 4), random_state=0)
        >>> network.dag.max_parents, network.is_augmented_naive
        (3, False)
        >>> len(network.sample(100, random_state=0))
        100
        """
        from tanbark.graph.random import random_network

        return random_network(
            n_features, kind=kind, width=width, n_states=n_states, n_classes=n_classes, concentration=concentration,
            random_state=random_state,
        )  # fmt: skip

    def _network(self) -> Network:
        return self

    @property
    def target(self) -> int:
        """Index of the class, or -1."""
        return self.schema.target

    def axes(self, node: int) -> tuple[int, ...]:
        """Columns along the axes of a node's CPT."""
        return family_axes(self.dag.parents[node], node, self.target)

    @cached_property
    def log_tables(self) -> tuple[Floats, ...]:
        """Natural logarithms of the CPTs, times their exponents; zero becomes -inf."""
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
        """Return the names of every column's parents."""
        names = self.dag.names
        return {names[node]: [names[p] for p in parents] for node, parents in enumerate(self.dag.parents)}

    def markov_blanket(self, node: str | int | None = None) -> list[str]:
        """Name the columns that, once known, make all others irrelevant to a node (the class by default)."""
        if node is None and not self.schema.has_class:
            msg = "This network has no class; name the variable whose Markov blanket is wanted."
            raise InputError(msg)
        return self.dag.markov_blanket(self.target if node is None else node)

    def d_separated(
        self, x: str | int | Iterable[str | int], y: str | int | Iterable[str | int],
        given: str | int | Iterable[str | int] = (),
    ) -> bool:  # fmt: skip
        """Return whether the graph alone makes x and y independent given others; each is a name or several.

        >>> tables = {"A": [0.5, 0.5], "B": [0.5, 0.5], "C": (("A", "B"), np.full((2, 2, 2), 0.5))}
        >>> network = Network.from_tables(dict.fromkeys("ABC", (0, 1)), tables)
        >>> network.d_separated("A", "B"), network.d_separated("A", "B", given="C")
        (True, False)
        """
        from tanbark.graph.separation import reachable

        left, right, known = (self._indices(group) for group in (x, y, given))
        if left & right or (left | right) & known:
            msg = "The groups must have no variable in common: x, y and given are three different sets."
            raise InputError(msg)
        return not reachable(self.dag, left, known) & right

    def _indices(self, group: str | int | Iterable[str | int]) -> set[int]:
        return {self.dag.index(node) for node in ([group] if isinstance(group, (str, int)) else group)}

    def prune(self, query: Targets, evidence: Iterable[str] = ()) -> Network:
        """Cut the network down to what a posterior of ``query`` given states of ``evidence`` needs.

        Barren variables and those d-separated from the query go. The posterior stays the same; the probability of the
        evidence does not. An observed variable whose own CPT does not matter stays as a root, all states alike.
        """
        from tanbark.graph.separation import prune

        return prune(self, self._indices(query), self._indices(evidence))

    def explore(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        title: str | None = None,
        about: str | Mapping[str, Any] | None = None,
        labels: Mapping[str, Any] | None = None,
        units: Mapping[str, str] | None = None,
        descriptions: Mapping[str, str] | None = None,
        order: Sequence[str] | None = None,
        groups: Mapping[str, Sequence[str]] | None = None,
        threshold: float | Mapping[Any, float] | None = None,
        target: str | None = None,
        performance: Any = None,
    ) -> Any:
        """Make an interactive page of the network's posteriors, and write it to a file where one is named.

        The options are those of ``explore`` of classifiers. Returns a :class:`tanbark.explorer.Page`, which a notebook
        shows.
        """
        from tanbark.explorer import explore

        return explore(
            self, path, title=title, about=about, labels=labels, units=units, descriptions=descriptions, order=order,
            groups=groups, threshold=threshold, target=target, performance=performance,
        )  # fmt: skip

    def _feature_parents(self) -> list[tuple[int, ...]]:
        """Return the feature parents of the features that have the class as a parent."""
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
        """Return P(node | parents) as an array; see :meth:`axes` for the order of its axes."""
        return self.tables[self.dag.index(node)].copy()

    def table_frame(self, node: str | int, *, backend: str | None = None) -> Any:
        """Return P(node | parents) as a frame: a row per parent configuration, a column per state.

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
        from tanbark.draw.text import draw

        return draw(self.dag, self.target)

    def svg(self, *, weights: Mapping[tuple[str, str], float] | None = None, class_arcs: bool | None = None) -> Svg:
        """Draw the network as SVG; ``weights`` of (parent, child) names make arcs wide, ``str`` is the text."""
        from tanbark.draw.svg import network_svg

        return network_svg(self.dag, self.target, weights=weights, class_arcs=class_arcs)

    def _repr_html_(self) -> str:
        """Show the picture in notebooks, or the text where there is too much to draw."""
        from tanbark.draw.svg import MOST_DRAWN

        picture = f"<pre>{escape(self.text())}</pre>" if len(self.dag.names) > MOST_DRAWN else self.svg().text
        return f"<div>{picture}<br/><small>{escape(repr(self))}</small></div>"

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        kind = f", class {self.dag.names[self.target]!r}" if self.schema.has_class else ""
        size = f"{len(self.dag.names)} columns, {self.dag.n_arcs} arcs"
        return f"Network({size}{kind}, {self.n_parameters:,} free parameters)"
