"""Hill climbing over directed acyclic graphs by adding, deleting and reversing arcs."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np

from tanbark.arrays import TIE, Bools, Floats
from tanbark.checks import check_count
from tanbark.counts import CountEngine
from tanbark.errors import OptionError, find
from tanbark.graph import Dag
from tanbark.structure.greedy.cpdag import climb_classes
from tanbark.structure.greedy.gains import Gains
from tanbark.structure.greedy.moves import KINDS, MovingGraph, Rules, best_move
from tanbark.structure.result import Learnt
from tanbark.structure.trace import History, Step, end_report, report

Arcs = Iterable[tuple[str, str]]

MAX_CELLS = 1 << 24
SPACES = ("graphs", "classes")


@dataclass(frozen=True)
class Walk:
    """Where a search looks for its moves, how it goes on where none improves, and whether it tells of each.

    Over "classes", the moves from all graphs equivalent to the present one are looked at first, then those from the
    graph alone; tabu steps and restarts from a shaken best graph follow where no move improves.
    """

    tabu: int = 0
    tabu_length: int = 10
    restarts: int = 0
    shake: int = 8
    over: str = "graphs"
    verbose: bool = False

    def __post_init__(self) -> None:
        find("over", self.over, dict.fromkeys(SPACES))
        for name in ("tabu", "restarts"):
            check_count(name, getattr(self, name))
        for name in ("tabu_length", "shake"):
            check_count(name, getattr(self, name), least=1)


class Climb(MovingGraph):
    """A graph on its way up: its arcs, what is reachable from where, and the gain of every toggled arc."""

    def __init__(self, gains: Gains, rules: Rules, start: Bools) -> None:
        super().__init__(rules, start)
        self.gains = gains
        self._toggle = np.full(start.shape, -np.inf)
        self._renew(range(len(start)))
        self.score = sum(gains.family_scores([(node, self.parents(node)) for node in range(len(start))]))

    def _renew(self, nodes: Iterable[int]) -> None:
        """Look up the gains of the families of nodes."""
        nodes = list(nodes)
        found = self.gains.toggles([(node, self.parents(node)) for node in nodes], self._likely())
        for node, column in zip(nodes, found, strict=True):
            self._toggle[:, node] = column

    def _likely(self) -> Iterator[tuple[int, tuple[int, ...]]]:
        """List the families that the best new arc into each node would give, the best first."""
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

    def apply(self, kind: int, x: int, y: int, gain: float) -> None:
        """Make a move and renew what it changes."""
        self.move(kind, x, y)
        self.score += gain
        self._renew((x, y) if kind == 2 else (y,))


def climb(
    gains: Gains, rules: Rules, start: Bools, walk: Walk, rng: np.random.Generator, names: Sequence[str]
) -> Learnt:
    """Climb from a graph; give the best graph met, its score and the steps that led upwards to each new best.

    A tabu step is the best move to a graph that is not among the last ones, better or worse; after ``walk.tabu`` of
    them without a new best the search ends. A restart makes ``walk.shake`` random legal moves from the best graph.
    """
    state = Climb(gains, rules, start)
    steps = [Step(state.score, "start", 1, 0.0)]
    best, arcs = _rise(state, walk, names, steps)
    for _ in range(walk.restarts):
        state = Climb(gains, rules, arcs)
        for _ in range(walk.shake):
            legal = np.argwhere(state.moves() > -np.inf)
            if len(legal):
                kind, x, y = (int(part) for part in legal[rng.integers(len(legal))])
                state.apply(kind, x, y, float(state.moves()[kind, x, y]))
        steps.append(Step(state.score, "restart", 1, 0.0))
        found, there = _rise(state, walk, names, steps)
        if found > best + TIE:
            best, arcs = found, there
    end_report(verbose=walk.verbose)
    parents = tuple(tuple(np.flatnonzero(arcs[:, node]).tolist()) for node in range(len(arcs)))
    return Learnt(Dag(tuple(names), parents), best, History(steps))


def _rise(state: Climb, walk: Walk, names: Sequence[str], steps: list[Step]) -> tuple[float, Bools]:
    """Climb over classes and over graphs in turns, until neither finds more; give the best score and its graph."""
    if walk.over == "graphs" or not state.gains.equivalent:
        return _ascend(state, walk, names, steps)

    def tell(step: Step) -> None:
        steps.append(step)
        report(steps, verbose=walk.verbose)

    rules = state.rules
    while True:
        masks = rules.allowed, rules.fixed, rules.max_parents
        arcs, score = climb_classes(state.gains, *masks, state.arcs, state.score, names, tell)
        best, found = _ascend(Climb(state.gains, rules, arcs), walk, names, steps)
        before, state = state.score, Climb(state.gains, rules, found)
        # with gaps, gains rest on different rows, and only the score of the whole graph tells whether it is better
        if best <= score + TIE * max(1.0, abs(score)) or state.score <= before + TIE * max(1.0, abs(before)):
            return best, found


def _ascend(state: Climb, walk: Walk, names: Sequence[str], steps: list[Step]) -> tuple[float, Bools]:
    best, arcs = state.score, state.arcs.copy()
    recent = deque([state.arcs.tobytes()], maxlen=walk.tabu_length)
    passed = {state.arcs.tobytes()}
    fruitless = 0
    while True:
        begun = perf_counter()
        moves = state.moves()
        legal = int((moves > -np.inf).sum())
        found = _free_move(state, moves, recent)
        if found is None or (moves[found] <= TIE and fruitless >= walk.tabu):
            return best, arcs
        kind, x, y = found
        state.apply(kind, x, y, float(moves[found]))
        steps.append(Step(state.score, f"{KINDS[kind]} {names[x]} -> {names[y]}", legal, perf_counter() - begun))
        report(steps, verbose=walk.verbose)
        graph = state.arcs.tobytes()
        recent.append(graph)
        fruitless += 1
        if state.score > best + TIE:
            best, arcs, fruitless = state.score, state.arcs.copy(), 0
            if graph in passed:  # with gaps, gains rest on different rows and may lead in a circle
                return best, arcs
        elif fruitless > walk.tabu:
            return best, arcs
        passed.add(graph)


def _free_move(state: Climb, moves: Floats, recent: deque[bytes]) -> tuple[int, int, int] | None:
    """Find the best move to a graph that is not among the recent ones."""
    moves = moves.copy()
    while (found := best_move(moves)) is not None:
        kind, x, y = found
        graph = state.arcs.copy()
        graph[x, y] = kind == 0
        graph[y, x] |= kind == 2
        if graph.tobytes() not in recent:
            return found
        moves[found] = -np.inf
    return None


def make_rules(
    counts: CountEngine, *, max_parents: int | None, required: Arcs, forbidden: Arcs, start: Any
) -> tuple[Rules, Bools]:
    """Turn lists of arcs into masks, and give the start with the required arcs in it."""
    schema = counts.schema
    if max_parents is not None:
        check_count("max_parents", max_parents)
    fixed = arc_mask("required", required, schema.names)
    barred = arc_mask("forbidden", forbidden, schema.names)
    both = np.argwhere(fixed & barred)
    if len(both):
        x, y = both[0]
        msg = f"The arc {(schema.names[x], schema.names[y])} is both required and forbidden. Take it out of one list."
        raise OptionError(msg)
    given = start.arcs() if isinstance(start, Dag) else () if start is None else start
    begin = (arc_mask("start", given, schema.names) & ~barred) | fixed
    Dag(schema.names, tuple(tuple(np.flatnonzero(begin[:, y]).tolist()) for y in range(len(begin))))
    varied = np.array(schema.cardinalities) > 1
    allowed = varied[:, None] & varied & ~np.eye(len(varied), dtype=bool) & ~barred
    return Rules(allowed, fixed, len(varied) if max_parents is None else int(max_parents)), begin


def arc_mask(option: str, arcs: Any, names: tuple[str, ...]) -> Bools:
    """Turn a list of (parent, child) names into a matrix."""
    if isinstance(arcs, str) or iter(arcs) is arcs:
        msg = f"{option} must be a list of (parent, child) pairs; got {type(arcs).__name__}."
        raise OptionError(msg)
    mask = np.zeros((len(names), len(names)), bool)
    for arc in arcs:
        (found,) = [(p, c) for c, parents in enumerate(Dag.from_arcs([arc], names).parents) for p in parents]
        mask[found] = True
    return mask


def generator(random_state: Any) -> np.random.Generator:
    """Make a generator of a seed, of another generator, or of scikit-learn's kind of random state."""
    if hasattr(random_state, "randint"):
        return np.random.default_rng(random_state.randint(2**31 - 1))
    return np.random.default_rng(random_state)


def learn(
    counts: CountEngine, *, score: str = "bic", ess: float = 1.0, max_parents: int | None = None, required: Arcs = (),
    forbidden: Arcs = (), start: Any = None, over: str = "graphs", tabu: int = 0, tabu_length: int = 10,
    restarts: int = 0, shake: int = 8, random_state: Any = None, verbose: bool = False, blanket_only: bool = False,
    max_cells: int = MAX_CELLS,
) -> Learnt:  # fmt: skip
    """Search for the graph over all columns, the class among them, that scores highest.

    Each step makes the best of all legal additions, deletions and reversals, as long as one gains more than 1e-9; ties
    go to additions before deletions before reversals, and to the earlier columns. Columns with one state stay alone.

    Parameters
    ----------
    counts : CountEngine
    score : {"loglik", "aic", "bic", "bdeu", "k2", "mml"}
    ess : float
        Equivalent sample size of "bdeu".
    max_parents : int, optional
    required, forbidden : lists of (parent, child) names
        Arcs that must be there, and arcs that must not.
    start : Dag or list of arcs, optional
        Where to begin; by default without any arc but the required ones.
    over : {"graphs", "classes"}
        Whether a step is the best move from the graph at hand, or from any graph equivalent to it.
    tabu : int
        Steps that may follow one another without a new best; 0 stops at the first summit.
    tabu_length : int
        How many of the last graphs may not be entered again.
    restarts, shake : int
        How often to begin again from the best graph, after how many random moves.
    random_state : int, Generator or RandomState, optional
    verbose : bool
        Tell of every step.
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
    gains = Gains(counts, score, ess=ess, allowed=rules.allowed, max_cells=max_cells)
    walk = Walk(tabu, tabu_length, restarts, shake, over, verbose)
    found = climb(gains, rules, begin, walk, generator(random_state), counts.schema.names)
    return Learnt(blanket(found.dag, counts.schema.target), found.score, found.history) if blanket_only else found


def blanket(dag: Dag, target: int) -> Dag:
    """Keep the arcs into the class and into its children.

    >>> blanket(Dag.from_arcs([("A", "B"), ("B", "C"), ("C", "D"), ("E", "D")], "ABCDE"), 2).arcs()
    [('B', 'C'), ('C', 'D'), ('E', 'D')]
    """
    kept = {target, *dag.children[target]}
    return Dag(dag.names, tuple(parents if node in kept else () for node, parents in enumerate(dag.parents)))
