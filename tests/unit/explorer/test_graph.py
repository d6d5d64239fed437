"""The Graph view in a browser: evidence at a node, pan and zoom, focus, the tray, the map, and files."""

import struct
import xml.etree.ElementTree as ElementTree
from itertools import combinations

import numpy as np
import pandas as pd
import pytest

import tanbark as tb
from networks import asia, five_nodes
from tanbark.explorer import make_page

pytestmark = pytest.mark.xdist_group("browser")

STILL = {"reduced_motion": "reduce"}
VIEW = "tanbark.app.shell.current().made"


@pytest.fixture(scope="module")
def forest():
    """A TAN forest of 24 features, some of them numbers, some without arcs to other features."""
    rng = np.random.default_rng(3)
    n = 600
    y = rng.integers(0, 2, n)
    columns = {}
    for k in range(24):
        if k % 6 == 5:
            x = rng.integers(0, 2, n)
        else:
            before = columns[f"feature {(k - 1) // 2}"] if k and (k - 1) // 2 % 6 != 5 else rng.integers(0, 3, n)
            x = np.where(rng.random(n) < 0.7, np.round(before).astype(int) % 3, rng.integers(0, 3, n))
        x = np.where(rng.random(n) < 0.15, y, x)
        columns[f"feature {k}"] = x + rng.normal(0, 0.1, n) if k % 4 == 0 else x
    X = pd.DataFrame({name: x if x.dtype == float else x.astype(str) for name, x in columns.items()})
    return tb.TAN(criterion="bic").fit(X, pd.Series(y, name="label").map({0: "no", 1: "yes"})), X


@pytest.fixture(scope="module")
def many():
    """Naive Bayes of 70 features."""
    rng = np.random.default_rng(5)
    y = rng.integers(0, 2, 120)
    X = pd.DataFrame(
        {f"x{k}": np.where(rng.random(120) < 0.3, y, rng.integers(0, 3, 120)).astype(str) for k in range(70)}
    )
    return tb.NaiveBayes().fit(X, y)


@pytest.fixture
def graph(read):
    """Open the Graph view of a model, without motion."""

    def show(model, **options):
        reader = read(**(STILL | options)).open(model)
        reader.tab.locator("#tab-graph").click()
        settle(reader)
        return reader

    return show


def settle(reader):
    """Wait for two frames, so that what was scheduled is drawn."""
    reader.tab.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")


def node(reader, index):
    return reader.tab.locator(f'#graph-canvas .node[data-node="{index}"]')


def box(reader, place):
    found = reader.tab.locator(place) if isinstance(place, str) else place
    return found.bounding_box()


def boxes(reader):
    """Give the boxes of all nodes on the screen."""
    return reader.tab.evaluate(
        """[...document.querySelectorAll("#graph-canvas .node")].map((node) => {
        const { x, y, width, height } = node.getBoundingClientRect(); return { x, y, width, height }; })"""
    )


def viewport(reader):
    return reader.tab.evaluate(f"(({{left, top, scale}}) => [left, top, scale])({VIEW}.viewport)")


def inside(inner, outer, slack=1.0):
    return (
        inner["x"] >= outer["x"] - slack
        and inner["y"] >= outer["y"] - slack
        and inner["x"] + inner["width"] <= outer["x"] + outer["width"] + slack
        and inner["y"] + inner["height"] <= outer["y"] + outer["height"] + slack
    )


def row_of(X, **values):
    return pd.DataFrame({name: [values.get(name.replace(" ", "_"))] for name in X})


def test_a_click_opens_a_variable_at_its_node_and_takes_evidence(graph, forest):
    clf, X = forest
    reader = graph(clf)
    assert not reader.tab.locator("#editor").is_visible()
    node(reader, 3).click()
    editor, at = box(reader, "#editor"), box(reader, node(reader, 3))
    assert inside(editor, {"x": 0, "y": 0, "width": 1400, "height": 900})
    across = max(editor["x"] - at["x"] - at["width"], at["x"] - editor["x"] - editor["width"])
    down = max(editor["y"] - at["y"] - at["height"], at["y"] - editor["y"] - editor["height"])
    assert max(across, down) < 20
    reader.tab.locator("#editor .pick").nth(1).click()
    expected = clf.predict_proba(row_of(X, feature_3="1"))[0]
    assert reader.posterior() == pytest.approx(expected, abs=1e-9)
    assert "observed" in node(reader, 3).get_attribute("class")
    reader.tab.locator("#editor .not").nth(0).click()
    soft = {"feature 3": [0.0, 1.0, 1.0]}
    assert reader.posterior() == pytest.approx(np.asarray(clf.network_.query("label", soft=soft)), abs=1e-9)


def test_a_neighbour_is_opened_at_its_own_node(graph, forest):
    reader = graph(forest[0])
    node(reader, 3).click()
    reader.tab.locator("#editor .notes .link", has_text="label").click()
    settle(reader)
    assert reader.tab.locator("#editor .name").inner_text() == "label"
    editor, at = box(reader, "#editor"), box(reader, node(reader, 24))
    assert abs(editor["x"] - at["x"]) < 350
    assert "chosen" in node(reader, 24).get_attribute("class")
    reader.tab.keyboard.press("Escape")
    assert reader.tab.evaluate("document.activeElement.dataset.node") == "24"


def test_a_number_is_typed_at_its_node(graph, forest):
    clf, X = forest
    reader = graph(clf)
    node(reader, 4).click()
    field = reader.tab.locator("#editor .number")
    field.fill("1.97")
    field.press("Enter")
    assert reader.posterior() == pytest.approx(clf.predict_proba(row_of(X, feature_4=1.97))[0], abs=1e-9)


def test_dragging_a_bar_at_a_node_is_soft_evidence(graph, forest):
    clf, _ = forest
    reader = graph(clf)
    node(reader, 3).click()
    track = box(reader, reader.tab.locator("#editor .track").first)
    middle = track["y"] + track["height"] / 2
    reader.tab.mouse.move(track["x"] + track["width"] * 0.9, middle)
    reader.tab.mouse.down()
    reader.tab.mouse.move(track["x"] + track["width"] * 0.3, middle, steps=4)
    reader.tab.mouse.up()
    likelihood = reader.tab.evaluate("Array.from(tanbark.app.likelihoods[3])")
    assert likelihood[0] == pytest.approx(0.3, abs=0.04)
    expected = np.asarray(clf.network_.query("label", soft={"feature 3": likelihood}))
    assert reader.posterior() == pytest.approx(expected, abs=1e-9)


def test_keys_go_from_node_to_node_and_back_from_the_states(graph, forest):
    clf, X = forest
    reader = graph(clf)
    keys = reader.tab.keyboard
    node(reader, 3).focus()
    keys.press("Enter")
    assert reader.tab.evaluate("document.activeElement.closest('#editor') !== null")
    keys.press("ArrowDown")
    keys.press("Enter")
    assert reader.posterior() == pytest.approx(clf.predict_proba(row_of(X, feature_3="1"))[0], abs=1e-9)
    keys.press("Escape")
    assert not reader.tab.locator("#editor").is_visible()
    assert reader.tab.evaluate("document.activeElement.dataset.node") == "3"
    seen = set()
    for key in ("ArrowRight", "ArrowDown", "ArrowLeft", "ArrowUp"):
        keys.press(key)
        seen.add(reader.tab.evaluate("document.activeElement.dataset.node"))
    assert len(seen) > 1
    assert reader.tab.locator('#graph-canvas .node[tabindex="0"]').count() == 1
    label = node(reader, 3).get_attribute("aria-label")
    assert label.startswith("feature 3: 1 100 %")
    assert "evidence" in label


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
        settle(reader)


def test_dragging_pans_and_opens_nothing(graph, forest):
    reader = graph(forest[0])
    left, top, scale = viewport(reader)
    at = box(reader, node(reader, 3))
    x, y = at["x"] + at["width"] / 2, at["y"] + at["height"] / 2
    reader.tab.mouse.move(x, y)
    reader.tab.mouse.down()
    reader.tab.mouse.move(x + 40, y - 25, steps=4)
    reader.tab.mouse.up()
    settle(reader)
    assert viewport(reader) == pytest.approx([left + 40, top - 25, scale], abs=0.5)
    assert not reader.tab.locator("#editor").is_visible()
    moved = box(reader, node(reader, 3))
    assert moved["x"] - at["x"] == pytest.approx(40, abs=1)
    node(reader, 3).click()
    assert reader.tab.locator("#editor").is_visible()


def test_the_wheel_zooms_about_the_pointer(graph, forest):
    reader = graph(forest[0])
    canvas = box(reader, "#graph-canvas")
    x, y = round(canvas["x"] + 200), round(canvas["y"] + 150)
    at = reader.tab.evaluate(f"([x, y]) => {VIEW}.viewport.at({{ clientX: x, clientY: y }})", [x, y])
    before = viewport(reader)
    reader.tab.mouse.move(x, y)
    reader.tab.mouse.wheel(0, -240)
    settle(reader)
    after = viewport(reader)
    assert after[2] > 1.2 * before[2]
    for k in range(2):
        assert (at[k] - before[k]) / before[2] == pytest.approx((at[k] - after[k]) / after[2], abs=0.01)


def test_two_fingers_zoom_about_their_middle(graph, forest):
    reader = graph(forest[0])
    before = viewport(reader)
    after = reader.tab.evaluate(
        f"""() => {{ const {{ paper, viewport }} = {VIEW}; const box = paper.getBoundingClientRect();
        const send = (kind, id, x, y) => paper.dispatchEvent(new PointerEvent(kind, {{ pointerId: id, button: 0,
          clientX: box.left + x, clientY: box.top + y, bubbles: true, pointerType: "touch" }}));
        paper.setPointerCapture = () => {{}};
        send("pointerdown", 7, 300, 200); send("pointerdown", 8, 400, 200);
        for (let k = 1; k <= 10; k++) {{
          send("pointermove", 7, 300 - 5 * k, 200); send("pointermove", 8, 400 + 5 * k, 200);
        }}
        send("pointerup", 7, 250, 200); send("pointerup", 8, 450, 200);
        return [viewport.left, viewport.top, viewport.scale]; }}"""
    )
    assert after[2] / before[2] == pytest.approx(2.0, rel=0.05)
    for k, middle in enumerate((350, 200)):
        assert (middle - before[k]) / before[2] == pytest.approx((middle - after[k]) / after[2], abs=4)


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


def test_a_double_click_goes_to_the_variable(graph, forest):
    reader = graph(forest[0])
    reader.tab.evaluate(f"{VIEW}.viewport.place(0, 0, 0.4)")
    settle(reader)
    node(reader, 3).dblclick()
    settle(reader)
    canvas, at = box(reader, "#graph-canvas"), box(reader, node(reader, 3))
    assert inside(at, canvas)
    assert viewport(reader)[2] >= 0.5


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
    settle(reader)
    small = box(reader, ".minimap")
    assert inside(small, canvas)
    reader.tab.mouse.click(small["x"] + 2, small["y"] + 2)
    settle(reader)
    assert viewport(reader)[0] > 0
    reader.tab.mouse.click(small["x"] + small["width"] - 3, small["y"] + small["height"] - 3)
    settle(reader)
    assert inside(box(reader, node(reader, 69)), canvas, slack=80)
    assert graph(forest[0]).tab.locator(".minimap").count() == 0


def test_only_what_is_in_view_is_updated_and_the_rest_when_it_comes_into_view(graph, many):
    reader = graph(many)
    stale = f"{VIEW}.nodes.filter((n) => n.shown !== tanbark.app.found).length"
    reader.tab.evaluate(f"{VIEW}.viewport.zoom(4)")
    settle(reader)
    reader.tab.evaluate("tanbark.app.observe(3, 1)")
    assert 30 < reader.tab.evaluate(stale) < 71
    reader.tab.locator("#fit").click()
    settle(reader)
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
    settle(reader)
    assert reader.tab.locator(".node.found").count() == 1
    assert inside(box(reader, node(reader, 42)), box(reader, "#graph-canvas"))
    assert viewport(reader)[2] == pytest.approx(1.0)


def test_on_a_phone_the_states_are_a_sheet_below_the_node(graph, forest):
    reader = graph(forest[0], viewport={"width": 390, "height": 844}, has_touch=True)
    reader.tab.evaluate(f"{VIEW}.focus(3)")
    settle(reader)
    node(reader, 3).tap()
    settle(reader)
    sheet, at = box(reader, "#editor"), box(reader, node(reader, 3))
    assert sheet["width"] == pytest.approx(390, abs=2)
    assert sheet["y"] + sheet["height"] == pytest.approx(844, abs=2)
    assert at["y"] + at["height"] <= sheet["y"] + 1


def test_a_frame_that_was_hidden_draws_when_it_is_shown(read, forest, tmp_path):
    reader = read(**STILL)
    frame = make_page(forest[0])._repr_html_().replace("<iframe ", '<iframe id="frame" ')
    host = tmp_path / "host.html"
    host.write_text(f'<!doctype html><meta charset="utf-8"><div id="holder" style="display: none">{frame}</div>')
    reader.tab.goto(host.as_uri())
    inner = next(found for found in reader.tab.frames if found.parent_frame is not None)
    inner.evaluate("tanbark.app.show('graph')")
    reader.tab.evaluate("document.getElementById('holder').style.display = 'block'")
    inner.locator("#graph-canvas").wait_for(state="visible")
    for _ in range(2):
        inner.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    canvas = inner.locator("#graph-canvas").bounding_box()
    assert canvas["height"] >= 300
    assert all(inside(inner.locator(f'.node[data-node="{k}"]').bounding_box(), canvas) for k in (0, 7, 23, 24))
    with reader.tab.expect_download() as waiting:
        inner.locator("#save-svg").click()
    assert waiting.value.suggested_filename.endswith(".svg")
