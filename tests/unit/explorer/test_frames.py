"""The page in a frame, as notebooks show it, and with and without its worker."""

import base64
import gzip
import json
import re
import subprocess
import sys
from itertools import combinations

import pytest

from networks import asia
from readers import STILL, inside, row_of
from tanbark.explorer import make_page

pytestmark = pytest.mark.xdist_group("browser")


def test_the_worker_works_and_without_one_the_page_does(read, ward, tmp_path):
    clf, _ = ward
    scenario = "#sign%209=1&lab%203==12.5"
    reader = read().open(clf, scenario=scenario).wait()
    assert reader.tab.evaluate("tanbark.app.work.worker !== null")
    alone = read(fresh=True)
    alone.tab.add_init_script("delete window.Worker")
    alone.open(clf, scenario=scenario).wait()
    assert alone.tab.evaluate("tanbark.app.work.worker === null")
    broken = read(fresh=True)
    broken.tab.add_init_script(
        """const Real = window.Worker; window.Worker = function () {
        return new Real(URL.createObjectURL(new Blob(["throw new Error('no')"]))); }"""
    )
    broken.open(clf, scenario=scenario)
    broken.until("tanbark.app.work.worker === null")
    broken.wait()
    for name in ("ranges", "bits"):
        first = reader.tab.evaluate(f"tanbark.app.{name}")
        assert alone.tab.evaluate(f"tanbark.app.{name}") == first
        assert broken.tab.evaluate(f"tanbark.app.{name}") == first


@pytest.mark.parametrize("view", ["ask", "list"])
def test_a_frame_that_is_hidden_at_first_is_drawn_when_it_is_shown(read, ward, tmp_path, view):
    clf, _ = ward
    outer = tmp_path / "notebook.html"
    frame = make_page(clf)._repr_html_()
    outer.write_text(f'<!doctype html><meta charset=utf-8><div id="cell" style="display: none">{frame}</div>', "utf-8")
    reader = read()
    reader.tab.goto(outer.as_uri())
    reader.tab.wait_for_timeout(100)
    reader.tab.evaluate("document.getElementById('cell').style.display = 'block'")
    inside = reader.tab.frame_locator("iframe")
    inside.locator(f"#tab-{view}").click()
    if view == "ask":
        inside.locator("#question .ask-state").first.click()
        assert inside.locator("#evidence .chip").count() == 1
        inside.locator("#undo").click()
        assert inside.locator("#evidence .chip").count() == 0
    else:
        boxes = [card.bounding_box() for card in inside.locator("#list .card").all()]
        assert len(boxes) > 5
        assert len({(box["x"], box["y"]) for box in boxes}) == len(boxes)
        assert min(box["width"] for box in boxes) > 200
    assert reader.tab.frames[1].evaluate("tanbark.app.work.worker !== null")


def test_the_page_works_in_the_closed_frame_of_a_notebook(read, clinic, tmp_path):
    clf, _ = clinic
    outer = tmp_path / "notebook.html"
    outer.write_text(f"<!doctype html><meta charset=utf-8>{clf.explore()._repr_html_()}", encoding="utf-8")
    reader = read()
    reader.tab.goto(outer.as_uri())
    inside = reader.tab.frame_locator("iframe")
    inside.locator("#tab-list").click()
    inside.locator('.card[data-node="3"] .pick[data-state="1"]').click()
    value = inside.locator('.answer-row[data-state="0"] output').get_attribute("data-exact")
    assert float(value) == pytest.approx(clf.predict_proba(row_of(clf, smoker=True))[0, 0], abs=1e-9)


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


def test_a_notebook_that_nbconvert_made_a_page_of_shows_the_frame(read, forest, tmp_path):
    pytest.importorskip("nbconvert")
    output = {"text/html": [make_page(forest[0])._repr_html_()], "text/plain": ["Page"]}
    cell = {
        "cell_type": "code", "id": "a", "execution_count": 1, "metadata": {}, "source": ["clf.explore()"],
        "outputs": [{"output_type": "execute_result", "execution_count": 1, "metadata": {}, "data": output}],
    }  # fmt: skip
    notebook = {"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    (tmp_path / "model.ipynb").write_text(json.dumps(notebook), encoding="utf-8")
    made = subprocess.run(
        [sys.executable, "-m", "nbconvert", "--to", "html", "model.ipynb"], cwd=tmp_path, capture_output=True, text=True
    )
    assert made.returncode == 0, made.stderr
    reader = read(offline=True, **STILL)
    reader.tab.goto((tmp_path / "model.html").as_uri())
    reader.wrong.clear()  # nbconvert's own page asks the network for MathJax and require.js
    reader.asked.clear()
    inner = next(found for found in reader.tab.frames if found.parent_frame is not None)
    inner.locator("#question .ask-state").first.click()
    assert inner.locator("#evidence .chip").count() == 1
    for view, place in (("graph", "#graph-canvas .node"), ("list", "#list .card")):
        inner.locator(f"#tab-{view}").click()
        inner.locator(place).first.wait_for()
        drawn = [found.bounding_box() for found in inner.locator(place).all()]
        assert len(drawn) > 5
        for one, other in combinations(drawn, 2):
            assert apart(one, other), view


def apart(one, other):
    return (
        one["x"] + one["width"] <= other["x"] + 0.5
        or other["x"] + other["width"] <= one["x"] + 0.5
        or one["y"] + one["height"] <= other["y"] + 0.5
        or other["y"] + other["height"] <= one["y"] + 0.5
    )


def test_a_page_that_cannot_unpack_its_script_says_why(read, tmp_path):
    page = make_page(asia()).html
    packed = re.search(r'id="script">([^<]*)<', page).group(1)
    other = base64.b64encode(gzip.compress(b"window.hacked = 1")).decode()
    for content, old, sentence in (
        (page, True, "needs a browser of 2023 or later"),
        (page.replace(packed, packed[:1000]), False, "is damaged"),
        (page.replace(packed, other), False, "is damaged"),  # the policy lets no other script run
    ):
        (tmp_path / "page.html").write_text(content, encoding="utf-8")
        reader = read(fresh=True)
        if old:
            reader.tab.add_init_script("delete window.DecompressionStream")
        reader.tab.goto((tmp_path / "page.html").as_uri())
        reader.tab.get_by_text(sentence).wait_for()
        assert reader.tab.evaluate("window.hacked === undefined")
        reader.wrong.clear()  # what the browser says of the policy
