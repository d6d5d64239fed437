"""Hill climbing over directed acyclic graphs by adding, deleting and reversing arcs."""

from __future__ import annotations

import math
from collections.abc import Collection, Hashable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from tanbark.arrays import TIE, Bools, Floats
from tanbark.checks import check_count
from tanbark.counts import CountEngine
from tanbark.errors import find
from tanbark.graph import Dag
from tanbark.structure.ascent import Move, ascend, climb
from tanbark.structure.greedy.cpdag import ClassClimb
from tanbark.structure.greedy.gains import Gains
from tanbark.structure.greedy.moves import REVERSE, MovingGraph
from tanbark.structure.result import Learnt
from tanbark.structure.rules import MAX_CELLS, Arcs, Rules, generator, make_dag, make_rules
from tanbark.structure.trace import History, Trace

SPACES = ("dags", "equivalence-classes")


@dataclass(frozen=True)
class Walk:
    """Options of the search: its space, what follows a local optimum, and whether steps are reported.

    Over "equivalence-classes", moves come from all DAGs equivalent to the current one, then from the DAG alone. Tabu
    moves and restarts from the perturbed best graph follow a local optimum.
    """

    tabu: int = 0
    tabu_length: int = 10
    restarts: int = 0
    perturbation: int = 8
    space: str = "dags"
    verbose: bool = False

    def __post_init__(self) -> None:
        find("space", self.space, dict.fromkeys(SPACES))
        for name in ("tabu", "restarts"):
            check_count(name, getattr(self, name))
        for name in ("tabu_length", "perturbation"):
            check_count(name, getattr(self, name), least=1)


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
        gains = self.moves()
        self.tried = int((gains > -np.inf).sum())
        return self.best_move(gains, tabu)

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


def search(gains: Gains, rules: Rules, start: Bools, walk: Walk, rng: np.random.Generator) -> Learnt:
    """Climb from a graph with the options ``walk``; return the best graph met, its score and the steps."""
    trace = Trace(verbose=walk.verbose)
    by_class = walk.space == "equivalence-classes" and gains.equivalent

    def rise(state: GraphClimb) -> tuple[float, Bools]:
        return _alternate(state, walk, trace) if by_class else _ascend(state, walk, trace)

    score, arcs = climb(
        lambda: GraphClimb(gains, rules, start), trace, rise=rise, restarts=walk.restarts,
        perturb=lambda best: GraphClimb(gains, rules, best).perturb(walk.perturbation, rng),
    )  # fmt: skip
    return Learnt(make_dag(rules.names, arcs), score, History(trace.steps))


def _ascend(state: GraphClimb, walk: Walk, trace: Trace) -> tuple[float, Bools]:
    return ascend(state, trace, tabu=walk.tabu, tabu_length=walk.tabu_length)


def _alternate(state: GraphClimb, walk: Walk, trace: Trace) -> tuple[float, Bools]:
    """Ascend over equivalence classes and over DAGs in turns, until neither finds more."""
    gains, rules = state.gains, state.rules
    while True:
        score, arcs = ascend(ClassClimb(gains, rules, state.arcs, state.score), trace)
        best, found = _ascend(GraphClimb(gains, rules, arcs), walk, trace)
        before, state = state.score, GraphClimb(gains, rules, found)
        # with missing values gains rest on different rows: only the score of the whole graph shows an improvement
        if best <= score + TIE * max(1.0, abs(score)) or state.score <= before + TIE * max(1.0, abs(before)):
            return best, found


def learn(
    counts: CountEngine, *, criterion: str = "bic", ess: float = 1.0, max_parents: int | None = None,
    required: Arcs = (), forbidden: Arcs = (), start: Any = None, space: str = "equivalence-classes",
    tabu: int = 10, tabu_length: int = 10, restarts: int = 0, perturbation: int = 8, random_state: Any = None,
    verbose: bool = False, blanket_only: bool = False, max_cells: int = MAX_CELLS,
) -> Learnt:  # fmt: skip
    """Search for the graph over all columns, the class among them, that scores highest.

    Each step makes the best of all legal additions, deletions and reversals, as long as one gains more than 1e-9; ties
    go to additions before deletions before reversals, and to the earlier columns. Columns with one state stay alone.

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
    space : {"dags", "equivalence-classes"}
        Whether a step is the best move from the graph at hand, or from any graph equivalent to it.
    tabu : int
        Steps that may follow one another without a new best; 0 stops at the first local optimum.
    tabu_length : int
        How many of the last graphs may not be entered again.
    restarts, perturbation : int
        How often to begin again from the best graph, after how many random moves.
    random_state : int, Generator or RandomState, optional
    verbose : bool
        Report every step.
    blanket_only : bool
        Keep only the arcs into the class and into its children, which are all that complete rows need.
    max_cells : int
        Families with larger tables are left out of the search.

    Notes
    -----
    Heckerman, Geiger and Chickering (1995), section 8; Chickering (2002) for the classes; Glover (1989) for
    the tabu list.
    """
    rules, begin = make_rules(counts, max_parents=max_parents, required=required, forbidden=forbidden, start=start)
    gains = Gains(counts, criterion, ess=ess, allowed=rules.allowed, max_cells=max_cells)
    walk = Walk(tabu, tabu_length, restarts, perturbation, space, verbose)
    found = search(gains, rules, begin, walk, generator(random_state))
    return Learnt(blanket(found.dag, counts.schema.target), found.score, found.history) if blanket_only else found


def blanket(dag: Dag, target: int) -> Dag:
    """Keep the arcs into the class and into its children.

    >>> blanket(Dag.from_arcs([("A", "B"), ("B", "C"), ("C", "D"), ("E", "D")], "ABCDE"), 2).arcs()
    [('B', 'C'), ('C', 'D'), ('E', 'D')]
    """
    kept = {target, *dag.children[target]}
    return Dag(dag.names, tuple(parents if node in kept else () for node, parents in enumerate(dag.parents)))
