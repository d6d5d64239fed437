"""Semi-naive Bayes: features are selected, and joined into groups."""

from tanbark.structure.wrapper import semi_naive
from tanbark.structure.wrapper.search import supernodes


def test_leaving_a_feature_out_removes_it_as_a_parent():
    assert semi_naive.without(((), (0,), (0, 1)), 0) == (None, (), (1,))
    assert semi_naive.without((None, (2,), ()), 2) == (None, (), None)


def test_joined_groups_are_complete():
    structure = semi_naive.joined(((), (0,), (), (2,)), [0, 1], [2, 3])
    assert structure == ((2, 3), (0, 2, 3), (), (2,))
    assert supernodes(structure) == [[0, 1, 2, 3]]


def test_forward_steps_add_a_feature_alone_or_to_a_group(counts, recorder):
    wanted = ((), (0,), None, None)
    scores = {((), None, None, None): 1.0, wanted: 2.0}
    found = semi_naive.learn_forward(counts, evaluate=recorder(lambda s: scores.get(s, 0.0)), tol=0.5)
    assert [step.move for step in found.history] == ["start", "+ x0", "+ x1 joined to (x0)"]
    assert [step.candidates for step in found.history] == [1, 3, 4]


def test_backward_steps_drop_a_feature_or_join_two_groups(counts, recorder):
    scores = {((), None, (), ()): 1.0, ((3,), None, (), ()): 2.0}
    found = semi_naive.learn_backward(counts, evaluate=recorder(lambda s: scores.get(s, 0.0)), tol=0.5)
    assert [step.move for step in found.history] == ["start", "- x1", "(x0) joined to (x3)"]
    assert [step.candidates for step in found.history] == [1, 6, 3]
    assert found.dag.parents == ((3, 4), (), (4,), (4,), ())
