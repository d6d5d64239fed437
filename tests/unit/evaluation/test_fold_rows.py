"""Log-joints of rows in folds: missing values summed out three ways, and what is remembered."""

import itertools

import numpy as np
import pytest
from pytest import approx

import naive
from strategies import make_table
from tanbark.evaluation import fold_rows as rows_module
from tanbark.evaluation.fold_scores import FoldEvaluator
from tanbark.graph import Dag, Network
from tanbark.structure.wrapper.search import supernodes


def evaluator(table, folds, **options):
    return FoldEvaluator(table.codes, table.schema, folds, weights=table.weights, **options)


def random_structure(rng, n, *, most=3, leave_out=0.2):
    """Draw parents along a random order; some features are left out."""
    order = rng.permutation(n)
    kept = [int(f) for f in order if rng.random() >= leave_out]
    structure = [None] * n
    for place, feature in enumerate(kept):
        size = min(place, int(rng.integers(0, most + 1)))
        structure[feature] = tuple(sorted(rng.choice(kept[:place], size, replace=False).tolist())) if size else ()
    return tuple(structure)


def draw(rng, *, gaps=0.0, weighted=False, rows=40, states=(2, 3, 2, 3, 2, 3)):
    table = make_table(rng, states, rows, gaps=gaps, weighted=weighted)
    return table, naive.dealt_folds(rng.permutation(table.codes[-1]), int(rng.integers(2, 5)))


def recounted(table, folds, fold, family, smooth):
    feature, parents = family
    rest = folds != fold
    columns = (*parents, feature, table.schema.target)
    weights = None if table.weights is None else table.weights[rest]
    counts = naive.table(table.codes[:, rest], table.schema.cardinalities, columns, weights)
    return naive.smoothed(counts, len(parents), smooth)


def brute_force(table, folds, structure, smooth, rows):
    """log P(class, observed) of rows by their own folds' models, by the sum over everything missing."""
    schema = table.schema
    states, target = schema.cardinalities, schema.target
    out = []
    for row in rows:
        parents, tables = [], []
        for feature, above in enumerate(structure):
            parents.append(() if above is None else (*above, target))
            ones = np.full(states[feature], 1.0)  # a feature that is left out must not count
            tables.append(ones if above is None else recounted(table, folds, folds[row], (feature, above), smooth))
        rest = table.codes[:, folds != folds[row]]
        prior = naive.smoothed(naive.table(rest, states, (target,)), 0, smooth)
        network = Network(schema, Dag(schema.names, (*parents, ())), (*tables, prior))
        codes = table.codes[:target, row].copy()
        for feature, above in enumerate(structure):
            codes[feature] = 0 if above is None else codes[feature]
        with np.errstate(divide="ignore"):
            out.append(np.log(naive.class_joint(network, [int(c) for c in codes], 255)))
    return np.array(out)


def sorted_rows(table, folds):
    """The rows in the evaluator's order: complete ones first, then by fold."""
    missing = (table.codes[:-1] == 255).any(axis=0)
    order = np.lexsort((folds, missing))
    return order[: int((~missing).sum())], order[int((~missing).sum()) :]


STRUCTURES = {
    "tree": ((), (0,), (0,), (2,), (2,)),
    "forest with one left out": ((), (0,), None, (), (3,)),
    "two parents": ((), (), (0, 1), (2,), (2, 3)),
    "complete": ((1, 2, 3, 4), (2, 3, 4), (3, 4), (4,), ()),
    "two groups": ((2, 4), (), (4,), (1,), ()),
}


@pytest.mark.parametrize("combinations", [1, 4, 1 << 12])
@pytest.mark.parametrize("smooth", [0.0, 0.01])
@pytest.mark.parametrize("name", STRUCTURES)
def test_missing_values_are_summed_out_exactly(monkeypatch, name, smooth, combinations):
    """The upward pass, the enumeration and the elimination agree with the whole sum."""
    monkeypatch.setattr(rows_module, "COMBINATIONS", combinations)
    rng = np.random.default_rng([len(name), combinations])
    table, folds = draw(rng, gaps=0.45, rows=30)
    structure = STRUCTURES[name]
    complete, with_missing = evaluator(table, folds, alpha=smooth).joints(structure)
    first, second = sorted_rows(table, folds)
    assert len(second) > 20
    for found, rows in ((complete, first), (with_missing, second)):
        expected = brute_force(table, folds, structure, smooth, rows).reshape(found.shape)
        assert np.array_equal(np.isneginf(found), np.isneginf(expected))
        assert np.where(np.isneginf(found), 0, found) == approx(np.where(np.isneginf(found), 0, expected), abs=1e-10)


def test_elimination_takes_what_enumeration_leaves(monkeypatch):
    asked = []
    plain = FoldEvaluator._eliminate

    def record(self, component, cpts, codes, rows, out):
        asked.append(len(rows))
        plain(self, component, cpts, codes, rows, out)

    monkeypatch.setattr(FoldEvaluator, "_eliminate", record)
    table, folds = draw(np.random.default_rng(0), gaps=0.4, rows=30)
    evaluator(table, folds).joints(STRUCTURES["complete"])
    assert sum(asked) == 0
    monkeypatch.setattr(rows_module, "COMBINATIONS", 1)
    evaluator(table, folds).joints(STRUCTURES["complete"])
    assert sum(asked) > 5


def test_a_long_chain_of_missing_values_does_not_underflow():
    """Four hundred features: products are far below the range of floats."""
    rng = np.random.default_rng(4)
    table = make_table(rng, (*[3] * 400, 2), 30, gaps=0.3)
    folds = np.arange(30) % 3
    chain = ((), *((i,) for i in range(399)))
    evaluate = evaluator(table, folds, scoring="log-loss")
    complete, with_missing = evaluate.joints(chain)
    assert np.isfinite(with_missing).all()
    assert with_missing.max() < -100
    assert np.isfinite(evaluate.score(chain))
    assert len(complete) == 0


def test_zeros_are_taken_out_again():
    """Rows that one family makes impossible are possible again without it."""
    codes = np.array([[0, 0, 1, 1, 2, 0], [0, 1, 0, 1, 0, 1], [0, 0, 1, 1, 0, 1]], np.uint8)
    table = make_table(np.random.default_rng(0), (3, 2, 2), 6)
    table.codes[:] = codes
    folds = np.arange(6) % 2
    evaluate = evaluator(table, folds, alpha=0)
    for structure in itertools.product((None, ()), (None, (), (0,))):
        if structure[0] is None and structure[1] == (0,):
            continue
        evaluate.settle(structure)
        for other in (((), (0,)), ((), ()), (None, ())):
            fresh = evaluator(table, folds, alpha=0)
            assert np.array_equal(evaluate.joints(other)[0], fresh.joints(other)[0])
            assert not np.isnan(evaluate.joints(other)[0]).any()


@pytest.mark.parametrize("n_folds", [2, 254, 255, 256, 300])
def test_as_many_folds_as_rows(n_folds):
    """More folds than a byte holds, and the one whose number a byte would take for a missing value."""
    table = make_table(np.random.default_rng(8), (2, 3, 2, 2), 300, gaps=0.1)
    folds = np.arange(300) % n_folds
    structure = ((), (0,), (0, 1))
    evaluate = evaluator(table, folds)
    found = evaluate.fold_cpts((2, (0, 1)))
    assert len(found) == n_folds
    for fold in (0, 1, n_folds - 1):
        assert np.array_equal(found[fold], recounted(table, folds, fold, (2, (0, 1)), 0.01))
    order = np.concatenate(sorted_rows(table, folds))
    joint = np.concatenate(evaluate.joints(structure))
    some = np.random.default_rng(0).choice(300, 12, replace=False)
    expected = brute_force(table, folds, structure, 0.01, order[some])
    assert joint[some] == approx(expected, abs=1e-10)


def test_little_memory_changes_nothing(monkeypatch):
    rng = np.random.default_rng(3)
    table, folds = draw(rng, gaps=0.2, rows=60)
    structures = [random_structure(rng, 5) for _ in range(12)]
    plain = evaluator(table, folds)
    expected = [plain.score(structure) for structure in structures]
    monkeypatch.setattr(rows_module, "KEPT_BYTES", 1)
    frugal = evaluator(table, folds)
    assert [frugal.score(structure) for structure in structures] == expected
    assert len(frugal._kept) == 1


def test_families_are_remembered():
    table, folds = draw(np.random.default_rng(2), rows=60)
    evaluate = evaluator(table, folds)
    counted = []
    gather = evaluate._gather
    evaluate._gather = lambda family: counted.append(family) or gather(family)
    start = ((),) * 5
    evaluate.settle(start)
    assert len(counted) == 5
    evaluate.score(((), (0,), (), (), ()))
    evaluate.score(((), (0,), (), (), ()))
    evaluate.score(((), (0,), (1,), (), ()))
    assert counted[5:] == [(1, (0,)), (2, (1,))]


def test_a_step_sums_out_the_changed_components_only():
    table, folds = draw(np.random.default_rng(2), rows=60, gaps=0.2)
    evaluate = evaluator(table, folds)
    evaluate.settle(((),) * 5)
    summed = []
    sum_out = evaluate._sum_out
    evaluate._sum_out = lambda group: summed.append(group) or sum_out(group)
    evaluate.score(((), (0,), (), (), ()))
    assert summed == [((0, ()), (1, (0,)))]


def test_components_are_the_connected_features():
    structure = ((), (0,), None, (), (3,))
    assert {tuple(f for f, _ in group) for group in rows_module._components(structure)} == {
        tuple(group) for group in supernodes(structure)
    }


def test_folds_become_a_column_of_a_type_that_holds_them():
    codes = np.array([[0, 255, 1]], np.uint8)
    wide = rows_module.with_folds(codes, np.array([0, 299, 1]), 300)
    assert wide.dtype == np.uint16
    assert wide.tolist() == [[0, 65535, 1], [0, 299, 1]]


def test_too_large_a_family_counts_only_where_it_is_new():
    schema = make_table(np.random.default_rng(0), (3, 4, 2), 5).schema
    structure = ((), (0,))
    assert rows_module.too_large(structure, frozenset(), schema, 23)
    assert not rows_module.too_large(structure, frozenset(), schema, 24)
    assert not rows_module.too_large(structure, rows_module.feature_families(structure), schema, 23)
    assert not rows_module.too_large(structure, frozenset(), schema, None)
