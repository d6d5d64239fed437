r"""Scorecards: points for every state that add up to the log-odds of the posterior.

For two classes, a class without parents, and features with at most one feature parent, the log-odds of class a against
class b of a row without missing values are

.. math:: \ln\frac{P(a)}{P(b)} + \tau \sum_i w_i \ln\frac{P(x_i | pa_i, a)}{P(x_i | pa_i, b)}

with the temperature and the weights of features that the classifier has. A score is ``base + factor (log-odds -
ln odds)`` with ``factor = points / ln 2``: that many points double the odds, and ``base`` points stand for ``odds``.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from tanbark.arrays import Array, Codes, Floats
from tanbark.checks import check_positive, is_number
from tanbark.display import html_table, text_table
from tanbark.errors import InputError, OptionError
from tanbark.graph import Network
from tanbark.table import Level, missing_code
from tanbark.table.frames import make_frame


@dataclass(frozen=True, eq=False)
class FeaturePoints:
    """The points of one feature: (n_states,), or (n_states of the parent, n_states) where it has a feature parent."""

    feature: str
    states: tuple[Level, ...]
    points: Floats
    parent: str | None = None
    parent_states: tuple[Level, ...] = ()


@dataclass(frozen=True, eq=False)
class Scorecard:
    """Points of all states; print it, ``to_frame()`` for a table, ``score(X)`` to add them up.

    Attributes
    ----------
    features : tuple of FeaturePoints
        In the order of the columns; features that do not depend on the class have none.
    target : str
    label, other : the class that the points speak for, and the one that they speak against
    base_points : float
        The points of a row before any value is known.
    factor : float
        Points for each unit of log-odds, in nats.
    offset : float
        The score of even odds.
    read : function of rows that returns their codes
    names : the features in the order of the codes
    arcs : (feature, its feature parent) for all that have one
    """

    features: tuple[FeaturePoints, ...]
    target: str
    label: Level
    other: Level
    base_points: float
    factor: float
    offset: float
    read: Callable[[Any], Codes]
    names: tuple[str, ...]
    arcs: tuple[tuple[str, str], ...]

    def log_odds(self, score: Any) -> Floats:
        """Turn scores into log-odds of ``label``, in nats."""
        return (np.asarray(score, np.float64) - self.offset) / self.factor

    def probability(self, score: Any) -> Floats:
        """Turn scores into probabilities of ``label``."""
        return np.asarray(0.5 + 0.5 * np.tanh(0.5 * self.log_odds(score)))

    def score(self, X: Any) -> Floats:
        """Add up the points of rows.

        A missing value adds none, which is exact unless another feature depends on it; then an error is raised.
        """
        codes = self.read(X)
        missing, place = missing_code(codes), {name: column for column, name in enumerate(self.names)}
        for child, parent in self.arcs:
            lost = (codes[place[parent]] == missing) & (codes[place[child]] != missing)
            if lost.any():
                msg = (
                    f"{parent!r} is missing in {int(lost.sum())} rows, and {child!r} depends on it, so that points do "
                    "not add up. Fill it in, or predict with the classifier, which sums missing values out."
                )
                raise InputError(msg)
        total = np.full(codes.shape[1], self.base_points)
        for item in self.features:
            own = codes[place[item.feature]]
            known = own != missing
            above = () if item.parent is None else (codes[place[item.parent]][known],)
            total[known] += item.points[(*above, own[known])]
        return total

    def lines(self) -> list[tuple[str, Level, str, float]]:
        """List feature, state, what it is given, and points."""
        found: list[tuple[str, Level, str, float]] = []
        for item in self.features:
            if item.parent is None:
                found += [
                    (item.feature, state, "", p) for state, p in zip(item.states, item.points.tolist(), strict=True)
                ]
                continue
            for above, points in zip(item.parent_states, item.points.tolist(), strict=True):
                given = f"{item.parent} = {above}"
                found += [(item.feature, state, given, p) for state, p in zip(item.states, points, strict=True)]
        return found

    def to_frame(self, *, backend: str | None = None) -> Any:
        """Return a frame with a line for every state; ``backend`` is "pandas", "polars" or "pyarrow"."""
        lines = self.lines()
        data = {
            "feature": ["(base points)", *(line[0] for line in lines)],
            "state": ["", *(str(line[1]) for line in lines)],
            "given": ["", *(line[2] for line in lines)],
            "points": [self.base_points, *(line[3] for line in lines)],
        }
        return make_frame(data, backend)

    def _head(self) -> str:
        double = self.factor * math.log(2.0)
        return f"points for {self.target} = {self.label}: {double:g} double the odds, {self.offset:g} are even odds"

    def _cells(self) -> tuple[list[str], list[list[str]]]:
        lines = [[name, str(state), given, f"{points:+.1f}"] for name, state, given, points in self.lines()]
        return ["feature", "state", "given", "points"], [["(base points)", "", "", f"{self.base_points:+.1f}"], *lines]

    def __str__(self) -> str:
        return f"{self._head()}\n{text_table(*self._cells(), left=3, most=math.inf)}"

    def __repr__(self) -> str:
        return f"{self._head()}\n{text_table(*self._cells(), left=3)}"

    def _repr_html_(self) -> str:
        return html_table(self._head(), *self._cells(), left=3)


def make_scorecard(clf: Any, label: int, *, points: Any, base: Any, odds: Any) -> Scorecard:
    """Make the scorecard of a classifier with one network, or raise an error that says why there is none."""
    double = check_positive("points, which double the odds,", points)
    if not is_number(base) or not math.isfinite(float(base)):
        msg = f"base, the score at the given odds, must be a number; got {base!r}."
        raise OptionError(msg)
    even = check_positive("odds", odds)
    network: Network = clf.network_
    _check(clf, network)
    factor = double / math.log(2.0)
    offset = float(base) - factor * math.log(even)
    target, columns = network.target, network.schema.columns
    prior = network.log_tables[target]
    scaled = factor * clf.temperature_
    items = []
    for node, table in enumerate(network.log_tables[:target]):
        axes = network.axes(node)
        if target not in axes:
            continue
        parent = columns[axes[0]] if len(axes) == 3 else None
        found = scaled * _difference(table, label)
        if not np.isfinite(found).all():
            msg = (
                f"{columns[node].name!r} has states of probability zero, which would have infinitely many points. Use "
                "a smoothing such as parameters=1.0."
            )
            raise InputError(msg)
        above = (None, ()) if parent is None else (parent.name, parent.states())
        items.append(FeaturePoints(columns[node].name, columns[node].states(), found, *above))
    return Scorecard(
        tuple(items), columns[target].name, columns[target].states()[label], columns[target].states()[1 - label],
        offset + factor * float(_difference(prior, label)), factor, offset, clf._codes, network.schema.names[:target],
        _feature_arcs(network),
    )  # fmt: skip


def _feature_arcs(network: Network) -> tuple[tuple[str, str], ...]:
    names, target = network.dag.names, network.target
    return tuple(
        (names[node], names[p]) for node, parents in enumerate(network.dag.parents) for p in parents if p != target
    )


def _difference(logs: Array, label: int) -> Floats:
    with np.errstate(invalid="ignore"):
        return np.asarray(logs[..., label] - logs[..., 1 - label])


def _check(clf: Any, network: Network) -> None:
    target = network.target
    n_classes = network.schema.cardinalities[target]
    if n_classes != 2:
        msg = (
            f"A scorecard is for two classes; this model has {n_classes}. Merge classes, or train one model for each "
            "class against the rest."
        )
        raise InputError(msg)
    if getattr(getattr(clf, "parameters_", None), "corrects", False):
        msg = (
            "Predictions are corrected by Discriminative, whose corrections are not points of single states. Use "
            "Discriminative(normalize=True), or other parameters."
        )
        raise InputError(msg)
    names = network.dag.names
    for node, parents in enumerate(network.dag.parents):
        others = [names[p] for p in parents if p != target]
        if len(others) > (0 if node == target else 1):
            msg = (
                f"Points add up only where the class has no parents and a feature at most one feature parent; "
                f"{names[node]!r} has {others}. Train NaiveBayes or TAN for a scorecard."
            )
            raise InputError(msg)
