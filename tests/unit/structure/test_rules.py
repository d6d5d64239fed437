"""Constraints and options that several learners share."""

import numpy as np
import pytest

from strategies import make_table
from tanbark.counts import MemoryCounts
from tanbark.errors import InputError, OptionError
from tanbark.graph import Dag
from tanbark.structure.rules import arc_mask, find_column, generator, make_dag, make_rules, varied_features


@pytest.fixture
def counts():
    return MemoryCounts(make_table(np.random.default_rng(0), (2, 3, 1, 2, 2), 20))


def rules_of(counts, **options):
    return make_rules(counts, **{"max_parents": None, "required": (), "forbidden": (), "start": None, **options})


def test_what_is_allowed_without_constraints(counts):
    rules, begin = rules_of(counts)
    varied = np.array([True, True, False, True, True])
    assert np.array_equal(rules.allowed, varied[:, None] & varied & ~np.eye(5, dtype=bool))
    assert not rules.fixed.any()
    assert not begin.any()
    assert (rules.max_parents, rules.names) == (5, counts.schema.names)


def test_required_and_forbidden_arcs_and_a_start(counts):
    options = {"required": [("x0", "x1")], "forbidden": [("x3", "x0"), ("x1", "class")], "max_parents": 2}
    for start in ([("x1", "x3"), ("x1", "class")], Dag.from_arcs([("x1", "x3"), ("x1", "class")], counts.schema.names)):
        rules, begin = rules_of(counts, start=start, **options)
        assert make_dag(rules.names, begin).arcs() == [("x0", "x1"), ("x1", "x3")]  # a forbidden arc is taken out
        assert not rules.allowed[3, 0]
        assert np.argwhere(rules.fixed).tolist() == [[0, 1]]
        assert rules.max_parents == 2


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"required": [("x0", "x1")], "forbidden": [("x0", "x1")]}, "both required and forbidden"),
        ({"required": [("x0", "x1")], "start": [("x1", "x0")]}, "cycle"),
        ({"required": [("x0", "nobody")]}, "no column"),
        ({"forbidden": "x0"}, "forbidden must be a list"),
        ({"start": iter([("x0", "x1")])}, "start must be a list"),
        ({"max_parents": -1}, "max_parents"),
    ],
)
def test_wrong_constraints_raise(counts, options, message):
    with pytest.raises((OptionError, InputError), match=message):
        rules_of(counts, **options)


def test_arcs_as_a_matrix():
    assert np.argwhere(arc_mask("arcs", [("a", "b"), ("c", "a")], ("a", "b", "c"))).tolist() == [[0, 1], [2, 0]]


def test_columns_by_name_and_by_position():
    names = ("age", "sex")
    assert [find_column("root", given, names) for given in ("sex", 0, np.int64(1))] == [1, 0, 1]
    for wrong, message in (("sx", "Did you mean 'sex'"), (2, "from 0 to 1"), (True, "from 0 to 1"), (0.0, "got 0.0")):
        with pytest.raises(OptionError, match=message):
            find_column("root", wrong, names)


def test_features_with_one_state_are_left_out(counts):
    assert varied_features(counts) == [0, 1, 3]


def test_generators_from_seeds_and_states():
    draws = [generator(state).integers(1 << 30) for state in (3, np.random.default_rng(3))]
    assert draws[0] == draws[1]
    first, again = (generator(np.random.RandomState(3)).integers(1 << 30) for _ in range(2))
    assert first == again


@pytest.mark.parametrize("wrong", ["seed", -1, 2.5])
def test_a_bad_random_state_is_explained(wrong):
    with pytest.raises(OptionError, match=r"random_state must be None, a whole number of at least 0 .*; got"):
        generator(wrong)
