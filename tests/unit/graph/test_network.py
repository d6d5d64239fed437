"""Networks: the shapes of classifiers, CPTs as arrays and frames, and weighted CPTs."""

import numpy as np
import pytest

from networks import asia, five_nodes
from strategies import make_schema
from tanbark.graph import Dag, Network
from tanbark.graph.network import family_axes


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


def test_axes_and_tables():
    assert family_axes((3, 0), 2, 3) == (0, 2, 3)
    clinic = asia()
    assert clinic.axes(7) == (4, 5, 7)
    table = clinic.table("dysp")
    table[:] = 0
    assert clinic.table("dysp")[0, 0, 0] == 0.9
    frame = clinic.table_frame("dysp", backend="pandas")
    assert frame["dysp=yes"].tolist() == [0.9, 0.8, 0.7, 0.1]
    assert frame["bronc"].tolist() == ["yes", "yes", "no", "no"]


def test_parameters_families_and_text():
    small = five_nodes()
    assert small.n_parameters == 1 + 2 + 2 + 4 + 2
    assert small.families()["D"] == ["B", "C"]
    assert repr(small) == "Network(5 columns, 5 arcs, 11 free parameters)"


def test_exponents_weight_the_logarithms():
    plain = network((), (0,))
    weighted = Network(plain.schema, plain.dag, plain.tables, exponents=(0.0, 2.0, 1.0))
    assert [float(logs.max()) for logs in weighted.log_tables] == pytest.approx([0.0, 2 * np.log(0.5), np.log(0.5)])
