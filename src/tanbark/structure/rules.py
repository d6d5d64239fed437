"""Constraints on the graphs of a search, and the readers of options that several learners share."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from tanbark.arrays import Bools, Integers
from tanbark.checks import check_count
from tanbark.counts import CountEngine
from tanbark.errors import OptionError, TableTooLargeError, nearest
from tanbark.graph import Dag
from tanbark.table import Schema

Arcs = Iterable[tuple[str, str]]

MAX_CELLS = 1 << 24  # families with larger tables are left out of a search by default


@dataclass(frozen=True, eq=False)
class Rules:
    """Which graphs a search may visit: ``allowed[x, y]`` arcs may be added, ``fixed[x, y]`` arcs are never removed."""

    names: tuple[str, ...]
    allowed: Bools
    fixed: Bools
    max_parents: int


def make_rules(
    counts: CountEngine, *, max_parents: int | None, required: Arcs, forbidden: Arcs, start: Any
) -> tuple[Rules, Bools]:
    """Validate the constraints of a search and return them with the start graph, which has the required arcs."""
    schema = counts.schema
    if max_parents is not None:
        check_count("max_parents", max_parents)
    fixed = arc_mask("required", required, schema.names)
    barred = arc_mask("forbidden", forbidden, schema.names)
    both = fixed & barred
    if both.any():
        x, y = np.argwhere(both)[0]
        msg = f"The arc {(schema.names[x], schema.names[y])} is both required and forbidden. Take it out of one list."
        raise OptionError(msg)
    begin = fixed.copy()
    if start is not None:
        given = start.arcs() if isinstance(start, Dag) else start
        begin |= arc_mask("start", given, schema.names) & ~barred
    if begin.any():
        make_dag(schema.names, begin)  # raises if there is a cycle
    varied = np.array(schema.cardinalities) > 1
    allowed = varied[:, None] & varied & ~barred
    allowed.flat[:: len(varied) + 1] = False  # the diagonal
    return Rules(schema.names, allowed, fixed, len(varied) if max_parents is None else int(max_parents)), begin


def check_cells(schema: Schema, sets: Integers, max_cells: int) -> Integers:
    """Return the number of cells of sets of columns, one a row; raise before any is counted if one has too many."""
    cells = np.array(schema.cardinalities, np.float64)[sets].prod(axis=1)
    if len(cells) and cells.max() > max_cells:
        columns = sets[int(cells.argmax())].tolist()
        named = ", ".join(f"{schema.names[c]} ({schema.cardinalities[c]:,} states)" for c in columns)
        msg = (
            f"This learner has to count {named} together, which takes {cells.max():,.0f} cells, above "
            f"max_cells={max_cells:,}. Drop or group the column with most states, or raise max_cells."
        )
        raise TableTooLargeError(msg)
    return np.asarray(cells, np.int64)


def arc_mask(option: str, arcs: Any, names: tuple[str, ...]) -> Bools:
    """Turn a list of (parent, child) names into an adjacency matrix."""
    check_arcs(option, arcs)
    mask = np.zeros((len(names), len(names)), bool)
    for arc in arcs:
        (found,) = [(p, c) for c, parents in enumerate(Dag.from_arcs([arc], names).parents) for p in parents]
        mask[found] = True
    return mask


def check_arcs(option: str, arcs: Any) -> None:
    """Validate that arcs are a list, and not a text or an iterator that can be read only once."""
    if isinstance(arcs, str) or iter(arcs) is arcs:
        msg = f"{option} must be a list of (parent, child) pairs; got {type(arcs).__name__}."
        raise OptionError(msg)


def make_dag(names: tuple[str, ...], arcs: Bools) -> Dag:
    """Turn an adjacency matrix into a graph."""
    return Dag(names, tuple(parents_in(arcs)))


def parents_in(arcs: Bools) -> list[tuple[int, ...]]:
    """List the parents of every node of an adjacency matrix.

    >>> parents_in(np.array([[False, True, True], [False, False, True], [False, False, False]]))
    [(), (0,), (0, 1)]
    """
    found: list[list[int]] = [[] for _ in range(len(arcs))]
    children, parents = arcs.T.nonzero()
    for child, parent in zip(children.tolist(), parents.tolist(), strict=True):
        found[child].append(parent)
    return [tuple(mine) for mine in found]


def find_column(option: str, column: object, names: tuple[str, ...]) -> int:
    """Return the position of a feature that is given by its name or position."""
    if isinstance(column, str):
        if column in names:
            return names.index(column)
        msg = f"{option} must be the name of a feature; got {column!r}.{nearest(column, names)}"
        raise OptionError(msg)
    if isinstance(column, bool) or not isinstance(column, (int, np.integer)) or not 0 <= column < len(names):
        msg = f"{option} must be the name of a feature or its position from 0 to {len(names) - 1}; got {column!r}."
        raise OptionError(msg)
    return int(column)


def varied_features(counts: CountEngine) -> list[int]:
    """List the features with more than one state; the others carry no information, and no search moves them."""
    return [feature for feature, column in enumerate(counts.schema.features) if column.n_states > 1]


def generator(random_state: Any) -> np.random.Generator:
    """Make a generator from a seed, from another generator, or from scikit-learn's kind of random state."""
    if hasattr(random_state, "randint"):
        return np.random.default_rng(random_state.randint(2**31 - 1))
    try:
        return np.random.default_rng(random_state)
    except (TypeError, ValueError) as error:
        msg = (
            "random_state must be None, a whole number of at least 0 or a generator of numpy; "
            f"got {random_state!r:.80}. Use a number such as 0 for the same result every time."
        )
        raise OptionError(msg) from error


class Draws:
    """Random numbers of a search, repeatable: the seed is 0 for None.

    Making a generator takes longer than a small search: a seed's first word is kept, and a generator made later.

    >>> draws, again = Draws(3), np.random.default_rng(3)
    >>> draws.word() == again.bit_generator.random_raw(), bool(draws.generator.integers(9) == again.integers(9))
    (True, True)
    """

    def __init__(self, random_state: Any) -> None:
        self._seed = 0 if random_state is None else random_state if type(random_state) is int else None
        self._made = None if self._seed is not None else generator(random_state)
        self._begun = False  # whether the first word of the seed was drawn

    @property
    def generator(self) -> np.random.Generator:
        """The generator, after the words that were drawn."""
        if self._made is None:
            self._made = generator(self._seed)
            if self._begun:
                self._made.bit_generator.random_raw()
        return self._made

    def word(self) -> int:
        """Draw 64 random bits."""
        if self._made is not None or self._seed is None or self._begun:
            return int(self.generator.bit_generator.random_raw())
        self._begun = True
        return _first_word(self._seed)


@lru_cache(1024)
def _first_word(seed: int) -> int:
    return int(generator(seed).bit_generator.random_raw())
