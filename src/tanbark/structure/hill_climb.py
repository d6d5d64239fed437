"""Hill climbing over directed acyclic graphs by adding, deleting and reversing arcs."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tanbark.counts import CountEngine
from tanbark.errors import OptionError
from tanbark.graph import Dag
from tanbark.structure.gains import Gains
from tanbark.structure.history import History, Step
from tanbark.structure.kdb import check_count
from tanbark.structure.result import Learnt

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]
Arcs = Iterable[tuple[str, str]]

TIE = 1e-9
MAX_CELLS = 1 << 24
KINDS = ("add", "delete", "reverse")


@dataclass(frozen=True, eq=False)
class Rules:
    """What a search may do: ``allowed[x, y]`` arcs may be there, ``fixed[x, y]`` arcs must stay."""

    allowed: Mask
    fixed: Mask
    max_parents: int


@dataclass(frozen=True)
class Walk:
    """How a search goes on where no move improves: by tabu steps, and by restarts from a shaken best graph."""

    tabu: int = 0
    tabu_length: int = 10
    restarts: int = 0
    shake: int = 8

    def __post_init__(self) -> None:
        for name in ("tabu", "restarts"):
            check_count(name, getattr(self, name))
        for name in ("tabu_length", "shake"):
            check_count(name, getattr(self, name), least=1)


class Climb:
    """A graph on its way up: its arcs, what is reachable from where, and the gain of every toggled arc."""

    def __init__(self, gains: Gains, rules: Rules, start: Mask) -> None:
        self._gains, self._rules = gains, rules
        self.arcs = start.copy()
        self.reach = _reachable(start)
        self.score = sum(gains.family_scores([(node, self.parents(node)) for node in range(len(start))]))
        self._toggle = np.full(start.shape, -np.inf)
        self._renew(range(len(start)))

    def parents(self, node: int) -> tuple[int, ...]:
        """Give the sorted parents of a node."""
        return tuple(np.flatnonzero(self.arcs[:, node]).tolist())

    def _renew(self, nodes: Iterable[int]) -> None:
        """Look up the gains of the families of nodes."""
        nodes = list(nodes)
        found = self._gains.toggles([(node, self.parents(node)) for node in nodes], self._likely())
        for node, column in zip(nodes, found, strict=True):
            self._toggle[:, node] = column

    def _likely(self) -> Iterator[tuple[int, tuple[int, ...]]]:
        """List the families that the best new arc into each node would give, the best first."""
        free = np.where(self.arcs | self.arcs.T | self.reach.T, -np.inf, self._toggle)
        best = free.max(axis=0, initial=-np.inf)
        for node in np.argsort(-best, kind="stable").tolist():
            if best[node] > TIE and self.arcs[:, node].sum() < self._rules.max_parents:
                parent = int(free[:, node].argmax())
                yield node, tuple(sorted((*self.parents(node), parent)))

    def moves(self) -> Floats:
        """Give the gain of every move, (kind, x, y); -inf where it is not legal."""
        arcs, rules = self.arcs, self._rules
        room = arcs.sum(axis=0) < rules.max_parents
        out = np.full((3, *arcs.shape), -np.inf)
        add = rules.allowed & ~(arcs | arcs.T | self.reach.T) & room
        out[0][add] = self._toggle[add]
        loose = arcs & ~rules.fixed
        out[1][loose] = self._toggle[loose]
        x, y = np.nonzero(loose & rules.allowed.T & room[:, None])
        closes = (arcs[x] & self.reach.T[y]).any(axis=1)  # another way from x to y would close a circle
        out[2, x, y] = np.where(closes, -np.inf, self._toggle[x, y] + self._toggle[y, x])
        return out

    def apply(self, kind: int, x: int, y: int, gain: float) -> None:
        """Make a move and renew what it changes."""
        if kind == 0:
            self._connect(x, y)
        else:
            self._disconnect(x, y)
        if kind == 2:
            self._connect(y, x)
        self.score += gain
        self._renew((x, y) if kind == 2 else (y,))

    def _connect(self, x: int, y: int) -> None:
        self.arcs[x, y] = True
        below = self.reach[y].copy()
        below[y] = True
        above = self.reach[:, x].copy()
        above[x] = True
        self.reach[above] |= below

    def _disconnect(self, x: int, y: int) -> None:
        """Remove an arc; only x and the nodes above it may reach less than before, those furthest down first."""
        self.arcs[x, y] = False
        above = np.flatnonzero(self.reach[:, x] | (np.arange(len(self.arcs)) == x))
        for node in above[np.argsort(self.reach[above].sum(axis=1), kind="stable")]:
            self.reach[node] = self.arcs[node] | self.reach[self.arcs[node]].any(axis=0)


def _reachable(arcs: Mask) -> Mask:
    reach = arcs.copy()
    for middle in range(len(arcs)):
        reach[reach[:, middle]] |= reach[middle]
    return reach


def best_move(moves: Floats) -> tuple[int, int, int] | None:
    """Find the best move; ties within 1e-9 go to additions, then deletions, then reversals, and to the lowest x, y.

    >>> best_move(np.array([[[-np.inf, 1.0], [1.0 + 1e-12, -np.inf]]]))
    (0, 0, 1)
    """
    top = float(moves.max(initial=-np.inf))
    if top == -np.inf:
        return None
    place = int(np.argmax(moves >= top - TIE * max(1.0, abs(top))))
    kind, x, y = (int(part) for part in np.unravel_index(place, moves.shape))
    return kind, x, y


def climb(
    gains: Gains, rules: Rules, start: Mask, walk: Walk, rng: np.random.Generator, names: Sequence[str]
) -> Learnt:
    """Climb from a graph; give the best graph met, its score and the steps that led upwards to each new best.

    A tabu step is the best move to a graph that is not among the last ones, better or worse; after ``walk.tabu`` of
    them without a new best the search ends. A restart makes ``walk.shake`` random legal moves from the best graph.
    """
    state = Climb(gains, rules, start)
    steps = [Step(state.score, "start", 1, 0.0)]
    best, arcs = _ascend(state, walk, names, steps)
    for _ in range(walk.restarts):
        state = Climb(gains, rules, arcs)
        for _ in range(walk.shake):
            legal = np.argwhere(state.moves() > -np.inf)
            if len(legal):
                kind, x, y = (int(part) for part in legal[rng.integers(len(legal))])
                state.apply(kind, x, y, float(state.moves()[kind, x, y]))
        steps.append(Step(state.score, "restart", 1, 0.0))
        found, there = _ascend(state, walk, names, steps)
        if found > best + TIE:
            best, arcs = found, there
    parents = tuple(tuple(np.flatnonzero(arcs[:, node]).tolist()) for node in range(len(arcs)))
    return Learnt(Dag(tuple(names), parents), best, History(steps))


def _ascend(state: Climb, walk: Walk, names: Sequence[str], steps: list[Step]) -> tuple[float, Mask]:
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
) -> tuple[Rules, Mask]:
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


def arc_mask(option: str, arcs: Any, names: tuple[str, ...]) -> Mask:
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
    forbidden: Arcs = (), start: Any = None, tabu: int = 0, tabu_length: int = 10, restarts: int = 0, shake: int = 8,
    random_state: Any = None, blanket_only: bool = False, max_cells: int = MAX_CELLS,
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
    tabu : int
        Steps that may follow one another without a new best; 0 stops at the first summit.
    tabu_length : int
        How many of the last graphs may not be entered again.
    restarts, shake : int
        How often to begin again from the best graph, after how many random moves.
    random_state : int, Generator or RandomState, optional
    blanket_only : bool
        Keep only the arcs into the class and into its children, which are all that complete rows need.
    max_cells : int
        Families with larger tables are left out of the search.

    Notes
    -----
    Heckerman, Geiger and Chickering (1995), section 8; Glover (1989) for the tabu list.
    """
    rules, begin = make_rules(counts, max_parents=max_parents, required=required, forbidden=forbidden, start=start)
    gains = Gains(counts, score, ess=ess, allowed=rules.allowed, max_cells=max_cells)
    walk = Walk(tabu, tabu_length, restarts, shake)
    found = climb(gains, rules, begin, walk, generator(random_state), counts.schema.names)
    return Learnt(blanket(found.dag, counts.schema.target), found.score, found.history) if blanket_only else found


def blanket(dag: Dag, target: int) -> Dag:
    """Keep the arcs into the class and into its children.

    >>> blanket(Dag.from_arcs([("A", "B"), ("B", "C"), ("C", "D"), ("E", "D")], "ABCDE"), 2).arcs()
    [('B', 'C'), ('C', 'D'), ('E', 'D')]
    """
    kept = {target, *dag.children[target]}
    return Dag(dag.names, tuple(parents if node in kept else () for node, parents in enumerate(dag.parents)))
