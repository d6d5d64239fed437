"""Words of the page: shown names, units, order, groups, facts about the model and how good it is."""

import json
import sys

import numpy as np
import pandas as pd
import pytest

import tanbark as tb
from networks import asia
from tanbark.explorer.data import page_data
from tanbark.explorer.wording_file import read_wording

OptionError = tb.errors.OptionError


@pytest.fixture(scope="module")
def model():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 200)
    X = pd.DataFrame(
        {"height": np.round(rng.normal(170 + 8 * y, 6), 1), "town": np.array(["Oslo", "Rome"])[rng.integers(0, 2, 200)]}
    )
    kind = pd.Series(np.array(["no", "yes"])[y], name="kind")
    return tb.NaiveBayes().fit(X, kind), X, kind


def test_names_units_and_states_as_they_are_shown(model):
    clf, *_ = model
    data = page_data(
        clf, labels={"height": "Body height", "town": ("City", {"Rome": "Roma"}), "kind": {"yes": "ill"}},
        units={"height": "cm"}, descriptions={"town": "Where."},
    )  # fmt: skip
    height, town, kind = data["columns"]
    assert (height["name"], height["title"], height["unit"]) == ("height", "Body height", "cm")
    assert height["shown"] == [f"{label} cm" for label in height["labels"]]
    assert (town["title"], town["description"], town["shown"]) == ("City", "Where.", ["Oslo", "Roma"])
    assert kind["shown"] == ["no", "ill"]
    assert kind["labels"] == ["no", "yes"]
    assert "title" not in kind
    plain = page_data(clf)
    assert [column["shown"] for column in plain["columns"]] == [column["labels"] for column in plain["columns"]]


def test_order_groups_threshold_target_and_facts(model):
    clf, *_ = model
    data = page_data(clf, order=["town"], groups={"Body": ["height"]}, threshold=0.2, target="town", about="To test.")
    assert data["arranged"] == [1, 0, 2]
    assert data["groups"] == [{"title": "Body", "nodes": [0]}]
    assert data["threshold"] == {"label": 1, "value": 0.2}
    assert data["asked"] == 1
    assert data["about"] == {"purpose": "To test."}
    other = page_data(clf, threshold={"no": 0.6}, about={"not_for": ["a", "b"], "date": 2026})
    assert other["threshold"] == {"label": 0, "value": 0.6}
    assert other["about"] == {"not_for": ["a", "b"], "date": "2026"}
    assert page_data(asia(), target="lung", units={})["asked"] == asia().dag.index("lung")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"labels": {"heigth": "x"}}, "labels names 'heigth'.*Did you mean 'height'"),
        ({"units": {"tow": "km"}}, "units names 'tow'.*Did you mean 'town'"),
        ({"descriptions": {"kid": "?"}}, "descriptions names 'kid'.*Did you mean 'kind'"),
        ({"descriptions": {"town": ""}}, "descriptions must map every column to a text"),
        ({"labels": {"town": {"Osl": "x"}}}, "no.* have.*Did you mean 'Oslo'"),
        ({"labels": {"town": 3}}, "must be a text, a mapping"),
        ({"labels": ["town"]}, "labels must be a mapping"),
        ({"labels": {"town": {"Oslo": "Rome"}}}, "several states as \\['Rome'\\]"),
        ({"labels": {"town": "kind"}}, "several columns as \\['kind'\\]"),
        ({"order": ["twon"]}, "order names 'twon'.*Did you mean 'town'"),
        ({"order": ["town", "town"]}, "twice"),
        ({"order": "town"}, "must be a list of names"),
        ({"groups": {"A": ["hight"]}}, "Did you mean 'height'"),
        ({"groups": {"A": ["town"], "B": ["town"]}}, "in 'A' and again in 'B'"),
        ({"groups": ["town"]}, "groups must map"),
        ({"threshold": 1.5}, "above 0 and below 1"),
        ({"threshold": {"yess": 0.5}}, "Did you mean 'yes'"),
        ({"threshold": {"yes": 0.5, "no": 0.5}}, "name one class"),
        ({"target": "knd"}, "Did you mean 'kind'"),
        ({"about": {"purpos": "x"}}, "Did you mean 'purpose'"),
        ({"about": 3}, "about must be a text"),
        ({"performance": 3}, "result of cross_validate_network"),
        ({"X": [[1]]}, "y is missing"),
    ],
)
def test_wrong_words_are_errors_with_the_nearest_match(model, options, message):
    with pytest.raises(OptionError, match=message):
        model[0].explore(**options)


def test_a_threshold_needs_its_class_and_a_network_has_none(model):
    three = tb.NaiveBayes().fit([["a"], ["b"], ["c"]] * 3, [0, 1, 2] * 3)
    with pytest.raises(OptionError, match="must name its class"):
        three.explore(threshold=0.5)
    with pytest.raises(OptionError, match="this network has none"):
        asia().explore(threshold=0.5)
    weighted = tb.NaiveBayes(parameters=tb.WANBIA()).fit(*model[1:])
    with pytest.raises(tb.errors.InputError, match="only the class"):
        weighted.explore(target="town")


def test_performance_is_that_of_the_cross_validation(model):
    clf, X, y = model
    result = tb.cross_validate_network([clf, tb.TAN()], X, y, cv=4, random_state=1)
    found = page_data(clf, performance=result)["performance"]
    own = result.scores["NaiveBayes()"]
    assert found["folds"] == 4
    assert found["rows"] == 200
    assert found["measures"]["accuracy"] == pytest.approx([own["accuracy"].mean(), own["accuracy"].std()])
    assert np.sum(found["confusion"]) == 200
    assert found["confusion"][0][0] + found["confusion"][1][1] == pytest.approx(200 * own["accuracy"].mean())
    assert sum(found["calibration"][1]["rows"]) == 200
    made = page_data(clf, X=X, y=y)["performance"]
    assert made["folds"] == 5
    assert 0.6 < made["measures"]["accuracy"][0] < 1.0
    with pytest.raises(OptionError, match="several models"):
        page_data(tb.KDB().fit(X, y), performance=result)
    with pytest.raises(OptionError, match="not both"):
        page_data(clf, performance=result, X=X, y=y)
    with pytest.raises(OptionError, match="has no fit"):
        page_data(clf.network_, X=X, y=y)
    with pytest.raises(tb.errors.InputError, match="fewer than two rows"):
        page_data(clf, X=X[:3], y=["no", "no", "yes"])


WORDS = {"title": "T", "labels": {"town": ["City", {"Oslo": "O"}]}, "threshold": {"yes": 0.3}}


def test_words_from_a_file(model, tmp_path):
    (tmp_path / "words.json").write_text(json.dumps(WORDS), encoding="utf-8")
    (tmp_path / "words.yaml").write_text(
        "title: T\nlabels:\n  town: [City, {Oslo: O}]\nthreshold:\n  yes: 0.3\n", encoding="utf-8"
    )
    pages = {name: model[0].explore(**read_wording(tmp_path / name)).html for name in ("words.json", "words.yaml")}
    assert pages["words.json"] == pages["words.yaml"] == model[0].explore(**WORDS).html


def test_files_of_words_that_cannot_be_read(tmp_path, monkeypatch):
    def write(name, text):
        (tmp_path / name).write_bytes(text)
        return tmp_path / name

    for path, message in (
        (write("a.json", b"{"), "not JSON"),
        (write("b.json", b"[1]"), "must hold a mapping"),
        (write("c.json", b'{"lables": 1}'), "Did you mean 'labels'"),
        (write("d.yaml", b"a: [1"), "not YAML"),
        (write("e.json", b"\xff\xfe"), "not text in UTF-8"),
        (tmp_path / "none.json", "cannot be read"),
    ):
        with pytest.raises((tb.errors.InputError, OptionError), match=message):
            read_wording(path)
    monkeypatch.setitem(sys.modules, "yaml", None)
    with pytest.raises(tb.errors.MissingPackageError, match="pip install pyyaml"):
        read_wording(write("f.yaml", b"title: x"))
