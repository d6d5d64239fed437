"""Clicking, typing and pasting: evidence in the page, as people enter it."""

import numpy as np
import pandas as pd
import pytest

import tanbark as tb
from networks import asia
from readers import row_of, shown

pytestmark = pytest.mark.xdist_group("browser")


def test_a_click_observes_and_another_takes_back(read, clinic):
    clf, _ = clinic
    reader = read().open(clf, view="list")
    prior = reader.posterior()
    assert prior == pytest.approx(clf.predict_proba(row_of(clf))[0], abs=1e-9)
    reader.state(1, 0).click()
    assert reader.posterior() == pytest.approx(clf.predict_proba(row_of(clf, town="Bergen, west"))[0], abs=1e-9)
    assert "town = Bergen, west" in shown(reader, "#evidence")
    assert reader.state(1, 0).get_attribute("aria-pressed") == "true"
    reader.state(1, 0).click()
    assert reader.posterior() == prior
    assert "Nothing is known" in shown(reader, "#evidence")


def test_ruling_out_and_soft_evidence_are_likelihoods(read, clinic):
    clf, _ = clinic
    net = clf.network_
    reader = read().open(clf, view="list")
    card = reader.tab.locator('#list .card[data-node="2"]')
    card.locator(".not").nth(1).click()
    size = net.schema.cardinalities[2]
    soft = {"visits": [float(k != 1) for k in range(size)]}
    assert reader.posterior() == pytest.approx(np.asarray(net.query("ill", soft=soft)), abs=1e-9)
    assert "visits ≠ 2" in shown(reader, "#evidence")
    box = reader.state(0, 0).locator(".track").bounding_box()
    reader.tab.mouse.move(box["x"] + box["width"] * 0.9, box["y"] + box["height"] / 2)
    reader.tab.mouse.down()
    reader.tab.mouse.move(box["x"] + box["width"] * 0.25, box["y"] + box["height"] / 2, steps=5)
    reader.tab.mouse.up()
    likelihood = reader.tab.evaluate("Array.from(tanbark.app.likelihoods[0])")
    assert likelihood[0] == pytest.approx(0.25, abs=0.03)
    assert likelihood[1:] == [1.0] * (len(likelihood) - 1)
    soft["age"] = likelihood
    assert reader.posterior() == pytest.approx(np.asarray(net.query("ill", soft=soft)), abs=1e-9)
    reader.tab.locator("#evidence .remove").first.click()
    reader.tab.locator("#clear").click()
    assert reader.posterior() == pytest.approx(np.asarray(net.query("ill")), abs=1e-9)


def test_everything_is_done_with_keys_alone(read, clinic):
    clf, _ = clinic
    reader = read().open(clf)
    keys = reader.tab.keyboard
    reader.tab.locator("#tab-list").focus()
    keys.press("Enter")
    keys.press("/")
    assert reader.tab.evaluate("document.activeElement.id") == "search"
    keys.type("smoker")
    assert reader.tab.locator("#list .card:visible").count() == 1
    keys.press("Escape")
    assert reader.tab.locator("#list .card:visible").count() == 5
    reader.state(3, 0).focus()
    keys.press("ArrowDown")
    keys.press("Enter")
    expected = clf.predict_proba(row_of(clf, smoker=True))[0]
    assert reader.posterior() == pytest.approx(expected, abs=1e-9)
    assert reader.tab.evaluate("document.activeElement.dataset.state") == "1"
    keys.press("Delete")
    keys.press("n")
    assert reader.posterior() == pytest.approx(clf.predict_proba(row_of(clf, smoker=False))[0], abs=1e-9)
    keys.press("Delete")
    keys.press("ArrowLeft")
    keys.press("ArrowLeft")
    assert reader.tab.evaluate("Array.from(tanbark.app.likelihoods[3])") == pytest.approx([1.0, 0.8])
    tabs = reader.tab.locator('#list .card[data-node="2"] .pick[tabindex="0"]')
    assert tabs.count() == 1


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_a_pasted_row_is_cut_and_coded_as_in_python(read, clinic, separator):
    clf, _ = clinic
    reader = read().open(clf)
    cut = clf.schema_.columns[0].cuts[0]
    for values in (
        {"age": cut, "town": "Oslo", "visits": 3, "smoker": True},
        {"age": np.nextafter(cut, 1e9), "town": 'the "old" port', "visits": None, "smoker": False},
        {"age": None, "town": "Bergen, west", "visits": 1, "smoker": None},
    ):
        cells = ["" if v is None else repr(float(v)) if k == "age" else str(v) for k, v in values.items()]
        quoted = ['"' + cell.replace('"', '""') + '"' if set(cell) & set(',;"') else cell for cell in cells]
        reader.tab.locator("#paste").click()
        reader.tab.locator("#row").fill(separator.join(quoted))
        reader.tab.locator("#take").click()
        frame = row_of(clf, **values).astype({"age": float, "visits": float})
        assert reader.posterior() == pytest.approx(clf.predict_proba(frame)[0], abs=1e-9)
    assert "2 values set; 2 not observed" in shown(reader, ".toast")


def test_a_pasted_row_may_have_names_strange_values_and_its_label(read, clinic):
    clf, _ = clinic
    reader = read().open(clf)
    reader.tab.locator("#paste").click()
    reader.tab.locator("#row").fill("ill,town,what,age\nyes,Atlantis,9,61.5\n")
    reader.tab.locator("#take").click()
    assert reader.posterior() == pytest.approx(clf.predict_proba(row_of(clf, age=61.5))[0], abs=1e-9)
    told = shown(reader, ".toast")
    assert "1 not known and left open (town = Atlantis)" in told
    assert "1 columns are not in the model" in told
    assert "the label of the row is yes" in told
    reader.tab.locator("#paste").click()
    reader.tab.locator("#row").fill("1,2,3")
    reader.tab.locator("#take").click()
    assert "The row has 3 values; the model has 4 features (age, town, visits, smoker)" in shown(reader, "#row-error")


def test_a_typed_number_falls_into_its_interval(read, clinic):
    clf, _ = clinic
    reader = read().open(clf)
    reader.tab.locator("#tab-list").click()
    field = reader.tab.locator('#list [data-node="0"] .number')
    field.fill("71.25")
    field.press("Enter")
    assert reader.posterior() == pytest.approx(clf.predict_proba(row_of(clf, age=71.25))[0], abs=1e-9)
    field.fill("old")
    field.press("Enter")
    assert field.get_attribute("aria-invalid") == "true"


def test_the_address_holds_the_scenario(read, clinic, tmp_path):
    clf, _ = clinic
    reader = read().open(clf, view="list")
    reader.state(1, 0).click()
    reader.tab.locator('#list .card[data-node="2"] .not').nth(0).click()
    reader.state(0, 1).focus()
    reader.tab.keyboard.press("ArrowLeft")
    expected = reader.posterior()
    scenario = reader.tab.evaluate("location.hash")
    assert "town=Bergen%2C%20west" in scenario
    other = read().open(clf, scenario=scenario, view="list")
    assert other.posterior() == pytest.approx(expected, abs=1e-12)
    assert other.tab.evaluate("tanbark.app.likelihoods.filter((l) => l !== null).length") == 3
    wrong = read().open(clf, scenario="#town=Atlantis&age=~1&%E0%A4%A=1&smoker=True", view="list")
    assert wrong.posterior() == pytest.approx(clf.predict_proba(row_of(clf, smoker=True))[0], abs=1e-9)
    assert "town=Atlantis" in shown(wrong, ".notice")


def test_scenarios_come_back_whatever_the_labels(read):
    X = pd.DataFrame({"!a&b=c": ["!x", "~y", "%41,", "@ask"] * 10, "@ask": list("pq") * 20})
    clf = tb.NaiveBayes().fit(X, [1, 0, 0, 1] * 10)
    reader = read().open(clf)
    for state in range(4):
        for likelihood in (np.eye(4)[state], 1 - np.eye(4)[state], [0.25, 1.0, 0.0, 0.5]):
            back = reader.tab.evaluate(
                """(row) => { const { model } = tanbark.app;
                const text = tanbark.writeScenario(model, 1, [Float64Array.from(row), null, null]);
                const read = tanbark.readScenario(model, text);
                return [read.target, Array.from(read.likelihoods[0]), read.unknown]; }""",
                list(likelihood),
            )
            assert back == [1, list(likelihood), []]


def test_why_adds_up_and_any_state_can_be_explained(read, clinic):
    clf, _ = clinic
    reader = read().open(clf, view="list")
    reader.state(3, 1).click()
    reader.state(1, 0).click()
    reader.tab.locator("#label").select_option("0")
    reader.wait()
    cells = reader.tab.locator("#why tbody td.value")
    parts = [float(cells.nth(k).get_attribute("data-exact")) for k in range(cells.count())]
    total = float(reader.tab.locator("#why tfoot td.value").get_attribute("data-exact"))
    told = clf.explain(row_of(clf, smoker=True, town="Bergen, west"), label="no")[0]
    assert sorted(parts) == pytest.approx(sorted(part.nats for part in told.parts), abs=1e-9)
    assert sum(parts) == pytest.approx(total, abs=1e-9)
    assert total == pytest.approx(told.log_odds, abs=1e-9)


def test_what_to_ask_next_leads_there(read, clinic):
    reader = read().open(clinic[0]).wait()
    first = reader.tab.locator("#next li .link").first
    name = first.inner_text()
    first.click()
    assert shown(reader, "#question .ask-name") == name
    reader.tab.locator("#question .ask-state").first.click()
    reader.wait()
    assert name not in shown(reader, "#next")
    assert name in shown(reader, "#evidence")


def test_a_network_without_a_class_answers_for_any_variable(read):
    reader = read().open(asia(), view="list")
    assert reader.posterior() == pytest.approx(np.asarray(asia().query("dysp")), abs=1e-9)
    reader.tab.locator("#ask").select_option(label="lung")
    reader.state(6, 0).click()
    assert reader.posterior() == pytest.approx(np.asarray(asia().query("lung", {"xray": "yes"})), abs=1e-9)
    assert "@ask=lung" in reader.tab.evaluate("location.hash")
    predicted = asia().schema.columns[3].states()[int(np.argmax(reader.posterior()))]
    best = asia().mpe({"xray": "yes", "lung": predicted})
    reader.tab.locator("#panel-typical summary").first.click()
    reader.until('document.querySelector("#best .pairs div") !== null')
    told = reader.tab.locator("#best .pairs div")
    found = dict(told.nth(k).inner_text().split("\n") for k in range(told.count()))
    assert found == {name: state for name, state in dict(best).items() if name != "lung"}
    shown_log = float(reader.tab.locator("#best p").first.get_attribute("data-exact"))
    assert shown_log == pytest.approx(best.log_joint, abs=1e-9)
    assert asia().mpe({"xray": "yes"})["lung"] != predicted
    assert "most probable complete case of all has lung = yes" in shown(reader, "#best")
