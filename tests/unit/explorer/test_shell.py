"""The page around its views: the answer, undo, what if, the list, bad links, accessibility."""

import numpy as np
import pandas as pd
import pytest

import tanbark as tb
from networks import five_nodes
from readers import SIZES, row_of, shown, two_frames

pytestmark = pytest.mark.xdist_group("browser")


def settle(reader, step):
    """Wait until the history has brought a step."""
    reader.until(f"tanbark.app.steps.at === {step}")


def test_the_answer_says_how_sure_it_is(read):
    X = pd.DataFrame({"a": list("pq") * 6, "b": list("uuv") * 4})
    few = tb.NaiveBayes().fit(X, [0, 1, 1, 0, 1, 1, 0, 0, 1, 0, 0, 1])
    reader = read().open(few).wait()
    assert shown(reader, ".answer-words").startswith("not sure: 90 % interval")
    sure = tb.NaiveBayes(suspicious="keep").fit(pd.DataFrame({"a": list("pq") * 500}), [0, 1] * 500)
    reader = read().open(sure, scenario="#a=p").wait()
    assert shown(reader, ".answer-words").startswith("90 % interval")
    assert shown(reader, ".second-label") == "then 1"


LONG = "a name of a disease that is long and that nobody remembers, chronic"
PARTS = """(places) => places.map((place) => { const element = document.querySelector(place);
  const { top, bottom, left, right, width } = element.getBoundingClientRect();
  return { text: element.textContent, cut: element.scrollWidth > element.clientWidth + 1,
    seen: width > 0 && top >= 0 && bottom <= innerHeight && left >= 0 && right <= innerWidth }; })"""


@pytest.mark.parametrize(
    "labels", [["well", LONG], [LONG, f"{LONG} II", "well", "ill", "other", "sixth", "last"]], ids=len
)
def test_the_answer_and_the_runner_up_are_in_view_on_every_screen(read, labels):
    rng = np.random.default_rng(0)
    y = rng.integers(0, len(labels), 400)
    X = pd.DataFrame({f"x{k}": np.where(rng.random(400) < 0.4, y % 3, rng.integers(0, 3, 400)) for k in range(6)})
    clf = tb.NaiveBayes().fit(X, pd.Series(y).map(dict(enumerate(labels))))
    reader = read().open(clf, labels={"class": ("Class", {LONG: f"{LONG}!"})}).wait()
    places = [".answer-label", ".answer-value", ".answer-line .scale", ".second-label", ".second-value"]
    for width, height in SIZES:
        reader.tab.set_viewport_size({"width": width, "height": height})
        two_frames(reader)
        assert reader.tab.evaluate("document.documentElement.scrollWidth") <= width
        for scenario in ({}, {"x0": 0, "x1": 0, "x2": 0, "x3": 0}, {"x0": 1, "x1": 1, "x2": 1, "x3": 1}):
            hash_ = "#" + "&".join(f"{name}={value}" for name, value in scenario.items())
            reader.tab.evaluate(
                "(text) => tanbark.app.setAll(tanbark.readScenario(tanbark.app.model, text).likelihoods)", hash_
            )
            reader.wait()
            interval = ".answer-range" if width < 600 else ".words-more"
            found = dict(zip([*places, interval], reader.tab.evaluate(PARTS, [*places, interval]), strict=True))
            assert all(part["seen"] for part in found.values()), found
            p = np.sort(reader.tab.evaluate("Array.from(tanbark.app.found.probabilities)"))
            assert not found[".answer-value"]["cut"]
            assert not found[".second-value"]["cut"]
            assert found[".answer-value"]["text"] == f"{100 * p[-1]:.{1 if p[-1] < 0.99 else 2}f} %"
            assert found[".second-value"]["text"] == f"{100 * p[-2]:.{1 if p[-2] > 0.01 else 2}f} %"
            assert " % to " in found[interval]["text"]
            if width < 600:
                assert found[".answer-label"]["cut"] == found[".answer-label"]["text"].startswith("a name")
                assert reader.tab.locator("#answer").bounding_box()["height"] < 60


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


def test_groups_have_headings_in_the_list_unless_it_is_sorted(read, ward):
    groups = {"Blood": ["lab 3", "lab 0"], "Looks": ["sign 9"]}
    reader = read(viewport={"width": 1400, "height": 3000}).open(ward[0], view="list", groups=groups)
    titles = reader.tab.locator("#list .group-title")
    assert titles.all_inner_texts() == ["Blood", "Looks", "Others", "Class"]
    order = reader.tab.evaluate(
        "[...document.querySelectorAll('#list > *')].map((e) => [e.getBoundingClientRect().y, e.dataset.node ?? ''])"
    )
    assert [node for _, node in order[:6]] == ["", "0", "3", "", "19", ""]  # a group keeps the model's order
    tops = [y for y, node in order if node == ""]
    assert tops == sorted(tops)
    assert order[2][0] > tops[0] + 20
    reader.tab.locator("#search").fill("lab 3")
    assert titles.all_inner_texts() == ["Blood", "Others"]  # a group with nothing found has no heading
    reader.tab.locator("#search").fill("")
    reader.tab.locator("#sort").select_option("name")
    assert titles.count() == 0
    assert reader.tab.locator("#list .card").count() == 21


def test_a_threshold_that_decides_for_the_runner_up_says_so(read, ward):
    clf, _ = ward
    prior = clf.predict_proba(row_of(clf))[0]
    runner_up = clf.classes_[prior.argmin()]
    reader = read().open(clf, threshold={runner_up: 0.05}).wait()
    assert shown(reader, ".answer-words") == f"decide {runner_up}: its threshold is 5.0 %"
    narrow = read(viewport={"width": 390, "height": 844}).open(clf, threshold={runner_up: 0.05}).wait()
    assert shown(narrow, ".answer-words").strip() == f"decide {runner_up}"


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
