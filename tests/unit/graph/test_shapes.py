import numpy as np
import pytest

from strategies import make_schema
from tanbark.graph import Dag, Network


def network(*parents, class_parents=()):
    """A network over binary columns; features are given by their feature parents, None for one without any arc."""
    n = len(parents)
    full = [() if p is None else (*p, n) for p in parents]
    schema = make_schema([2] * (n + 1))
    tables = tuple(np.full([2] * (1 + len(p)), 0.5) for p in (*full, class_parents))
    return Network(schema, Dag(schema.names, (*full, class_parents)), tables)


@pytest.mark.parametrize(
    ("made", "augmented", "naive", "one", "semi"),
    [
        (network((), (), ()), True, True, True, True),
        (network((), None, ()), True, True, True, True),
        (network((), (0,), (1,)), True, False, True, False),
        (network((), (0,), ()), True, False, True, True),
        (network((), (0,), (0, 1)), True, False, False, True),
        (network((), (0,), (0,)), True, False, True, False),
        (network((), (), (0, 1)), True, False, False, False),
        (network(None, (), (), class_parents=(0,)), False, False, False, False),
    ],
)
def test_shapes(made, augmented, naive, one, semi):
    found = (made.is_augmented_naive, made.is_naive, made.is_one_dependence, made.is_semi_naive)
    assert found == (augmented, naive, one, semi)


def test_an_arc_between_features_outside_the_class_is_no_augmented_naive_bayes():
    schema = make_schema([2, 2, 2, 2])
    dag = Dag(schema.names, ((3,), (), (1,), ()))
    made = Network(schema, dag, tuple(np.full([2] * (1 + len(p)), 0.5) for p in dag.parents))
    assert not made.is_augmented_naive
