"""Networks as text."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tanbark.draw.text import draw
from tanbark.graph import Dag


def augmented(names, parents):
    return Dag.augmented((*names, "class"), parents)


def test_naive_bayes_is_one_line():
    assert draw(augmented("ABC", [(), (), ()]), 3) == "class ─▶ A, B, C"
    assert draw(augmented("", []), 0) == "class ─▶ (no features)"


def test_many_features_are_wrapped():
    names = [f"feature-{k}" for k in range(50)]
    lines = draw(augmented(names, [()] * 50), 50).splitlines()
    assert max(map(len, lines)) <= 100
    assert all(line.startswith("    feature-") for line in lines[1:])
    assert " ".join(" ".join(lines).split()) == "class ─▶ " + ", ".join(names)


def test_a_tree_with_branches():
    dag = augmented("ABCDE", [(), (0,), (1,), (0,), (3,)])
    assert draw(dag, 5).splitlines() == [
        "class ─▶ every feature",
        "A",
        "├─ B",
        "│  └─ C",
        "└─ D",
        "   └─ E",
    ]


def test_a_forest():
    dag = augmented("ABCD", [(2,), (), (), (1,)])
    assert draw(dag, 4).splitlines() == ["class ─▶ every feature", "B", "└─ D", "C", "└─ A"]


def test_a_general_graph_is_a_list_in_order():
    arcs = [("A", "class"), ("class", "B"), ("A", "C"), ("B", "C")]
    dag = Dag.from_arcs(arcs, ["A", "B", "C", "class"])
    assert draw(dag, 3).splitlines() == ["A", "class ◀─ A", "B ◀─ class", "C ◀─ A, B"]


def test_two_feature_parents_or_a_feature_without_the_class_make_a_list():
    two = augmented("ABC", [(), (0,), (0, 1)])
    assert "C ◀─ A, B, class" in draw(two, 3).splitlines()
    apart = Dag.from_arcs([("class", "A"), ("A", "B")], ["A", "B", "class"])
    assert draw(apart, 2).splitlines() == ["class", "A ◀─ class", "B ◀─ A"]


def test_a_graph_without_a_class_is_a_list():
    assert draw(Dag.from_arcs([("A", "B")], "AB")).splitlines() == ["A", "B ◀─ A"]


def test_a_long_chain_does_not_recurse():
    n = 3_000
    dag = augmented([f"x{k}" for k in range(n)], [(), *((k,) for k in range(n - 1))])
    lines = draw(dag, n).splitlines()
    assert len(lines) == n + 1
    assert lines[-1].endswith("└─ x2999")


@given(st.lists(st.integers(0, 1_000), min_size=1, max_size=30))
def test_every_feature_is_drawn_once_below_its_parent(picks):
    """Any forest: a random earlier node, or none, is the parent."""
    parents = [() if pick % (k + 1) == k else (pick % (k + 1),) for k, pick in enumerate(picks)]
    dag = augmented([f"x{k}" for k in range(len(picks))], parents)
    lines = draw(dag, len(picks)).splitlines()
    if not any(parents):
        assert len(lines) >= 1
        return
    depth, path, found = [], [], {}
    for line in lines[1:]:
        name = line.split()[-1]
        level = (len(line) - len(name)) // 3
        path = [*path[:level], name]
        found[name] = path[-2] if level else None
        depth.append(level)
    wanted = {f"x{k}": f"x{p[0]}" if p else None for k, p in enumerate(parents)}
    assert found == wanted
    assert np.diff(depth).max(initial=0) <= 1
