"""Tests of independence as values: options, outcomes, and learners that take them."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

import naive
import naive_constraint
import tanbark as tb
from engines import stream
from strategies import make_table
from tanbark.counts import MemoryCounts
from tanbark.structure.constraint import rai, streamed_tests
from tanbark.structure.constraint.streamed_tests import StreamedTests
from tanbark.structure.constraint.values import SHORT_FORMS, as_test

ALL = [tb.BayesFactor(2.0), tb.GTest(0.01), tb.ChiSquareTest(), tb.ShrinkageTest(), tb.PermutationTest(seed=3)]
everyone = pytest.mark.parametrize("test", ALL, ids=lambda test: type(test).__name__)


@everyone
@pytest.mark.parametrize("kind", ["plain", "gaps", "weights"])
@pytest.mark.parametrize("dense", [0, 1 << 20], ids=["cells", "tables"])
def test_tables_cells_and_engines_agree(test, kind, dense, monkeypatch):
    table = make_table(
        np.random.default_rng(6), (2, 3, 2, 4, 2, 3), 150, gaps=0.1 * (kind == "gaps"), weighted=kind == "weights"
    )
    asked = [(0, 1, ()), (1, 3, (2,)), (0, 4, (1, 2)), (1, 2, (0, 3))]
    monkeypatch.setattr(streamed_tests, "MAX_DENSE_TEST", dense)
    for given_class in (False, True):
        expected = []
        for x, y, given in asked:
            counts = naive_constraint.strata(table, x, y, (*given, 5) if given_class else given)
            expected.append(test.measure(counts).support)
        for counts in (MemoryCounts(table), stream(table)):
            found = StreamedTests(counts, given_class=given_class, test=test).supports(asked)
            assert found == pytest.approx(expected, rel=1e-9)


def test_the_bayes_factor_of_columns_is_that_of_the_definition():
    table = make_table(np.random.default_rng(2), (3, 2, 2, 2), 60)
    columns = [column.tolist() for column in table.codes]
    outcome = tb.BayesFactor(1.5)(columns[0], columns[1], given=[columns[2], columns[3]])
    assert outcome.support == pytest.approx(naive.log_bayes_factor(table, 0, 1, (2, 3), 1.5))
    assert np.isnan(outcome.p_value)


@pytest.mark.parametrize(("test", "power"), [(tb.GTest(), "log-likelihood"), (tb.ChiSquareTest(), "pearson")])
def test_p_values_are_those_of_scipy(test, power):
    rng = np.random.default_rng(4)
    x, z = rng.integers(0, 3, 90), rng.integers(0, 2, 90)
    y = np.where(rng.random(90) < 0.3, x, rng.integers(0, 3, 90))
    counts = np.zeros((2, 3, 3))
    np.add.at(counts, (z, x, y), 1)
    outcome = test(x, y, given=z)
    assert outcome.p_value == pytest.approx(naive_constraint.p_value(counts, power))
    assert outcome.independent == (outcome.p_value > 0.05)


def test_permutations_give_the_exact_p_value_of_a_small_table():
    """Fisher's exact test orders 2x2 tables by probability; for these margins information orders them likewise."""
    from scipy.stats import fisher_exact

    x, y = [0] * 8 + [1] * 8, [0] * 6 + [1] * 2 + [0] * 2 + [1] * 6
    exact = fisher_exact([[6, 2], [2, 6]]).pvalue
    outcome = tb.PermutationTest(0.5, n_permutations=20000)(x, y)
    assert outcome.p_value == pytest.approx(exact, abs=0.01)


def test_permutations_do_not_depend_on_the_order_of_anything():
    rng = np.random.default_rng(8)
    counts = rng.integers(0, 6, (5, 3, 4))
    test = tb.PermutationTest(n_permutations=199)
    plain = test.measure(counts)
    turned = test.measure(counts[::-1][:, [2, 0, 1]][:, :, [3, 1, 0, 2]])
    assert turned.p_value == plain.p_value
    assert tb.PermutationTest(n_permutations=199, seed=1).measure(counts).p_value != plain.p_value or plain.independent


@pytest.mark.parametrize("test", [tb.GTest(), tb.ChiSquareTest(), tb.PermutationTest(n_permutations=199)])
def test_levels_are_kept_under_independence(test):
    rng = np.random.default_rng(0)
    rejected = [not test(*rng.integers(0, 2, (2, 200)), given=rng.integers(0, 2, 200)).independent for _ in range(300)]
    assert 0.02 <= np.mean(rejected) <= 0.09


@everyone
def test_values_are_options(test):
    assert clone(test).get_params() == test.get_params()
    X, y = [[0, 0, 1], [0, 0, 0], [1, 1, 1], [1, 1, 0]] * 9, [0, 1, 0, 1] * 9
    clf = tb.RAIGBN(test=test).fit(X, y)
    assert {frozenset(arc) for arc in clf.dag_.arcs()} == {frozenset(("x0", "x1")), frozenset(("x2", "class"))}
    name = next(iter(test.get_params()))
    assert f"test__{name}" in clf.get_params()


def test_a_level_is_searched_for():
    rng = np.random.default_rng(1)
    X, y = rng.integers(0, 2, (90, 4)), rng.integers(0, 2, 90)
    grid = GridSearchCV(tb.RAIANB(test=tb.GTest()), {"test__level": [0.01, 0.2]}, cv=2).fit(X, y)
    assert grid.best_params_["test__level"] in (0.01, 0.2)


def test_a_model_file_keeps_the_test(tmp_path):
    X, y = [[0, 0, 1], [0, 0, 0], [1, 1, 1], [1, 1, 0]] * 9, [0, 1, 0, 1] * 9
    tb.RAIANB(test=tb.PermutationTest(0.1, n_permutations=99)).fit(X, y).save(tmp_path / "model.json")
    assert tb.load(tmp_path / "model.json").test == tb.PermutationTest(0.1, n_permutations=99)


def test_the_default_is_the_bayes_factor():
    counts = MemoryCounts(make_table(np.random.default_rng(3), (2, 3, 2, 3, 2, 2), 200))
    plain = rai.learn_augmented(counts, ess=3.0)
    for test in (tb.BayesFactor(3.0), None):
        assert rai.learn_augmented(counts, test=test, ess=3.0).dag == plain.dag
    assert as_test("bayes-factor", tb.GTest()) == tb.BayesFactor()
    assert {type(test) for test in ALL} == set(SHORT_FORMS.values())


WRONG = {
    "no test": (0.05, "test must be a test of independence"),
    "no name": ("g", "test must be one of.*Did you mean 'g2'"),
    "no level": (tb.GTest(1.0), "level must be a number between 0 and 1"),
    "no sample size": (tb.BayesFactor(0), "ess, the equivalent sample size"),
    "few permutations": (tb.PermutationTest(0.01, n_permutations=50), "50 permutations cannot reach the level 0.01"),
    "no permutations": (tb.PermutationTest(n_permutations=0), "n_permutations must be a whole number"),
}


@pytest.mark.parametrize("kind", WRONG)
def test_wrong_tests_are_refused(kind):
    test, message = WRONG[kind]
    with pytest.raises(tb.errors.OptionError, match=message):
        tb.RAIANB(test=test).fit([[0], [1]] * 4, [0, 1] * 4)
    with pytest.raises(tb.errors.OptionError, match="an option of GTest"):
        tb.GTest().set_params(alpha=1)
