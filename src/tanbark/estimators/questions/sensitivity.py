"""How far one feature at a time may move a posterior: the data of a tornado diagram."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from tanbark.arrays import Codes
from tanbark.display import html_table, text_table
from tanbark.estimators.questions.model import Asked, each_state, posteriors
from tanbark.estimators.questions.rows import own_posterior
from tanbark.table import Level
from tanbark.table.frames import make_frame


@dataclass(frozen=True)
class Span:
    """The lowest and the highest posterior over the states of one feature, and the first states that have them.

    ``state`` is that of the row, None where it has no value. Without any possible state, low and high are the
    posterior as it is, and their states None.
    """

    feature: str
    state: Level | None
    low: float
    low_state: Level | None
    high: float
    high_state: Level | None

    @property
    def width(self) -> float:
        """The distance between both."""
        return self.high - self.low


@dataclass(frozen=True)
class Sensitivity:
    """The spans of all features, the widest first, ties to the earlier column; print it, or ``to_frame()``.

    Attributes
    ----------
    spans : tuple of Span
    target : str
    label : the class whose posterior it is
    probability : float
        The posterior as things are.
    """

    spans: tuple[Span, ...]
    target: str
    label: Level
    probability: float

    def __len__(self) -> int:
        return len(self.spans)

    def __iter__(self) -> Iterator[Span]:
        return iter(self.spans)

    def __getitem__(self, place: int) -> Span:
        return self.spans[place]

    def to_frame(self, *, backend: str | None = None) -> Any:
        """Return a frame with a line for every feature; ``backend`` is "pandas", "polars" or "pyarrow"."""
        names = ("feature", "state", "low", "low_state", "high", "high_state")
        data: dict[str, list[Any]] = {name: [getattr(span, name) for span in self.spans] for name in names}
        for name in ("state", "low_state", "high_state"):
            data[name] = [None if state is None else str(state) for state in data[name]]
        return make_frame(data, backend)

    def title(self) -> str:
        """Return what the spans are around."""
        return f"P({self.target} = {self.label}) = {self.probability:.4f}"

    def _cells(self) -> tuple[list[str], list[list[str]]]:
        lines = [
            [span.feature, _text(span.state), f"{span.low:.4f}", _text(span.low_state), f"{span.high:.4f}",
             _text(span.high_state)]
            for span in self.spans
        ]  # fmt: skip
        return ["feature", "is", "lowest", "if", "highest", "if"], lines

    def __str__(self) -> str:
        return f"{self.title()}\n{text_table(*self._cells(), left=2)}"

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return html_table(self.title(), *self._cells(), left=2)


def _text(state: Level | None) -> str:
    return "-" if state is None else str(state)


def sensitivity(asked: Asked, row: Codes, label: int | None) -> Sensitivity:
    """Put every feature in turn into each of its states, everything else held; impossible states are left out."""
    posterior = own_posterior(asked, row)
    chosen = int(posterior.argmax()) if label is None else label
    columns = list(range(asked.n_features))
    cells = [(0, column) for column in columns]
    after = each_state(lambda codes: posteriors(asked, codes)[0], row[:, None], cells, asked.cells)
    spans = []
    for column, found in zip(columns, after, strict=True):
        described, probabilities, state = asked.schema.columns[column], found[:, chosen], asked.state(row, column)
        own = None if state is None else described.states()[state]
        if np.isnan(probabilities).all():
            spans.append(Span(described.name, own, float(posterior[chosen]), None, float(posterior[chosen]), None))
            continue
        low, high = int(np.nanargmin(probabilities)), int(np.nanargmax(probabilities))
        states = described.states()
        spans.append(
            Span(described.name, own, float(probabilities[low]), states[low], float(probabilities[high]), states[high])
        )
    spans.sort(key=lambda span: -span.width)
    target = asked.schema.columns[asked.n_features]
    return Sensitivity(tuple(spans), target.name, target.states()[chosen], float(posterior[chosen]))
