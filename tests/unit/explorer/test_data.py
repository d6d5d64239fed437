"""The data of the page, and models that it cannot show."""

import numpy as np
import pytest

import tanbark as tb
from networks import asia
from tanbark.explorer import make_page, write_page
from tanbark.explorer.data import page_data
from tanbark.graph import Dag


def small_rows(seed=0, n=200):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    return np.column_stack([rng.normal(y, 1), rng.integers(0, 3, n), rng.integers(0, 2, n) ^ y]), y


def test_what_has_no_network_is_refused():
    X, y = small_rows()
    with pytest.raises(tb.errors.InputError, match="got dict"):
        write_page({}, "never.html")
    with pytest.raises(tb.errors.InputError, match="not fitted"):
        write_page(tb.TextNaiveBayes(), "never.html")
    with pytest.raises(tb.errors.InputError, match="not fitted"):
        make_page(tb.TAN())
    arcs = [("y", "x0"), ("y", "x1"), ("x0", "x1")]
    weighted = tb.FixedStructure(
        [(a.replace("y", "class"), b) for a, b in arcs], parameters=tb.AWNB(random_state=0)
    ).fit(X, y)
    with pytest.raises(tb.errors.InputError, match="weighted"):
        weighted.explore()


def test_a_network_that_is_too_wide_is_refused_by_name():
    n = 24
    names = tuple(f"v{k}" for k in range(n))
    parents = tuple(tuple(p for p in (k - 1, k - 6, k - 11) if p >= 0) for k in range(n))
    states = dict.fromkeys(names, tuple("abcdefg"))
    tables = {
        names[k]: (tuple(names[p] for p in parents[k]), np.full([7] * (len(parents[k]) + 1), 1 / 7)) for k in range(n)
    }
    network = tb.Network.from_tables(states, tables)
    with pytest.raises(tb.errors.TableTooLargeError, match="widest over"):
        network.explore()


def test_a_large_graph_comes_without_a_drawing():
    names = tuple(f"v{k}" for k in range(401))
    schema = tb.table.Schema(tuple(tb.table.Column(name, levels=("a", "b")) for name in names), has_class=False)
    network = tb.Network(schema, Dag(names, ((),) * 401), (np.full(2, 0.5),) * 401)
    assert page_data(network)["drawing"] is None
    assert page_data(asia())["drawing"] is not None
