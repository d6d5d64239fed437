"""k-dependence by hill climbing: arcs until every feature has its parents."""

import pytest

from tanbark.errors import OptionError
from tanbark.structure.wrapper import kdb_hc


def n_arcs(structure):
    return sum(map(len, structure))


@pytest.mark.parametrize(("most", "arcs"), [(0, 0), (1, 2), (2, 3), (5, 3)])
def test_features_have_at_most_so_many_parents(counts, recorder, most, arcs):
    found = kdb_hc.learn(counts, evaluate=recorder(n_arcs), max_parents=most, tol=0.0)
    inner = [[p for p in parents if p != 4] for parents in found.dag.parents]
    assert sum(map(len, inner)) == arcs
    assert max(map(len, inner)) <= most
    assert not inner[2]


def test_both_directions_are_tried_and_ties_go_to_the_earlier(counts, recorder):
    evaluate = recorder(n_arcs)
    found = kdb_hc.learn(counts, evaluate=evaluate, max_parents=1, tol=0.0)
    assert len(evaluate.scored[0]) == 1 + 3 * 2
    assert found.history[1].move == "x0 -> x1"
    backward = kdb_hc.learn(counts, evaluate=recorder(lambda parents: n_arcs(parents) + (parents[0] == (3,))), tol=0.0)
    assert backward.history[1].move == "x3 -> x0"


def test_a_wrong_number_raises(counts, recorder):
    with pytest.raises(OptionError, match="max_parents"):
        kdb_hc.learn(counts, evaluate=recorder(n_arcs), max_parents=-1)
