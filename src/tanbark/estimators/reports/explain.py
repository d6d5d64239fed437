"""Why a prediction came out as it did: evidence in log-odds that adds up to the posterior."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from tanbark.arrays import Codes, Floats
from tanbark.display import equation, short
from tanbark.draw.waterfall import Part, waterfall_svg
from tanbark.table import Level, Schema, missing_code
from tanbark.table.frames import make_frame

MOST = 20  # features that the printed table spells out
SHOWN = 5  # rows that the repr of an explanation shows


@dataclass(frozen=True)
class RowExplanation:
    """One row: the parts, prior first and then the features parents first, sum to the log-odds of ``label``.

    ``missing`` names the features that had no value, or one that training never saw. A row that is ``impossible`` under
    every class is predicted by the prior alone, so its values count nothing.
    """

    row: int
    target: str
    label: Level
    probability: float
    log_odds: float
    parts: tuple[Part, ...]
    missing: tuple[str, ...] = ()
    impossible: bool = False

    def __str__(self) -> str:
        """Write a table, the strongest evidence first."""
        total = Part("log-odds", "", "", self.log_odds)
        cells = [("evidence", "value", "given", "nats", "bits"), *(_cells(part) for part in (*self.ranked(), total))]
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        lines = [
            "  ".join(text.rjust(width) if k > 2 else text.ljust(width) for k, (text, width) in enumerate(pairs))
            for pairs in (tuple(zip(row, widths, strict=True)) for row in cells)
        ]
        rule = "─" * len(lines[0])
        body = [lines[0], rule, *lines[1:-1], rule, lines[-1]]
        if self.missing:
            body.append(f"not observed: {_listed(self.missing)}")
        if self.impossible:
            body.append("no class makes these values possible: the prior alone decides")
        head = f"row {self.row}: P({short(self.target)} = {short(str(self.label))}) = {self.probability:.4f}"
        return "\n".join([head, *(f"  {line}".rstrip() for line in body)])

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        title = f"P({equation(self.target, self.label, 46)}) = {self.probability:.4f}"
        return waterfall_svg(title, self.ranked(), self.log_odds)

    def ranked(self) -> list[Part]:
        """Return the prior, then the features by strength; where there are very many, the weakest as one."""
        prior, *features = self.parts
        features.sort(key=lambda part: -abs(part.nats))
        if len(features) <= MOST + 1:
            return [prior, *features]
        weak = features[MOST:]
        rest = Part(f"{len(weak)} others", "", "", sum(part.nats for part in weak))
        return [prior, *features[:MOST], rest]


def _cells(part: Part) -> tuple[str, ...]:
    return short(part.name), short(part.value), short(part.given), f"{part.nats:+.3f}", f"{part.bits:+.3f}"


def _listed(names: tuple[str, ...]) -> str:
    more = len(names) - 10
    return ", ".join(map(short, names[:10])) + (f" and {more} others" if more > 0 else "")


@dataclass(frozen=True)
class Explanation:
    """Explanations of rows: index it for one, print it for all, ``to_frame()`` for a table."""

    rows: tuple[RowExplanation, ...]

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, row: int) -> RowExplanation:
        return self.rows[row]

    def __iter__(self) -> Iterator[RowExplanation]:
        return iter(self.rows)

    def __str__(self) -> str:
        return "\n\n".join(str(row) for row in self.rows)

    def __repr__(self) -> str:
        more = len(self.rows) - SHOWN
        return "\n\n".join([*map(str, self.rows[:SHOWN]), *([f"… and {more} more rows"] if more > 0 else [])])

    def _repr_html_(self) -> str:
        more = len(self.rows) - SHOWN
        rest = f"<p>… and {more} more rows</p>" if more > 0 else ""
        return "".join(f"<div>{row._repr_html_()}</div>" for row in self.rows[:SHOWN]) + rest

    def to_frame(self, *, backend: str | None = None) -> Any:
        """Return a frame with a line per row and part; ``backend`` is "pandas", "polars" or "pyarrow"."""
        lines = [(row, part) for row in self.rows for part in row.parts]
        data = {
            "row": [row.row for row, _ in lines],
            "class": [row.label for row, _ in lines],
            "evidence": [part.name for _, part in lines],
            "value": [part.value for _, part in lines],
            "given": [part.given for _, part in lines],
            "nats": [part.nats for _, part in lines],
            "bits": [part.bits for _, part in lines],
        }
        return make_frame(data, backend)


@dataclass(frozen=True)
class Explained:
    """What an explanation needs to know of a model: columns, the order in which values enter, parents, log-joints."""

    schema: Schema
    order: tuple[int, ...]
    parents: tuple[tuple[int, ...], ...]
    joint: Callable[[Codes], Floats]


def explain_rows(model: Explained, codes: Codes, label: int | None = None) -> Explanation:
    r"""Explain rows, each for its predicted class or for the given one.

    Values enter one at a time, parents before children, and each is credited with the change of

    .. math:: \ln \frac{P(c, o)}{\sum_{c' \ne c} P(c', o)}

    where everything that has not entered is marginalised, so the parts add up to the log-odds of the posterior exactly,
    missing values included. With two classes, no missing value and a class without parents that is
    :math:`\ln P(x_i | pa_i, c) - \ln P(x_i | pa_i, c')`.
    """
    joint = model.joint(codes)
    impossible = np.asarray(np.isneginf(joint).all(axis=1))
    if impossible.any():
        joint[impossible] = model.joint(np.full_like(codes[:, :1], missing_code(codes)))
    chosen = joint.argmax(axis=1) if label is None else np.full(len(joint), label)
    rows = zip(codes.T, chosen.tolist(), impossible.tolist(), strict=True)
    return Explanation(
        tuple(_explain(model, values, row, label=c, impossible=i) for row, (values, c, i) in enumerate(rows))
    )


def _explain(model: Explained, values: Codes, row: int, *, label: int, impossible: bool) -> RowExplanation:
    missing = missing_code(values)
    entering = [node for node in model.order if values[node] != missing]
    odds = _log_odds(model.joint(_one_by_one(values, entering)), label)
    if impossible:
        odds[1:] = odds[0]
    names, target = model.schema.names, model.schema.target
    parts = [Part("prior", "", "", float(odds[0]))]
    for step, node in enumerate(entering, start=1):
        change = odds[step] - odds[step - 1] if odds[step] != odds[step - 1] else 0.0
        parts.append(Part(names[node], _state(model, values, node), _given(model, values, node), float(change)))
    absent = tuple(names[node] for node in range(target) if values[node] == missing)
    level = model.schema.columns[target].states()[label]
    total = float(odds[-1])
    probability = 1.0 / (1.0 + math.exp(-total)) if total > -700 else 0.0
    return RowExplanation(row, names[target], level, probability, total, tuple(parts), absent, impossible)


def _one_by_one(values: Codes, entering: list[int]) -> Codes:
    """Lay out rows in which nothing, one value, two values, … are known."""
    steps = np.full((len(values), len(entering) + 1), missing_code(values), values.dtype)
    for step, node in enumerate(entering, start=1):
        steps[node, step:] = values[node]
    return steps


def _given(model: Explained, values: Codes, node: int) -> str:
    names, missing = model.schema.names, missing_code(values)
    return ", ".join(
        f"{names[p]} not observed" if values[p] == missing else f"{names[p]} = {_state(model, values, p)}"
        for p in model.parents[node]
    )


def _state(model: Explained, values: Codes, node: int) -> str:
    return str(model.schema.columns[node].states()[values[node]])


def _log_odds(joint: Floats, chosen: int) -> Floats:
    """Log-odds of one class against the others together; infinite where only one side is possible."""
    rest = np.delete(joint, chosen, axis=1)
    top = rest.max(axis=1, initial=-np.inf)
    shift = np.where(np.isfinite(top), top, 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        others = np.log(np.exp(rest - shift[:, None]).sum(axis=1)) + shift
        odds = joint[:, chosen] - others
    return np.where(np.isnan(odds), 0.0, odds)
