"""TAN-HC: every step adds the best arc between features."""

from tanbark.structure.wrapper import tan_hc


def arcs(structure):
    return [(p, y) for y, parents in enumerate(structure) for p in parents]


def test_both_directions_are_tried_and_the_best_is_taken(counts, recorder):
    evaluate = recorder(lambda structure: len(arcs(structure)) + ((3, 1) in arcs(structure)))
    found = tan_hc.learn(counts, evaluate=evaluate, tol=0.0)
    first = [arcs(structure)[0] for structure in evaluate.scored[0][1:]]
    assert first == [(0, 1), (0, 3), (1, 0), (1, 3), (3, 0), (3, 1)]
    assert [step.move for step in found.history] == ["start", "x3 -> x1", "x0 -> x3"]


def test_it_grows_a_tree(counts, recorder):
    found = tan_hc.learn(counts, evaluate=recorder(lambda structure: len(arcs(structure))), tol=0.0)
    assert [len(parents) for parents in found.dag.parents] == [1, 2, 1, 2, 0]
    assert found.dag.parents[2] == (4,)  # a column with one state is not moved
