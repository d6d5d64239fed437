"""Message lengths of multinomials, CPTs and naive Bayes, against worked fixtures and exact fractions."""

import math

import numpy as np
import pytest
from pytest import approx

import fixtures_mml as known
import naive_mml
from tanbark.errors import OptionError
from tanbark.scores import mml

fixtures = pytest.mark.parametrize(("data", "chosen", "lengths"), known.LENGTHS)
SIX = 6e-7  # the fixtures have six decimals


@fixtures
def test_tables(data, chosen, lengths):
    columns, states, labels, n_classes = data
    counts = known.cells(columns, chosen, labels, n_classes)[1]
    every = math.prod(states[j] for j in chosen)
    assert mml.cpt(counts).total == approx(lengths["cpt none"], abs=SIX)
    assert mml.cpt(counts, stated="observed").total == approx(lengths["cpt observed"], abs=SIX)
    assert mml.cpt(counts, stated="all", n_configs=every).total == approx(lengths["cpt all"], abs=SIX)
    plain = naive_mml.cpt(columns[list(chosen)], labels, n_classes)
    assert plain == approx(lengths["cpt none"], abs=SIX)
    stated = 0.5 * math.log(math.pi * math.e / 6) * (n_classes - 1)
    assert plain + stated * len(counts) == approx(lengths["cpt observed"], abs=SIX)
    assert plain + stated * every == approx(lengths["cpt all"], abs=SIX)


@fixtures
def test_naive_bayes_told_jointly(data, chosen, lengths):
    columns, states, labels, n_classes = data
    tables = [known.cells(columns, (j,), labels, n_classes)[1] for j in range(len(states))]
    found = mml.nb_joint(np.bincount(labels, minlength=n_classes), tables, chosen)
    assert found.total == approx(lengths["nb_joint"], abs=SIX)
    assert naive_mml.nb_joint(columns, states, labels, n_classes, chosen) == approx(lengths["nb_joint"], abs=SIX)


def test_pieces_of_the_joint_message():
    for data, pieces in (
        (known.F16, [(12.295868, 9.911456), (12.178085, 11.010068), (19.211591, 17.774242)]),
        (known.F12, [(9.393661, 8.881836), (14.963913, 9.664596)]),
    ):
        columns, states, labels, n_classes = data
        for j, (alone, helped) in enumerate(pieces):
            column = [int(x) for x in columns[j]]
            told = [[x for x, y in zip(column, labels, strict=True) if y == k] for k in range(n_classes)]
            slow = [-naive_mml.log_fraction(naive_mml.multistate(part, states[j])) for part in (column, *told)]
            assert (slow[0], sum(slow[1:])) == approx((alone, helped), abs=SIX)
            table = known.cells(columns, (j,), labels, n_classes)[1]
            assert mml.adaptive(table.sum(axis=1)) == approx(alone, abs=SIX)
            assert mml.adaptive(table.T) == approx(helped, abs=SIX)
            assert mml.nb_gain(table) == approx(alone - helped, abs=2e-6)


@pytest.mark.parametrize(
    ("counts", "length", "stated"),
    [([3, 7], 7.185387016, 7.289244179), ([5, 2, 0, 4], 14.740768960, 14.744650875), ([1, 0], math.log(2), None),
     ([9, 0], math.log(10), None)],
)  # fmt: skip
def test_multistates(counts, length, stated):
    assert mml.adaptive(counts) == approx(length, abs=1e-9)
    values = np.repeat(range(len(counts)), counts).tolist()
    for told in (values, values[::-1]):
        assert -naive_mml.log_fraction(naive_mml.multistate(told, len(counts))) == approx(length, abs=1e-9)
    if stated is not None:
        assert mml.mml87(counts).total == approx(stated, abs=1e-9)


@pytest.mark.parametrize(("counts", "more"), [([3, 7], 0.1039), ([30, 70], 0.1687), ([1, 0], -0.311)])
def test_what_stating_a_multistate_adds(counts, more):
    """With one row the stated length is shorter than any code can be."""
    assert mml.mml87(counts).total - mml.adaptive(counts) == approx(more, abs=6e-5 if more > 0 else 6e-4)


def test_what_stating_adds_in_the_end():
    assert approx(0.17648520831, abs=1e-11) == mml.STATED
    assert mml.mml87([0, 0]).total == 0.0
    assert mml.mml87([10**6, 10**6]).total - mml.adaptive([10**6, 10**6]) == approx(mml.STATED, abs=1e-5)


@pytest.mark.parametrize("counts", [[3, 7], [5, 2, 0, 4], [1, 1], [9, 0, 2]])
def test_a_stated_multinomial_by_its_fisher_matrix(counts):
    """The same length from the determinant of the whole matrix instead of its closed form."""
    n = np.array(counts, float)
    size, d = n.sum(), len(n) - 1
    theta = (n + 0.5) / (size + len(n) / 2)
    fisher = size * (np.diag(1 / theta[:-1]) + 1 / theta[-1])
    length = -(n * np.log(theta)).sum() - math.lgamma(len(n)) + 0.5 * np.linalg.slogdet(fisher)[1] + mml.lattice(d)
    assert mml.mml87(counts).total == approx(length, abs=1e-9)


def test_a_wrong_choice_of_stated_parameters_raises():
    with pytest.raises(OptionError, match="stat"):
        mml.cpt([[1, 1]], stated="some")
