"""How odd rows are: exact probabilities by enumeration, fractions near those of all rows there are."""

from itertools import product

import numpy as np
import pandas as pd
import pytest

import tanbark as tb
from strategies import make_network, make_table
from tanbark.estimators.questions.surprise import surprise
from tanbark.inference import joint_log_proba

MISSING = 255


def all_rows(network):
    """Every complete row and its probability, the class summed out."""
    sizes = network.schema.cardinalities[:-1]
    rows = np.array(list(product(*map(range, sizes))), np.uint8).T
    return rows, np.exp(joint_log_proba(network, rows)).sum(axis=1)


@pytest.mark.parametrize("zeros", [False, True])
def test_probabilities_are_sums_over_all_rows(zeros):
    rng = np.random.default_rng(4)
    network = make_network(rng, n_features=4, max_states=3, zeros=zeros)
    rows, chances = all_rows(network)
    codes = np.where(rng.random((4, 30)) < 0.3, MISSING, rows[:, rng.integers(rows.shape[1], size=30)]).astype(np.uint8)
    found = surprise(network, codes, n_draws=4000, random_state=0, n_jobs=1)

    def total(row):
        return chances[((rows == row[:, None]) | (row[:, None] == MISSING)).all(axis=0)].sum()

    for place, row in enumerate(codes.T):
        own = total(row)
        assert np.exp(found.log_probabilities[place]) == pytest.approx(own)
        without = [np.where(np.arange(4) == column, MISSING, row).astype(np.uint8) for column in range(4)]
        others = [total(each) for each in without]
        for column in range(4):
            value = found.value_probabilities[place, column]
            if row[column] == MISSING or others[column] == 0:
                assert np.isnan(value)
            else:
                assert value == pytest.approx(own / others[column])
        drawn = [total(np.where(row == MISSING, MISSING, each).astype(np.uint8)) for each in rows.T]
        exact = chances[np.array(drawn) <= own * (1 + 1e-9)].sum()
        assert found.fractions[place] == pytest.approx(exact, abs=4 * np.sqrt(0.25 / 4000))
        known = [(value, column) for column, value in enumerate(found.value_probabilities[place]) if value == value]
        assert found.oddest[place] == (f"x{min(known)[1]}" if known else None)


def test_a_row_does_not_depend_on_the_others():
    table = make_table(np.random.default_rng(1), (3, 3, 2, 2), 100, gaps=0.2)
    X = pd.DataFrame(np.where(table.codes[:-1] == 255, np.nan, table.codes[:-1].astype(float)).T, columns=list("abc"))
    clf = tb.TAN().fit(X, table.codes[-1].astype(int))
    whole = clf.surprise(X, random_state=3)
    assert np.array_equal(np.asarray(whole)[:5], clf.surprise(X[:5], random_state=3).fractions)
    assert whole.to_frame().shape == (100, 5)
    assert "oddest value" in str(whole)
    assert "<table>" in whole._repr_html_()
    assert clf.surprise(X[:1] * np.nan).fractions.tolist() == [1.0]
    with pytest.raises(tb.errors.OptionError, match="n_draws"):
        clf.surprise(X, n_draws=0)


def test_pools_are_compared_by_the_network_to_read():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.normal(size=200), "b": rng.integers(0, 3, 200)})
    y = (X["a"] + X["b"] > 1).astype(int)
    clf = tb.Classifier(n_estimators=2).fit(X, y)
    found = clf.surprise(X[:20])
    assert found.log_probabilities == pytest.approx(clf.network_.probability_of_evidence(X[:20], log=True))
    assert tb.NetworkEnsemble(n_estimators=2).fit(X, y).surprise(X[:3]).fractions.shape == (3,)


def test_weighted_networks_have_no_distribution():
    X, y = [["a", "u"], ["b", "v"], ["a", "v"]] * 9, [0, 1, 1] * 9
    clf = tb.NaiveBayes(parameters=tb.WANBIA()).fit(X, y)
    with pytest.raises(tb.errors.InputError, match="weighted and not normalised"):
        clf.surprise(X)
