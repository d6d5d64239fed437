"""Which feature to ask for next: how much each is expected to tell about the class."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any

import numpy as np

from tanbark.arrays import Codes, Floats
from tanbark.display import html_table, text_table
from tanbark.estimators.questions.costs import Costs
from tanbark.estimators.questions.model import Asked, entropy, outcomes
from tanbark.estimators.questions.region import LEAST, Region, asking_region
from tanbark.estimators.questions.rows import own_posterior
from tanbark.estimators.questions.worth import worth
from tanbark.table import Level
from tanbark.table.frames import make_frame


@dataclass(frozen=True, eq=False)
class Question:
    """A feature that could be asked for.

    Attributes
    ----------
    feature : str
    bits : float
        By how much the entropy of the class is expected to fall.
    value : float or None
        By how much asking is expected to lower the cost, where costs were given.
    cost : float
        What the question itself costs.
    states : tuple
        What may be seen.
    probabilities : (n_states,) array
        How probable each state is, given what is known.
    posteriors : (n_states, n_classes) array
        The class probabilities once a state is seen; NaN where it is impossible.
    """

    feature: str
    bits: float
    value: float | None
    states: tuple[Level, ...]
    probabilities: Floats
    posteriors: Floats
    cost: float = 0.0

    @property
    def net(self) -> float | None:
        """The value less what the question costs; None without costs of decisions."""
        return None if self.value is None else self.value - self.cost


@dataclass(frozen=True, eq=False)
class NextQuestions:
    """The features without a value, the most informative first; with costs, the most valuable first, then by bits.

    What a question costs is taken off its value. Ties go to the earlier column. Index it for one, print it for all,
    ``to_frame()`` for a table.

    Attributes
    ----------
    questions : tuple of Question
    target : str
    classes : labels
    probabilities : (n_classes,) array
        The class probabilities as things are.
    entropy : float
        Their entropy in bits.
    expected_cost : float or None
        The least expected cost as things are, where costs were given.
    worth_asking : bool or None
        Whether the first question is expected to save more than it costs, where costs were given.
    region : tuple of pairs of float, or None
        Of two classes with costs: from which to which probability of the second class asking is worth more than
        deciding, all that the features tell being held; see :mod:`tanbark.estimators.questions.region`.
    """

    questions: tuple[Question, ...]
    target: str
    classes: tuple[Level, ...]
    probabilities: Floats
    entropy: float
    expected_cost: float | None = None
    find_region: Callable[[], Region] | None = field(default=None, repr=False)

    @property
    def worth_asking(self) -> bool | None:
        """Whether the first question is expected to save more than it costs; None without costs."""
        if self.expected_cost is None:
            return None
        return bool(self.questions) and (self.questions[0].net or 0.0) > LEAST

    @cached_property
    def region(self) -> Region | None:
        """From which to which probability of the second class asking is worth more than deciding."""
        return None if self.find_region is None else self.find_region()

    def __len__(self) -> int:
        return len(self.questions)

    def __iter__(self) -> Iterator[Question]:
        return iter(self.questions)

    def __getitem__(self, place: int) -> Question:
        return self.questions[place]

    def to_frame(self, *, backend: str | None = None) -> Any:
        """Return a frame with a line for every feature; ``backend`` is "pandas", "polars" or "pyarrow"."""
        data: dict[str, Any] = {
            "feature": [question.feature for question in self.questions],
            "bits": [question.bits for question in self.questions],
        }
        if self.expected_cost is not None:
            data["value"] = [question.value for question in self.questions]
            data["cost"] = [question.cost for question in self.questions]
        return make_frame(data, backend)

    def cells(self) -> tuple[list[str], list[list[str]]]:
        """Return the heads and the lines of a printed table."""
        costly = self.expected_cost is not None
        priced = costly and any(question.cost for question in self.questions)
        heads = ["ask for", "bits", *(["value"] if costly else []), *(["cost"] if priced else [])]
        lines = [
            [question.feature, f"{question.bits:.4f}", *([f"{question.value:.4g}"] if costly else []),
             *([f"{question.cost:.4g}"] if priced else [])]
            for question in self.questions
        ]  # fmt: skip
        return heads, lines

    def _head(self) -> str:
        best = int(self.probabilities.argmax())
        now = (
            f"P({self.target} = {self.classes[best]}) = {self.probabilities[best]:.4f}, entropy {self.entropy:.4f} bits"
        )
        return now if self.expected_cost is None else f"{now}, expected cost {self.expected_cost:.4g}"

    def __str__(self) -> str:
        if not self.questions:
            return f"{self._head()}\nEvery feature has a value: there is nothing left to ask for."
        return f"{self._head()}\n{text_table(*self.cells())}"

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return html_table(self._head(), *self.cells())


def ask_next(asked: Asked, row: Codes, costs: Costs | None = None, prices: Floats | None = None) -> NextQuestions:
    """Measure every feature without a value; see :mod:`tanbark.estimators.questions.model` for the definitions.

    ``prices`` has what it costs to ask for every feature; by default nothing.
    """
    posterior = own_posterior(asked, row)
    prices = np.zeros(asked.n_features) if prices is None else prices
    seen = outcomes(asked, row[:, None], posterior[None])
    found = []
    for each in seen:
        column = asked.schema.columns[each.column]
        value = None if costs is None else each.saving(posterior, costs.matrix)
        found.append(
            Question(
                column.name, each.bits(posterior), value, column.states(), each.probabilities, each.posteriors,
                float(prices[each.column]),
            )
        )  # fmt: skip
    found.sort(key=lambda question: (-worth(question.value or 0.0, question.cost), -question.bits))
    target = asked.schema.columns[asked.n_features]
    expected, region = None, None
    if costs is not None:
        expected = float(costs.least(posterior[None])[0])
        region = partial(asking_region, posterior, seen, costs.matrix, prices) if len(posterior) == 2 else None
    return NextQuestions(
        tuple(found), target.name, target.states(), posterior, float(entropy(posterior[None])[0]), expected, region
    )


def importances(asked: Asked) -> Floats:
    """Return the bits of every feature where nothing is observed, in the order of the features."""
    row = asked.nothing()
    posterior = own_posterior(asked, row)
    bits = np.zeros(asked.n_features)
    for seen in outcomes(asked, row[:, None], posterior[None]):
        bits[seen.column] = seen.bits(posterior)
    return bits
