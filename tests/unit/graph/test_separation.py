"""d-separation, requisite nodes and pruned networks."""

import pytest

from networks import asia
from tanbark.errors import InputError
from tanbark.graph import Dag
from tanbark.graph.separation import ancestors, reachable, requisite


def test_d_separation_and_pruning_of_the_clinic():
    network = asia()
    assert network.d_separated("asia", "smoke")
    assert not network.d_separated("asia", "smoke", "dysp")
    assert network.d_separated("tub", ["lung", "smoke"])
    assert network.d_separated("xray", "bronc", ["either", "smoke"])
    assert set(network.prune("bronc", ["smoke"]).dag.names) == {"bronc", "smoke"}
    assert set(network.prune("asia").dag.names) == {"asia"}
    pruned = network.prune("dysp", ["either"])
    assert set(pruned.dag.names) == {"smoke", "bronc", "either", "dysp", "lung", "tub", "asia"}


def test_ancestors_and_active_trails():
    dag = Dag.from_arcs([("A", "C"), ("B", "C"), ("C", "D"), ("A", "E")], "ABCDE")
    assert ancestors(dag, [3]) == {0, 1, 2, 3}
    assert reachable(dag, [0], []) == {0, 2, 3, 4}
    assert reachable(dag, [0], [3]) == {0, 1, 2, 4}  # a descendant of the collider is observed
    assert reachable(dag, [0], [2]) == {0, 1, 4}


def test_requisite_nodes_leave_out_barren_and_separated_ones():
    dag = Dag.from_arcs([("A", "B"), ("B", "C"), ("C", "D")], "ABCD")
    assert requisite(dag, [0], [1]) == ({0, 1}, {1})
    assert requisite(dag, [2], [1]) == ({2}, {1})
    assert requisite(dag, [0], []) == ({0}, set())


def test_a_query_must_not_be_observed():
    with pytest.raises(InputError, match="must not be among the evidence"):
        asia().prune("dysp", ["dysp"])
