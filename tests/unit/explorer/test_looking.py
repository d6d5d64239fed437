"""What is shown: names, tables, warnings, colours, paper."""

import json

import numpy as np
import pandas as pd
import pytest

import tanbark as tb
from networks import asia, five_nodes
from pages import NASTY, nasty_model
from readers import row_of, shown

pytestmark = pytest.mark.xdist_group("browser")


@pytest.fixture(scope="module")
def wide():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 300)
    X = pd.DataFrame(
        {f"gene {k:03d}": np.where(rng.random(300) < 0.1 + 0.004 * k, y, rng.integers(0, 3, 300)) for k in range(200)}
    )
    return tb.TAN().fit(X, pd.Series(y, name="type")), X


def background(reader):
    return json.loads(
        reader.tab.evaluate(
            "JSON.stringify(getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number))"
        )
    )


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
