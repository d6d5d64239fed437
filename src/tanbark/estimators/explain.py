"""Why a prediction came out as it did: evidence in log-odds that adds up to the posterior."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tanbark.graph import Network
from tanbark.graph.network import make_frame
from tanbark.inference import joint_log_proba
from tanbark.table import Level, missing_code

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Part:
    """What one value says: its log-odds, given the values that the network has it depend on."""

    name: str
    value: str
    given: str
    nats: float

    @property
    def bits(self) -> float:
        """The same in bits."""
        return self.nats / math.log(2.0)


@dataclass(frozen=True)
class RowExplanation:
    """One row: the parts, prior first and then the features parents first, sum to the log-odds of ``label``."""

    row: int
    target: str
    label: Level
    probability: float
    log_odds: float
    parts: tuple[Part, ...]
    missing: tuple[str, ...]

    def __str__(self) -> str:
        """Write a table, the strongest evidence first."""
        ranked = [self.parts[0], *sorted(self.parts[1:], key=lambda part: -abs(part.nats))]
        cells = [(part.name, part.value, part.given, f"{part.nats:+.3f}", f"{part.bits:+.3f}") for part in ranked]
        total = f"{self.log_odds:+.3f}", f"{self.log_odds / math.log(2.0):+.3f}"
        cells = [("evidence", "value", "given", "nats", "bits"), *cells, ("log-odds", "", "", *total)]
        widths = [max(len(row[k]) for row in cells) for k in range(5)]
        head = f"row {self.row}: P({self.target} = {self.label}) = {self.probability:.4f}"
        lines = [
            "  ".join(text.ljust(w) if k < 3 else text.rjust(w) for k, (text, w) in enumerate(zip(row, widths, strict=True)))
            for row in cells
        ]
        rule = "─" * len(lines[0])
        if self.missing:
            lines.append(f"not observed: {', '.join(self.missing)}")
        body = [lines[0], rule, *lines[1 : len(cells) - 1], rule, *lines[len(cells) - 1 :]]
        return "\n".join([head, *(f"  {line}".rstrip() for line in body)])


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
        return str(self)

    def to_frame(self, *, backend: str | None = None) -> Any:
        """Give a frame with a line per row and part; ``backend`` is "pandas", "polars" or "pyarrow"."""
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


def explain_rows(network: Network, codes: NDArray[np.unsignedinteger], label: int | None = None) -> Explanation:
    r"""Explain rows, each for its predicted class or for the given one.

    Values enter one at a time, parents before children, and each is credited with the change of

    .. math:: \ln \frac{P(c, o)}{\sum_{c' \ne c} P(c', o)}

    where everything that has not entered is summed out, so the parts add up to the log-odds of the posterior exactly,
    gaps included. With two classes and no gap that is :math:`\ln P(x_i | pa_i, c) - \ln P(x_i | pa_i, c')`, whatever
    the order.
    """
    return Explanation(tuple(_explain(network, codes[:, [row]], row, label) for row in range(codes.shape[1])))


def _explain(network: Network, codes: NDArray[np.unsignedinteger], row: int, label: int | None) -> RowExplanation:
    gap = missing_code(codes)
    entering = [node for node in network.dag.order if node != network.target and codes[node, 0] != gap]
    steps = np.full((codes.shape[0], len(entering) + 1), gap, codes.dtype)
    for step, node in enumerate(entering, start=1):
        steps[:, step] = steps[:, step - 1]
        steps[node, step] = codes[node, 0]
    joint = joint_log_proba(network, steps)
    chosen = int(joint[-1].argmax()) if label is None else label
    odds = _log_odds(joint, chosen)
    names, columns = network.dag.names, network.schema.columns
    parts = [Part("prior", "", "", float(odds[0]))]
    for step, node in enumerate(entering, start=1):
        given = [f"{names[p]} = {_state(network, codes, p)}" for p in network.axes(node) if p not in (node, network.target)]
        change = odds[step] - odds[step - 1] if odds[step] != odds[step - 1] else 0.0
        parts.append(Part(names[node], columns[node].labels()[codes[node, 0]], ", ".join(given), float(change)))
    absent = tuple(names[node] for node in range(network.target) if codes[node, 0] == gap)
    level = columns[network.target].states()[chosen]
    total = float(odds[-1])
    share = 1.0 / (1.0 + math.exp(-total)) if total > -700 else 0.0
    return RowExplanation(row, names[network.target], level, share, total, tuple(parts), absent)


def _state(network: Network, codes: NDArray[np.unsignedinteger], node: int) -> str:
    code = int(codes[node, 0])
    labels = network.schema.columns[node].labels()
    return labels[code] if code < len(labels) else "?"


def _log_odds(joint: Floats, chosen: int) -> Floats:
    """Log-odds of one class against the others together; infinite where only one side is possible."""
    rest = np.delete(joint, chosen, axis=1)
    top = rest.max(axis=1, initial=-np.inf)
    shift = np.where(np.isfinite(top), top, 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        others = np.log(np.exp(rest - shift[:, None]).sum(axis=1)) + shift
        odds = joint[:, chosen] - others
    return np.where(np.isnan(odds), 0.0, odds)
