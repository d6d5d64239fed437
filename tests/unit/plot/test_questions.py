"""Tornado diagrams and nomograms: what is drawn is what was found."""

import numpy as np
import pytest

import tanbark as tb
from tanbark.plot import plot_nomogram, plot_sensitivity

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 200)
    return np.column_stack([np.where(rng.random(200) < p, y, 1 - y) for p in (0.9, 0.7, 0.5)]), y


def test_bars_reach_from_the_posterior_to_the_extremes(rows):
    found = tb.TAN().fit(*rows).sensitivity([1, 0, 0])
    ax = plot_sensitivity(found, most=2)
    bars = [(bar.get_x(), bar.get_x() + bar.get_width()) for bar in ax.patches]
    for place, span in enumerate(found.spans[:2]):
        assert bars[2 * place] == pytest.approx((min(span.low, found.probability), found.probability))
        assert bars[2 * place + 1] == pytest.approx((found.probability, max(span.high, found.probability)))
    assert next(label.get_text() for label in ax.get_yticklabels()).startswith(found[0].feature)
    assert {text.get_text() for text in ax.texts} == {"0", "1"}
    with pytest.raises(tb.errors.InputError, match=r"clf\.sensitivity"):
        plot_sensitivity("x")


@pytest.mark.parametrize("clf", [tb.NaiveBayes(), tb.TAN()])
def test_states_are_at_their_points(clf, rows):
    card = clf.fit(*rows).scorecard()
    ax = plot_nomogram(card)
    names = [label.get_text() for label in ax.get_yticklabels()]
    assert len(names) == 3 + sum(1 if item.parent is None else len(item.points) for item in card.features)
    for item in card.features:
        for k, points in enumerate(np.atleast_2d(item.points)):
            given = "" if item.parent is None else f" | {item.parent} = {item.parent_states[k]}"
            place = names.index(f"{item.feature}{given}")
            marks = [line for line in ax.lines if line.get_ydata()[0] == pytest.approx(place - 0.1)]
            assert sorted(line.get_xdata()[0] for line in marks) == pytest.approx(sorted(points))
    with pytest.raises(tb.errors.InputError, match=r"clf\.scorecard"):
        plot_nomogram(clf)


def test_the_last_line_turns_the_sum_into_a_probability(rows):
    card = tb.NaiveBayes().fit(*rows).scorecard(points=10, base=100)
    ax = plot_nomogram(card)
    texts = {(round(text.xy[1]), text.get_text()): text.xy[0] for text in ax.texts}
    assert texts[5, "0.5"] == pytest.approx(texts[4, "100"])
