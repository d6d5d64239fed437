"""Random networks: kinds, width, and the same draw for the same seed."""

import numpy as np
import pytest

import tanbark as tb


@pytest.mark.parametrize("kind", ["anb", "tan", "naive", "tree", "dag"])
def test_kinds(kind):
    network = tb.Network.random(12, kind=kind, width=3, n_states=(2, 4), n_classes=3, random_state=5)
    again = tb.Network.random(12, kind=kind, width=3, n_states=(2, 4), n_classes=3, random_state=5)
    assert network.dag == again.dag
    assert all(np.array_equal(a, b) for a, b in zip(network.tables, again.tables, strict=True))
    assert network.is_augmented_naive == (kind in ("anb", "tan", "naive"))
    assert network.dag.max_parents == {"anb": 4, "tan": 2, "naive": 1, "tree": 1, "dag": 3}[kind]
    for node, table in enumerate(network.tables):
        assert table.sum(axis=network.axes(node).index(node)) == pytest.approx(1.0)
    assert set(network.schema.cardinalities) <= {2, 3, 4}
    assert network.schema.cardinalities[-1] == 3


@pytest.mark.parametrize("width", [0, 1, 3, 6])
def test_the_width_is_the_largest_family(width):
    network = tb.Network.random(8, kind="dag", width=width, random_state=1)
    cost = network.query_cost("x0")
    assert network.dag.max_parents == width
    assert cost.largest <= 2 ** (width + 1)
    assert tb.Network.random(2, kind="dag", width=9, random_state=1).dag.max_parents == 2


def test_a_cpt_that_is_too_large_is_refused():
    with pytest.raises(tb.errors.TableTooLargeError, match="Lower width"):
        tb.Network.random(40, kind="dag", width=30)


def test_a_low_concentration_is_nearly_deterministic():
    low, high = (tb.Network.random(9, concentration=c, random_state=0) for c in (0.01, 100.0))
    assert np.mean([table.max(axis=-2).mean() for table in low.tables[:-1]]) > 0.95
    assert np.mean([table.max() for table in high.tables]) < 0.75


@pytest.mark.parametrize(
    "options",
    [
        {"kind": "net"},
        {"width": -1},
        {"n_states": (3, 2)},
        {"n_states": 0},
        {"n_states": (1, 2, 3)},
        {"concentration": 0},
    ],
)
def test_wrong_options_are_refused(options):
    with pytest.raises(tb.errors.OptionError, match=next(iter(options))):
        tb.Network.random(3, **options)
