"""About, Decide, What could change it and the smallest change, as a reader sees them; and the page of texts."""

import json
import re

import numpy as np
import pandas as pd
import pytest
from sklearn.feature_extraction.text import CountVectorizer

import tanbark as tb
from pages import fit_once, mixed_rows
from tanbark.explorer import pooled
from tanbark.explorer.text import text_data

pytestmark = pytest.mark.xdist_group("browser")


@pytest.fixture(scope="module")
def tan():
    X, y = mixed_rows(classes=2)
    kind = pd.Series(np.array(["good", "ill"])[y], name="kind")
    return tb.TAN().fit(X, kind), X, kind


def observe(reader, **values):
    """Set values as a reader would type them."""
    reader.tab.evaluate(
        """(values) => { const { app } = tanbark; const { model } = app; const all = model.nothing.slice();
        for (const [name, value] of Object.entries(values)) { const node = model.keys.indexOf(name);
          all[node] = model.observed(node, tanbark.codeValue(model.columns[node], value), Number(value)); }
        app.setAll(all); }""",
        {name: str(value) for name, value in values.items()},
    )
    return reader.wait()


def open_panel(reader, name):
    reader.tab.locator(f"#panel-{name} > summary").click()
    return reader.wait()


def exact(reader, place):
    return [float(value.get_attribute("data-exact")) for value in reader.tab.locator(place).all()]


def test_about_says_what_was_told_and_how_good_it_is(read, tan):
    clf, X, y = tan
    result = tb.cross_validate_network(clf, X, y, cv=3, random_state=0)
    reader = read().open(
        clf, view="about", performance=result, labels={"kind": {"ill": "Ill"}, "height": "Body height"},
        about={"purpose": "To test.", "source": "Drawn", "not_for": ["Patients"], "limits": "Few rows"},
    )  # fmt: skip
    told = reader.tab.inner_text("#view-about")
    for part in ("To test.", "Drawn", "Not to be used for", "Patients", "Few rows", "400", "3-fold cross-validation"):
        assert part in told
    assert exact(reader, ".measures td.value")[0] == pytest.approx(result.scores["TAN()"]["accuracy"].mean())
    assert reader.tab.locator(".calibration circle").count() > 3
    reader.tab.get_by_label("Class of the calibration").select_option(label="good")
    assert "probability of good" in reader.tab.inner_text(".calibration")
    assert "Ill" in reader.tab.inner_text(".confusion")
    bare = read().open(clf, view="about")
    assert "Nothing was written" in bare.tab.inner_text("#view-about")
    assert "No measurement" in bare.tab.inner_text("#view-about")


def test_shown_names_and_units_are_everywhere_and_the_address_keeps_those_of_the_data(read, tan):
    clf, *_ = tan
    reader = read().open(
        clf, view="list", labels={"height": "Body height", "town": ("City", {"Oslo": "Kristiania"})},
        units={"height": "cm"}, descriptions={"height": "Without shoes."}, order=["town"], threshold={"ill": 0.3},
    )  # fmt: skip
    observe(reader, height=171.5, town="Oslo")
    chips = reader.tab.inner_text("#evidence")
    assert "Body height = 171.5 cm" in chips
    assert "City = Kristiania" in chips
    assert "height==171.5" in reader.tab.evaluate("location.hash")
    assert "town=Oslo" in reader.tab.evaluate("location.hash")
    assert reader.tab.locator("#view-list .card .name").first.inner_text() == "City"
    assert reader.tab.locator('[title="Without shoes."]').count() == 1
    assert reader.tab.evaluate("tanbark.app.threshold") == {"state": 1, "p": 0.3}
    other = read().open(clf, scenario=reader.tab.evaluate("location.hash"))
    assert other.posterior() == pytest.approx(reader.posterior(), abs=1e-12)


def test_decide_by_costs_a_threshold_and_what_a_question_is_worth(read, tan):
    clf, *_ = tan
    reader = observe(open_panel(read().open(clf), "decide"), height=170.0, town="Bergen")
    known = {"height": 170.0, "town": "Bergen"}
    for miss, alarm in ((1, 1), (9, 1), (1, 9)):
        reader.tab.locator("#cost-miss").fill(str(miss))
        reader.tab.locator("#cost-alarm").fill(str(alarm))
        reader.wait()
        costs = {"ill": {"good": miss}, "good": {"ill": alarm}}
        found = clf.decide(pd.DataFrame([known]).reindex(columns=clf.feature_names_in_), costs=costs)
        assert f"Decide for {found[0]}" in reader.tab.inner_text("#decision")
        assert exact(reader, "#decision .decided span")[0] == pytest.approx(found.expected_costs.min(), abs=1e-9)
        threshold = float(reader.tab.locator("#cost-threshold").input_value())
        assert threshold == pytest.approx(100 * found.threshold, rel=1e-3)
        best = clf.ask_next(known, costs=costs)
        values = exact(reader, "#worth .value")
        assert values == pytest.approx([q.value for q in best if q.value > 1e-12][:3], abs=1e-9)
        parts = json.loads(reader.tab.get_attribute("#asking-region", "data-parts"))
        assert np.ravel(parts) == pytest.approx(np.ravel(best.region), abs=1e-9)
    advice = reader.tab.inner_text("#worth .advice")
    assert advice.startswith(f"Ask {best[0].feature} first" if best.worth_asking else "Decide now: no answer")
    reader.tab.locator("#cost-state").select_option(label="good")  # the region is that of the class in question
    reader.wait()
    turned = clf.ask_next(known, costs={"good": {"ill": miss}, "ill": {"good": alarm}}).region
    parts = json.loads(reader.tab.get_attribute("#asking-region", "data-parts"))
    assert np.ravel(parts) == pytest.approx(1 - np.ravel(turned)[::-1], abs=1e-9)
    reader.tab.locator("#cost-state").select_option(label="ill")
    reader.tab.locator("#cost-question").fill("50")
    reader.wait()
    assert "Decide now" in reader.tab.inner_text("#worth")
    reader.tab.locator("#cost-threshold").fill("20")
    reader.wait()
    assert reader.tab.evaluate("tanbark.app.threshold.p") == pytest.approx(0.2)
    reader.tab.locator("#cost-miss").fill("-1")
    assert "at least 0" in reader.tab.inner_text(".costs")
    reader.tab.locator("#cost-threshold").fill("120")
    assert "below 100" in reader.tab.inner_text(".costs")


@pytest.mark.parametrize("model", [tb.Classifier(4), tb.A2DE()], ids=["classifier", "a2de"])
def test_of_many_classes_and_pooled_networks_decide_says_what_to_ask_and_what_it_saves(read, model):
    clf, _ = fit_once(model, mixed_rows)
    reader = open_panel(read().open(clf), "decide")
    costs = np.array([[0, 1, 2], [1, 0, 2], [3, 3, 0]])  # the last: to miss it costs 3, a false alarm 2, other errors 1
    reader.tab.locator("#cost-miss").fill("3")
    reader.tab.locator("#cost-alarm").fill("2")
    reader.tab.locator("#cost-question").fill("0.01")
    reader.wait()
    found = clf.ask_next(costs=costs, question_costs=0.01)
    assert found.worth_asking
    advice = reader.tab.inner_text("#worth .advice")
    assert advice.startswith(f"Ask {found[0].feature} first: the expected cost falls to ")
    numbers = [float(text) for text in re.findall(r"\d+\.?\d*", advice)]
    assert numbers[0] == pytest.approx(found.expected_cost - found[0].net, rel=0.01)
    assert numbers[-1] == pytest.approx(found[0].net, rel=0.01)
    assert reader.tab.locator("#asking-region").count() == 0


def test_the_tornado_and_the_smallest_change(read, tan):
    clf, X, _ = tan
    known = X.dropna().iloc[3].to_dict()
    reader = observe(open_panel(open_panel(read().open(clf), "sensitivity"), "change"), **known)
    spans = [span for span in clf.sensitivity(known) if span.width > 1e-12]
    ends = exact(reader, "#spans .span-ends span")
    assert ends == pytest.approx([end for span in spans for end in (span.low, span.high)], abs=1e-9)
    names = reader.tab.locator("#spans .span-head .link").all_inner_texts()
    assert names == [span.feature for span in spans]
    found = clf.counterfactual(known)
    assert len(found) > 0
    assert exact(reader, "#change p span")[0] == pytest.approx(found.probability, abs=1e-9)
    changed = reader.tab.locator("#change .changes strong").all_inner_texts()
    assert changed[::2] == [change.feature for change in found]
    before = reader.posterior()
    reader.tab.get_by_role("button", name="Try it").click()
    reader.wait()
    after = reader.posterior()
    assert np.argmax(after) != np.argmax(before)
    assert max(after) == pytest.approx(found.probability, abs=1e-9)
    reader.tab.locator("#undo").click()
    reader.tab.locator("#clear").click()
    reader.wait()
    assert "nothing to change" in reader.tab.inner_text("#change")


AXE = """axe.run(document, { runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"] })
  .then(({ violations }) => violations.map(({ id, nodes }) => [id, nodes[0].html]))"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_in_these_views(read, axe, tan, scheme):
    clf, X, y = tan
    reader = read(color_scheme=scheme, bypass_csp=True).open(clf, X=X, y=y, about={"not_for": "Patients"})
    reader.tab.evaluate(axe)
    for panel in ("decide", "sensitivity", "change"):
        open_panel(reader, panel)
    observe(reader, height=170.0, town="Bergen")
    for view in ("rows", "about", "teach"):
        reader.tab.locator(f"#tab-{view}").click()
        if view == "rows":
            file = {"name": "rows.csv", "mimeType": "text/csv", "buffer": X.head(9).to_csv(index=False).encode()}
            reader.tab.locator("#rows-file").set_input_files(file)
            reader.tab.wait_for_selector("#view-rows[data-state=done]")
        assert reader.wait().tab.evaluate(AXE) == []


# ---------------------------------------------------------------------- texts

TEXTS = ["win cash now and a prize", "free cash prize call now", "see you at noon", "are you There now, home?"] * 3
ASKED = ["Free CASH, free prizes!", "you and you at home", "", "zebra <b>now</b>", "Now you win a call: see noon"]


@pytest.mark.parametrize("options", [{}, {"ngram_range": (1, 2)}, {"lowercase": False}], ids=str)
def test_texts_are_classified_as_in_python(read, options):
    vectorizer = CountVectorizer(**options)
    X = vectorizer.fit_transform(TEXTS)
    y = np.array(["spam", "spam", "ham", "ham"] * 3)
    clf = tb.TextNaiveBayes(words=vectorizer.get_feature_names_out()).fit(X, y)
    reader = read().open(clf, title="Texts", labels={"class": {"ham": "Good"}}, X=X, y=y, threshold={"spam": 0.9})
    for text, expected in zip(ASKED, clf.predict_proba(vectorizer.transform(ASKED)), strict=True):
        reader.tab.locator("#text").fill(text)
        told = {
            int(row.get_attribute("data-state")): row.locator("output")
            for row in reader.tab.locator(".text-class").all()
        }
        found = [float(told[c].get_attribute("data-exact")) for c in range(2)]
        assert found == pytest.approx(expected, abs=1e-9)
        best = int(np.argmax(expected))
        odds = float(reader.tab.locator("#why tfoot td.value").get_attribute("data-exact"))
        assert odds == pytest.approx(np.log(expected[best] / expected[1 - best]), abs=1e-9)
        assert reader.tab.inner_text("#marked") == text
    assert reader.tab.locator("#marked .lit").count() > 2
    reader.tab.locator("#text").fill("zebra now")
    assert "Not in the model: zebra" in reader.tab.inner_text("#unknown")
    assert "5-fold" in reader.tab.inner_text("#about") or "3-fold" in reader.tab.inner_text("#about")
    again = read()
    again.tab.goto(reader.tab.url)
    again.until("document.getElementById('loading') === null")
    assert again.tab.locator("#text").input_value() == "zebra now"


def test_text_models_that_cannot_be_shown(monkeypatch):
    clf = tb.TextNaiveBayes().fit([[1, 0], [0, 2]], ["a", "b"])
    assert clf.explore().html.startswith("<!doctype html>")
    with pytest.raises(tb.errors.OptionError, match="no column of the model"):
        clf.explore(units={"x0": "m"})
    with pytest.raises(Exception, match="not fitted"):
        tb.TextNaiveBayes().explore()
    monkeypatch.setattr(pooled, "MOST_BYTES", 10)
    with pytest.raises(tb.errors.TableTooLargeError, match="Count fewer words"):
        text_data(clf)
