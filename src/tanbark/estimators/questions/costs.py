"""Costs of decisions, and decisions of least expected cost."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tanbark.arrays import Floats, Integers
from tanbark.display import html_table, text_table
from tanbark.errors import OptionError, nearest
from tanbark.estimators.questions.worth import Asking
from tanbark.table.frames import make_frame


@dataclass(frozen=True, eq=False)
class Costs:
    """What every decision costs under every class.

    Attributes
    ----------
    classes : labels
    decisions : what may be decided; classes, and others such as "refer"
    matrix : (n_classes, n_decisions) array
    """

    classes: tuple[Any, ...]
    decisions: tuple[Any, ...]
    matrix: Floats

    def expected(self, probabilities: Floats) -> Floats:
        """Return the expected cost of every decision, (n_rows, n_decisions)."""
        return np.asarray(probabilities @ self.matrix)

    def least(self, probabilities: Floats) -> Floats:
        """Return the least expected cost of every row."""
        return np.asarray(self.expected(probabilities).min(axis=1))

    @property
    def threshold(self) -> float | None:
        r"""The probability of the second class from which deciding for it costs less; None unless two classes decide.

        With the costs :math:`K` of classes 0 and 1 it is
        :math:`(K_{01} - K_{00}) / (K_{01} - K_{00} + K_{10} - K_{11})`. Elkan (2001), The foundations of cost-sensitive
        learning, equation 2. None too where one of the decisions never costs less.
        """
        if len(self.classes) != 2 or set(self.decisions) != set(self.classes):
            return None
        order = [self.decisions.index(label) for label in self.classes]
        matrix = self.matrix[:, order]
        alarm, miss = matrix[0, 1] - matrix[0, 0], matrix[1, 0] - matrix[1, 1]
        return float(alarm / (alarm + miss)) if alarm >= 0.0 and miss >= 0.0 and alarm + miss > 0.0 else None


def read_costs(costs: Any, classes: NDArray[Any]) -> Costs:
    """Read costs: an array (class, class), a dict of dicts {class: {decision: cost}}, or a frame with an index.

    In a dict, a right decision that is left out costs nothing.
    """
    labels = classes.tolist()
    if isinstance(costs, Costs):
        return costs
    if hasattr(costs, "index") and hasattr(costs, "columns"):  # a frame of pandas
        lines = zip(costs.index, costs.to_numpy().tolist(), strict=True)
        costs = {label: dict(zip(costs.columns, line, strict=True)) for label, line in lines}
    if isinstance(costs, Mapping):
        return _read_mapping(costs, labels)
    try:
        matrix = np.asarray(costs, np.float64)
    except (TypeError, ValueError):
        matrix = np.zeros(0)
    if matrix.shape != (len(labels), len(labels)):
        what = f"shape {matrix.shape}" if matrix.size else f"{costs!r:.60}"
        msg = (
            f"costs must be an array of {len(labels)} x {len(labels)} numbers, true classes x decisions in the order "
            f"of classes_, or a dict of dicts {{class: {{decision: cost}}}}; got {what}."
        )
        raise OptionError(msg)
    return _checked(tuple(labels), tuple(labels), matrix)


def _read_mapping(costs: Mapping[Any, Any], labels: list[Any]) -> Costs:
    for label, line in costs.items():
        if label not in labels:
            near = nearest(label, [str(each) for each in labels])
            msg = f"costs has a line for {label!r}, which is none of the classes {labels[:10]}.{near}"
            raise OptionError(msg)
        if not isinstance(line, Mapping):
            msg = f"costs must be a dict of dicts {{class: {{decision: cost}}}}; the line of {label!r} is {line!r:.60}."
            raise OptionError(msg)
    given = list(dict.fromkeys(decision for line in costs.values() for decision in line))
    decisions = [label for label in labels if label in given] + [each for each in given if each not in labels]
    if not decisions:
        msg = "costs names no decision; expected a dict of dicts {class: {decision: cost}}."
        raise OptionError(msg)
    matrix = np.zeros((len(labels), len(decisions)))
    for row, label in enumerate(labels):
        line = costs.get(label, {})
        for column, decision in enumerate(decisions):
            if decision not in line and decision != label:
                msg = f"costs lacks what {decision!r} costs where the class is {label!r}. Add it; 0 for nothing."
                raise OptionError(msg)
            try:
                matrix[row, column] = line.get(decision, 0.0)
            except (TypeError, ValueError):
                msg = f"A cost is a number; got {line[decision]!r:.60} for {decision!r} where the class is {label!r}."
                raise OptionError(msg) from None
    return _checked(tuple(labels), tuple(decisions), matrix)


def _checked(labels: tuple[Any, ...], decisions: tuple[Any, ...], matrix: Floats) -> Costs:
    if not np.isfinite(matrix).all():
        row, column = np.argwhere(~np.isfinite(matrix))[0].tolist()
        where = f"for {decisions[column]!r} where the class is {labels[row]!r}"
        msg = f"A cost is a finite number; got {matrix[row, column]} {where}."
        raise OptionError(msg)
    return Costs(labels, decisions, matrix)


@dataclass(frozen=True, eq=False)
class Decisions:
    """The decision of least expected cost of every row; ties go to the first.

    Attributes
    ----------
    costs : Costs
    expected_costs : (n_rows, n_decisions) array
    probabilities : (n_rows, n_classes) array
    asking : Asking
        What another question is worth in every row. It is measured when it is first read, and takes no time for rows
        without missing values.
    """

    costs: Costs
    expected_costs: Floats
    probabilities: Floats
    measure: Callable[[], Asking] = field(repr=False)

    @cached_property
    def asking(self) -> Asking:
        """The best question of every row, and whether it is worth more than deciding."""
        return self.measure()

    @property
    def chosen(self) -> Integers:
        """The place of every row's decision in ``costs.decisions``."""
        return np.asarray(self.expected_costs.argmin(axis=1), np.int64)

    @property
    def decisions(self) -> NDArray[Any]:
        """The decision of every row."""
        found = np.empty(len(self.costs.decisions), object)
        found[:] = self.costs.decisions
        return np.asarray(found[self.chosen])

    @property
    def threshold(self) -> float | None:
        """The probability of the second class from which it is decided for; see :class:`Costs`."""
        return self.costs.threshold

    def to_frame(self, *, asking: bool = False, backend: str | None = None) -> Any:
        """Return a frame with a line for every row; ``backend`` is "pandas", "polars" or "pyarrow".

        ``asking=True`` adds the best question of every row, its value, the expected cost after it and whether it is
        worth asking.
        """
        data: dict[str, Any] = {"decision": self.decisions.tolist(), "expected_cost": self.expected_costs.min(axis=1)}
        for column, decision in enumerate(self.costs.decisions):
            data[f"cost of {decision}"] = self.expected_costs[:, column]
        if asking:
            data |= self.asking.columns()
        return make_frame(data, backend)

    def __len__(self) -> int:
        return len(self.expected_costs)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.decisions.tolist())

    def __getitem__(self, row: int) -> Any:
        return self.costs.decisions[int(self.expected_costs[row].argmin())]

    def _cells(self) -> tuple[list[str], list[list[str]]]:
        heads = ["row", "decision", *(f"cost of {decision}" for decision in self.costs.decisions)]
        lines = [
            [str(row), str(decision), *(f"{cost:.4g}" for cost in costs)]
            for row, (decision, costs) in enumerate(zip(self.decisions, self.expected_costs.tolist(), strict=True))
        ]
        return heads, lines

    def _head(self) -> str:
        mean = float(self.expected_costs.min(axis=1).mean()) if len(self) else math.nan
        rule = ""
        if self.threshold is not None:
            rule = f"; {self.costs.classes[1]} from a probability of {self.threshold:.4g}"
        return f"decisions of least expected cost: {mean:.4g} a row{rule}"

    def __str__(self) -> str:
        return f"{self._head()}\n{text_table(*self._cells(), left=2)}"

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return html_table(self._head(), *self._cells(), left=2)


def decide(proba: Floats, costs: Costs, measure: Callable[[], Asking]) -> Decisions:
    """Choose the decision of least expected cost for every row of class probabilities."""
    return Decisions(costs, costs.expected(proba), proba, measure)
