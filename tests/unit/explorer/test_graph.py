"""The Graph view: what is drawn, focus, the tray, the map, search, and files."""

import struct
import xml.etree.ElementTree as ElementTree
from itertools import combinations

import numpy as np
import pandas as pd
import pytest

import tanbark as tb
from networks import asia, five_nodes
from readers import VIEW, box, boxes, inside, node, two_frames, viewport

pytestmark = pytest.mark.xdist_group("browser")


@pytest.mark.parametrize("size", [(1400, 900), (700, 1000)])
def test_fit_shows_all_of_the_drawing_in_width_and_height(graph, forest, size):
    reader = graph(forest[0], viewport={"width": size[0], "height": size[1]})
    for _ in range(2):
        canvas = box(reader, "#graph-canvas")
        found = boxes(reader)
        assert len(found) == 25
        assert all(inside(b, canvas) for b in found)
        wide = max(b["x"] + b["width"] for b in found) - min(b["x"] for b in found)
        high = max(b["y"] + b["height"] for b in found) - min(b["y"] for b in found)
        assert max(wide / canvas["width"], high / canvas["height"]) > 0.85
        reader.tab.evaluate(f"{VIEW}.viewport.zoom(3)")
        reader.tab.locator("#fit").click()
        two_frames(reader)


def test_a_variable_in_focus_keeps_its_markov_blanket_and_dims_the_rest(graph, forest):
    clf, _ = forest
    reader = graph(clf)
    node(reader, 1).click()
    kin = reader.tab.evaluate("[...document.querySelectorAll('.node.kin')].map((e) => Number(e.dataset.node))")
    names = clf.network_.dag.names
    assert {names[k] for k in kin} == {*clf.network_.markov_blanket("feature 1"), "feature 1"}
    faded = "(e) => Number(getComputedStyle(e.querySelector('.node-box')).opacity)"
    shown = reader.tab.evaluate(f"[...document.querySelectorAll('.node')].map({faded})")
    assert [opacity == 1 for opacity in shown] == [k in kin for k in range(25)]
    assert reader.tab.locator(".arc.unrouted").count() == 1  # the arc from the class, drawn for this variable alone
    arcs = reader.tab.locator(".arc.kin title").all_text_contents()
    assert any(text.startswith("label → feature 1: ") for text in arcs)
    assert "Markov blanket" in reader.tab.locator("#graph-note").inner_text()
    reader.tab.keyboard.press("Escape")
    canvas = box(reader, "#graph-canvas")
    reader.tab.mouse.click(canvas["x"] + 5, canvas["y"] + canvas["height"] - 5)
    assert reader.tab.locator(".graph-paper.focused").count() == 0


def test_features_without_arcs_to_others_are_in_the_tray(graph, forest):
    clf, _ = forest
    reader = graph(clf)
    target = clf.network_.target
    lone = [
        k
        for k in range(target)
        if clf.network_.dag.parents[k] == (target,) and not clf.network_.dag.children[k]
    ]  # fmt: skip
    assert lone
    tray = box(reader, ".tray rect")
    assert [inside(found, tray) for found in boxes(reader)] == [k in lone for k in range(25)]
    assert reader.tab.locator(".tray-title").text_content() == "No arcs to other features"


def test_many_variables_have_a_map_that_moves_the_view(graph, many, forest):
    reader = graph(many)
    canvas = box(reader, "#graph-canvas")
    assert all(inside(found, canvas) for found in boxes(reader))
    assert not reader.tab.locator(".minimap").is_visible()  # everything is in view
    reader.tab.evaluate(f"{VIEW}.viewport.zoom(4)")
    two_frames(reader)
    small = box(reader, ".minimap")
    assert inside(small, canvas)
    reader.tab.mouse.click(small["x"] + 2, small["y"] + 2)
    two_frames(reader)
    assert viewport(reader)[0] > 0
    reader.tab.mouse.click(small["x"] + small["width"] - 3, small["y"] + small["height"] - 3)
    two_frames(reader)
    assert inside(box(reader, node(reader, 69)), canvas, slack=80)
    assert graph(forest[0]).tab.locator(".minimap").count() == 0


def test_only_what_is_in_view_is_updated_and_the_rest_when_it_comes_into_view(graph, many):
    reader = graph(many)
    stale = f"{VIEW}.nodes.filter((n) => n.shown !== tanbark.app.found).length"
    reader.tab.evaluate(f"{VIEW}.viewport.zoom(4)")
    two_frames(reader)
    reader.tab.evaluate("tanbark.app.observe(3, 1)")
    assert 30 < reader.tab.evaluate(stale) < 71
    reader.tab.locator("#fit").click()
    two_frames(reader)
    assert reader.tab.evaluate(stale) == 0
    shown = reader.tab.evaluate(f"{VIEW}.nodes[20].parts.map((part) => Number(part.getAttribute('width')))")
    expected = np.asarray(many.network_.query("x20", {"x3": many.schema_.columns[3].labels()[1]}))
    assert np.array(shown) / sum(shown) == pytest.approx(expected, abs=0.01)


def test_the_drawing_is_downloaded_as_svg_and_png(graph, forest):
    clf, _ = forest
    reader = graph(clf, color_scheme="dark")
    node(reader, 3).click()
    reader.tab.keyboard.press("Escape")
    with reader.tab.expect_download() as waiting:
        reader.tab.locator("#save-svg").click()
    assert waiting.value.suggested_filename == "TAN-for-label.svg"
    tree = ElementTree.parse(waiting.value.path())
    space = "{http://www.w3.org/2000/svg}"
    assert tree.getroot().tag == f"{space}svg"
    size = [int(tree.getroot().get(name)) for name in ("width", "height")]
    assert {text.text for text in tree.iter(f"{space}text")} >= set(clf.network_.dag.names)
    assert all(path.get("stroke", "").startswith(("rgb", "none")) for path in tree.iter(f"{space}path"))
    assert not any("class" in element.attrib for element in tree.iter())
    with reader.tab.expect_download() as waiting:
        reader.tab.locator("#save-png").click()
    data = waiting.value.path().read_bytes()
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    assert list(struct.unpack(">II", data[16:24])) == [2 * side for side in size]
    assert len(data) > 5000


def test_the_widest_arc_has_the_highest_conditional_mutual_information(graph, forest):
    reader = graph(forest[0])
    arcs = reader.tab.evaluate(f"{VIEW}.arcs.map(({{ bits, width }}) => [bits, width])")
    assert max(arcs)[1] == max(width for _, width in arcs) == 6
    assert sorted(arcs) == sorted(arcs, key=lambda pair: pair[1])
    assert "conditional mutual information" in reader.tab.locator(".legend").inner_text()


def test_no_colour_repeats_within_a_variable(graph):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        {f"v{k}": rng.integers(0, 2 + k, 400).astype(str) for k in range(18)} | {"n": rng.normal(size=400)}
    )
    reader = graph(tb.NaiveBayes(discretize="quantile").fit(X, rng.integers(0, 2, 400)))
    colours = reader.tab.evaluate(f"{VIEW}.colours")
    assert [len(found) for found in colours[:18]] == [X[f"v{k}"].nunique() for k in range(18)]
    assert all(len(set(found)) == len(found) for found in colours)
    shown = reader.tab.evaluate(
        "[...document.querySelectorAll('.node[data-node=\"9\"] .parts rect')].map((e) => e.getAttribute('fill'))"
    )
    assert shown == colours[9]


def test_a_small_network_shows_its_states_in_the_drawing(graph):
    reader = graph(asia())
    reader.tab.locator('.node[data-node="6"] .state-row[data-state="0"]').click()
    assert reader.posterior() == pytest.approx(np.asarray(asia().query("dysp", {"xray": "yes"})), abs=1e-9)
    values = reader.tab.locator('.node[data-node="3"] .state-value').all_text_contents()
    expected = np.asarray(asia().query("lung", {"xray": "yes"}))
    assert [float(text.split()[0]) / 100 for text in values] == pytest.approx(expected, abs=6e-4)


def test_boxes_of_a_small_drawing_do_not_overlap(graph):
    reader = graph(five_nodes())
    found = boxes(reader)
    assert len(found) == 5
    for a, b in combinations(found, 2):
        apart = a["x"] + a["width"] <= b["x"] + 1 or b["x"] + b["width"] <= a["x"] + 1
        assert apart or a["y"] + a["height"] <= b["y"] + 1 or b["y"] + b["height"] <= a["y"] + 1


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_in_the_drawing(graph, axe, forest, scheme):
    reader = graph(forest[0], color_scheme=scheme, bypass_csp=True)
    node(reader, 3).click()
    reader.tab.locator("#editor .pick").nth(1).click()
    reader.tab.evaluate(axe)
    found = reader.tab.evaluate(
        """axe.run(document, { runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"] })
        .then(({ violations }) => violations.map(({ id, nodes }) => [id, nodes[0].html]))"""
    )
    assert found == []


def test_a_search_dims_the_rest_and_goes_to_what_it_finds(graph, many):
    reader = graph(many)
    reader.tab.locator("#search").fill("x42")
    two_frames(reader)
    assert reader.tab.locator(".node.found").count() == 1
    assert inside(box(reader, node(reader, 42)), box(reader, "#graph-canvas"))
    assert viewport(reader)[2] == pytest.approx(1.0)


@pytest.mark.parametrize("size", [(1440, 900), (390, 844)])
def test_a_large_tree_opens_legible_with_a_map_and_fit_shows_it_all(graph, size):
    """Long branches, as TAN has them on neighbouring measurements."""
    n = 120
    tables = {"x0": [0.5, 0.5]} | {
        f"x{k}": ((f"x{max(0, k - 1 - (k % 10 == 0) * 30)}",), [[0.8, 0.2], [0.3, 0.7]]) for k in range(1, n)
    }
    network = tb.Network.from_tables({name: ["no", "yes"] for name in tables}, tables)
    reader = graph(network, viewport=dict(zip(("width", "height"), size, strict=True)))
    scale = viewport(reader)[2]
    letters = reader.tab.evaluate("parseFloat(getComputedStyle(document.querySelector('.node-name')).fontSize)")
    assert letters * scale >= 9
    whole = reader.tab.evaluate(f"{VIEW}.viewport.fitting")
    assert reader.tab.locator(".minimap").is_visible() == (scale > whole)
    root = reader.tab.evaluate(f"{VIEW}.names.root")
    assert inside(box(reader, node(reader, root)), box(reader, "#graph-canvas"))
    reader.tab.locator("#fit").click()
    two_frames(reader)
    assert viewport(reader)[2] == pytest.approx(whole)
    assert all(inside(each, box(reader, "#graph-canvas")) for each in boxes(reader))
