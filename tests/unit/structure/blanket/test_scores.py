"""Scorers of feature sets: weights are repeats, and a further feature is measured as in a set of its own."""

import math

import numpy as np
import pytest

from strategies import make_table
from tanbark.counts import MemoryCounts
from tanbark.errors import OptionError
from tanbark.structure.blanket.scores import SCORERS, Options, Rows, make_scorer


def test_repeated_rows_and_weights_are_alike():
    table = make_table(np.random.default_rng(3), (3, 2, 4, 3), 150, gaps=0.1)
    times = np.random.default_rng(1).integers(1, 4, 150)
    plain = Rows.of(MemoryCounts(table))
    weighted = Rows(plain.codes, plain.labels, times.astype(float), plain.states, plain.n_classes)
    repeated = Rows(np.repeat(plain.codes, times, axis=1), np.repeat(plain.labels, times), None, plain.states, 3)
    for score in ("cpt", "nb_logit", "logit", "nb_joint"):
        one, other = (SCORERS[score](rows, Options()) for rows in (weighted, repeated))
        assert one.length((0, 2)).total == pytest.approx(other.length((0, 2)).total, abs=1e-8)
        assert one.extended((0,), [1, 2]) == pytest.approx(other.extended((0,), [1, 2]), abs=1e-7)
    for score in ("nb_adaptive", "mbp"):
        with pytest.raises(OptionError, match="weigh"):
            SCORERS[score](weighted, Options())


def test_rows_brought_together_or_not_are_alike():
    """With many columns hardly two rows are the same, and candidates are measured on the rows themselves."""
    rng = np.random.default_rng(2)
    labels = rng.integers(0, 3, 3000)
    codes = (rng.integers(0, 3, (14, 3000)) + (rng.random((14, 3000)) < 0.2) * labels) % 3
    rows = Rows(codes, labels, None, (3,) * 14, 3)
    chosen = tuple(range(12))
    many = SCORERS["nb_logit"](rows, Options(n_jobs=2)).extended(chosen, [12, 13])
    one = SCORERS["nb_logit"](rows, Options(n_jobs=1)).extended(chosen, [12, 13])
    assert many == one
    assert many == pytest.approx([SCORERS["nb_logit"](rows, Options()).length((*chosen, j)).total for j in (12, 13)])


@pytest.mark.parametrize("name", SCORERS)
def test_an_extended_set_has_the_length_of_the_set(name):
    rows = Rows.of(MemoryCounts(make_table(np.random.default_rng(5), (2, 3, 2, 3), 90, gaps=0.15)))
    scorer = SCORERS[name](rows, Options(n_jobs=1))
    for chosen in ((), (1,)):
        lengths = scorer.extended(chosen, [0, 2])
        assert lengths == pytest.approx([scorer.length((*chosen, j)).total for j in (0, 2)], abs=1e-7)


def test_rows_number_the_joint_states_that_occur():
    table = make_table(np.random.default_rng(6), (2, 3, 2, 2), 60, gaps=0.2)
    rows = Rows.of(MemoryCounts(table))
    keys, first = rows.keys((0, 2))
    found = {key: tuple(rows.codes[[0, 2], row]) for row, key in enumerate(keys)}
    assert len(set(found.values())) == len(found) == len(first)
    assert [tuple(rows.codes[[0, 2], row]) for row in first] == [found[key] for key in range(len(first))]
    assert rows.class_table(keys, len(first)).sum() == rows.n_rows == 60
    assert rows.incomplete.tolist() == (table.codes[:-1] == 255).any(axis=1).tolist()


def test_wrong_options_raise():
    counts = MemoryCounts(make_table(np.random.default_rng(0), (2, 3, 2), 30))
    with pytest.raises(OptionError, match="Did you mean 'nb_logit'"):
        make_scorer("nb_logits", counts, Options())
    for options in (Options(alpha=0.0), Options(sigma=math.inf), Options(alpha=True)):
        with pytest.raises(OptionError):
            make_scorer("cpt", counts, options)
