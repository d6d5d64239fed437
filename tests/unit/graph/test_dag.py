"""Directed acyclic graphs: order, blanket, text, and what is no graph."""

import pytest

from tanbark.errors import InputError
from tanbark.graph import Dag

SPRINKLER = [("season", "rain"), ("season", "sprinkler"), ("rain", "wet"), ("sprinkler", "wet"), ("wet", "slippery")]
NAMES = ("wet", "rain", "sprinkler", "season", "slippery")


def test_order_children_and_text():
    dag = Dag.from_arcs(SPRINKLER, NAMES)
    assert [NAMES[node] for node in dag.order] == ["season", "rain", "sprinkler", "wet", "slippery"]
    assert dag.children == ((4,), (0,), (0,), (1, 2), ())
    assert dag.n_arcs == 5
    assert dag.modelstring() == "[season] [rain|season] [sprinkler|season] [wet|rain:sprinkler] [slippery|wet]"
    assert dag.markov_blanket("rain") == ["wet", "sprinkler", "season"]
    assert repr(dag) == "Dag(5 nodes, 5 arcs)"


def test_parents_are_sorted_and_different():
    assert Dag(("a", "b", "c"), ((), (), (1, 0, 1))).parents[2] == (0, 1)
    assert Dag.augmented("abc", [(), (0,)]).parents == ((2,), (0, 2), ())


def test_nodes_are_found_by_name_and_number():
    dag = Dag.from_arcs(SPRINKLER, NAMES)
    assert dag.index("season") == dag.index(3) == 3
    for wrong in ("seasn", 5, -1, True):
        with pytest.raises(InputError, match="no node"):
            dag.index(wrong)


@pytest.mark.parametrize(
    ("arcs", "message"),
    [([("wet", "wet")], "cycle"), ([("wet",)], "pair"), ([("wet", 3)], "no column"), (["we"], "pair")],
)
def test_what_is_no_graph_raises_an_error(arcs, message):
    with pytest.raises(InputError, match=message):
        Dag.from_arcs(arcs, NAMES)
    with pytest.raises(InputError, match="parents of each of its 5"):
        Dag(NAMES, ((),))
