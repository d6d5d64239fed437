"""The page around its views: questions, the answer always in view, undo, what if, worker, frames, accessibility."""

import html

import numpy as np
import pandas as pd
import pytest

import tanbark as tb
from networks import asia, five_nodes
from tanbark.explorer import make_page
from tanbark.explorer.data import page_data
from tanbark.explorer.page import assemble

pytestmark = pytest.mark.xdist_group("browser")

SIZES = [(1440, 900), (768, 1024), (390, 844)]


@pytest.fixture(scope="module")
def ward():
    """A classifier of twenty features, numbers and categories, of which some say nothing."""
    rng = np.random.default_rng(2)
    n = 600
    y = rng.integers(0, 2, n)
    X = pd.DataFrame({f"lab {k}": np.round(rng.normal(10 + (k < 6) * (1 + k / 3) * y, 2), 1) for k in range(10)})
    for k in range(10):
        X[f"sign {k}"] = np.where(rng.random(n) < 0.1 * k / 3, y, rng.integers(0, 2, n))
    return tb.TAN().fit(X, pd.Series(y, name="outcome").map({0: "well", 1: "ill"})), X


@pytest.fixture(scope="module")
def letters():
    rng = np.random.default_rng(1)
    y = rng.integers(0, 26, 2000)
    X = pd.DataFrame({f"x{k}": (y * (k + 3) + rng.integers(0, 6, 2000)) % 7 for k in range(5)})
    return tb.NaiveBayes().fit(X, pd.Series(y, name="letter").map(lambda k: chr(65 + k))), X


def shown(reader, place):
    return reader.tab.locator(place).inner_text()


def row_of(clf, **values):
    return pd.DataFrame({name: [values.get(name)] for name in clf.feature_names_in_}).astype(object)


def in_view(reader):
    """Whether the answer is on the screen, and within it the class and its probability."""
    return reader.tab.evaluate(
        """["#answer", ".answer-label", ".answer-value"].every((place) => {
        const { top, bottom, left, right, width } = document.querySelector(place).getBoundingClientRect();
        return width > 0 && top >= -1 && bottom <= innerHeight && left >= -1 && right <= innerWidth + 1; })"""
    )


def settle(reader, step):
    """Wait until the history has brought a step."""
    reader.until(f"tanbark.app.steps.at === {step}")


# ---------------------------------------------------------------------- asking


@pytest.mark.parametrize("size", SIZES)
def test_one_click_gives_an_answer_that_stays_in_view(read, ward, size):
    clf, _ = ward
    reader = read(viewport=dict(zip(("width", "height"), size, strict=True))).open(clf).wait()
    before = reader.posterior()
    assert in_view(reader)
    for state in (1, 0, 1):
        reader.tab.locator(f'#question .ask-state[data-state="{state}"]').click()
        assert in_view(reader)
        reader.wait()
        assert reader.tab.evaluate("document.documentElement.scrollWidth") <= size[0]
    assert reader.posterior() != before
    reader.tab.locator("#tab-list").click()
    reader.tab.mouse.wheel(0, 3000)
    reader.until("window.scrollY > 100")
    assert in_view(reader)
    reader.tab.locator("#list .card:not(.observed) .pick").last.click()
    assert in_view(reader)
    if size[0] < 600:
        assert reader.tab.locator("#answer").bounding_box()["height"] < 60


def test_the_most_telling_question_comes_first_and_answers_become_chips(read, ward):
    clf, _ = ward
    reader = read().open(clf).wait()
    known = {}
    for _ in range(4):
        bits = reader.tab.evaluate("tanbark.app.bits")
        node = int(np.argmax(bits))
        name = clf.schema_.names[node]
        assert shown(reader, ".ask-name") == name
        assert f"{bits[node]:.2g}" in shown(reader, ".telling")
        if clf.schema_.columns[node].kind == "interval":
            reader.tab.locator("#question .number").fill("11.5")
            reader.tab.keyboard.press("Enter")
            known[name] = 11.5
        else:
            reader.tab.locator('#question [data-state="1"]').click()
            known[name] = 1
        reader.wait()
        assert reader.posterior() == pytest.approx(clf.predict_proba(row_of(clf, **known))[0], abs=1e-9)
        chips = shown(reader, "#evidence")
        assert all(f"{feature} = {value}" in chips for feature, value in known.items())


def test_a_question_can_be_skipped_and_a_wrong_number_is_named(read, ward):
    reader = read().open(ward[0]).wait()
    first = shown(reader, ".ask-name")
    reader.tab.locator("#question .number").fill("high")
    reader.tab.keyboard.press("Enter")
    assert '"high" is no number' in shown(reader, "#question .error")
    reader.tab.locator("#skip").click()
    reader.wait()
    assert shown(reader, ".ask-name") != first
    assert first not in shown(reader, "#next")
    for _ in range(30):
        if reader.tab.locator("#skip").count() == 0:
            break
        reader.tab.locator("#skip").click()
        reader.wait()
    assert "Nothing more to ask" in shown(reader, "#question")
    reader.tab.locator("#question button").click()
    reader.wait()
    assert shown(reader, ".ask-name") == first


def test_questions_follow_an_order_or_groups_that_the_page_has(read, ward, tmp_path):
    clf, _ = ward
    data = page_data(clf)
    n = len(data["columns"])
    for arrangement, first, second in (
        ({"arranged": [13, 4, *(k for k in range(n) if k not in (13, 4))]}, "sign 3", "lab 4"),
        ({"groups": [{"title": "Signs", "nodes": list(range(10, 20))}]}, "Signs", "sign"),
    ):
        assemble(data | arrangement).save(tmp_path / "ordered.html")
        reader = read().go(tmp_path / "ordered.html").wait()
        assert first in shown(reader, "#question")
        reader.tab.locator("#skip").click()
        reader.wait()
        assert shown(reader, ".ask-name").startswith(second)


def test_three_keys_are_enough(read, ward):
    clf, _ = ward
    reader = read().open(clf).wait()
    before = reader.posterior()
    for key in ("1", "2", "Enter"):  # the first question is a number: it is typed
        reader.tab.keyboard.press(key)
    name = clf.schema_.names[int(reader.tab.evaluate("tanbark.app.likelihoods.findIndex((l) => l !== null)"))]
    assert reader.posterior() == pytest.approx(clf.predict_proba(row_of(clf, **{name: 12}))[0], abs=1e-9)
    other = read().open(clf).wait()
    for key in ("ArrowDown", "Enter"):
        other.tab.keyboard.press(key)
    assert other.posterior() != before
    other.wait()
    assert other.tab.evaluate("document.activeElement.closest('#question') !== null")


def test_chips_are_changed_and_removed(read, ward):
    clf, _ = ward
    reader = read().open(clf, scenario="#sign%209=1&lab%203==12.5").wait()
    reader.tab.locator("#evidence .chip-text", has_text="sign 9").click()
    box, bar = reader.tab.locator("#editor").bounding_box(), reader.tab.locator("#answer").bounding_box()
    assert box["y"] >= bar["y"] + bar["height"]
    reader.tab.locator('#editor .pick[data-state="0"]').click()
    expected = clf.predict_proba(row_of(clf, **{"sign 9": 0, "lab 3": 12.5}))[0]
    assert reader.posterior() == pytest.approx(expected, abs=1e-9)
    reader.tab.keyboard.press("Escape")
    assert not reader.tab.locator("#editor").is_visible()
    reader.tab.locator("#evidence .remove").first.click()
    assert reader.tab.locator("#evidence .chip").count() == 1


# ---------------------------------------------------------------------- the answer


def test_the_answer_says_how_sure_it_is(read):
    X = pd.DataFrame({"a": list("pq") * 6, "b": list("uuv") * 4})
    few = tb.NaiveBayes().fit(X, [0, 1, 1, 0, 1, 1, 0, 0, 1, 0, 0, 1])
    reader = read().open(few).wait()
    assert shown(reader, ".answer-words").startswith("not sure: 90 % interval")
    sure = tb.NaiveBayes(suspicious="keep").fit(pd.DataFrame({"a": list("pq") * 500}), [0, 1] * 500)
    reader = read().open(sure, scenario="#a=p").wait()
    assert shown(reader, ".answer-words").startswith("90 % interval")
    assert "then 1 " in shown(reader, ".answer-second")


def test_many_classes_are_five_lines_and_a_filter(read, letters):
    clf, _X = letters
    reader = read().open(clf, scenario="#x0=3&x1=2").wait()
    expected = clf.predict_proba(row_of(clf, x0=3, x1=2))[0]
    rows = reader.tab.locator(".answer-row")
    assert rows.count() == 5
    labels = [text.split("\n")[0] for text in rows.all_inner_texts()]
    assert labels == [chr(65 + k) for k in np.argsort(-expected, kind="stable")[:5]]
    assert shown(reader, "#more-classes") == "21 more"
    reader.tab.locator("#more-classes").click()
    assert rows.count() == 26
    assert reader.posterior() == pytest.approx(expected, abs=1e-9)
    reader.tab.locator("#class-filter").fill("q")
    assert rows.count() == 1
    assert reader.tab.evaluate("[1e-9, 3e-6, 0, 1, 1 - 1e-9, 0.825].map((p) => tanbark.percent(p))") == [
        "below 0.01 %", "below 0.01 %", "0 %", "100 %", "above 99.99 %", "82.5 %",
    ]  # fmt: skip


def test_why_has_units_givens_and_a_sentence(read, ward):
    clf, _ = ward
    known = {"sign 9": 1, "sign 8": 0, "lab 5": 14.0, "lab 4": 9.0}
    scenario = "#" + "&".join(f"{name.replace(' ', '%20')}={'=' * ('lab' in name)}{v}" for name, v in known.items())
    reader = read().open(clf, scenario=scenario).wait()
    told = clf.explain(row_of(clf, **known))[0]
    assert shown(reader, "#why-sentence").startswith(f"{round(100 * told.probability)} % {told.label}")
    strongest = max(told.parts[1:], key=lambda part: part.nats)
    assert f"because {strongest.name} " in shown(reader, "#why-sentence")
    page = reader.tab.locator("#why tbody tr").all_inner_texts()
    for part in told.parts[1:]:
        (line,) = [text for text in page if text.startswith(part.name)]
        for parent in [p for p in clf.dag_.parents[clf.schema_.names.index(part.name)] if p != clf.schema_.target]:
            assert "given" in line
            assert clf.schema_.names[parent] in line

    def values():
        return reader.tab.locator("#why td.value").all_inner_texts()

    points = [float(text.replace("\N{MINUS SIGN}", "-").replace(" %", "").replace("+", "")) for text in values()]
    assert sum(points[:-1]) == pytest.approx(points[-1], abs=0.6)
    reader.tab.locator("#unit").select_option("bits")
    bits = [float(text.replace("\N{MINUS SIGN}", "-")) for text in values()]
    assert sum(bits[:-1]) == pytest.approx(bits[-1], abs=0.05)
    assert bits[-1] == pytest.approx(told.log_odds / np.log(2), abs=0.01)
    reader.tab.locator("#unit").select_option("odds")
    factors = [float(text[1:].replace(",", "")) ** (1 if ord(text[0]) == 0xD7 else -1) for text in values()]
    assert np.prod(factors[:-1]) == pytest.approx(factors[-1], rel=0.2)
    heights = {span["height"] for span in (s.bounding_box() for s in reader.tab.locator(".two-sided span").all())}
    assert len(heights) == 1


# ---------------------------------------------------------------------- undo, what if


def test_undo_redo_and_the_browsers_back(read, ward):
    reader = read().open(ward[0], view="list")
    reader.state(19, 1).click()
    one = reader.posterior()
    reader.state(18, 1).click()
    two = reader.posterior()
    assert one != two
    reader.tab.keyboard.press("Control+z")
    settle(reader, 1)
    assert reader.posterior() == one
    reader.tab.keyboard.press("Control+Shift+z")
    settle(reader, 2)
    assert reader.posterior() == two
    reader.tab.go_back()
    settle(reader, 1)
    assert reader.posterior() == one
    reader.tab.go_forward()
    settle(reader, 2)
    reader.tab.locator("#clear").click()
    assert "Nothing is known" in shown(reader, "#evidence")
    reader.tab.locator(".toast button").click()
    settle(reader, 2)
    assert reader.posterior() == two
    reader.tab.locator("#undo").click()
    settle(reader, 1)
    assert reader.tab.locator("#redo").is_enabled()


def test_dragging_is_one_step(read, ward):
    reader = read().open(ward[0], view="list")
    reader.state(2, 0).scroll_into_view_if_needed()
    box = reader.state(2, 0).locator(".track").bounding_box()
    middle = box["y"] + box["height"] / 2
    reader.tab.mouse.move(box["x"] + box["width"] * 0.9, middle)
    reader.tab.mouse.down()
    reader.tab.mouse.move(box["x"] + box["width"] * 0.3, middle, steps=8)
    reader.tab.mouse.up()
    assert reader.tab.evaluate("tanbark.app.likelihoods[2][0]") == pytest.approx(0.3, abs=0.05)
    reader.tab.keyboard.press("Control+z")
    settle(reader, 0)
    assert "Nothing is known" in shown(reader, "#evidence")


def test_a_pinned_case_stands_beside_the_next(read, ward):
    clf, _ = ward
    reader = read().open(clf, scenario="#sign%209=1").wait()
    reader.tab.locator("#pin").click()
    reader.tab.locator("#tab-list").click()
    reader.state(19, 0).click()
    reader.state(18, 1).click()
    a = clf.predict_proba(row_of(clf, **{"sign 9": 1}))[0]
    b = clf.predict_proba(row_of(clf, **{"sign 9": 0, "sign 8": 1}))[0]
    lines = reader.tab.locator("#panel-whatif tbody").first.locator("tr")
    found = {}
    for k in range(2):
        cells = lines.nth(k).locator("td")
        found[lines.nth(k).locator("th").inner_text()] = [
            float(cells.nth(j).get_attribute("data-exact")) for j in (0, 1)
        ]
    for label, now, later in zip(clf.classes_, a, b, strict=True):
        assert found[label] == pytest.approx([now, later], abs=1e-9)
    assert [text.split("\t")[0].strip() for text in reader.tab.locator(".differing tr").all_inner_texts()] == [
        "sign 8",
        "sign 9",
    ]
    reader.tab.locator("#panel-whatif button", has_text="Back to A").click()
    assert reader.posterior() == pytest.approx(a, abs=1e-9)


# ---------------------------------------------------------------------- the list


def test_a_thousand_features_scroll_and_few_are_in_the_page(read):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 200)
    X = pd.DataFrame(np.where(rng.random((200, 1300)) < 0.2, y[:, None], rng.integers(0, 3, (200, 1300))))
    clf = tb.NaiveBayes().fit(X.set_axis([f"gene {k}" for k in range(1300)], axis=1), y)
    reader = read().open(clf, view="list").wait()
    count = reader.tab.locator("#list .card").count
    assert 0 < count() < 60
    reader.tab.evaluate("window.scrollTo(0, document.documentElement.scrollHeight)")
    reader.tab.locator('#list .card[data-node="1299"]').wait_for()
    assert count() < 60
    reader.state(1299, 1).click()
    assert reader.posterior() == pytest.approx(clf.predict_proba(row_of(clf, **{"gene 1299": 1}))[0], abs=1e-9)
    tops = reader.tab.evaluate(
        """[...document.querySelectorAll("#list .card")].map((card) => card.getBoundingClientRect())
        .map(({ left, top, width, height }) => [left, top, width, height])"""
    )
    for k, (left, top, width, height) in enumerate(tops):
        for x, y_, w, h in tops[:k]:
            assert left + width <= x + 1 or x + w <= left + 1 or top + height <= y_ + 1 or y_ + h <= top + 1


# ---------------------------------------------------------------------- worker and frames


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


# ---------------------------------------------------------------------- bad input


def test_a_link_of_another_model_and_impossible_evidence_lose_nothing(read, ward):
    clf, _ = ward
    reader = read().open(clf, scenario="#sign%209=1&tumour=yes&@model=00000000")
    told = shown(reader, ".notice")
    assert "made with another model (00000000" in told
    assert "1 of 2 values of the link are taken" in told
    assert "tumour=yes" in told
    assert reader.posterior() == pytest.approx(clf.predict_proba(row_of(clf, **{"sign 9": 1}))[0], abs=1e-9)
    same = read().open(clf, scenario="#sign%209=1")
    scenario = same.tab.evaluate("location.hash")
    assert read().open(clf, scenario=scenario).tab.locator(".notice").count() == 0
    impossible = read().open(five_nodes(), view="list")
    impossible.state(2, 0).click()
    impossible.state(4, 1).click()
    assert "impossible case" in shown(impossible, ".answer-words")
    assert "nothing is lost" in shown(impossible, "#warnings")
    assert impossible.tab.locator("#evidence .chip").count() == 2
    impossible.wait()
    impossible.tab.locator("#undo").click()
    settle(impossible, 1)
    assert impossible.tab.locator(".warning").count() == 0


# ---------------------------------------------------------------------- accessibility and size


@pytest.mark.parametrize(("scheme", "width"), [("light", 1440), ("dark", 390)])
def test_axe_finds_nothing(read, axe, ward, scheme, width):
    reader = (
        read(color_scheme=scheme, viewport={"width": width, "height": 900}).open(ward[0], scenario="#sign%209=1").wait()
    )
    reader.tab.evaluate(axe)
    for view in ("ask", "list"):
        reader.tab.locator(f"#tab-{view}").click()
        reader.wait()
        if view == "list":
            reader.tab.locator("#evidence .chip-text").click()
        found = reader.tab.evaluate(
            """axe.run(document, { runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"] }).then((result) =>
            result.violations.map(({ id, nodes }) => [id, nodes.map(({ html, any }) =>
            [html.slice(0, 160), any.map(({ message }) => message).join(" ")])]))"""
        )
        assert found == []


@pytest.mark.parametrize("width", [1440, 390])
def test_targets_are_large_enough(read, ward, width):
    reader = read(viewport={"width": width, "height": 900}).open(ward[0], scenario="#sign%209=1").wait()
    for view in ("ask", "list"):
        reader.tab.locator(f"#tab-{view}").click()
        small = reader.tab.evaluate(
            """[...document.querySelectorAll("button, select, input, summary")]
            .map((e) => [e, e.getBoundingClientRect()])
            .filter(([, { width, height }]) => width > 0 && (height < 24 || width < 24)).map(([e]) => e.outerHTML)"""
        )
        assert small == []


def test_the_page_without_its_model_is_small():
    page = make_page(asia()).html
    model = page.split('id="model"')[1].split("</script>")[0]
    assert len(page.encode()) - len(model.encode()) < 320_000
    assert html.unescape(page).count("http") <= 2  # the name of SVG alone
