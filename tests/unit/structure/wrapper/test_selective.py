"""Selective naive Bayes: features enter one at a time."""

from tanbark.structure.wrapper import selective


def test_the_most_helpful_feature_enters_first(counts, recorder):
    worth = {0: 0.1, 1: 0.5, 2: 9.0, 3: 0.3}
    evaluate = recorder(lambda structure: sum(worth[f] for f, parents in enumerate(structure) if parents is not None))
    found = selective.learn(counts, evaluate=evaluate, tol=0.2)
    assert [step.move for step in found.history] == ["start", "+ x1", "+ x3"]  # x2 has one state, x0 gains too little
    assert found.dag.parents == ((), (4,), (), (4,), ())
    assert [step.candidates for step in found.history] == [1, 3, 2]
