"""The Ask view: one question at a time, the answer always in view."""

import numpy as np
import pytest

from readers import SIZES, in_view, row_of, shown
from tanbark.explorer.data import page_data
from tanbark.explorer.page import assemble

pytestmark = pytest.mark.xdist_group("browser")


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
