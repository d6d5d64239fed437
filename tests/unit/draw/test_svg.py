"""Drawings of networks as SVG, and what notebooks display."""

import xml.etree.ElementTree as ET

import numpy as np
import pandas as pd
import pytest
from pytest import approx

import tanbark as tb
from tanbark.draw.svg import THINNEST, WIDEST, arc_widths, curve, network_svg, node_colours
from tanbark.graph import Dag

SVG = "{http://www.w3.org/2000/svg}"


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


def chain():
    return Dag.from_arcs([("C", "A"), ("A", "B & co"), ("C", "B & co")], ["A", "B & co", "C"])


def test_widths_follow_the_weights():
    widths = arc_widths(chain(), {("C", "A"): 4.0, ("A", "B & co"): 1.0, ("C", "B & co"): -1.0})
    assert list(widths.values()) == approx([WIDEST, THINNEST + (WIDEST - THINNEST) / 4, THINNEST])
    assert arc_widths(chain(), None) == {}


@pytest.mark.parametrize(("n", "noted"), [(15, False), (16, True)])
def test_hidden_arcs_are_noted(n, noted):
    dag = Dag.augmented([*(f"x{i}" for i in range(n)), "class"], [()] * n)
    assert ("arcs not drawn" in network_svg(dag, n).text) == noted


def test_colours_and_curves():
    colours = {node_colours(Dag.from_arcs([("C", "A")], "ABC"), node, 2) for node in range(3)}
    assert len(colours) == 3
    pieces = curve(((0.0, 0.0), (10.0, 22.0), (10.0, 44.0)))
    assert pieces[0] == ((0.0, approx(10.0)), (10.0, approx(12.0)), (10.0, 22.0))
    assert pieces[1] == ((10.0, 22.0), (10.0, 44.0), (10.0, 44.0))


def test_the_picture_of_a_classifier_that_pools_networks_is_the_one_to_read():
    X, y = [[0, 0, 1], [0, 0, 0], [1, 1, 1], [1, 1, 0]] * 9, [0, 0, 1, 1] * 9
    assert "<svg" not in tb.Classifier()._repr_mimebundle_()["text/html"]
    html = tb.Classifier(n_estimators=2).fit(X, y)._repr_mimebundle_()["text/html"]
    assert html.count("<svg") == 1
    assert "predictions pool 2 networks" in html
