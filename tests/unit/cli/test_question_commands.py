"""Ask and decide: the numbers of Python, and mistakes in one line."""

import io
import json

import numpy as np
import pandas as pd
import pytest

import tanbark as tb
from command_line import bad, direct, good, run

COSTS = ("--cost", "yes:no=1", "--cost", "no:yes=10")
REFER = ("--cost", "yes:refer=0.3", "--cost", "no:refer=0.3")


def test_what_to_ask_next(folder):
    clf, frame = direct()
    row = frame[["word", "caps", "code"]].iloc[7]
    assert row.isna()["word"]
    known = row.dropna().to_dict()
    for words in ((folder / "rows.csv", "--row", "7"), ("-e", f"caps={known['caps']}", "-e", f"code={known['code']}")):
        told = json.loads(good("ask", folder / "model.json", *words, "--json"))
        twin = clf.ask_next(known)
        assert [each["feature"] for each in told["questions"]] == ["word"]
        assert told["questions"][0]["bits"] == pytest.approx(twin[0].bits)
        assert told["entropy"] == pytest.approx(twin.entropy)
        assert told["probabilities"] == pytest.approx(dict(zip(twin.classes, twin.probabilities, strict=True)))
        outcome = told["questions"][0]["outcomes"][1]
        assert outcome["probability"] == pytest.approx(twin[0].probabilities[1])
        assert outcome["posterior"]["yes"] == pytest.approx(twin[0].posteriors[1, 1])
    lines = good("ask", folder / "model.json").splitlines()
    assert lines[0].startswith("P(spam = no) = ")
    assert [line.split()[0] for line in lines[3:]] == [q.feature for q in clf.ask_next()]
    complete = run("ask", folder / "model.json", folder / "rows.csv", "--row", "1")
    assert "nothing left to ask" in complete.stderr


def test_evidence_replaces_values_of_the_row(folder):
    clf, frame = direct()
    words = ("ask", folder / "model.json", folder / "rows.csv", "--row", "7", "-e", "code=2", "--json")
    told = json.loads(good(*words))
    twin = clf.ask_next({"caps": frame["caps"][7], "code": 2})
    assert told["questions"][0]["bits"] == pytest.approx(twin[0].bits)


def test_asking_with_costs(folder):
    clf, _ = direct()
    costs = {"yes": {"no": 1, "refer": 0.3}, "no": {"yes": 10, "refer": 0.3}}
    told = json.loads(good("ask", folder / "model.json", *COSTS, *REFER, "--json"))
    twin = clf.ask_next(costs=costs)
    assert told["expected_cost"] == pytest.approx(twin.expected_cost)
    assert [each["value"] for each in told["questions"]] == pytest.approx([q.value for q in twin])
    assert "value" in good("ask", folder / "model.json", *COSTS)


def test_decisions(folder):
    clf, frame = direct()
    X = frame[["word", "caps", "code"]]
    ran = run("decide", folder / "model.json", folder / "rows.csv", *COSTS, "--keep", "id")
    told = pd.read_csv(io.StringIO(ran.stdout))
    assert np.array_equal(told["decision"] == "yes", clf.predict_proba(X)[:, 1] > 10 / 11)
    assert "yes is decided for from a probability of 0.9091" in ran.stderr
    three = json.loads(good("decide", folder / "model.json", folder / "rows.csv", *COSTS, *REFER, "--all", "--json"))
    twin = clf.decide(X, costs={"yes": {"no": 1, "refer": 0.3}, "no": {"yes": 10, "refer": 0.3}})
    assert [line["decision"] for line in three] == list(twin)
    assert [line["cost of refer"] for line in three] == pytest.approx([0.3] * len(frame))
    assert [line["expected cost"] for line in three] == pytest.approx(twin.expected_costs.min(axis=1))


def test_what_to_ask_before_deciding(folder):
    clf, frame = direct()
    X = frame[["word", "caps", "code"]]
    costs = {"yes": {"no": 1}, "no": {"yes": 10}}
    ran = run("decide", folder / "model.json", folder / "rows.csv", *COSTS, "--question-cost", "0.001", "--json")
    told = json.loads(ran.stdout)
    twin = clf.decide(X, costs=costs, question_costs=0.001).asking
    assert [line["ask"] for line in told] == twin.features
    assert [line["worth asking"] for line in told] == twin.worth_asking.tolist()
    assert [line["cost after asking"] for line in told] == pytest.approx(twin.costs_after)
    assert any(twin.features)
    if twin.worth_asking.any():
        assert "rows asking is worth more than deciding" in ran.stderr
    plain = good("decide", folder / "model.json", folder / "rows.csv", *COSTS)
    assert plain.splitlines()[0] == "decision,expected cost"
    asked = good("decide", folder / "model.json", folder / "rows.csv", *COSTS, "--ask")
    assert asked.splitlines()[0] == "decision,expected cost,ask,cost after asking,worth asking"
    asked = json.loads(good("ask", folder / "model.json", *COSTS, "--question-cost", "word=0.1", "--json"))
    found = clf.ask_next(costs=costs, question_costs={"word": 0.1})
    assert [each["cost"] for each in asked["questions"]] == [question.cost for question in found]
    assert np.ravel(asked["region"]) == pytest.approx(np.ravel(found.region))
    assert asked["worth_asking"] == found.worth_asking
    assert "Asking is worth more than deciding where P(yes) is from" in run("ask", folder / "model.json", *COSTS).stderr
    dear = run("ask", folder / "model.json", *COSTS, "--question-cost", "90")
    assert "No question is worth its cost" in dear.stderr


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("ask", "-e", "wort=win"), "Did you mean 'word'"), (("ask", "-e", "word"), "name=state"),
        (("ask", "-e", "caps=high"), "caps"), (("ask", "rows.csv", "--row", "900"), "--row 900 is beyond the table"),
        (("ask", "--cost", "maybe:no=1"), "CLASS:DECISION=COST"), (("decide", "rows.csv"), "Say what decisions cost"),
        (("decide", "rows.csv", "--cost", "yes:no=much"), "CLASS:DECISION=COST"),
        (("ask", "--question-cost", "wort=1"), "Did you mean 'word'"),
        (("decide", "rows.csv", *COSTS, "--question-cost", "much"), "finite number"),
        (("decide", "rows.csv", "--cost", "yes:refer=1"), "lacks what 'refer' costs"),
    ],
)  # fmt: skip
def test_mistakes(folder, words, message):
    command, *rest = [folder / word if word == "rows.csv" else word for word in words]
    assert message in bad(command, folder / "model.json", *rest)


def test_the_default_model_is_asked_as_a_whole(pooled, folder):
    _, out = pooled
    told = json.loads(good("ask", out, "-e", "caps=0.7", "--json"))
    twin = tb.load(out).ask_next({"caps": 0.7})
    assert {each["feature"]: each["bits"] for each in told["questions"]} == pytest.approx(
        {q.feature: q.bits for q in twin}
    )
    assert "surprise" in good("predict", out, folder / "rows.csv", "--surprise").splitlines()[0]
