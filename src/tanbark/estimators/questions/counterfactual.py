"""The fewest changes of observed values that change the predicted class: all subsets, all states, by their size."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, islice
from typing import Any

import numpy as np

from tanbark.arrays import TIE, Array, Codes, Floats, Integers
from tanbark.display import html_table, text_table
from tanbark.estimators.questions.model import MOST_CODES, Asked, posteriors
from tanbark.estimators.questions.rows import own_posterior
from tanbark.table import Level
from tanbark.table.frames import make_frame

BLOCK = 1 << 16  # rows that are evaluated at once
SUBSETS = 1 << 12  # sets of columns that are laid out at once


@dataclass(frozen=True)
class Change:
    """One feature, the state that it has, and the state that it would have."""

    feature: str
    state: Level
    new_state: Level


@dataclass(frozen=True)
class Counterfactual:
    """The smallest set of changes that changes the predicted class; of sets of one size, that of highest probability.

    Attributes
    ----------
    changes : tuple of Change
        Empty where none was found, or where ``label`` is predicted as things are.
    target : str
    predicted : the class that is predicted as things are
    label : the class that is predicted after the changes; where none was found, the one that was wanted, or None
    probability : float
        Its probability after the changes (as things are, where there is none; NaN where no class was wanted).
    found : bool
        Whether ``label`` is predicted with ``changes``.
    searched : int
        All sets of at most so many features were searched, in all states.
    unsearched : int
        Sets of up to so many features were allowed and not searched, since they would have needed more than
        ``max_evaluations`` rows; 0 where all were searched or a smaller set was found.
    evaluations : int
        Rows that were evaluated.
    """

    changes: tuple[Change, ...]
    target: str
    predicted: Level
    label: Level | None
    probability: float
    found: bool
    searched: int
    unsearched: int
    evaluations: int

    def __len__(self) -> int:
        return len(self.changes)

    def __iter__(self) -> Iterator[Change]:
        return iter(self.changes)

    @property
    def statement(self) -> str:
        """What was found, and what was searched."""
        goal = f"{self.target} = {self.label}" if self.label is not None else f"another {self.target}"
        if self.found and not self.changes:
            return f"{goal} is predicted as things are: P = {self.probability:.4f}"
        if self.found:
            features = "feature" if len(self.changes) == 1 else "features"
            return f"{goal} with {len(self.changes)} {features} changed: P = {self.probability:.4f}"
        told = f"no change of up to {self.searched} observed features leads to {goal}"
        if self.unsearched:
            sizes = f"{self.searched + 1}" if self.unsearched == self.searched + 1 else f"more, up to {self.unsearched}"
            told += f"; sets of {sizes} were not searched: raise max_evaluations, or name features in fixed"
        return told

    def to_frame(self, *, backend: str | None = None) -> Any:
        """Return a frame with a line for every change; ``backend`` is "pandas", "polars" or "pyarrow"."""
        data = {
            "feature": [change.feature for change in self.changes],
            "state": [str(change.state) for change in self.changes],
            "new_state": [str(change.new_state) for change in self.changes],
        }
        return make_frame(data, backend)

    def _cells(self) -> tuple[list[str], list[list[str]]]:
        lines = [[change.feature, str(change.state), str(change.new_state)] for change in self.changes]
        return ["change", "from", "to"], lines

    def __str__(self) -> str:
        table = f"\n{text_table(*self._cells(), left=3)}" if self.changes else ""
        return f"predicted {self.target} = {self.predicted}; {self.statement}{table}"

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return html_table(f"predicted {self.target} = {self.predicted}; {self.statement}", *self._cells(), left=3)


@dataclass(frozen=True, eq=False)
class _Search:
    """What is changed: the columns, the codes that each may take instead, and the classes that count."""

    asked: Asked
    row: Codes
    columns: Integers
    options: list[Array]
    wanted: Integers

    def n_rows(self, size: int) -> int:
        """Count the rows in which ``size`` features are changed."""
        sums = [1] + [0] * size
        for options in self.options:
            for k in range(size, 0, -1):
                sums[k] += sums[k - 1] * len(options)
        return sums[size]


def counterfactual(
    asked: Asked, row: Codes, label: int | None, *, max_changes: int, fixed: Sequence[int], max_evaluations: int
) -> Counterfactual:
    """Search sets of 1, 2, … features; a size is searched whole or, where it has too many rows, not at all."""
    posterior = own_posterior(asked, row)
    now, target = int(posterior.argmax()), asked.schema.columns[asked.n_features]
    predicted = target.states()[now]
    if label == now:
        return Counterfactual((), target.name, predicted, predicted, float(posterior[now]), True, 0, 0, 0)
    search = _prepare(
        asked, row, fixed, [c for c in range(len(posterior)) if (c != now if label is None else c == label)]
    )
    searched = evaluations = unsearched = 0
    for size in range(1, max_changes + 1):
        rows = search.n_rows(size)
        if evaluations + rows > max_evaluations:
            unsearched = min(max_changes, len(search.columns))
            break
        best = _best(search, size) if rows else None
        evaluations, searched = evaluations + rows, size
        if best is not None:
            columns, codes, new, probability = best
            changes = tuple(_change(asked, row, column, code) for column, code in zip(columns, codes, strict=True))
            states = target.states()[new]
            return Counterfactual(changes, target.name, predicted, states, probability, True, searched, 0, evaluations)
    wanted = None if label is None else target.states()[label]
    probability = math.nan if label is None else float(posterior[label])
    return Counterfactual(
        (), target.name, predicted, wanted, probability, False, searched, unsearched, evaluations
    )  # fmt: skip


def _prepare(asked: Asked, row: Codes, fixed: Sequence[int], wanted: Sequence[int]) -> _Search:
    free = [
        column for column in np.flatnonzero(asked.observed(row)).tolist()
        if column not in fixed and asked.schema.cardinalities[column] > 1
    ]  # fmt: skip
    options = [
        asked.cells[column][asked.members[column][asked.cells[column]] != asked.state(row, column)] for column in free
    ]
    return _Search(asked, row, np.array(free, np.int64), options, np.array(wanted, np.int64))


def _change(asked: Asked, row: Codes, column: int, code: int) -> Change:
    described, state = asked.schema.columns[column], asked.state(row, column)
    assert state is not None
    states = described.states()
    return Change(described.name, states[state], states[int(asked.members[column][code])])


def _best(search: _Search, size: int) -> tuple[list[int], list[int], int, float] | None:
    """Find the changes of so many features that make a wanted class most probable among those that predict it.

    Probabilities that differ by less than a tolerance tie; the earlier columns win, and then the earlier states.
    """
    kept: list[tuple[Floats, Array, Array, Array]] = []
    top = -math.inf
    block = max(1, min(BLOCK, MOST_CODES // len(search.row)))
    options = _options(search.options)
    for places, digits in _changed(np.array([len(codes) for codes in search.options]), size, block):
        columns = search.columns[places]
        codes = options[places, digits]
        batch = np.repeat(search.row[:, None], len(columns), axis=1)
        for k in range(size):
            batch[columns[:, k], np.arange(len(columns))] = codes[:, k]
        found, possible = posteriors(search.asked, batch)
        found[~possible] = 0.0
        new = found.argmax(axis=1)
        values = np.where(possible & np.isin(new, search.wanted), found.max(axis=1), -math.inf)
        near = np.flatnonzero(values >= max(top, values.max()) - TIE)
        near = near[np.isfinite(values[near])]
        if len(near):
            top = max(top, float(values.max()))
            kept.append((values[near], columns[near], codes[near], new[near]))
    for values, columns, codes, new in kept:
        near = np.flatnonzero(values >= top - TIE)
        if len(near):
            first = int(near[0])
            return columns[first].tolist(), codes[first].tolist(), int(new[first]), float(values[first])
    return None


def _options(options: list[Array]) -> Integers:
    """Lay the codes that columns may take out as one array, (columns, most options)."""
    out = np.zeros((len(options), max(map(len, options))), np.int64)
    for place, codes in enumerate(options):
        out[place, : len(codes)] = codes
    return out


def _changed(n_options: Integers, size: int, block: int) -> Iterator[tuple[Integers, Integers]]:
    """Enumerate sets of columns in lexicographic order with all their options, the last column's fastest, in blocks."""
    sets = combinations(range(len(n_options)), size)
    while chunk := list(islice(sets, SUBSETS)):
        columns = np.array(chunk, np.int64)
        sizes = n_options[columns]
        counts = sizes.prod(axis=1)
        ends = np.cumsum(counts)
        for low in range(0, int(ends[-1]), block):
            flat = np.arange(low, min(low + block, int(ends[-1])))
            place = np.searchsorted(ends, flat, side="right")
            rest = flat - (ends[place] - counts[place])
            digits = np.empty((len(flat), size), np.int64)
            for k in range(size - 1, -1, -1):
                digits[:, k] = rest % sizes[place, k]
                rest //= sizes[place, k]
            yield columns[place], digits
