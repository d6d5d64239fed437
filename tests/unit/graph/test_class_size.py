"""Numbers of equivalent graphs, against counting them one by one."""

import math

import pytest

from naive import all_dags
from tanbark.graph import Dag
from tanbark.graph.class_size import class_size


@pytest.mark.parametrize(("n", "n_dags", "n_classes"), [(1, 1, 1), (2, 3, 2), (3, 25, 11), (4, 543, 185)])
def test_every_class_has_as_many_graphs_as_are_found(n, n_dags, n_classes):
    classes = {}
    for dag in all_dags(n):
        classes.setdefault(dag.cpdag(), []).append(dag)
    assert (sum(map(len, classes.values())), len(classes)) == (n_dags, n_classes)
    for members in classes.values():
        assert {class_size(dag) for dag in members} == {len(members)}


def test_chordal_graphs_that_are_neither_trees_nor_complete():
    """Two triangles with a common edge: of its 4! orders of nodes, each orientation is counted once."""
    names = tuple("ABCD")
    two = Dag.from_arcs([("A", "B"), ("A", "C"), ("B", "C"), ("B", "D"), ("C", "D")], names)
    expected = sum(dag.cpdag() == two.cpdag() for dag in all_dags(4))
    assert class_size(two) == expected == 10
    full = Dag(tuple("ABCDEFG"), tuple(tuple(range(node)) for node in range(7)))
    assert class_size(full) == math.factorial(7)
    path = Dag(tuple("ABCDEFG"), tuple((node - 1,) if node else () for node in range(7)))
    assert class_size(path) == 7
