"""TAN-HCSP: the best super-parent, and then its best child."""

from tanbark.structure.wrapper import tan_hcsp
from tanbark.structure.wrapper.tan_hcsp import permissible_children, super_parents


def test_super_parents_have_all_permissible_children():
    current = ((), (0,), (), ())
    assert permissible_children(current, 1, [0, 1, 2, 3]) == [2, 3]  # 0 is an ancestor of 1
    assert permissible_children(current, 3, [0, 1, 3]) == [0]
    found = super_parents(current, [0, 1, 2, 3])
    assert found[1] == ((), (0,), (1,), (1,))
    assert found[2] == ((2,), (0,), (), (2,))
    assert super_parents(((1,), ()), [0, 1]) == {}


def test_the_child_is_chosen_after_the_super_parent(counts, recorder):
    scores = {((3,), (3,), (), ()): 5.0, ((), (3,), (), ()): 2.0, ((3,), (), (), ()): 3.0}
    evaluate = recorder(lambda structure: scores.get(structure, 0.0))
    found = tan_hcsp.learn(counts, evaluate=evaluate, tol=0.5)
    assert [step.move for step in found.history] == ["start", "x3 -> x0", "x3 -> x1"]
    assert [step.candidates for step in found.history] == [1, 2, 1]
    assert [step.score for step in found.history] == [0.0, 3.0, 5.0]
