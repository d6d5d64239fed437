"""Which feature to ask for next: how much each is expected to tell about the class."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from tanbark.arrays import Codes, Floats
from tanbark.display import html_table, text_table
from tanbark.estimators.questions.costs import Costs
from tanbark.estimators.questions.model import Asked, entropy, outcomes
from tanbark.estimators.questions.rows import own_posterior
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
        By how much the expected cost is expected to fall, where costs were given.
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


@dataclass(frozen=True, eq=False)
class NextQuestions:
    """The features without a value, the most informative first; with costs, the most valuable first, then by bits.

    Ties go to the earlier column. Index it for one, print it for all, ``to_frame()`` for a table.

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
    """

    questions: tuple[Question, ...]
    target: str
    classes: tuple[Level, ...]
    probabilities: Floats
    entropy: float
    expected_cost: float | None = None

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
        return make_frame(data, backend)

    def _cells(self) -> tuple[list[str], list[list[str]]]:
        costly = self.expected_cost is not None
        heads = ["ask for", "bits", *(["value"] if costly else [])]
        lines = [
            [question.feature, f"{question.bits:.4f}", *([f"{question.value:.4g}"] if costly else [])]
            for question in self.questions
        ]
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
        return f"{self._head()}\n{text_table(*self._cells())}"

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return html_table(self._head(), *self._cells())


def ask_next(asked: Asked, row: Codes, costs: Costs | None = None) -> NextQuestions:
    """Measure every feature without a value; see :mod:`tanbark.estimators.questions.model` for the definitions."""
    posterior = own_posterior(asked, row)
    found = []
    for seen in outcomes(asked, row, posterior):
        column = asked.schema.columns[seen.column]
        value = None if costs is None else seen.fall(posterior, costs.least)
        bits = seen.fall(posterior, entropy)
        found.append(Question(column.name, bits, value, column.states(), seen.probabilities, seen.posteriors))
    found.sort(key=lambda question: (-(question.value or 0.0), -question.bits))
    target = asked.schema.columns[asked.n_features]
    expected = None if costs is None else float(costs.least(posterior[None])[0])
    return NextQuestions(
        tuple(found), target.name, target.states(), posterior, float(entropy(posterior[None])[0]), expected
    )


def importances(asked: Asked) -> Floats:
    """Return the bits of every feature where nothing is observed, in the order of the features."""
    row = asked.nothing()
    posterior = own_posterior(asked, row)
    bits = np.zeros(asked.n_features)
    for seen in outcomes(asked, row, posterior):
        bits[seen.column] = seen.fall(posterior, entropy)
    return bits
