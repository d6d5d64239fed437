"""Hill climbing over directed acyclic graphs by adding, deleting and reversing arcs, and what follows it."""

from __future__ import annotations

import math
from collections.abc import Collection, Hashable, Iterable, Iterator
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np

from tanbark.arrays import TIE, Bools, Floats
from tanbark.checks import check_count, check_limit
from tanbark.counts import CountEngine
from tanbark.errors import find
from tanbark.graph import Dag
from tanbark.structure.ascent import Move, ascend, climb
from tanbark.structure.greedy.anytime import OrderSearch
from tanbark.structure.greedy.cpdag import ClassClimb
from tanbark.structure.greedy.gains import Gains
from tanbark.structure.greedy.moves import KINDS, REVERSE, MovingGraph
from tanbark.structure.greedy.parent_sets import ParentSets, fits_lists
from tanbark.structure.result import Learnt
from tanbark.structure.rules import MAX_CELLS, Arcs, Draws, Rules, make_dag, make_rules, parents_in
from tanbark.structure.trace import History, Trace

SPACES = ("orders", "equivalence-classes", "dags")
PATIENCE = 3  # rounds without a new best, unless there is a time limit


@dataclass(frozen=True)
class Walk:
    """Options of the search: its space, what follows a local optimum, when to stop, and whether steps are reported.

    Over "orders", hill climbing over DAGs comes first, and rounds of search over the orders of the columns follow. Over
    "equivalence-classes", moves come from all DAGs equivalent to the current one, then from the DAG alone; tabu
    moves and restarts from the perturbed best graph follow a local optimum.
    """

    tabu: int = 0
    tabu_length: int = 10
    restarts: int = 0
    perturbation: int = 8
    space: str = "dags"
    verbose: bool = False
    patience: int | None = None
    time_limit: float | None = None

    def __post_init__(self) -> None:
        find("space", self.space, dict.fromkeys(SPACES))
        for name in ("tabu", "restarts"):
            check_count(name, getattr(self, name))
        for name in ("tabu_length", "perturbation"):
            check_count(name, getattr(self, name), least=1)
        if self.patience is not None:
            check_count("patience", self.patience)
        check_limit("time_limit", self.time_limit, "seconds")

    @property
    def rounds(self) -> float:
        """How many rounds over orders may follow one another without a new best."""
        if self.patience is not None:
            return self.patience
        return PATIENCE if self.time_limit is None else math.inf

    def deadline(self) -> float:
        """Return when to stop, by the clock of ``perf_counter``."""
        return math.inf if self.time_limit is None else perf_counter() + self.time_limit


class GraphClimb(MovingGraph):
    """A state of :func:`tanbark.structure.ascent.ascend` over DAGs, with the gain of toggling every arc."""

    def __init__(self, gains: Gains, rules: Rules, start: Bools) -> None:
        super().__init__(rules, start)
        self.gains, self.tried = gains, 0
        self._toggle = np.full(start.shape, -np.inf)
        self._renew(range(len(start)))
        # sum() of Python 3.12 rounds differently from that of 3.11
        self.score = math.fsum(gains.family_scores([(node, self.parents(node)) for node in range(len(start))]))

    def _renew(self, nodes: Iterable[int]) -> None:
        """Look up the gains of the families of nodes."""
        nodes = list(nodes)
        found = self.gains.toggles([(node, self.parents(node)) for node in nodes], self._likely())
        for node, column in zip(nodes, found, strict=True):
            self._toggle[:, node] = column

    def _likely(self) -> Iterator[tuple[int, tuple[int, ...]]]:
        """List the families after the best new arc into each node, the best first."""
        free = np.where(self.arcs | self.arcs.T | self.reach.T, -np.inf, self._toggle)
        best = free.max(axis=0, initial=-np.inf)
        for node in np.argsort(-best, kind="stable").tolist():
            if best[node] > TIE and self.arcs[:, node].sum() < self.rules.max_parents:
                parent = int(free[:, node].argmax())
                yield node, tuple(sorted((*self.parents(node), parent)))

    def moves(self) -> Floats:
        """Return the gain of every move, (kind, x, y); -inf where it is not legal."""
        gains = np.stack([self._toggle, self._toggle, self._toggle + self._toggle.T])
        return np.where(self.legal(), gains, -np.inf)

    def propose(self, tabu: Collection[Hashable]) -> Move | None:
        """Return the best move to a graph that is not tabu."""
        from tanbark.structure.greedy.kernels.move_kernels import best_graph_move

        rules = self.rules
        gain, kind, x, y, self.tried = best_graph_move(
            self.arcs, self.reach, self._toggle, rules.allowed, rules.fixed, rules.max_parents
        )
        if kind < 0:
            return None
        if self.key_after(kind, x, y) in tabu:
            return self.best_move(self.moves(), tabu)
        return Move(gain, f"{KINDS[kind]} {rules.names[x]} -> {rules.names[y]}", (kind, x, y))

    def apply(self, move: Move) -> None:
        """Make a move and update the gains of the families that it changes."""
        kind, x, y = move.change
        self.move(kind, x, y)
        self.score += move.gain
        self._renew((x, y) if kind == REVERSE else (y,))

    def perturb(self, moves: int, rng: np.random.Generator) -> GraphClimb:
        """Make random legal moves."""
        for _ in range(moves):
            gains = self.moves()
            legal = np.argwhere(gains > -np.inf)
            if len(legal):
                kind, x, y = (int(part) for part in legal[rng.integers(len(legal))])
                self.apply(Move(float(gains[kind, x, y]), "", (kind, x, y)))
        return self


def search(gains: Gains, rules: Rules, start: Bools, walk: Walk, draws: Draws) -> Learnt:
    """Climb from a graph with the options ``walk``; return the best graph met, its score and the steps.

    Missing values leave no score of a parent set that is comparable with all others, and "loglik" no parent set that a
    larger one does not beat: both are climbed over equivalence classes or DAGs instead of orders. So many columns that
    lists of their parent sets do not fit into memory are climbed over DAGs.
    """
    trace, deadline = Trace(verbose=walk.verbose), walk.deadline()
    listed = fits_lists(len(rules.names))
    if walk.space == "orders" and gains.penalised and listed and gains.complete:
        return _search_orders(gains, rules, start, walk, draws, trace, deadline)
    by_class = gains.equivalent and (walk.space == "equivalence-classes" or (walk.space == "orders" and listed))

    def rise(state: GraphClimb) -> tuple[float, Bools]:
        climb_from = _alternate if by_class else _ascend
        return climb_from(state, walk, trace, deadline)

    score, arcs = climb(
        lambda: GraphClimb(gains, rules, start), trace, rise=rise, restarts=walk.restarts, deadline=deadline,
        perturb=lambda best: GraphClimb(gains, rules, best).perturb(walk.perturbation, draws.generator),
    )  # fmt: skip
    return Learnt(make_dag(rules.names, arcs), score, History(trace.steps))


def _search_orders(
    gains: Gains, rules: Rules, start: Bools, walk: Walk, draws: Draws, trace: Trace, deadline: float
) -> Learnt:  # fmt: skip
    """Climb over DAGs, then search over orders; the score is never below that of the climb."""
    starts = [start]

    def elsewhere(best: Bools) -> Bools:
        """Climb over equivalence classes from the start, and at later calls from the perturbed best graph."""
        if starts:
            begin = GraphClimb(gains, rules, starts.pop())
        else:
            begin = GraphClimb(gains, rules, best).perturb(walk.perturbation, draws.generator)
        other = ClassClimb(gains, rules, begin.arcs, begin.score) if gains.equivalent else begin
        return ascend(other, Trace(shown=False), deadline=deadline)[1]

    sets = ParentSets(gains, rules)
    orders = OrderSearch(sets, rules, start, elsewhere, draws)
    if sets.counter is None:
        state = GraphClimb(gains, rules, start)
        trace.add(state.score, "start", 1, 0.0)
        orders.begin_after(ascend(state, trace, deadline=deadline)[1])
    orders.run(walk.rounds, deadline, trace)
    for _ in range(walk.restarts):
        if perf_counter() > deadline:
            break
        begun = perf_counter()
        state = GraphClimb(gains, rules, orders.arcs).perturb(walk.perturbation, draws.generator)
        orders.begin_again(state.arcs)
        trace.add(state.score, "restart", 1, perf_counter() - begun)
        orders.run(walk.rounds, deadline, trace)
    trace.end()
    dag = Dag.known(rules.names, tuple(parents_in(orders.arcs)))
    return Learnt(dag, orders.score(), History(trace.steps))


def _ascend(state: GraphClimb, walk: Walk, trace: Trace, deadline: float) -> tuple[float, Bools]:
    return ascend(state, trace, tabu=walk.tabu, tabu_length=walk.tabu_length, deadline=deadline)


def _alternate(state: GraphClimb, walk: Walk, trace: Trace, deadline: float) -> tuple[float, Bools]:
    """Ascend over equivalence classes and over DAGs in turns, until neither finds more."""
    gains, rules = state.gains, state.rules
    while True:
        score, arcs = ascend(ClassClimb(gains, rules, state.arcs, state.score), trace, deadline=deadline)
        best, found = _ascend(GraphClimb(gains, rules, arcs), walk, trace, deadline)
        before, state = state.score, GraphClimb(gains, rules, found)
        # with missing values gains rest on different rows: only the score of the whole graph shows an improvement
        if best <= score + TIE * max(1.0, abs(score)) or state.score <= before + TIE * max(1.0, abs(before)):
            return best, found


def learn(
    counts: CountEngine, *, criterion: str = "bic", ess: float = 1.0, max_parents: int | None = None,
    required: Arcs = (), forbidden: Arcs = (), start: Any = None, space: str = "orders",
    patience: int | None = None, time_limit: float | None = None, tabu: int = 10, tabu_length: int = 10,
    restarts: int = 0, perturbation: int = 8, random_state: Any = None, verbose: bool = False,
    blanket_only: bool = False, max_cells: int = MAX_CELLS,
) -> Learnt:  # fmt: skip
    """Search for the graph over all columns, the class among them, that scores highest.

    Hill climbing makes in each step the best of all legal additions, deletions and reversals, as long as one gains more
    than 1e-9; ties go to additions before deletions before reversals, and to the earlier columns. Search over orders
    goes on from there, so that its graph never scores less. Columns with one state stay alone.

    Parameters
    ----------
    counts : CountEngine
    criterion : {"loglik", "aic", "bic", "bdeu", "k2", "mml"}
    ess : float
        Equivalent sample size of "bdeu".
    max_parents : int, optional
    required, forbidden : lists of (parent, child) names
        Arcs that must be there, and arcs that must not.
    start : Dag or list of arcs, optional
        Where to begin; by default without any arc but the required ones.
    space : {"orders", "equivalence-classes", "dags"}
        Whether hill climbing is followed by search over orders of the columns (:class:`OrderSearch`); or a step is the
        best move from any graph equivalent to the one at hand; or from that graph alone. With missing values,
        equivalence classes are searched instead of orders, and by "loglik" DAGs.
    patience : int, optional
        Rounds of the search over orders that may follow one another without a new best; 0 stops at its first local
        optimum. By default 3, or as many as the time limit allows.
    time_limit : float, optional
        Seconds after which the search stops and returns the best graph so far.
    tabu : int
        Steps that may follow one another without a new best, over DAGs and equivalence classes; 0 stops at the first
        local optimum.
    tabu_length : int
        How many of the last graphs may not be entered again.
    restarts, perturbation : int
        How often to begin again from the best graph, after how many random moves.
    random_state : int, Generator or RandomState, optional
        None is 0.
    verbose : bool
        Report every step.
    blanket_only : bool
        Keep only the arcs into the class and into its children, which are all that complete rows need.
    max_cells : int
        Families with larger tables are left out of the search.

    Notes
    -----
    Heckerman, Geiger and Chickering (1995), section 8; Chickering (2002) for the classes; Glover (1989) for
    the tabu list; Teyssier and Koller (2005), Ordering-based search.
    """
    rules, begin = make_rules(counts, max_parents=max_parents, required=required, forbidden=forbidden, start=start)
    gains = Gains(counts, criterion, ess=ess, allowed=rules.allowed, max_cells=max_cells)
    walk = Walk(tabu, tabu_length, restarts, perturbation, space, verbose, patience, time_limit)
    found = search(gains, rules, begin, walk, Draws(random_state))
    return Learnt(blanket(found.dag, counts.schema.target), found.score, found.history) if blanket_only else found


def blanket(dag: Dag, target: int) -> Dag:
    """Keep the arcs into the class and into its children.

    >>> blanket(Dag.from_arcs([("A", "B"), ("B", "C"), ("C", "D"), ("E", "D")], "ABCDE"), 2).arcs()
    [('B', 'C'), ('C', 'D'), ('E', 'D')]
    """
    kept = {target, *dag.children[target]}
    return Dag(dag.names, tuple(parents if node in kept else () for node, parents in enumerate(dag.parents)))
