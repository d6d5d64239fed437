"""Hill climbing: gains, legality, summits, and the way there, against recomputation from scratch."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive
from strategies import coded_tables, make_table, seeds
from tanbark.counts import MemoryCounts
from tanbark.graph import Dag
from tanbark.scores import FAMILY_SCORES, bdeu, k2, log_likelihood
from tanbark.structure.ascent import Move
from tanbark.structure.greedy import ban, gains, hill_climb
from tanbark.structure.greedy.gains import Gains
from tanbark.structure.greedy.hill_climb import GraphClimb, Walk, search
from tanbark.structure.greedy.moves import KINDS, best_move, reachable
from tanbark.structure.rules import make_rules
from tanbark.structure.trees import chow_liu

SCORES = sorted(FAMILY_SCORES)
few = settings(max_examples=25)
complete = coded_tables(max_features=4, max_states=3, max_rows=80)


def learn(counts, **options):
    """Climb over DAGs to the first local optimum, unless told otherwise."""
    return hill_climb.learn(counts, **{"space": "dags", "tabu": 0, **options})


def without_gaps(seed, states=(2, 3, 2, 3, 2), rows=120, weighted=False):
    return make_table(np.random.default_rng(seed), states, rows, weighted=weighted)


def slow_score(table, parents, score, ess=1.0):
    """Score a graph family by family, from tables that the slow twin counts."""
    total = 0.0
    for node, found in enumerate(parents):
        counts = naive.table(table.codes, table.schema.cardinalities, (*found, node), table.weights)
        n = counts.reshape(-1, counts.shape[-1])
        free = n.shape[0] * (n.shape[1] - 1)
        price = {"aic": 1.0, "bic": 0.5 * np.log(max(n.sum(), 1.0))}.get(score, 0.0)
        if score in ("loglik", "aic", "bic"):
            total += log_likelihood(n) - price * free
        else:
            total += bdeu(n, ess=ess) if score == "bdeu" else k2(n)
    return total


def slow_moves(dag):
    """List the graphs that one legal move makes of a graph."""
    n = len(dag.names)
    arcs = {(p, c) for c, parents in enumerate(dag.parents) for p in parents}
    for x, y in itertools.permutations(range(n), 2):
        if (x, y) in arcs:
            options = [("delete", arcs - {(x, y)}), ("reverse", arcs - {(x, y)} | {(y, x)})]
        else:
            options = [("add", arcs | {(x, y)})] if (y, x) not in arcs else []
        for kind, changed in options:
            try:
                yield (kind, x, y), Dag(dag.names, tuple(tuple(p for p, c in changed if c == v) for v in range(n)))
            except ValueError:
                continue


def start_climb(table, score, start=None):
    counts = MemoryCounts(table)
    rules, begin = make_rules(counts, max_parents=None, required=(), forbidden=(), start=start)
    return GraphClimb(Gains(counts, score, ess=1.0, allowed=rules.allowed, max_cells=1 << 20), rules, begin)


def parents_of(state):
    return tuple(state.parents(node) for node in range(len(state.arcs)))


@given(seeds, st.sampled_from(SCORES), st.booleans(), st.integers(0, 12))
@few
def test_every_move_gains_what_recomputing_says(seed, score, weighted, steps):
    table = without_gaps(seed, weighted=weighted)
    state = start_climb(table, score)
    rng = np.random.default_rng(seed)
    for _ in range(steps):
        legal = np.argwhere(state.moves() > -np.inf)
        kind, x, y = map(int, legal[rng.integers(len(legal))])
        state.apply(Move(float(state.moves()[kind, x, y]), "", (kind, x, y)))
    dag = Dag(table.schema.names, parents_of(state))  # raises if there is a cycle
    assert state.score == pytest.approx(slow_score(table, dag.parents, score), abs=1e-7)
    assert np.array_equal(state.reach, reachable(state.arcs))
    moves = state.moves()
    expected = {}
    for (kind, x, y), changed in slow_moves(dag):
        gain = slow_score(table, changed.parents, score) - slow_score(table, dag.parents, score)
        expected[KINDS.index(kind), x, y] = gain
    found = {tuple(map(int, place)): moves[tuple(place)] for place in np.argwhere(moves > -np.inf)}
    assert found.keys() == expected.keys()
    for place, gain in expected.items():
        assert found[place] == pytest.approx(gain, abs=1e-7)


@given(seeds, st.sampled_from(SCORES))
@few
def test_each_step_has_the_recomputed_score_and_the_summit_no_better_neighbour(seed, score):
    table = without_gaps(seed)
    found = learn(MemoryCounts(table), criterion=score)
    state = start_climb(table, score)
    for step in found.history[1:]:
        moves = state.moves()
        found_move = best_move(moves)
        state.apply(Move(float(moves[found_move]), "", found_move))
        assert step.score == pytest.approx(slow_score(table, parents_of(state), score), abs=1e-7)
    assert parents_of(state) == found.dag.parents
    for _, changed in slow_moves(found.dag):
        assert slow_score(table, changed.parents, score) <= found.score + 1e-7


@given(seeds, st.sampled_from(["bic", "bdeu"]))
@few
def test_tabu_steps_and_restarts_never_find_less(seed, score):
    counts = MemoryCounts(without_gaps(seed))
    plain = learn(counts, criterion=score)
    for options in ({"tabu": 10}, {"restarts": 3, "random_state": seed}, {"tabu": 4, "tabu_length": 3, "restarts": 1}):
        more = learn(counts, criterion=score, **options)
        assert more.score >= plain.score - 1e-9
        assert more.score == pytest.approx(slow_score(counts.table, more.dag.parents, score), abs=1e-7)
    again = [learn(counts, criterion=score, restarts=3, random_state=7).dag for _ in range(2)]
    assert again[0] == again[1]


@given(seeds, st.sampled_from([name for name in SCORES if name != "loglik"]), st.booleans(), st.integers(0, 4))
@few
def test_search_over_orders_never_ends_below_plain_hill_climbing(seed, score, weighted, patience):
    counts = MemoryCounts(without_gaps(seed, rows=20 + seed % 200, weighted=weighted))
    plain = learn(counts, criterion=score)
    for options in ({}, {"patience": patience, "random_state": seed}):
        found = hill_climb.learn(counts, criterion=score, **options)
        assert found.score >= plain.score - 1e-7
        assert found.dag == hill_climb.learn(counts, criterion=score, **options).dag
    augmented = ban.learn(counts, criterion=score, space="dags", tabu=0)
    assert ban.learn(counts, criterion=score).score >= augmented.score - 1e-7


@given(complete)
@few
def test_gaps_and_weights_end_in_a_graph(table):
    for score in ("loglik", "bic", "bdeu"):
        found = learn(MemoryCounts(table), criterion=score, tabu=3)
        assert isinstance(found.dag, Dag)
        for node, size in enumerate(table.schema.cardinalities):
            if size == 1:
                assert not found.dag.parents[node]
                assert not found.dag.children[node]


def test_a_column_with_gaps_is_no_better_parent_for_its_gaps():
    rng = np.random.default_rng(0)
    table = make_table(rng, (2, 2, 2), 2000)
    codes = rng.integers(0, 2, (3, 2000)).astype(np.uint8)
    codes[1, rng.random(2000) < 0.4] = 255
    found = learn(MemoryCounts(type(table)(table.schema, codes)), criterion="bic")
    assert found.dag.n_arcs == 0


@given(seeds)
@few
def test_required_forbidden_and_limits_are_kept(seed):
    counts = MemoryCounts(without_gaps(seed))
    required, forbidden = [("x1", "x3"), ("class", "x1")], [("x0", "x1"), ("x1", "x0"), ("x2", "class")]
    for options in ({}, {"tabu": 5}, {"restarts": 2, "random_state": 1}):
        found = learn(counts, criterion="loglik", max_parents=2, required=required, forbidden=forbidden, **options)
        arcs = set(found.dag.arcs())
        assert set(required) <= arcs
        assert not arcs & set(forbidden)
        assert max(map(len, found.dag.parents)) <= 2


def test_it_starts_where_it_is_told():
    counts = MemoryCounts(without_gaps(1))
    summit = learn(counts)
    assert learn(counts, start=summit.dag).history[0].score == pytest.approx(summit.score)
    assert len(learn(counts, start=summit.dag).history) == 1
    assert learn(counts, start=summit.dag.arcs()).dag == summit.dag


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"criterion": "bicc"}, "Did you mean 'bic'"),
        ({"ess": 0.0}, "ess, the equivalent sample size, must be"),
        ({"max_parents": -1}, "max_parents"),
        ({"tabu": 1.5}, "tabu must be"),
        ({"perturbation": 0}, "perturbation must be"),
        ({"required": "x0"}, "required must be a list"),
        ({"required": [("x0", "x1")], "forbidden": [("x0", "x1")]}, "both required and forbidden"),
        ({"required": [("x0", "x9")]}, "no column"),
        ({"start": [("x0", "x1"), ("x1", "x0")]}, "cycle"),
    ],
)
def test_wrong_options_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        learn(MemoryCounts(without_gaps(0)), **options)


@given(seeds)
@few
def test_large_tables_are_scored_by_their_cells(seed):
    counts = MemoryCounts(without_gaps(seed))
    dense = learn(counts, criterion="bdeu")
    before = gains.DENSE_CELLS
    try:
        gains.DENSE_CELLS = 5
        sparse = learn(counts, criterion="bdeu")
    finally:
        gains.DENSE_CELLS = before
    assert sparse.dag == dense.dag
    assert sparse.score == pytest.approx(dense.score)


def test_max_cells_bounds_the_families():
    counts = MemoryCounts(without_gaps(3, rows=400))
    found = learn(counts, criterion="loglik", max_cells=12)
    sizes = counts.schema.cardinalities
    assert all(np.prod([sizes[c] for c in (*ps, v)]) <= 12 for v, ps in enumerate(found.dag.parents))


@given(seeds, st.booleans())
@few
def test_a_ban_has_the_class_above_every_feature(seed, conditional):
    table = without_gaps(seed)
    found = ban.learn(
        MemoryCounts(table), criterion="bic", space="dags", tabu=0, conditional=conditional, max_parents=1
    )
    target = table.schema.target
    assert not found.dag.parents[target]
    assert all(target in parents and len(parents) <= 2 for parents in found.dag.parents[:target])
    if conditional:
        assert found.score == pytest.approx(slow_score(table, found.dag.parents, "bic"), abs=1e-7)


def test_a_ban_refuses_parents_of_the_class():
    with pytest.raises(ValueError, match="class has no parents"):
        ban.learn(MemoryCounts(without_gaps(0)), required=[("x0", "class")])


@given(seeds, st.sampled_from(["loglik", "aic", "bic"]))
@few
def test_a_chow_liu_tree_is_the_best_of_all(seed, score):
    table = without_gaps(seed, states=(2, 3, 2, 2))
    counts = MemoryCounts(table)
    found = chow_liu.learn(counts, criterion=score)
    assert found.score == pytest.approx(slow_score(table, found.dag.parents, score), abs=1e-7)
    best = -np.inf
    for parents in itertools.product(*[[(), *((p,) for p in range(4) if p != v)] for v in range(4)]):
        try:
            Dag(table.schema.names, parents)
        except ValueError:
            continue
        best = max(best, slow_score(table, parents, score))
    assert found.score == pytest.approx(best, abs=1e-7)
    stored = chow_liu.learn(counts.stored(2), criterion=score)
    assert (stored.dag, stored.score) == (found.dag, pytest.approx(found.score))


def test_the_root_of_a_tree_can_be_chosen():
    counts = MemoryCounts(without_gaps(2))
    assert not chow_liu.learn(counts).dag.parents[counts.schema.target]
    assert not chow_liu.learn(counts, root="x2").dag.parents[2]


def test_ties_go_to_additions_and_to_earlier_columns():
    moves = np.full((3, 2, 2), -np.inf)
    assert best_move(moves) is None
    moves[1, 0, 1], moves[0, 1, 0], moves[2, 0, 0] = 1.0, 1.0 - 1e-12, 1.0 + 1e-12
    assert best_move(moves) == (0, 1, 0)


def test_families_measured_in_small_batches_gain_the_same(monkeypatch):
    counts = MemoryCounts(without_gaps(4, states=(2, 3, 4, 3, 2)))
    allowed = ~np.eye(5, dtype=bool)
    families = [(y, p) for y in range(5) for k in range(4) for p in itertools.combinations(range(5), k) if y not in p]
    found = []
    for cells, tables in ((gains.BATCH_CELLS, gains.BATCH_TABLES), (0, 1 << 10), (100, 1 << 10), (1 << 20, 1)):
        monkeypatch.setattr(gains, "BATCH_CELLS", cells)
        monkeypatch.setattr(gains, "BATCH_TABLES", tables)
        found.append(Gains(counts, "bic", ess=1.0, allowed=allowed, max_cells=1000).toggles(families))
    for other in found[1:]:
        assert np.array_equal(found[0], other)


def test_the_walk_ends_where_every_neighbour_is_tabu():
    table = without_gaps(0, states=(2, 2), rows=30)
    counts = MemoryCounts(table)
    rules, begin = make_rules(counts, max_parents=None, required=(), forbidden=(), start=None)
    source = Gains(counts, "bic", ess=1.0, allowed=rules.allowed, max_cells=100)
    found = search(source, rules, begin, Walk(tabu=50, tabu_length=50), np.random.default_rng(0))
    assert len(found.history) <= 4
