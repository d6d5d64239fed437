"""Every picture with names short and long, with few and many states and features: all texts can be read."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

import tanbark as tb
from pictures import check_texts, drawn_texts
from tanbark.structure.trace import History, Step

LONG = "concentration of the measured substance in the blood plasma, "
KINDS = {  # features, states of each, words before every name
    "short": (4, 2, ""),
    "long": (4, 4, LONG),
    "many states": (3, 12, "state no. "),
    "many features": (30, 3, "feature "),
    "wide letters": (6, 3, "WWWWWWWWMMMMMMMM"),
}


@pytest.fixture(scope="module", params=KINDS)
def made(request):
    """Return a TAN, a naive Bayes, rows and labels; the class has two states."""
    n_features, n_states, words = KINDS[request.param]
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 400)
    hidden = rng.integers(0, n_states, 400)
    columns = {}
    for k in range(n_features):
        value = np.where(rng.random(400) < 0.5, hidden, rng.integers(0, n_states, 400))
        value = np.where(rng.random(400) < 0.5 * (k + 1) / n_features, y, value)
        columns[f"{words}no. {k}"] = [f"{words}{v}" for v in value]
    X, labels = pd.DataFrame(columns), pd.Series([f"{words}{'yes' if v else 'no'}" for v in y], name=f"{words}class")
    return tb.TAN().fit(X, labels), tb.NaiveBayes().fit(X, labels), X, labels


def test_networks(made):
    clf, _, _, _ = made
    check_texts(tb.plot.plot_network(clf).figure)
    check_texts(tb.plot.plot_network(clf, class_arcs=False).figure)
    check_texts(tb.plot.plot_network(clf, ax=plt.subplots(figsize=(5, 3))[1]).figure)


def test_cpts(made):
    clf, _, _, y = made
    child = next(node for node, parents in enumerate(clf.dag_.parents) if len(parents) > 1)
    texts = check_texts(tb.plot.plot_cpt(clf, child).figure)
    counts = clf.family_counts_[child]
    assert f"{int(counts.sum(axis=clf.network_.axes(child).index(child)).flat[0]):,}" in texts[texts.index("rows") :]
    assert "rows" not in check_texts(tb.plot.plot_cpt(clf.network_, child).figure)
    check_texts(tb.plot.plot_cpt(clf, y.name).figure)


def test_explanations(made):
    clf, naive, X, _ = made
    for model, row in ((clf, 0), (naive, 1)):
        check_texts(tb.plot.plot_explanation(model.explain(X[row : row + 1])).figure)


def test_sensitivity(made):
    clf, _, X, _ = made
    check_texts(tb.plot.plot_sensitivity(clf.sensitivity(X[:1])).figure)
    check_texts(tb.plot.plot_sensitivity(clf.sensitivity({})).figure)


def test_nomograms(made):
    clf, naive, _, _ = made
    check_texts(tb.plot.plot_nomogram(naive.scorecard()).figure)
    check_texts(tb.plot.plot_nomogram(clf.scorecard()).figure)


def test_calibration(made):
    clf, _, X, y = made
    proba = clf.predict_proba(X)
    for options in ({}, {"label": clf.classes_[1], "bins": 25, "min_rows": 1}):
        check_texts(tb.plot.plot_calibration(y, proba, classes=clf.classes_, **options).figure)
    check_texts(tb.plot.plot_calibration(y[:3], proba[:3], classes=clf.classes_).figure)


def test_arc_reports(made):
    clf, _, X, y = made
    report = tb.arc_report(clf, X, y, n_bootstrap=0)
    check_texts(report.plot(measure="bootstrap").figure)
    check_texts(report.plot(most=3).figure)


@pytest.mark.parametrize(
    ("words", "models", "shift"), [("", 2, 1.0), (LONG, 5, 0.0), (LONG, 25, 0.2), ("WWWWWWWWMMMMMMMM", 12, 0.3)]
)
def test_comparisons(words, models, shift):
    rng = np.random.default_rng(1)
    scores = {f"{words}{k}": rng.normal(size=20) + shift * k for k in range(models)}
    found = tb.compare_scores(scores, metric=f"{words}log-loss", higher_is_better=False)
    texts = check_texts(tb.plot.plot_comparison(found).figure)
    assert any("lower is better" in text for text in texts)


@pytest.mark.parametrize(("words", "steps"), [("", 1), (LONG, 30), ("", 200)])
def test_histories(words, steps):
    history = History([Step(0.5 + 0.4 * k / steps, f"{words}{k} -> {words}{k + 1}", 10, 0.1) for k in range(steps)])
    check_texts(history.plot().figure)


def test_the_check_finds_what_overlaps_and_what_is_outside():
    ax = plt.subplots()[1]
    ax.text(0.5, 0.5, "one")
    check_texts(ax.figure)
    ax.text(0.51, 0.51, "two")
    with pytest.raises(AssertionError, match="overlap"):
        check_texts(ax.figure)
    other = plt.subplots()[1]
    other.text(0.5, 0.5, "far" * 100)
    with pytest.raises(AssertionError, match="outside"):
        check_texts(other.figure)
    assert "far" * 100 in [text for text, _ in drawn_texts(other.figure)]
