"""Tests of independence by the BDeu Bayes factor, asked edge by edge over whole graphs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from tanbark.arrays import Integers
from tanbark.counts.engine import CountEngine
from tanbark.counts.partitioned.base import PartedCounts
from tanbark.machine import run_threads, thread_count
from tanbark.table import missing_code

MOST_BIT_STATES = 12  # columns with more states get no bitsets: they would outgrow the codes
WORTH_THREADS = 1 << 24  # edges with more candidate sets times rows are tested by all threads together
STORED_TERMS = 1 << 22
DENSE_CELLS = 1 << 20  # larger families are scored by their observed cells


def coded_rows(counts: CountEngine) -> tuple[NDArray[np.unsignedinteger], NDArray[np.float64]]:
    """Gather the coded rows of an engine and their weights; no weights where every row counts once."""
    if isinstance(counts, PartedCounts):
        counts = counts.collected()
    batches = list(counts.batches(1 << 62))
    codes = batches[0][0] if len(batches) == 1 else np.concatenate([codes for codes, _ in batches], axis=1)
    weights = [part for _, part in batches if part is not None]
    return np.ascontiguousarray(codes), np.concatenate(weights) if weights else np.zeros(0)


def make_store(n_rows: int, rows: int = 64) -> tuple[NDArray[Any], ...]:
    """Make an empty store of log-gamma terms (see ``dirichlet_kernels``)."""
    reach = max(1, min(n_rows, STORED_TERMS // rows - 1))
    return np.zeros(rows), np.zeros((rows, reach + 1)), np.zeros(1, np.int64)


class IndependenceTests:
    r"""The Bayes factor between independence and dependence of two columns given others, under BDeu.

    .. math:: \ln BF(X, Y | Z) = h(ZX) + h(ZY) - h(Z) - h(ZXY), \qquad
              h(S) = \sum_{\text{cells}} \ln\Gamma(\tfrac{\alpha}{q_S} + N) - \ln\Gamma(\tfrac{\alpha}{q_S})

    with the equivalent sample size alpha and the number q of configurations of S. A value above 1e-9 means
    independence. All four sums are read off one table of counts, so a test rests on the rows that have a value in each
    of its columns.

    Parameters
    ----------
    counts : CountEngine
    given_class : bool
        Whether the class is part of every condition, and then no variable itself.
    ess : float
        The equivalent sample size.
    """

    def __init__(self, counts: CountEngine, *, given_class: bool, ess: float = 1.0) -> None:
        codes, weights = coded_rows(counts)
        target = counts.schema.target
        self._ess = float(ess)
        self._states = np.array(counts.schema.cardinalities, np.int64)
        self._threads = thread_count(getattr(counts, "n_jobs", None))
        labels = codes[target].astype(np.int64) if given_class else np.zeros(codes.shape[1], np.int64)
        n_given = int(self._states[target]) if given_class else 1
        self._base = float(n_given)
        self._keys = (codes, weights, self._states, labels, n_given)
        self._bits = self._pack(codes, weights, labels, n_given)
        self._stretch = max(32, WORTH_THREADS // max(2 * codes.shape[1], 1))
        self._stores = [make_store(codes.shape[1]) for _ in range(self._threads)]
        self._rooms: dict[int, tuple[int, tuple[Any, Any]]] = {}  # of each thread, and for which order

    def _pack(
        self, codes: NDArray[Any], weights: NDArray[np.float64], labels: Integers, n_given: int
    ) -> tuple[NDArray[Any], ...]:
        """Pack the states of small columns into bits, each class on words of its own."""
        from tanbark.counts import kernels

        first = np.full(len(codes), -1, np.int64)
        sizes = np.bincount(labels, minlength=n_given)
        segments = np.concatenate([[0], np.cumsum(-(-sizes // 64))]).astype(np.int64)
        if len(weights) or (codes == missing_code(codes)).any():
            return np.zeros((0, int(segments[-1])), np.uint64), first, self._states, segments
        small = self._states <= MOST_BIT_STATES
        first[small] = 1 + np.cumsum(self._states[small]) - self._states[small]
        place = np.empty(len(labels), np.int64)
        kernels.place_by_class(labels, 64 * segments, place)
        bits = np.zeros((1 + int(self._states[small].sum()), int(segments[-1])), np.uint64)
        kernels.pack_bits(np.zeros((1, len(place)), np.uint8), place, np.zeros(1, np.int64), np.ones(1, np.int64), bits)
        kernels.pack_bits(codes, place, first, self._states, bits)
        return bits, first, self._states, segments

    def log_factor(self, x: int, y: int, given: Sequence[int] = ()) -> float:
        """Return ln BF(x, y | given, and the class where it is always given); positive means independent."""
        from tanbark.scores import dirichlet_kernels as kernels

        codes, weights, states, labels, n_given = self._keys
        members = np.array([*given, x, y], np.int64)
        known = (codes[members] < states[members][:, None]).all(axis=0)
        part = np.ascontiguousarray(np.vstack([codes[members][:, known], labels[known]]))
        sizes = np.array([*states[members], n_given], np.int64)
        z = [*range(len(given)), len(members)]
        families = [[*z, len(given)], [*z, len(given) + 1, len(given)]]
        out = np.zeros(2)
        ends = np.cumsum([0, *map(len, families)])
        kernels.family_scores(
            part, weights[known] if len(weights) else weights, sizes, np.concatenate(families), ends, self._ess,
            self._stores[0], out,
        )  # fmt: skip
        return float(out[0] - out[1])

    def thin(
        self, adjacent: NDArray[np.bool_], children: Integers, parents: Integers, order: int, *,
        both_ends: bool,
    ) -> tuple[Integers, int]:  # fmt: skip
        """Delete every edge from ``parents`` into ``children`` that some potential parents of the child separate.

        Parameters
        ----------
        adjacent : (n, n) array
            Whether a is a potential parent of b; changed in place. Both ways for an undirected edge.
        children, parents : arrays
            Ascending; the edges are tried by child and then by parent, and deletions take effect at once.
        order : int
            The size of the separating sets, taken in lexicographic order from the other potential parents of the child.
        both_ends : bool
            Whether undirected edges are asked from both ends in this call; a set that was tested from the first end
            is then not counted from the rows again.

        Returns
        -------
        An array with a row (x, y, separating set) for every deleted edge, and the number of tests.
        """
        from tanbark.structure.constraint import kernels

        edges = int(adjacent[np.ix_(parents, children)].sum())
        found = np.zeros((edges, 2 + order), np.int64)
        tests = np.zeros(1, np.int64)
        largest = self._stretch * 2 if self._threads > 1 else 1 << 62
        deleted, child, parent = 0, 0, 0
        while child < len(children):
            gone, child, parent = kernels.thin(
                adjacent, children, parents, child, parent, order, largest, both_ends, self._base, self._ess,
                self._bits, self._keys, self._stores[0], *self._room(0, order), found[deleted:], tests,
            )  # fmt: skip
            deleted += gone
            if child < len(children):
                x, y = int(parents[parent]), int(children[child])
                separator, asked = self._thin_together(adjacent, x, y, order, both_ends)
                tests[0] += asked
                parent += 1
                if separator is not None:
                    found[deleted] = [x, y, *separator]
                    deleted += 1
        return found[:deleted], int(tests[0])

    def _room(self, thread: int, order: int) -> tuple[Any, Any]:
        """Return a thread room for separating sets of a size; what there is serves smaller ones too."""
        from tanbark.structure.constraint import kernels

        held, room = self._rooms.get(thread, (-1, (None, None)))
        if order > held:
            bits, segments = self._bits[0], self._bits[3]
            room = (
                kernels.make_bit_room(order, bits.shape[1], len(segments) - 1),
                kernels.make_key_room(order, self._keys[0].shape[1]),
            )
            self._rooms[thread] = order, room
        return room

    def _thin_together(
        self, adjacent: NDArray[np.bool_], x: int, y: int, order: int, both_ends: bool
    ) -> tuple[Integers | None, int]:
        """Try one edge with all threads: each tests a stretch of the sets, and the first separating set counts."""
        from tanbark.structure.constraint import kernels

        candidates = np.array([z for z in np.flatnonzero(adjacent[:, y]) if z != x], np.int64)
        again = both_ends and x < y and bool(adjacent[y, x])
        common = adjacent[candidates, x] & again
        total, low, stretch = math.comb(len(candidates), order), 0, self._stretch

        def work(number: int, chosen: Integers, count: int) -> int:
            found: int = kernels.separate(
                x, y, candidates, common, chosen, count, self._base, self._ess, self._bits, self._keys,
                self._stores[number], *self._room(number, order),
            )  # fmt: skip
            return found

        while low < total:
            starts = range(low, min(total, low + self._threads * stretch), stretch)
            picked = [combination_at(start, len(candidates), order) for start in starts]
            calls = [(k, chosen, min(stretch, total - starts[k])) for k, chosen in enumerate(picked)]
            for start, chosen, at in zip(starts, picked, run_threads(work, calls, self._threads), strict=True):
                if at >= 0:
                    adjacent[x, y] = adjacent[y, x] = False
                    return candidates[chosen], start + at + 1
            low, stretch = starts[-1] + stretch, min(2 * stretch, 16 * self._stretch)
        return None, total


def combination_at(rank: int, n: int, size: int) -> Integers:
    """Return the combination of ``range(n)`` with a rank in lexicographic order.

    >>> combination_at(4, 4, 2).tolist()
    [1, 3]
    """
    chosen: list[int] = []
    value = 0
    for left in range(size, 0, -1):
        while (skipped := math.comb(n - value - 1, left - 1)) <= rank:
            rank -= skipped
            value += 1
        chosen.append(value)
        value += 1
    return np.array(chosen, np.int64)


def family_scores(counts: CountEngine, families: Sequence[Sequence[int]], ess: float) -> NDArray[np.float64]:
    """Return the BDeu of families, each its parents and then its node, on the rows without a gap in the family."""
    states = counts.schema.cardinalities
    sizes = [math.prod(states[c] for c in family) for family in families]
    dense = [k for k, size in enumerate(sizes) if size <= DENSE_CELLS]
    out = np.zeros(len(families))
    for k, table in zip(dense, counts.tables([tuple(families[k]) for k in dense]), strict=True):
        out[k] = _family_score(table.reshape(-1, states[families[k][-1]]), ess, float(sizes[k]))
    large = [k for k, size in enumerate(sizes) if size > DENSE_CELLS]
    for k, (cells, found) in zip(large, counts.cells([tuple(families[k]) for k in large]), strict=True):
        configs, place = np.unique(cells[:, :-1], axis=0, return_inverse=True)
        table = np.zeros((len(configs), states[families[k][-1]]))
        np.add.at(table, (place.ravel(), cells[:, -1]), found)
        out[k] = _family_score(table, ess, float(sizes[k]))
    return out


def _family_score(table: NDArray[Any], ess: float, size: float) -> float:
    """Return h of a family less h of its parents, from the counts by parent configuration and state of the node."""
    above, below = table[table > 0], table.sum(axis=1)
    below, q = below[below > 0], size / table.shape[1]
    more = (gammaln(ess / size + above) - gammaln(ess / size)).sum()
    return float(more - (gammaln(ess / q + below) - gammaln(ess / q)).sum())
