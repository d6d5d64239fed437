"""What another question is worth in every row of a table, before it is decided."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import numpy as np

from tanbark.arrays import Bools, Codes, Floats
from tanbark.errors import OptionError, nearest
from tanbark.estimators.questions.model import Asked, Outcomes, outcomes, posteriors
from tanbark.estimators.questions.region import LEAST

ROWS = 1 << 8  # that are asked about at once


@dataclass(frozen=True, eq=False)
class Asking:
    """The best question of every row: the feature without a value whose value less its cost is greatest.

    Attributes
    ----------
    features : list of str or None
        None where everything is known, or where the values are impossible together.
    values : (n_rows,) array
        By how much asking is expected to lower the cost; 0 where there is nothing to ask for.
    question_costs : (n_rows,) array
        What that question costs.
    costs_after : (n_rows,) array
        The expected cost of asking and then deciding: the least expected cost now, less the value, plus the cost of the
        question; that of deciding now where there is nothing to ask for; NaN where the values are impossible together.
    worth_asking : (n_rows,) array of bool
        Whether that is less than the cost of deciding now.
    """

    features: list[str | None]
    values: Floats
    question_costs: Floats
    costs_after: Floats
    worth_asking: Bools

    def columns(self) -> dict[str, Any]:
        """Return the columns of a frame."""
        return {
            "ask": self.features, "value_of_asking": self.values, "cost_after_asking": self.costs_after,
            "worth_asking": self.worth_asking,
        }  # fmt: skip


def read_prices(question_costs: Any, names: Sequence[str]) -> Floats:
    """Read what questions cost: a number for all features, or a dict by name; what is left out costs nothing."""
    given = question_costs if isinstance(question_costs, Mapping) else dict.fromkeys(names, question_costs)
    found = dict.fromkeys(names, 0.0)
    for name, cost in given.items():
        if name not in found:
            msg = f"question_costs names {name!r}, which is no feature of the model.{nearest(name, list(names))}"
            raise OptionError(msg)
        try:
            found[name] = float(cost)
        except (TypeError, ValueError):
            found[name] = np.nan
        if not 0.0 <= found[name] < np.inf:
            msg = f"A question costs a finite number of at least 0, the same for all or by feature; got {cost!r:.60}."
            raise OptionError(msg)
    return np.array(list(found.values()))


def worth(value: float, price: float) -> float:
    """Return what questions are ordered by: the value less the cost, where rounding is no value."""
    return (value if value > LEAST else 0.0) - price


def advise(asked: Asked, rows: Codes, matrix: Floats, prices: Floats) -> Asking:
    """Find the best question of every row of codes, (n_features, n_rows); see :func:`ask_next` for one row."""
    n = rows.shape[1]
    names: list[str | None] = [None] * n
    values, costs = np.zeros(n), np.zeros(n)
    now, possible = posteriors(asked, rows)
    expected = np.where(possible, (np.where(possible[:, None], now, 0.0) @ matrix).min(axis=1), np.nan)
    open_rows = np.flatnonzero(possible & ~asked.observed(rows).all(axis=0))
    for low in range(0, len(open_rows), ROWS):
        some = open_rows[low : low + ROWS]
        for place, seen in groupby(outcomes(asked, rows[:, some], now[some]), key=lambda each: each.row):
            row = some[place]
            best, values[row] = _best(list(seen), now[row], matrix, prices)
            names[row], costs[row] = asked.schema.names[best], prices[best]
    return Asking(names, values, costs, expected - values + costs, values - costs > LEAST)


def _best(seen: list[Outcomes], before: Floats, matrix: Floats, prices: Floats) -> tuple[int, float]:
    """Return the column of the best question, ties to the more informative and then to the first, and its value."""
    values = [each.saving(before, matrix) for each in seen]
    order = [worth(value, float(prices[each.column])) for each, value in zip(seen, values, strict=True)]
    ties = [place for place, one in enumerate(order) if one == max(order)]
    best = ties[0] if len(ties) == 1 else max(ties, key=lambda place: seen[place].bits(before))
    return seen[best].column, values[best]
