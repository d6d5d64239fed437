"""Gains in score of adding or removing a parent, for many families at once."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, cached_property
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tanbark.arrays import TIE, Bools, Counts, Floats, Integers
from tanbark.checks import check_ess
from tanbark.counts import CountEngine
from tanbark.counts.bitsets import PackedRows
from tanbark.counts.column_sets import ColumnSets
from tanbark.errors import find
from tanbark.scores import FAMILY_SCORES
from tanbark.structure.greedy.kernels import layout as field

Family = tuple[int, tuple[int, ...]]

DENSE_CELLS = 1 << 16  # larger tables are scored by their observed cells
BATCH_CELLS = 1 << 21  # cells of the tables that are counted at once
BATCH_TABLES = 1 << 17  # and their number, each of which takes a line of its layout
AHEAD = 16  # families that are counted before a climb asks for them
LOOKED_UP = 2048  # counts below have their n ln n in a lookup table
MOST_LOOKED_UP = 16  # the same for kernels, as a power of two
EQUIVALENT = frozenset({"aic", "bic", "bdeu"})  # the same for all DAGs of an equivalence class, and penalised


@cache
def n_log_n(size: int = LOOKED_UP) -> Floats:
    """List n ln n of small counts."""
    from tanbark.structure.greedy.kernels.gain_kernels import list_n_log_n

    return list_n_log_n(size)  # type: ignore[no-any-return]  # a compiled function has no types


class Gains:
    r"""The gain of a parent x for the family of y with the parents P, as a function of one table.

    .. math:: gain(x; y | P) = s(N_{P y x}) - s(\textstyle\sum_x N_{P y x})

    Both terms rest on the same rows, those with a value in each column, so that a column with missing values is
    not preferred for the rows it lacks. With complete rows it is the difference of two family scores. Removing a parent
    gains the same with the opposite sign. Gains are kept, so that a family is counted once.

    Parameters
    ----------
    counts : CountEngine
    criterion : str
        A name in ``FAMILY_SCORES``.
    ess : float
        Equivalent sample size of "bdeu".
    allowed : (n, n) mask
        Which arcs x -> y are considered at all; the others gain -inf.
    max_cells : int
        A parent that would need a larger table gains -inf.
    """

    def __init__(self, counts: CountEngine, criterion: str, *, ess: float, allowed: Bools, max_cells: int) -> None:
        self._score, self._name = find("criterion", criterion, FAMILY_SCORES), criterion
        check_ess(ess)
        self._counts, self._ess, self._max_cells, self._allowed = counts, float(ess), max_cells, allowed
        self._states = counts.schema.cardinalities
        self._levels = np.array(self._states, np.int64)
        self._kept: dict[Family, Floats] = {}

    @property
    def equivalent(self) -> bool:
        """Whether the score treats graphs of one equivalence class alike."""
        return self._name in EQUIVALENT

    @property
    def states(self) -> tuple[int, ...]:
        """Number of states of every column."""
        return self._states

    @property
    def max_cells(self) -> int:
        """Cells of the largest table that is considered."""
        return self._max_cells

    def toggles(self, families: Sequence[Family], ahead: Iterable[Family] = ()) -> list[Floats]:
        """Return, for each family (child, sorted parents), the gain of toggling every column as a parent.

        Families that are likely to be needed next, ``ahead``, are prefetched where that saves a pass; in memory, the
        first few of them are counted in the same call.
        """
        fresh = [family for family in dict.fromkeys(families) if family not in self._kept]
        if fresh:
            later = (family for family in ahead if family not in self._kept)
            if self._counts.counts_in_passes:
                self._counts.prefetch(columns for family in (*fresh, *later) for columns in self._sets(*family))
            else:
                fresh = list(dict.fromkeys((*fresh, *islice(later, AHEAD))))
        if fresh:
            rows = np.full((len(fresh), len(self._states)), -np.inf)
            self._kept.update(zip(fresh, rows, strict=True))
            self._score_roots(fresh, rows)
            self._score_families(fresh, rows)
        return [self._kept[family] for family in families]

    def counted(self) -> list[Family]:
        """List the families whose gains are known."""
        return list(self._kept)

    def counter(self, max_parents: int) -> Any:
        """Return what kernels count and score families with; None where tables have to be asked for."""
        if self._packed is None or self._name not in field.PENALTIES:
            return None
        from tanbark.structure.greedy.kernels.climb_kernels import Counter
        from tanbark.structure.greedy.kernels.scoring_kernels import KINDS, N_LOG_N

        packed, name = self._packed, self._name
        buffer = np.empty((2, max(self._states, default=1)), np.float64 if len(packed.weights) else np.int64)
        return Counter(
            packed, KINDS.get(name, N_LOG_N), field.PENALTIES[name], self._ess, float(self._counts.total),
            n_log_n(self._looked_up), buffer, self._allowed, max_parents, self._max_cells,
        )  # fmt: skip

    @cached_property
    def _packed(self) -> PackedRows | None:
        return self._counts.packed_rows()

    @property
    def _looked_up(self) -> int:
        """How many n ln n a kernel looks up: a power of two above the rows, or the most."""
        return 1 << min(max(int(self._counts.total), 1).bit_length(), MOST_LOOKED_UP)

    @cached_property
    def complete(self) -> bool:
        """Whether no value is missing, so that the gains along any way to a graph add up to its score."""
        if self._packed is not None:
            return True
        tables = self._counts.tables([(column,) for column in range(len(self._states))])
        total = self._counts.total
        return all(abs(float(table.sum()) - total) <= TIE * max(1.0, total) for table in tables)

    @property
    def penalised(self) -> bool:
        """Whether the score is not raised by every further parent."""
        return self._name != "loglik"

    def _sets(self, child: int, parents: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
        """List the tables of a family with each candidate that are counted in full."""
        base = (*parents, child)
        if self._size(base) <= DENSE_CELLS:
            yield base
        for candidate in np.flatnonzero(self._allowed[:, child]).tolist():
            columns = (*base, candidate)
            if candidate not in parents and self._size(columns) <= min(DENSE_CELLS, self._max_cells):
                yield columns

    def family_scores(self, families: Sequence[Family]) -> list[float]:
        """Score families, each on the rows that have a value in all of its columns."""
        sizes = np.array([(self._size(parents), self._states[child]) for child, parents in families], np.int64)
        sizes = sizes.reshape(-1, 2)
        columns, found = [(*parents, child) for child, parents in families], np.zeros(len(families))
        small = (sizes[:, 0] <= DENSE_CELLS // sizes[:, 1]).tolist()
        dense = [place for place, fits in enumerate(small) if fits]
        if dense:
            flat = self._counts.flat_tables([columns[place] for place in dense])
            found[dense] = self._dense_scores(flat, sizes[dense])
        for place in (place for place, fits in enumerate(small) if not fits):
            ((cells, counts),) = self._counts.cells([columns[place]])
            table = self._compact(cells, counts, families[place][0])
            found[place] = self._score(table, int(sizes[place, 0]), self._ess)[0]
        return [float(score) for score in found]

    def _dense_scores(self, flat: Counts, shapes: Integers) -> Floats:
        """Score (configurations, states) tables that lie one after another."""
        cells = shapes.prod(axis=1)
        starts = np.cumsum(cells) - cells
        if self._name in field.PENALTIES:
            from tanbark.structure.greedy.kernels.gain_kernels import flat_scores

            masses = field.family_masses(self._name, shapes, self._ess)
            penalty = field.PENALTIES[self._name]
            return flat_scores(flat, starts, shapes, masses, penalty, n_log_n())  # type: ignore[no-any-return]  # compiled
        found = np.zeros(len(shapes))
        for place, (configs, states) in enumerate(shapes.tolist()):
            table = flat[starts[place] : starts[place] + cells[place]].reshape(1, configs, states)
            found[place] = self._score(table.astype(np.float64), configs, self._ess)[0]
        return found

    def _size(self, columns: Sequence[int]) -> int:
        return math.prod(self._states[column] for column in columns)

    def _score_roots(self, families: list[Family], rows: Floats) -> None:
        """Fill in the gains of children without parents; a pair is counted once for both directions."""
        roots = {child: number for number, (child, parents) in enumerate(families) if not parents}
        if not roots:
            return
        wanted = np.zeros_like(self._allowed)
        wanted[:, list(roots)] = self._allowed[:, list(roots)]
        first, second = np.nonzero(np.triu(wanted | wanted.T))
        sizes = self._levels[first] * self._levels[second]
        small = sizes <= min(DENSE_CELLS, self._max_cells)
        for a, b in zip(first[~small].tolist(), second[~small].tolist(), strict=True):
            self._score_sparse(b, (), [a] if wanted[a, b] else [])
            self._score_sparse(a, (), [b] if wanted[b, a] else [])
        first, second, sizes = first[small], second[small], sizes[small]
        child, candidate = np.concatenate([first, second]), np.concatenate([second, first])
        layout = np.ones((len(child), field.FIELDS), np.int64)
        layout[:, field.START] = np.tile(np.cumsum(sizes) - sizes, 2)
        layout[:, field.STATES], layout[:, field.LEVELS] = self._levels[child], self._levels[candidate]
        layout[: len(first), field.STATE_STEP] = layout[len(first) :, field.LEVEL_STEP] = self._levels[second]
        sets = ColumnSets(np.stack([first, second], axis=1).ravel(), np.arange(0, 2 * len(first) + 1, 2))
        mine = wanted[candidate, child]
        number = np.array([roots.get(column, -1) for column in range(len(wanted))])
        rows[number[child[mine]], candidate[mine]] = self._gains_of(sets, layout[mine])

    def _score_families(self, families: list[Family], rows: Floats) -> None:
        """Fill in the gains of families with parents: of all candidates, and of the removal of each parent."""
        from tanbark.structure.greedy.kernels.gain_kernels import lay_out_families

        numbers = np.array([number for number, (_, parents) in enumerate(families) if parents], np.int64)
        step = max(1, BATCH_TABLES // len(self._states))
        most, low = min(DENSE_CELLS, self._max_cells), 0
        while low < len(numbers):
            batch = [families[number] for number in numbers[low : low + step].tolist()]
            above = ColumnSets.of([parents for _, parents in batch])
            children = np.array([child for child, _ in batch], np.int64)
            done, sets, layout, place = lay_out_families(
                children, above.members, above.ends, self._allowed, self._levels, most, DENSE_CELLS, BATCH_CELLS
            )
            family, column, sign = place.T
            rows[numbers[low + family], column] = sign * self._gains_of(ColumnSets(*sets), layout)
            low += done
        for (child, parents), row in zip(families, rows, strict=True):
            if parents:
                self._score_large(child, parents, row)

    def _score_large(self, child: int, parents: tuple[int, ...], row: Floats) -> None:
        """Fill in the gains whose tables are too large to be held, from observed cells."""
        size = self._size((*parents, child))
        if size * max(self._states) <= min(DENSE_CELLS, self._max_cells):
            return
        large = self._allowed[:, child] & (self._levels > min(DENSE_CELLS, self._max_cells) // size)
        large[list(parents)] = False
        self._score_sparse(child, parents, np.flatnonzero(large).tolist())
        if size > DENSE_CELLS:
            for parent in parents:
                row[parent] = -self._sparse_gain(child, tuple(p for p in parents if p != parent), parent)

    def _gains_of(self, sets: ColumnSets, layout: Integers) -> Floats:
        """Count tables and return the gains that are laid out in them."""
        found = np.empty(len(layout))
        if not len(sets):
            return found
        flat = self._counts.flat_tables(sets)
        if self._name in field.PENALTIES:
            from tanbark.structure.greedy.kernels import gain_kernels

            masses = field.prior_masses(self._name, layout, self._ess)
            gain_kernels.flat_gains(flat, layout, masses, field.PENALTIES[self._name], n_log_n(), found)
        else:
            shapes, kind = np.unique(layout[:, field.SHAPE], axis=0, return_inverse=True)
            for number in range(len(shapes)):
                alike = np.flatnonzero(kind.ravel() == number)
                found[alike] = self._stacked_gains(field.stack_tables(flat, layout[alike]))
        return found

    def _stacked_gains(self, stack: Counts) -> Floats:
        """Score (families, configs, child, candidate) tables with and without their candidates."""
        families, configs, states, levels = stack.shape
        stack = stack.astype(np.float64)
        joined = stack.transpose(0, 1, 3, 2).reshape(families, configs * levels, states)
        more = self._score(joined, configs * levels, self._ess)
        return more - self._score(stack.sum(axis=3), configs, self._ess)

    def _score_sparse(self, child: int, parents: tuple[int, ...], candidates: Sequence[int]) -> None:
        for candidate in candidates:
            if self._size((*parents, child, candidate)) <= self._max_cells:
                self._kept[child, parents][candidate] = self._sparse_gain(child, parents, candidate)

    def _sparse_gain(self, child: int, parents: tuple[int, ...], candidate: int) -> float:
        """Gain of a candidate by the observed cells of a table that is too large to be held."""
        ((cells, counts),) = self._counts.cells([(*parents, candidate, child)])
        more = self._score(self._compact(cells, counts, child), self._size((*parents, candidate)), self._ess)
        rest = cells[:, [*range(len(parents)), len(parents) + 1]]
        return float((more - self._score(self._compact(rest, counts, child), self._size(parents), self._ess))[0])

    def _compact(self, cells: NDArray[np.int64], counts: NDArray[np.generic], child: int) -> Floats:
        """Make a (1, observed configurations, states) table of cells whose last column is the child."""
        configs, place = np.unique(cells[:, :-1], axis=0, return_inverse=True)
        table = np.zeros((len(configs), self._states[child]))
        np.add.at(table, (place.ravel(), cells[:, -1]), counts)
        return table[None]
