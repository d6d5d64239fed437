"""Charts of comparisons and calibration."""

import numpy as np
import pytest

import tanbark as tb


@pytest.mark.parametrize("shift", [0.0, 2.0])
def test_comparisons_are_drawn(shift):
    rng = np.random.default_rng(1)
    scores = {f"model {k}": rng.normal(size=20) + shift * k for k in range(5)}
    found = tb.compare_scores(scores)
    ax = tb.plot.plot_comparison(found)
    ax.figure.canvas.draw()
    texts = " ".join(text.get_text() for text in ax.texts)
    assert all(name in texts for name in scores)
    assert len(found.groups()) == (0 if shift else 1)


def test_calibration_is_drawn(model):
    clf, X, y = model
    ax = tb.plot.plot_calibration(y, clf.predict_proba(X), classes=clf.classes_, label="c&d")
    assert "class c&d" in ax.get_title()
    assert ax.get_xlabel() == "predicted probability"
    assert ax.get_ylabel() == "observed frequency"


@pytest.mark.parametrize(
    "call",
    [
        lambda clf, X, y: tb.plot.plot_comparison(None),
        lambda clf, X, y: tb.plot.plot_calibration(y, np.ones((3, 2)), classes=clf.classes_),
    ],
)
def test_what_cannot_be_drawn_raises_an_error(model, call):
    with pytest.raises(tb.errors.InputError):
        call(*model)


def test_models_that_differ_from_a_control_have_a_star():
    rng = np.random.default_rng(0)
    scores = {name: rng.normal(size=30) + shift for name, shift in (("a", 0), ("b", 0.1), ("c", 4))}
    ax = tb.plot.plot_comparison(tb.compare_scores(scores, control="a"))
    words = " ".join(text.get_text() for text in ax.texts)
    assert "c*" in words
    assert "b*" not in words
    assert ax.get_title().endswith("* differs from a")
