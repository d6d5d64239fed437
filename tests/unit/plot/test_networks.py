"""Charts of networks and CPTs."""

import matplotlib.pyplot as plt
import numpy as np
import pytest

import tanbark as tb


def test_networks_and_cpts_are_drawn(model):
    clf, _, _ = model
    ax = tb.plot.plot_network(clf.network_)
    assert {text.get_text() for text in ax.texts} == set(clf.dag_.names)
    ax.figure.canvas.draw()
    other = plt.subplots()[1]
    assert tb.plot.plot_network(clf, ax=other) is other
    ax = tb.plot.plot_cpt(clf, "one")
    assert sum(bar.get_width() for bar in ax.patches) == pytest.approx(clf.network_.table("one").sum())
    ax.figure.canvas.draw()


def test_weights_are_widths(model):
    clf, X, y = model
    report = tb.arc_report(clf, X, y, n_bootstrap=0)
    lines = [patch.get_linewidth() for patch in tb.plot.plot_network(clf, weights=report).patches]
    assert max(lines) == pytest.approx(6.0)


def test_a_cpt_with_too_many_rows_raises_an_error():
    states = {f"x{k}": range(5) for k in range(3)} | {"y": (0, 1)}
    tables = {f"x{k}": [0.2] * 5 for k in range(3)} | {"y": (("x0", "x1", "x2"), np.full((5, 5, 5, 2), 0.5))}
    with pytest.raises(tb.errors.InputError, match="125 rows; a chart shows at most 60"):
        tb.plot.plot_cpt(tb.Network.from_tables(states, tables), "y")


@pytest.mark.parametrize(
    "call",
    [
        lambda clf, X, y: tb.plot.plot_network(tb.AODE().fit(X, y)),
        lambda clf, X, y: tb.plot.plot_network(clf, weights=3),
        lambda clf, X, y: tb.plot.plot_cpt(clf, "onne"),
    ],
)
def test_what_cannot_be_drawn_raises_an_error(model, call):
    with pytest.raises(tb.errors.InputError):
        call(*model)
