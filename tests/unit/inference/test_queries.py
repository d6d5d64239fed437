"""What people ask, and what they get wrong."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from pytest import approx

import tanbark as tb
from fixtures_small import TRUE_ARCS, f500
from networks import alarm_sized, asia, five_nodes


class TestLecture:
    """UNSW COMP9418: the five-node network."""

    network = five_nodes()

    @pytest.mark.parametrize(
        ("evidence", "posterior", "probability"),
        [
            ({"A": 1, "C": 0, "D": 1, "E": 0}, 0.957447, 0.02256),
            ({"D": 1}, 0.547935, 0.70136),
            ({"A": 1, "D": 1}, 0.267959, 0.42096),
            ({"D": 1, "E": 0}, 0.757086, 0.39693),
            ({}, 0.42, 1.0),
        ],
    )
    def test_posteriors(self, evidence, posterior, probability):
        assert self.network.query("B", evidence)[1] == approx(posterior, abs=1e-6)
        assert self.network.probability_of_evidence(evidence) == approx(probability, abs=1e-9)

    def test_most_probable_explanation(self):
        found = self.network.mpe({"D": 1})
        assert dict(found) == {"A": 0, "B": 1, "C": 0, "E": 0}
        assert found.joint == approx(0.243, abs=1e-9)

    def test_the_explanation_can_have_another_class_than_the_posterior(self):
        rows = f500()
        X, y = pd.DataFrame(rows[:, 1:], columns=list("ABWVU")), rows[:, 0]
        network = tb.FixedStructure(TRUE_ARCS, parameters=tb.BDeu(1)).fit(X, y).network_
        evidence = {"A": 0, "B": 1, "U": 1}
        explained = network.mpe(evidence)
        assert dict(explained) == {"W": 2, "V": 1, "class": 1}
        assert explained.joint == approx(0.018954, abs=1e-6)
        assert network.query("class", evidence)[0] == approx(0.556728, abs=1e-6)
        assert network.map("class", evidence)["class"] == 0


def test_the_chest_clinic():
    """Lauritzen and Spiegelhalter's numbers, to the digits that they are quoted with."""
    network = asia()
    assert network.query("dysp")["yes"] == approx(0.4360, abs=1e-4)
    assert network.query("either")["yes"] == approx(0.0648, abs=1e-4)
    assert network.query("tub", {"asia": "yes", "dysp": "yes"})["yes"] == approx(0.0878, abs=1e-4)
    joint = network.query(["lung", "bronc"], {"dysp": "yes"})
    assert joint.values.sum() == approx(1)
    assert joint.marginal("bronc").values == approx(network.query("bronc", {"dysp": "yes"}).values)
    swapped = network.query(["bronc", "lung"], {"dysp": "yes"})
    assert swapped.values == approx(joint.values.T)
    assert joint.most_likely() == {"lung": "no", "bronc": "yes"}


def test_impossible_evidence_raises_an_error():
    network = asia()
    evidence = {"tub": "yes", "either": "no"}
    assert network.probability_of_evidence(evidence) == 0
    assert network.probability_of_evidence(evidence, log=True) == -np.inf
    for ask in (
        lambda: network.query("smoke", evidence),
        lambda: network.query("asia", {"either": "no", "lung": "yes"}),
        lambda: network.mpe(evidence),
        lambda: network.map("smoke", evidence),
        lambda: network.sample(3, evidence),
        lambda: network.query("smoke", {"either": "no"}, soft={"tub": [1, 0]}),
    ):
        with pytest.raises(tb.errors.ImpossibleEvidenceError, match="probability zero"):
            ask()
    rows = pd.DataFrame({"tub": ["no", "yes", None], "either": ["no", "no", "yes"]})
    with pytest.raises(tb.errors.ImpossibleEvidenceError, match=r"1 rows .* rows \[1\]"):
        network.query("smoke", rows)
    assert network.probability_of_evidence(rows)[1] == 0


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda n: n.query("dyspp"), "no variable 'dyspp'. Did you mean 'dysp'"),
        (lambda n: n.query("dysp", {"smok": "yes"}), "no variable 'smok'. Did you mean 'smoke'"),
        (lambda n: n.query("dysp", {"smoke": "yess"}), "no state 'yess'. Did you mean 'yes'.*states are"),
        (lambda n: n.query("dysp", {"smoke": ["yes"]}), "no state"),
        (lambda n: n.query("dysp", {"smoke": True}), "no state True"),
        (lambda n: n.query("dysp", {"dysp": "yes"}), "'dysp' is asked for and observed"),
        (lambda n: n.query(["dysp", "dysp"]), "once"),
        (lambda n: n.query([]), "at least one"),
        (lambda n: n.query("dysp", 3), "dict of names to states, or a frame; got int"),
        (lambda n: n.query("dysp", soft={"smoke": [1, 2, 3]}), "must be 2 numbers"),
        (lambda n: n.query("dysp", soft={"smoke": [0, 0]}), "not all zero"),
        (lambda n: n.query("dysp", soft={"smoke": [1, -1]}), "none negative"),
        (lambda n: n.query("dysp", {"smoke": "no"}, soft={"smoke": [1, 2]}), "observed, so that soft"),
        (lambda n: n.query("dysp", soft=[1]), "dict of names to likelihoods"),
        (lambda n: n.query("dysp", pd.DataFrame({"smoke": ["yes", "nein"]})), "no state 'nein'"),
        (lambda n: n.query("dysp", pd.DataFrame({"smok": ["yes"]})), "no variable 'smok'"),
        (lambda n: n.query("dysp")["yess"], "no state 'yess'. Did you mean 'yes'"),
        (lambda n: n.query("dysp").marginal("asia"), "not asked for"),
        (lambda n: n.query(["dysp", "asia"])["yes"], "Give a state for each"),
        (lambda n: n.d_separated("dysp", "dysp"), "nothing in common|no variable in common"),
        (lambda n: n.d_separated("dysp", "smok"), "Did you mean 'smoke'"),
        (lambda n: n.prune("dysp", ["dysp"]), "must not be among the evidence"),
    ],
)
def test_what_is_wrong_is_named(ask, message):
    with pytest.raises(tb.errors.InputError, match=message):
        ask(asia())


def test_labels_and_frames():
    answer = asia().query(["lung", "bronc"], {"smoke": "yes"})
    assert np.asarray(answer) == approx(np.outer([0.1, 0.9], [0.6, 0.4]))
    assert answer["yes", "no"] == approx(0.04)
    frame = answer.frame()
    assert list(frame.columns) == ["lung", "bronc", "probability"]
    assert frame["probability"].to_numpy() == approx(answer.values.ravel())
    assert str(answer).splitlines()[0].split() == ["lung", "bronc", "probability"]
    assert repr(answer).splitlines()[0].split()[:3] == ["lung", "bronc", "probability"]
    rows = asia().query("lung", pl.DataFrame({"smoke": ["yes", "no", None]}))
    assert rows.values[:, 0] == approx([0.1, 0.01, 0.055])
    assert list(rows.frame(backend="polars").columns) == ["lung=yes", "lung=no"]
    assert [float(one["yes"]) for one in rows] == approx([0.1, 0.01, 0.055])
    assert len(rows) == 3
    assert "more" in str(alarm_sized(0).query([f"v{k}" for k in range(5)]))


def test_two_thousand_children_do_not_underflow():
    n = 2000
    names = [f"x{k}" for k in range(n)]
    states = {"root": [0, 1], **dict.fromkeys(names, (0, 1))}
    tables = {"root": [0.3, 0.7], **{name: (("root",), [[0.001, 0.999], [0.0012, 0.9988]]) for name in names}}
    network = tb.Network.from_tables(states, tables)
    half = dict.fromkeys(names[: n // 2], 0)
    logs = np.log([0.3, 0.7]) + n // 2 * np.log([0.001, 0.0012])
    total = np.logaddexp(*logs)
    assert network.probability_of_evidence(half, log=True) == approx(total, rel=1e-12)
    assert network.query("root", half).values == approx(np.exp(logs - total), abs=1e-12)
    explained = network.mpe(half)
    assert explained["root"] == 1
    assert explained.log_joint == approx(logs[1] + n // 2 * np.log(0.9988), rel=1e-9)
    assert network.sample(5, half, random_state=0)["root"].tolist() == [1] * 5
    assert network.query(names[-1], pd.DataFrame([half])).values[0, 0] == approx(0.0012, rel=1e-9)


def test_networks_of_classifiers_can_be_queried():
    clf = tb.TAN().fit(pd.DataFrame({"a": list("xyxy"), "b": [1, 2, 1, 1]}), [0, 1, 0, 1])
    row = pd.DataFrame({"a": ["x"], "b": [2]})
    assert clf.network_.query("class", {"a": "x", "b": 2}).values == approx(clf.predict_proba(row)[0])
