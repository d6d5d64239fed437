"""What queries return: posteriors, assignments and costs."""

import re
from xml.etree import ElementTree

import numpy as np
import pytest
from pytest import approx

from tanbark.errors import InputError
from tanbark.graph import Assignment, Cost, Posterior, Posteriors

VALUES = np.array([[0.1, 0.2, 0.3], [0.1, 0.1, 0.2]])


def posterior():
    return Posterior(("rain", "season"), ((False, True), ("spring", "summer", "winter")), VALUES)


def test_a_posterior_is_read_by_states():
    found = posterior()
    assert found[True, "winter"] == 0.2
    assert found.most_likely() == {"rain": False, "season": "winter"}
    assert found.marginal("season").values == approx([0.2, 0.3, 0.5])
    assert found.marginal("season", "rain").values == approx(VALUES.T)
    assert np.array_equal(np.asarray(found), VALUES)
    for wrong, message in (((True,), "Give a state for each"), ((True, "wintr"), "Did you mean 'winter'")):
        with pytest.raises(InputError, match=message):
            found[wrong]
    with pytest.raises(InputError, match="not asked for"):
        found.marginal("rian")


def test_a_posterior_as_a_frame_and_as_text():
    frame = posterior().frame(backend="pandas")
    assert list(frame.columns) == ["rain", "season", "probability"]
    assert frame["probability"].tolist() == VALUES.ravel().tolist()
    assert str(posterior()).splitlines()[1].split() == ["False", "spring", "0.1"]
    named = Posterior(("probability",), ((0, 1),), np.array([0.5, 0.5]))
    assert list(named.frame(backend="pandas").columns) == ["probability", "probability_"]


def test_posteriors_of_rows():
    rows = Posteriors(("rain",), ((False, True),), np.array([[0.1, 0.9], [0.5, 0.5]]))
    assert [float(row[True]) for row in rows] == [0.9, 0.5]
    assert list(rows.frame(backend="pandas").columns) == ["rain=False", "rain=True"]
    title, _, _, first, second = repr(rows).splitlines()
    assert title == "Posteriors(rain; 2 rows)"
    assert first.split() == ["0", "True", "0.9", "█" * 18]
    assert second.split() == ["1", "False", "0.5", "█" * 10]
    many = Posteriors(("rain",), ((False, True),), np.full((100, 2), 0.5))
    assert repr(many).splitlines()[-1] == "… and 80 more"
    assert many._repr_html_().count("<tr>") == 21


def test_a_posterior_shows_bars_on_the_scale_that_it_names():
    for found, top in ((posterior(), 0.5), (posterior().marginal("rain"), 1.0)):
        head, _, *lines = repr(found).splitlines()
        assert head.split()[-2:] == ["0", f"{top:g}"]
        for line, p in zip(lines, found.values.ravel(), strict=True):
            *_, number, bar = line.split()
            assert float(number) == approx(p)
            assert len(bar) == approx(20 * p / top, abs=1)
        parsed = ElementTree.fromstring(found._repr_html_())
        widths = [float(re.search(r"width:([\d.]+)%", bar.get("style"))[1]) for bar in parsed.iter("div")]
        assert widths == approx(100 * found.values.ravel() / top, abs=0.06)
    odd = Posterior(("a<b",), (("<i>", "&"),), np.array([0.0, 1.0]))
    cells = [cell.text for cell in ElementTree.fromstring(odd._repr_html_()).iter("td")]
    assert cells == ["<i>", "0", None, "&", "1", None]


def test_what_is_not_shown_of_a_posterior_is_counted():
    large = Posterior(("a", "b"), (tuple(range(100)), tuple(range(100))), np.full((100, 100), 1e-4))
    assert repr(large).splitlines()[-1] == "… and 9,960 more"
    assert "… and 9,960 more" in large._repr_html_()


def test_assignments_and_costs():
    found = Assignment({"rain": True}, np.log(0.1), np.log(0.4))
    assert dict(found) == {"rain": True}
    assert (found.joint, found.posterior) == approx((0.1, 0.25))
    cost = Cost(2, 8.0, 20.0, ("a", "b"), ("a", "b", "c"))
    assert str(cost) == "width 2, largest factor 8 entries, 20 entries in all, 2 variables to eliminate"
