"""What queries return: labelled posteriors, assignments, and the cost of a query."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tanbark.arrays import Floats
from tanbark.display import MOST, html_table, text_table
from tanbark.errors import InputError, nearest
from tanbark.table import Level
from tanbark.table.frames import make_frame

ROWS_SHOWN = 40


def _state(name: str, states: tuple[Level, ...], state: object) -> int:
    if state in states:
        return states.index(state)
    hint = nearest(state, [str(known) for known in states])
    msg = f"{name!r} has no state {state!r}.{hint} Its states are {list(states)[:20]}."
    raise InputError(msg)


@dataclass(frozen=True, eq=False)
class Posterior:
    """A joint posterior with the names of its variables and states.

    ``values`` has an axis per variable, in the order of ``variables``; ``np.asarray`` returns it. A state, or a
    tuple of states, picks a probability; ``frame`` has a row per combination of states. A session or a notebook shows
    it with bars, ``print`` the numbers alone. ``method`` is "exact", or what it was estimated by, and ``errors`` are
    then the Monte-Carlo standard errors of ``values``, or how far loopy propagation moves when a loop is cut.

    Examples
    --------
    >>> posterior = Posterior(("rain",), ((False, True),), np.array([0.75, 0.25]))
    >>> float(posterior[True])
    0.25
    >>> print(posterior)
    rain   probability
    False         0.75
    True          0.25
    >>> posterior
    rain   probability  0                  1
    ────────────────────────────────────────
    False         0.75  ███████████████
    True          0.25  █████
    """

    variables: tuple[str, ...]
    states: tuple[tuple[Level, ...], ...]
    values: Floats
    method: str = "exact"
    errors: Floats | None = None

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Floats:
        return np.array(self.values, dtype=dtype, copy=copy)

    def __getitem__(self, states: object) -> Any:
        wanted = states if isinstance(states, tuple) else (states,)
        if len(wanted) != len(self.variables):
            msg = f"Give a state for each of {list(self.variables)}; got {states!r}."
            raise InputError(msg)
        parts = zip(self.variables, self.states, wanted, strict=True)
        return self.values[tuple(_state(name, known, state) for name, known, state in parts)]

    def marginal(self, *variables: str) -> Posterior:
        """Sum the others out."""
        for name in variables:
            if name not in self.variables:
                msg = f"{name!r} was not asked for.{nearest(name, self.variables)}"
                raise InputError(msg)
        axes = [self.variables.index(name) for name in variables]
        others = tuple(axis for axis in range(len(self.variables)) if axis not in axes)
        summed = self.values.sum(axis=others).transpose(np.argsort(np.argsort(axes)))
        return Posterior(tuple(variables), tuple(self.states[axis] for axis in axes), summed, self.method)

    def most_likely(self) -> dict[str, Level]:
        """Return the most probable combination of states; ties go to the first."""
        place = np.unravel_index(int(self.values.argmax()), self.values.shape)
        return {name: known[k] for name, known, k in zip(self.variables, self.states, place, strict=True)}

    def frame(self, *, backend: str | None = None) -> Any:
        """Return a frame with a row per combination of states and a column ``probability``."""
        return make_frame(self._columns(), backend)

    def _columns(self) -> dict[str, Any]:
        grid = np.indices(self.values.shape).reshape(len(self.variables), -1)
        parts = zip(self.variables, self.states, grid, strict=True)
        data: dict[str, Any] = {name: [known[k] for k in row] for name, known, row in parts}
        return {**data, _free_name("probability", self.variables): self.values.ravel()}

    def __str__(self) -> str:
        columns = {
            name: [f"{value:.6g}" if isinstance(value, float) else str(value) for value in values.tolist()]
            if isinstance(values, np.ndarray) else [str(value) for value in values]
            for name, values in self._columns().items()
        }  # fmt: skip
        last = len(columns) - 1
        widths = [max(map(len, (name, *values[:ROWS_SHOWN]))) for name, values in columns.items()]
        rows = [list(columns), *map(list, zip(*(values[:ROWS_SHOWN] for values in columns.values()), strict=True))]
        lines = [
            "  ".join(
                text.rjust(widths[k]) if k == last else text.ljust(widths[k]) for k, text in enumerate(row)
            )
            for row in rows
        ]  # fmt: skip
        more = self.values.size - ROWS_SHOWN
        return "\n".join([*lines, *([f"… and {more:,} more"] if more > 0 else []), *self._note()])

    def _note(self) -> list[str]:
        """Name the method of an estimate, and its standard error."""
        if self.method == "exact":
            return []
        if self.errors is None:
            return [f"by {self.method}"]
        what = "moves when a loop is cut by" if self.method == "loopy" else "standard error"
        return [f"by {self.method}, {what} up to {self.errors.max():.2g}"]

    def _shown(self) -> tuple[list[str], list[list[str]], dict[str, Any]]:
        name, first = _free_name("probability", self.variables), self.values.ravel()[: ROWS_SHOWN + 1].tolist()
        places = zip(*np.unravel_index(np.arange(len(first)), self.values.shape), strict=True)
        lines = [
            [*(str(known[k]) for known, k in zip(self.states, place, strict=True)), f"{p:.6g}"]
            for place, p in zip(places, first, strict=True)
        ]
        options = {"left": len(self.variables), "most": ROWS_SHOWN, "bars": first, "total": self.values.size}
        return [*self.variables, name], lines, options

    def __repr__(self) -> str:
        heads, lines, options = self._shown()
        return "\n".join([text_table(heads, lines, **options), *self._note()])

    def _repr_html_(self) -> str:
        heads, lines, options = self._shown()
        return html_table("".join(self._note()), heads, lines, **options)


def _free_name(name: str, taken: Sequence[str]) -> str:
    while name in taken:
        name += "_"
    return name


@dataclass(frozen=True, eq=False)
class Posteriors:
    """The posteriors of many rows of evidence; ``values`` has the rows first, then an axis per variable."""

    variables: tuple[str, ...]
    states: tuple[tuple[Level, ...], ...]
    values: Floats

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Floats:
        return np.array(self.values, dtype=dtype, copy=copy)

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, row: int) -> Posterior:
        return Posterior(self.variables, self.states, self.values[row])

    def __iter__(self) -> Iterator[Posterior]:
        return (self[row] for row in range(len(self)))

    def frame(self, *, backend: str | None = None) -> Any:
        """Return a frame with a row per row of evidence and a column per combination of states."""
        grid = np.indices(self.values.shape[1:]).reshape(len(self.variables), -1).T
        flat = self.values.reshape(len(self.values), math.prod(self.values.shape[1:]))
        names = [
            ", ".join(f"{name}={known[k]}" for name, known, k in zip(self.variables, self.states, cell, strict=True))
            for cell in grid
        ]
        return make_frame(dict(zip(names, flat.T, strict=True)), backend)

    def _title(self) -> str:
        return f"Posteriors({', '.join(self.variables)}; {len(self.values):,} rows)"

    def _shown(self) -> tuple[list[str], list[list[str]], dict[str, Any]]:
        """Return the most probable combination of states of the first rows and its probability."""
        rows = [self[k] for k in range(min(len(self), MOST + 1))]
        best = [float(row.values.max()) for row in rows]
        lines = [
            [str(k), *map(str, row.most_likely().values()), f"{p:.6g}"]
            for k, (row, p) in enumerate(zip(rows, best, strict=True))
        ]
        heads = ["row", *(f"most likely {name}" for name in self.variables), "probability"]
        return heads, lines, {"left": 1 + len(self.variables), "bars": best, "total": len(self)}

    def __repr__(self) -> str:
        heads, lines, options = self._shown()
        return f"{self._title()}\n{text_table(heads, lines, **options)}"

    def _repr_html_(self) -> str:
        heads, lines, options = self._shown()
        return html_table(self._title(), heads, lines, **options)


@dataclass(frozen=True, eq=False)
class Assignment(Mapping[str, Level]):
    """The most probable states of some variables, as a mapping from names to states.

    Attributes
    ----------
    states : dict
    log_joint : float
        Logarithm of P(states, evidence).
    log_evidence : float
        Logarithm of P(evidence).
    """

    states: dict[str, Level]
    log_joint: float
    log_evidence: float

    @property
    def joint(self) -> float:
        """P(states, evidence)."""
        return math.exp(self.log_joint)

    @property
    def posterior(self) -> float:
        """P(states | evidence)."""
        return min(1.0, math.exp(self.log_joint - self.log_evidence))

    def __getitem__(self, name: str) -> Level:
        return self.states[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.states)

    def __len__(self) -> int:
        return len(self.states)

    def __repr__(self) -> str:
        return f"Assignment({self.states}, posterior={self.posterior:.6g})"


@dataclass(frozen=True)
class Cost:
    """What an elimination takes, known before it runs.

    Attributes
    ----------
    width : int
        Number of variables in the widest factor, less one: the width of the elimination order.
    largest : float
        Entries of the largest factor that is looked at.
    operations : float
        Entries looked at in all.
    order : tuple of str
        The variables in the order in which they are eliminated.
    widest : tuple of str
        The variables of the largest factor.
    memory : float
        Bytes that it takes; NaN where it is too large to plan.
    """

    width: int
    largest: float
    operations: float
    order: tuple[str, ...]
    widest: tuple[str, ...]
    memory: float = math.nan

    def __str__(self) -> str:
        return (
            f"width {self.width}, largest factor {self.largest:,.0f} entries, {self.operations:,.0f} entries in all, "
            f"{len(self.order)} variables to eliminate"
        )
