"""The K best graphs, against scoring all graphs one by one."""

import numpy as np
import pytest

from naive import all_dags
from strategies import make_table
from tanbark.counts import MemoryCounts
from tanbark.errors import InputError, OptionError, TableTooLargeError
from tanbark.graph import Dag
from tanbark.structure.exact import learn as exact
from tanbark.structure.ranked import k_best

CARDINALITIES = (2, 3, 2, 3)


def score(counts, dag, ess):
    families = [(*parents, node) for node, parents in enumerate(dag.parents)]
    return float(counts.family_scores(families, ess=ess).sum())


def augmented(counts, ess, max_parents=9):
    """Score every augmented naive Bayes graph: (score, graph) by equivalence class."""
    names, n = counts.schema.names, counts.schema.target
    found = {}
    for inner in all_dags(n):
        if inner.max_parents <= max_parents:
            dag = Dag.augmented(names, inner.parents)
            found.setdefault(inner.cpdag(), []).append((score(counts, dag, ess), dag))
    return found


@pytest.mark.parametrize("distinct", ["dags", "classes"])
@pytest.mark.parametrize("k", [1, 3, 10, 10_000])
@pytest.mark.parametrize(("n", "ess", "most", "weighted"), [(1, 1.0, 9, False), (3, 10.0, 1, True), (4, 1.0, 9, False)])
def test_the_k_best_are_those_of_all_graphs(n, ess, most, weighted, k, distinct):
    table = make_table(np.random.default_rng(n), (*CARDINALITIES[:n], 2), 60, weighted=weighted)
    counts = MemoryCounts(table)
    classes = augmented(counts, ess, most)
    found = k_best.learn_augmented(counts, k=k, ess=ess, max_parents=most, distinct=distinct)
    everyone = [each for members in classes.values() for each in (members if distinct == "dags" else members[:1])]
    best = sorted((value for value, _ in everyone), reverse=True)[:k]
    assert found.scores == pytest.approx(best, abs=1e-8)
    assert found.proved
    assert [score(counts, dag, ess) for dag in found.dags] == pytest.approx(found.scores, abs=1e-8)
    inner = [Dag(dag.names[:-1], tuple(p[:-1] for p in dag.parents[:-1])) for dag in found.dags]
    assert len(set(inner) if distinct == "dags" else {dag.cpdag() for dag in inner}) == len(found.dags)
    if k == 10_000:
        assert sum(found.sizes) == sum(map(len, classes.values()))


def test_general_graphs_and_the_best_of_exact_search():
    counts = MemoryCounts(make_table(np.random.default_rng(5), (2, 2, 3, 2), 80))
    everyone = sorted((score(counts, Dag(counts.schema.names, dag.parents), 1.0) for dag in all_dags(4)), reverse=True)
    found = k_best.learn_general(counts, k=30, distinct="dags")
    assert found.scores == pytest.approx(everyone[:30], abs=1e-8)
    wide = MemoryCounts(make_table(np.random.default_rng(6), (2, 3, 2, 2, 3, 2, 2, 2), 300))
    for ours, theirs in ((k_best.learn_augmented, exact.learn_augmented), (k_best.learn_general, exact.learn_general)):
        assert ours(wide, k=3).scores[0] == pytest.approx(theirs(wide).score)


def test_weights_are_posterior_probabilities():
    counts = MemoryCounts(make_table(np.random.default_rng(2), (2, 2, 2, 2), 40))
    by_dag, by_class = (k_best.learn_augmented(counts, k=99, distinct=each) for each in ("dags", "classes"))
    alone = dict(zip(by_dag.dags, k_best.posterior_weights(by_dag), strict=True))
    for dag, weight in zip(by_class.dags, k_best.posterior_weights(by_class), strict=True):
        assert weight == pytest.approx(sum(w for other, w in alone.items() if other.cpdag() == dag.cpdag()))


def test_local_search_begins_with_the_same_best_and_lists_real_graphs():
    counts = MemoryCounts(make_table(np.random.default_rng(8), (2, 3, 2, 2, 3, 2), 200, gaps=0.02))
    exactly = k_best.learn_augmented(counts, k=20)
    for distinct in ("classes", "dags"):
        found = k_best.learn_augmented(counts, k=20, method="local", distinct=distinct)
        assert not found.proved
        assert len(found.dags) == 20
        assert list(found.scores) == sorted(found.scores, reverse=True)
    found = k_best.learn_augmented(counts, k=20, method="local")
    assert found.scores[0] == pytest.approx(exactly.scores[0])
    assert np.all(np.array(found.scores) <= np.array(exactly.scores) + 1e-8)
    assert len({dag.cpdag() for dag in found.dags}) == 20
    general = k_best.learn_general(counts, k=5, method="local", max_parents=1)
    assert max(dag.max_parents for dag in general.dags) <= 1
    assert general.scores[0] <= k_best.learn_general(counts, k=1, max_parents=1).scores[0] + 1e-8


def test_a_class_is_represented_by_the_same_graph_whoever_found_it():
    counts = MemoryCounts(make_table(np.random.default_rng(8), (2, 3, 2, 2), 200))
    by_dag = k_best.learn_augmented(counts, k=10_000, distinct="dags")
    standing = {dag.cpdag(): dag for dag in k_best.learn_augmented(counts, k=10_000).dags}
    for dag in by_dag.dags:
        inner = Dag(dag.names[:-1], tuple(p[:-1] for p in dag.parents[:-1]))
        found = k_best._representative(inner)
        assert found.cpdag() == inner.cpdag()
        assert Dag.augmented(dag.names, found.parents) == standing[dag.cpdag()]


def test_columns_with_one_state_take_no_part():
    counts = MemoryCounts(make_table(np.random.default_rng(1), (1, 2, 1, 2, 2), 50))
    found = k_best.learn_augmented(counts, k=9)
    assert found.n_searched == 2
    assert len(found.dags) == 2
    alone = k_best.learn_augmented(MemoryCounts(make_table(np.random.default_rng(1), (1, 2), 50)), k=9)
    assert (len(alone.dags), alone.sizes) == (1, (1,))


def test_the_search_is_chosen_by_its_cost():
    counts = MemoryCounts(make_table(np.random.default_rng(0), (2,) * 22 + (2,), 60))
    assert k_best.learn_augmented(counts, k=2).method == "local"
    with pytest.raises(TableTooLargeError, match="method='local'"):
        k_best.learn_augmented(counts, k=10, method="dp", max_memory=1e6)
    for option, value in (("k", 0), ("distinct", "all"), ("method", "ip"), ("ess", 0), ("max_parents", -1)):
        with pytest.raises(OptionError, match=option):
            k_best.learn_augmented(counts, **{option: value})
    with pytest.raises(InputError, match="Every row has a missing value"):
        k_best.learn_augmented(MemoryCounts(make_table(np.random.default_rng(0), (2, 2, 2), 9, gaps=1.0)))
