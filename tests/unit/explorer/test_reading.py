"""Clicking, typing, pasting and looking: the page in a browser, as people use it."""

import json

import numpy as np
import pandas as pd
import pytest

import tanbark as tb
from networks import asia, five_nodes
from pages import NASTY, nasty_model

pytestmark = pytest.mark.xdist_group("browser")


@pytest.fixture(scope="module")
def clinic():
    """A classifier with intervals, categories, numbers that are categories, and truth values."""
    rng = np.random.default_rng(4)
    n = 500
    y = rng.integers(0, 2, n)
    X = pd.DataFrame(
        {
            "age": np.round(rng.normal(50 + 8 * y, 12), 1),
            "town": rng.choice(["Oslo", "Bergen, west", 'the "old" port'], n),
            "visits": rng.integers(1, 5, n) + y,
            "smoker": rng.random(n) < 0.3 + 0.3 * y,
        }
    )
    return tb.TAN().fit(X, pd.Series(y, name="ill").map({0: "no", 1: "yes"})), X


def row_of(clf, **values):
    return pd.DataFrame({name: [values.get(name)] for name in clf.feature_names_in_})


def shown(reader, place):
    return reader.tab.locator(place).inner_text()


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


def test_everything_has_a_name_for_those_who_listen(read, clinic):
    reader = read().open(clinic[0], view="list")
    reader.state(3, 1).click()
    reader.tab.locator("#tab-list").click()
    nameless = reader.tab.evaluate(
        """[...document.querySelectorAll("button, input, select, textarea")].filter((e) =>
        !(e.textContent.trim() || e.getAttribute("aria-label") || e.labels?.length)).map((e) => e.outerHTML)"""
    )
    assert nameless == []
    told = reader.state(3, 1).get_attribute("aria-label")
    assert told.startswith("smoker True: 100 %, before ")
    assert told.endswith(", observed")
    assert "ill: " in shown(reader, "#live")
    assert reader.tab.locator("#live").get_attribute("aria-live") == "polite"
    tree = reader.tab.locator("body").aria_snapshot()
    for part in ('region "Answer"', 'heading "Why"', 'tab "List" [selected]', 'group "smoker"'):
        assert part in tree


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


def test_tables_are_shown_on_demand(read, clinic):
    clf, _ = clinic
    reader = read().open(clf, view="list")
    reader.state(3, 1).click()
    node = next(node for node in range(4) if len(clf.dag_.parents[node]) > 1)
    reader.tab.locator(f'#list .card[data-node="{node}"] .name').click()
    reader.tab.locator("#editor button", has_text="Table").click()
    cells = reader.tab.locator("#table tbody td.value:not(.rows)")
    found = [float(cells.nth(k).get_attribute("title")) for k in range(cells.count())]
    axes = clf.network_.axes(node)
    table = np.moveaxis(clf.network_.tables[node], axes.index(node), -1)
    assert found == table.ravel().tolist()
    rows = [int(text) for text in reader.tab.locator("#table tbody td.rows").all_inner_texts()]
    assert sum(rows) == 500
    reader.tab.keyboard.press("Escape")
    assert not reader.tab.locator("#table-dialog").is_visible()


def test_odd_impossible_and_thin_evidence_is_warned_of(read):
    reader = read().open(asia(), view="list")
    reader.state(7, 0).click()
    assert reader.wait().tab.locator(".warning").count() == 0
    reader.state(0, 0).click()
    reader.state(1, 0).click()
    reader.wait()
    assert "Surprising evidence" in shown(reader, "#warnings")
    impossible = read().open(five_nodes(), view="list")
    impossible.state(2, 0).click()
    impossible.state(4, 1).click()
    assert "probability zero" in shown(impossible, "#warnings")
    X = pd.DataFrame({"a": list("pppppppppq"), "b": list("uvuvuvuvuv")})
    thin = read().open(tb.NaiveBayes().fit(X, [0, 1] * 5), view="list")
    thin.state(0, 1).click()
    assert "Thin support\nAt most 1 training row had" in shown(thin, "#warnings")
    assert "1 of 10 training rows had this value" in shown(thin, "#support")


def test_names_in_the_page_are_text(read):
    clf = nasty_model()
    reader = read().open(clf, title=NASTY[0], view="list")
    for node in (1, 0):
        reader.state(0, 0).click()
        reader.tab.locator(f'#list .card[data-node="{node}"] .name').click()
        reader.tab.locator("#editor button", has_text="Table").click()
        reader.tab.keyboard.press("Escape")
        for view in ("graph", "ask", "list"):
            reader.tab.locator(f"#tab-{view}").click()
        reader.wait()
    assert reader.tab.evaluate("window.hacked") is None
    assert reader.tab.locator("img").count() == 0
    assert shown(reader, "h1") == NASTY[0]
    assert reader.tab.title() == NASTY[0]
    assert NASTY[1] in reader.tab.locator(".card .name").all_inner_texts()


@pytest.fixture(scope="module")
def wide():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 300)
    X = pd.DataFrame(
        {f"gene {k:03d}": np.where(rng.random(300) < 0.1 + 0.004 * k, y, rng.integers(0, 3, 300)) for k in range(200)}
    )
    return tb.TAN().fit(X, pd.Series(y, name="type")), X


def test_two_hundred_features_are_a_list_with_a_search(read, wide):
    clf, X = wide
    reader = read().open(clf, view="list")
    assert 9 <= reader.tab.locator("#list .card").count() < 60
    reader.tab.locator("#search").fill("gene 07")
    assert reader.tab.locator("#list .card:visible").count() == 12
    assert "12 of 201" in shown(reader, "#found")
    reader.state(77, 1).click()
    expected = clf.predict_proba(pd.DataFrame({name: [1.0 if name == "gene 077" else np.nan] for name in X}))[0]
    assert reader.posterior() == pytest.approx(expected, abs=1e-9)
    reader.tab.locator("#search").fill("")
    reader.tab.locator("#sort").select_option("information")
    reader.wait()
    top = reader.tab.evaluate(
        """[...document.querySelectorAll("#list .card")]
        .find((card) => card.style.top === "0px" && card.style.left === "0px").dataset.node"""
    )
    assert int(top) == int(np.argmax(reader.tab.evaluate("tanbark.app.bits")))
    reader.tab.locator("#paste").click()
    reader.tab.locator("#row").fill(",".join(map(str, X.iloc[3])))
    reader.tab.locator("#take").click()
    assert reader.posterior() == pytest.approx(clf.predict_proba(X.iloc[[3]])[0], abs=1e-9)


def background(reader):
    return json.loads(
        reader.tab.evaluate(
            "JSON.stringify(getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number))"
        )
    )


def test_light_dark_narrow_and_print(read, clinic, tmp_path):
    clf, _ = clinic
    light = read(color_scheme="light", fresh=True).open(clf, view="list")
    dark = read(color_scheme="dark").open(clf, view="list")
    assert min(background(light)) > 200
    assert max(background(dark)) < 60
    for scheme in (light, dark):
        picture = scheme.tab.screenshot()
        assert len(picture) > 20_000
    narrow = read(viewport={"width": 380, "height": 800}).open(clf, view="list")
    narrow.tab.locator("#tab-list").click()
    assert narrow.tab.evaluate("document.documentElement.scrollWidth") <= 380
    light.state(3, 1).click()
    light.wait()
    assert light.tab.pdf(format="A4").startswith(b"%PDF")
    light.tab.emulate_media(media="print")
    assert not light.tab.locator(".actions").is_visible()
    assert not light.tab.locator("#answer").is_visible()
    paper = shown(light, "#sheet")
    for part in (
        "smoker\n= True",
        "yes\n",
        "90 % interval",
        "mainly because smoker = True",
        "Model ",
        "page.html#smoker=True",
    ):
        assert part in paper
    assert light.tab.locator("#sheet .why").count() == 1


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


def test_intervals_and_support_are_shown(read, clinic):
    clf, _ = clinic
    reader = read().open(clf, view="list")
    reader.state(3, 1).click()
    reader.wait()
    reader.tab.locator("#more-classes").click()
    told = shown(reader, '.answer-row[data-state="0"]')
    low, high = clf.predict_proba_interval(row_of(clf, smoker=True), n_draws=600)
    numbers = [float(text) / 100 for text in told.split("90 % interval ")[1].replace(" %", "").split(" to ")]
    assert numbers == pytest.approx([low[0, 0], high[0, 0]], abs=0.02)
    support = int(clf.support(row_of(clf, smoker=True))[0])
    assert f"{support} of 500 training rows had this value" in shown(reader, "#support")
