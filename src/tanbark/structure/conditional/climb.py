"""Hill climbing by conditional log-likelihood, with or without a penalty: the search of BNC2P and CMDLGBN."""

from __future__ import annotations

import math
from collections.abc import Collection, Hashable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from tanbark.arrays import TIE, Bools, Floats, Integers
from tanbark.counts import CountEngine
from tanbark.errors import OptionError
from tanbark.graph import Dag
from tanbark.machine import run_threads, thread_count
from tanbark.structure.ascent import Move, climb
from tanbark.structure.conditional.rows import CLASS, DistinctRows, LogFactor
from tanbark.structure.greedy.moves import REVERSE, MovingGraph
from tanbark.structure.result import Learnt
from tanbark.structure.rules import Arcs, Rules, make_dag, make_rules
from tanbark.structure.trace import History, Trace

Family = tuple[int, tuple[int, ...]]  # a node and its sorted parents

WORTH_THREADS = 1 << 14  # with fewer entries of the rows' joints a second thread costs more than it saves


@dataclass(frozen=True, eq=False)
class Factor:
    """A family as a factor of the joint: each row's line of the CPT (-1 for none), the CPT, and its log-likelihood."""

    keys: Integers
    table: Floats
    log_likelihood: float = 0.0

    @cached_property
    def log_factor(self) -> LogFactor:
        """The factor with logarithms; -inf for zeros."""
        logs = np.log(self.table, out=np.full(self.table.shape, -np.inf), where=self.table > 0)
        return LogFactor(self.keys, logs)


class ConditionalClimb(MovingGraph):
    """A state of :func:`tanbark.structure.ascent.ascend` over DAGs by penalised conditional log-likelihood.

    The log-joint of every distinct row and class is kept; a move divides one or two families out of it and multiplies
    others in, so that a candidate costs a pass over the rows. Families without the class cancel out.

    Parameters
    ----------
    rows : DistinctRows
    rules : Rules
    start : (n, n) mask
        The arcs of the first graph.
    penalty : float
        The cost of a free parameter, in nats.
    max_cells : int
        A move that needs a larger table is not made.
    threads : int
    """

    def __init__(
        self, rows: DistinctRows, rules: Rules, start: Bools, *, penalty: float, max_cells: int, threads: int
    ) -> None:
        super().__init__(rules, start)
        self.rows, self._penalty, self._max_cells = rows, penalty, max_cells
        self._threads = threads if math.prod(rows.shape) >= WORTH_THREADS else 1
        self._nodes = range(len(rows.states))
        self._nothing = Factor(np.full(rows.shape[0], -1, np.int64), np.ones((1, rows.shape[1])))
        self._families = [self._nothing] * len(self._nodes)
        self.tried = 0
        self._renew(self._nodes)

    def _renew(self, nodes: Iterable[int]) -> None:
        """Count the families of nodes again, and multiply all families into the joint."""
        from tanbark.structure.conditional import kernels

        for node in nodes:
            self._families[node] = self._factor((node, self.parents(node)))
        self._finite, self._zeros = np.zeros(self.rows.shape), np.zeros(self.rows.shape, np.int64)
        for factor in self._families:
            kernels.add_family(factor.log_factor, self._finite, self._zeros)
        self.cll = self._cll_with((), ())
        self.score = self.cll - self._penalty * sum(self.size((v, self.parents(v))) for v in self._nodes)

    def size(self, family: Family) -> int:
        """Count the free parameters of a family."""
        node, parents = family
        return int(self.rows.states[node] - 1) * math.prod(int(self.rows.states[p]) for p in parents)

    def _factor(self, family: Family) -> Factor:
        """Count a family; one without the class is no factor."""
        from tanbark.structure.conditional import kernels

        if not _relevant(family):
            return self._nothing
        rows, columns = self.rows.arrays, _columns(family)
        keys = np.empty(self.rows.shape[0], np.int64)
        kernels.fill_keys(rows, columns, keys)
        table = np.empty((math.prod(rows.states[columns].tolist()), self.rows.shape[1]))
        return Factor(keys, table, float(kernels.fill_table(rows, keys, self._radix(family[0]), table)))

    def _radix(self, node: int) -> int:
        return 0 if node == CLASS else int(self.rows.states[node])

    def _without(self, nodes: Sequence[int]) -> tuple[Floats, float]:
        """Divide the families of nodes out of the joint: the rest, and the sum of the rows' own logs in it."""
        from tanbark.structure.conditional import kernels

        first, second = self._two([self._families[node] for node in nodes])
        rest = np.empty(self.rows.shape)
        own = kernels.remove_factors(
            self._finite, self._zeros, first.log_factor, second.log_factor, self.rows.arrays, rest
        )
        return rest, float(own)

    def _two(self, factors: Sequence[Factor]) -> tuple[Factor, Factor]:
        first, second = (*factors, self._nothing, self._nothing)[:2]
        return first, second

    # ------------------------------------------------------------------ moves

    def moves(self) -> Floats:
        """Return the gain of every legal move, (kind, x, y); -inf where it is not legal or cannot gain."""
        legal = self.legal()
        self.tried = int(legal.sum())
        out = np.full(legal.shape, -np.inf)
        run_threads(self._toggle, [(y, legal, out) for y in self._nodes], self._threads, long=True)
        run_threads(self._reverse, [(x, y, out) for x, y in np.argwhere(legal[2]).tolist()], self._threads)
        return out

    def _toggle(self, y: int, legal: Bools, out: Floats) -> None:
        """Fill in the gains of adding and deleting arcs into a node."""
        from tanbark.structure.conditional import kernels

        parents = self.parents(y)
        now = (y, parents)
        changes: list[tuple[int, int, Family]] = []
        for kind, x in np.argwhere(legal[:2, :, y]).tolist():
            family = (y, tuple(sorted({*parents} ^ {x})))
            saved = self._penalty * (self.size(now) - self.size(family))
            if not (_relevant(now) or _relevant(family)):
                out[kind, x, y] = saved if kind == 1 else -np.inf
            elif self._may_gain(saved, (family,)):
                changes.append((kind, x, family))
        if not changes:
            return
        rest, own = self._without((y,))
        families = [family for *_, family in changes]
        columns = [_columns(family) for family in families]
        found = np.empty(len(changes))
        relevant = np.array([_relevant(family) for family in families])
        members, ends = np.concatenate(columns), np.cumsum([0, *map(len, columns)])
        kernels.score_candidates(self.rows.arrays, rest, own, members, ends, self._radix(y), relevant, found)
        for (kind, x, family), cll in zip(changes, found.tolist(), strict=True):
            out[kind, x, y] = cll - self.cll + self._penalty * (self.size(now) - self.size(family))

    def _reverse(self, x: int, y: int, out: Floats) -> None:
        """Fill in the gain of reversing the arc x -> y."""
        above, below = set(self.parents(x)), set(self.parents(y))
        if self.rows.complete and below == above | {x}:
            return  # the arc is covered: an equivalent graph gains nothing
        before = ((x, tuple(sorted(above))), (y, tuple(sorted(below))))
        after = ((x, tuple(sorted(above | {y}))), (y, tuple(sorted(below - {x}))))
        saved = self._penalty * (sum(map(self.size, before)) - sum(map(self.size, after)))
        if not any(map(_relevant, before + after)):
            out[2, x, y] = saved
        elif self._may_gain(saved, after):
            out[2, x, y] = self._cll_with((x, y), after) - self.cll + saved

    def _cll_with(self, nodes: tuple[int, ...], families: tuple[Family, ...]) -> float:
        """Return the conditional log-likelihood with other families of some nodes."""
        from tanbark.structure.conditional import kernels

        rest, own = self._without(nodes)
        first, second = self._two([self._factor(family) for family in families])
        totals = self.rows.arrays.totals
        total = kernels.total_log(rest, totals, first.keys, first.table, second.keys, second.table)
        return own + first.log_likelihood + second.log_likelihood - float(total)

    def _may_gain(self, saved: float, families: tuple[Family, ...]) -> bool:
        """Return whether a move can gain: no table is too large, and the penalty is below all that could be gained."""
        cells = [math.prod(int(self.rows.states[c]) for c in (*parents, node)) for node, parents in families]
        return max(cells) <= self._max_cells and -self.cll + saved > TIE

    def propose(self, tabu: Collection[Hashable]) -> Move | None:
        """Return the best move to a graph that is not tabu."""
        return self.best_move(self.moves(), tabu)

    def apply(self, move: Move) -> None:
        """Make a move and count the families that it changes."""
        kind, x, y = move.change
        self.move(kind, x, y)
        self._renew((x, y) if kind == REVERSE else (y,))


def _relevant(family: Family) -> bool:
    """Return whether the class is in a family; the others cancel out."""
    return family[0] == CLASS or CLASS in family[1]


def _columns(family: Family) -> Integers:
    """Return the feature columns of a family, the node last."""
    node, parents = family
    return np.array([p - 1 for p in (*parents, node) if p != CLASS], np.int64)


def search(
    counts: CountEngine, *, penalised: bool, max_parents: int | None, required: Arcs, forbidden: Arcs, start: Any,
    max_cells: int,
) -> Learnt:  # fmt: skip
    """Climb by conditional log-likelihood, or by that less half the log of the rows for every free parameter.

    Each step makes the best of all legal additions, deletions and reversals, as long as one gains more than 1e-9; ties
    go to additions before deletions before reversals, then to arcs from the class, then to the earlier columns.
    """
    rules, begin = _class_first(counts, max_parents, required, forbidden, start)
    trace, threads = Trace(), thread_count(counts.n_jobs)

    def first() -> ConditionalClimb:
        rows = DistinctRows(counts)
        penalty = 0.5 * math.log(rows.total) if penalised and rows.total > 1 else 0.0
        return ConditionalClimb(rows, rules, begin, penalty=penalty, max_cells=max_cells, threads=threads)

    score, arcs = climb(first, trace)
    return Learnt(_class_last(counts, arcs), score, History(trace.steps))


def _class_first(
    counts: CountEngine, max_parents: int | None, required: Arcs, forbidden: Arcs, start: Any
) -> tuple[Rules, Bools]:
    """Read the rules of a search and reorder them so that the class is the first node."""
    names = counts.schema.names
    if isinstance(start, str):
        if start != "naive":
            msg = f"start must be None, 'naive', a Dag or a list of arcs; got {start!r}."
            raise OptionError(msg)
        varied = [n for n, r in zip(names[:-1], counts.schema.cardinalities, strict=False) if r > 1]
        start = [(names[-1], name) for name in varied]
    rules, begin = make_rules(counts, max_parents=max_parents, required=required, forbidden=forbidden, start=start)
    order = np.roll(np.arange(len(names)), 1)
    turned = np.ix_(order, order)
    turned_names = tuple(names[column] for column in order)
    return Rules(turned_names, rules.allowed[turned], rules.fixed[turned], rules.max_parents), begin[turned]


def _class_last(counts: CountEngine, arcs: Bools) -> Dag:
    """Return the graph in the order of the columns."""
    order = np.roll(np.arange(len(arcs)), -1)
    return make_dag(counts.schema.names, arcs[np.ix_(order, order)])
