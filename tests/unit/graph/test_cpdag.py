"""Equivalence classes against all graphs of a few nodes, and distances between graphs."""

import itertools

import numpy as np
import pytest

from tanbark.errors import InputError
from tanbark.graph import Dag


def all_dags(n):
    names = "ABCD"[:n]
    for choice in itertools.product(range(3), repeat=n * (n - 1) // 2):
        arcs = [
            pair if kind == 1 else pair[::-1]
            for pair, kind in zip(itertools.combinations(names, 2), choice, strict=True)
            if kind
        ]
        try:
            yield Dag.from_arcs(arcs, names)
        except InputError:
            continue


def signature(dag):
    """Skeleton and v-structures, which name the equivalence class (Verma and Pearl 1990)."""
    arcs = {*dag.arcs()}
    skeleton = frozenset(frozenset(arc) for arc in arcs)
    colliders = {
        (frozenset((a, b)), c)
        for c, parents in zip(dag.names, dag.parents, strict=True)
        for a, b in itertools.combinations([dag.names[p] for p in parents], 2)
        if frozenset((a, b)) not in skeleton
    }
    return skeleton, frozenset(colliders)


def test_classes_are_those_of_all_graphs_of_four_nodes():
    classes = {}
    for dag in all_dags(4):
        classes.setdefault(signature(dag), []).append(dag)
    assert sum(map(len, classes.values())) == 543
    assert len(classes) == 185
    for members in classes.values():
        shared = set.intersection(*({*dag.arcs()} for dag in members))
        found = {dag.cpdag() for dag in members}
        assert len(found) == 1
        assert set(found.pop().directed) == shared


def test_distances():
    chain, turned = Dag.from_arcs([("A", "B"), ("B", "C")], "ABC"), Dag.from_arcs([("C", "B"), ("B", "A")], "CAB")
    collider, empty = Dag.from_arcs([("A", "B"), ("C", "B")], "ABC"), Dag.from_arcs([], "ABC")
    assert (chain.hamming_distance(turned), chain.hamming_distance(turned, equivalence=True)) == (2, 0)
    assert (chain.hamming_distance(collider), chain.hamming_distance(collider, equivalence=True)) == (1, 2)
    assert chain.hamming_distance(empty) == empty.hamming_distance(chain) == 2
    with pytest.raises(InputError, match="same columns"):
        chain.hamming_distance(Dag.from_arcs([], "ABD"))


def test_parents_and_edges_of_the_blanket():
    dag = Dag.from_arcs([("A", "C"), ("C", "B"), ("D", "B"), ("D", "E"), ("C", "F")], "ABDEFC")
    assert (dag.max_parents, dag.blanket_edges(), dag.blanket_edges("A")) == (2, 4, 1)
    assert Dag((), ()).max_parents == 0
    assert np.array_equal(np.argwhere(dag.adjacency())[0], [0, 5])
