"""The Graph view by hand: evidence at a node, pan and zoom, keys, fingers."""

import numpy as np
import pytest

from readers import VIEW, box, inside, node, row_of, two_frames, viewport

pytestmark = pytest.mark.xdist_group("browser")


def test_a_click_opens_a_variable_at_its_node_and_takes_evidence(graph, forest):
    clf, _X = forest
    reader = graph(clf)
    assert not reader.tab.locator("#editor").is_visible()
    node(reader, 3).click()
    editor, at = box(reader, "#editor"), box(reader, node(reader, 3))
    assert inside(editor, {"x": 0, "y": 0, "width": 1400, "height": 900})
    across = max(editor["x"] - at["x"] - at["width"], at["x"] - editor["x"] - editor["width"])
    down = max(editor["y"] - at["y"] - at["height"], at["y"] - editor["y"] - editor["height"])
    assert max(across, down) < 20
    reader.tab.locator("#editor .pick").nth(1).click()
    expected = clf.predict_proba(row_of(clf, feature_3="1"))[0]
    assert reader.posterior() == pytest.approx(expected, abs=1e-9)
    assert "observed" in node(reader, 3).get_attribute("class")
    reader.tab.locator("#editor .not").nth(0).click()
    soft = {"feature 3": [0.0, 1.0, 1.0]}
    assert reader.posterior() == pytest.approx(np.asarray(clf.network_.query("label", soft=soft)), abs=1e-9)


def test_a_neighbour_is_opened_at_its_own_node(graph, forest):
    reader = graph(forest[0])
    node(reader, 3).click()
    reader.tab.locator("#editor .notes .link", has_text="label").click()
    two_frames(reader)
    assert reader.tab.locator("#editor .name").inner_text() == "label"
    editor, at = box(reader, "#editor"), box(reader, node(reader, 24))
    assert abs(editor["x"] - at["x"]) < 350
    assert "chosen" in node(reader, 24).get_attribute("class")
    reader.tab.keyboard.press("Escape")
    assert reader.tab.evaluate("document.activeElement.dataset.node") == "24"


def test_a_number_is_typed_at_its_node(graph, forest):
    clf, _X = forest
    reader = graph(clf)
    node(reader, 4).click()
    field = reader.tab.locator("#editor .number")
    field.fill("1.97")
    field.press("Enter")
    assert reader.posterior() == pytest.approx(clf.predict_proba(row_of(clf, feature_4=1.97))[0], abs=1e-9)


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
    clf, _X = forest
    reader = graph(clf)
    keys = reader.tab.keyboard
    node(reader, 3).focus()
    keys.press("Enter")
    assert reader.tab.evaluate("document.activeElement.closest('#editor') !== null")
    keys.press("ArrowDown")
    keys.press("Enter")
    assert reader.posterior() == pytest.approx(clf.predict_proba(row_of(clf, feature_3="1"))[0], abs=1e-9)
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


def test_dragging_pans_and_opens_nothing(graph, forest):
    reader = graph(forest[0])
    left, top, scale = viewport(reader)
    at = box(reader, node(reader, 3))
    x, y = at["x"] + at["width"] / 2, at["y"] + at["height"] / 2
    reader.tab.mouse.move(x, y)
    reader.tab.mouse.down()
    reader.tab.mouse.move(x + 40, y - 25, steps=4)
    reader.tab.mouse.up()
    two_frames(reader)
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
    two_frames(reader)
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


def test_a_double_click_goes_to_the_variable(graph, forest):
    reader = graph(forest[0])
    reader.tab.evaluate(f"{VIEW}.viewport.place(0, 0, 0.4)")
    two_frames(reader)
    node(reader, 3).dblclick()
    two_frames(reader)
    canvas, at = box(reader, "#graph-canvas"), box(reader, node(reader, 3))
    assert inside(at, canvas)
    assert viewport(reader)[2] >= 0.5


def test_on_a_phone_the_states_are_a_sheet_below_the_node(graph, forest):
    reader = graph(forest[0], viewport={"width": 390, "height": 844}, has_touch=True)
    reader.tab.evaluate(f"{VIEW}.focus(3)")
    two_frames(reader)
    node(reader, 3).tap()
    two_frames(reader)
    sheet, at = box(reader, "#editor"), box(reader, node(reader, 3))
    assert sheet["width"] == pytest.approx(390, abs=2)
    assert sheet["y"] + sheet["height"] == pytest.approx(844, abs=2)
    assert at["y"] + at["height"] <= sheet["y"] + 1
