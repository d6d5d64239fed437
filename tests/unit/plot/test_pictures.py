"""Pictures: they show what they are given, and notebooks show them."""

import xml.etree.ElementTree as ET

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

import tanbark as tb
from tanbark.draw.waterfall import steps

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(autouse=True)
def _close():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def model():
    rng = np.random.default_rng(0)
    y = rng.choice(["a<b", "c&d"], 80)
    X = pd.DataFrame({"one": y, "two": rng.choice(["$x", "y_"], 80), "n": rng.normal(size=80) + 3 * (y == "a<b")})
    X["one"] = X["one"].where(rng.random(80) < 0.8, "other")
    return tb.TAN().fit(X, pd.Series(y, name="class<")), X, y


def test_the_svg_holds_every_node_and_arc(model):
    clf, _, _ = model
    root = ET.fromstring(str(clf.network_.svg()))
    titles = [each.text for each in root.iter(f"{SVG}title")]
    assert {f"{a} → {b}" for a, b in clf.dag_.arcs()} | set(clf.dag_.names) == set(titles)


def test_worthier_arcs_are_wider(model):
    clf, X, y = model
    report = tb.arc_report(clf, X, y, n_bootstrap=0)
    weights = {(arc.parent, arc.child): arc.cmi for arc in report if arc.kept}
    root = ET.fromstring(str(clf.network_.svg(weights=weights)))
    drawn = {
        group.find(f"{SVG}title").text: float(group.find(f"{SVG}path").get("stroke-width"))
        for group in root.iter(f"{SVG}g")
        if group.find(f"{SVG}path") is not None
    }
    ranked = sorted(weights, key=weights.get)
    widths = [drawn[f"{a} → {b}"] for a, b in ranked]
    assert widths == sorted(widths)
    assert widths[0] < widths[-1] == 6.0
    lines = [patch.get_linewidth() for patch in tb.plot.plot_network(clf, weights=report).patches]
    assert max(lines) == pytest.approx(6.0)


def test_notebooks_show_pictures(model):
    clf, X, _ = model
    assert "<svg" not in tb.TAN()._repr_mimebundle_()["text/html"]
    for html in (clf._repr_mimebundle_()["text/html"], clf._repr_html_(), clf.network_._repr_html_()):
        assert "<svg" in html
        assert "class&lt;" in html
    explained = clf.explain(X.iloc[:7])
    assert explained._repr_html_().count("<svg") == 5
    assert "2 more rows" in explained._repr_html_()
    assert "<svg" not in tb.AODE().fit(X, X["one"])._repr_mimebundle_()["text/html"]


def test_a_huge_network_is_shown_as_text():
    names = [f"x{k}" for k in range(450)]
    network = tb.Network.from_tables(dict.fromkeys(names, (0, 1)), {name: [0.5, 0.5] for name in names})
    assert "<pre>" in network._repr_html_()


def test_networks_and_tables_are_drawn(model):
    clf, _, _ = model
    ax = tb.plot.plot_network(clf.network_)
    assert {text.get_text() for text in ax.texts} == set(clf.dag_.names)
    ax.figure.canvas.draw()
    other = plt.subplots()[1]
    assert tb.plot.plot_network(clf, ax=other) is other
    ax = tb.plot.plot_cpt(clf, "one")
    assert sum(bar.get_width() for bar in ax.patches) == pytest.approx(clf.network_.table("one").sum())
    ax.figure.canvas.draw()


def test_explanations_are_drawn(model):
    clf, X, _ = model
    row = clf.explain(X.iloc[:1])[0]
    bars = steps(row.ranked(), row.log_odds)
    assert [bar.start for bar in bars[1:-1]] == [bar.stop for bar in bars[:-2]]
    assert bars[-2].stop == pytest.approx(row.log_odds) == bars[-1].stop
    ET.fromstring(row._repr_html_())
    ax = tb.plot.plot_explanation(row)
    assert ax.get_yticklabels()[-1].get_text() == "log-odds"
    ax.figure.canvas.draw()


def test_infinite_evidence_is_drawn():
    X = [["a"], ["a"], ["b"], ["b"]]
    clf = tb.NaiveBayes(parameters=0).fit(X, [0, 0, 1, 1])
    row = clf.explain([["a"]], label=0)[0]
    assert "+∞" in row._repr_html_()
    tb.plot.plot_explanation(row).figure.canvas.draw()


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


@pytest.mark.parametrize(
    "call",
    [
        lambda clf, X, y: tb.plot.plot_network(tb.AODE().fit(X, y)),
        lambda clf, X, y: tb.plot.plot_network(clf, weights=3),
        lambda clf, X, y: tb.plot.plot_explanation(clf.explain(X)),
        lambda clf, X, y: tb.plot.plot_comparison(None),
        lambda clf, X, y: tb.plot.plot_calibration(y, np.ones((3, 2)), classes=clf.classes_),
        lambda clf, X, y: tb.plot.plot_cpt(clf, "onne"),
    ],
)
def test_what_cannot_be_drawn_is_told(model, call):
    with pytest.raises(tb.InputError):
        call(*model)
