"""The schema: what each column may hold, and how a value becomes a code."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

from tanbark.errors import InputError, listed, nearest

Level = str | int | float | bool

NEVER_OBSERVED = "(never observed)"
MISSING = "(missing)"


@dataclass(frozen=True)
class Column:
    """One variable: its name and its states, either categories or intervals between cut points.

    Parameters
    ----------
    name : str
    kind : {"category", "interval"}
    values : {"number", "text", "boolean"}
        What the raw column held; a later table must hold the same.
    levels : tuple
        The categories, in the order of their codes; empty for intervals.
    cuts : tuple of float
        Increasing cut points; state k is (cuts[k-1], cuts[k]].
    missing_state : bool
        Whether a missing value is a state, the first; the others then follow it.
    written : str
        How text becomes the numbers of the column, such as ".$" for "$1,234.50"; empty where it held numbers.
    """

    name: str
    kind: str = "category"
    values: str = "text"
    levels: tuple[Level, ...] = ()
    cuts: tuple[float, ...] = ()
    missing_state: bool = False
    written: str = ""

    @property
    def n_states(self) -> int:
        """Number of states; a column that was never observed has one."""
        own = len(self.cuts) + 1 if self.kind == "interval" else max(1, len(self.levels))
        return own + self.missing_state

    def labels(self) -> list[str]:
        """Return a readable name of every state.

        >>> Column("age", "interval", "number", cuts=(18.0, 65.0)).labels()
        ['≤ 18', '18 to 65', '> 65']
        """
        first = [MISSING] if self.missing_state else []
        if self.kind != "interval":
            return first + ([str(level) for level in self.levels] or [NEVER_OBSERVED])
        if not self.cuts:
            return [*first, "any number"]
        ends = _short(self.cuts)
        inner = [f"{low} to {high}" for low, high in pairwise(ends)]
        return [*first, f"≤ {ends[0]}", *inner, f"> {ends[-1]}"]

    def states(self) -> tuple[Level, ...]:
        """Return the typed categories, or the labels of the intervals."""
        if self.kind != "category" or not self.levels:
            return tuple(self.labels())
        return (MISSING, *self.levels) if self.missing_state else self.levels

    def with_levels(self, more: Iterable[Level]) -> Column:
        """Append categories that are new."""
        known = set(self.levels)
        new = tuple(level for level in more if level not in known)
        check_levels(self.name, new)
        return replace(self, levels=self.levels + new)


def check_levels(name: str, levels: Iterable[Level]) -> None:
    """Validate categories to learn: no number among them is infinite, which no file of models can hold."""
    if any(isinstance(level, float) and math.isinf(level) for level in levels):
        msg = (
            f"Column {name!r} has the category infinity, which no file can hold. Replace it by a string, a large "
            "number or a missing value."
        )
        raise InputError(msg)


def _short(cuts: tuple[float, ...]) -> list[str]:
    """Format cut points with the fewest digits that keep them distinct."""
    for digits in range(4, 17):
        texts = [f"{cut:.{digits}g}" for cut in cuts]
        if len(set(texts)) == len(texts):
            return texts
    return [repr(cut) for cut in cuts]


@dataclass(frozen=True)
class Schema:
    """The columns of a model in order; where there is a class, it is the last one."""

    columns: tuple[Column, ...]
    has_class: bool = True

    def __post_init__(self) -> None:
        if len(set(self.names)) != len(self.columns):
            twice = sorted({name for name in self.names if self.names.count(name) > 1})
            msg = f"Column names must be different; {twice} occur more than once. Rename them."
            raise InputError(msg)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Names of all columns, the class last."""
        return tuple(column.name for column in self.columns)

    @property
    def target(self) -> int:
        """Index of the class, or -1 where there is none."""
        return len(self.columns) - 1 if self.has_class else -1

    @property
    def features(self) -> tuple[Column, ...]:
        """The columns without the class."""
        return self.columns[:-1] if self.has_class else self.columns

    @cached_property
    def cardinalities(self) -> tuple[int, ...]:
        """Number of states of each column."""
        return tuple(column.n_states for column in self.columns)

    def index(self, name: str | int) -> int:
        """Return the position of a column given by name or position; raise an error that lists the names otherwise."""
        if isinstance(name, int) and not isinstance(name, bool) and 0 <= name < len(self.columns):
            return name
        if name in self.names:
            return self.names.index(str(name))
        msg = f"There is no column {name!r}.{nearest(name, self.names)} The columns are {listed(self.names)}."
        raise InputError(msg)
