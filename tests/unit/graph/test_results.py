"""What queries return: posteriors, assignments and costs."""

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
    assert repr(rows) == "Posteriors(rain; 2 rows)"


def test_assignments_and_costs():
    found = Assignment({"rain": True}, np.log(0.1), np.log(0.4))
    assert dict(found) == {"rain": True}
    assert (found.joint, found.posterior) == approx((0.1, 0.25))
    cost = Cost(2, 8.0, 20.0, ("a", "b"), ("a", "b", "c"))
    assert str(cost) == "width 2, largest factor 8 entries, 20 entries in all, 2 variables to eliminate"
