"""Averages over the K best graphs."""

import json
import pickle
from itertools import product

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

import tanbark as tb
from command_line import run
from naive import all_dags
from strategies import make_table

BOTH = pytest.mark.parametrize("cls", [tb.KBestANB, tb.KBestGBN])


@pytest.fixture(scope="module", params=[0.0, 0.1], ids=["complete", "missing"])
def rows(request):
    codes = make_table(np.random.default_rng(3), (2, 3, 2, 2), 50, gaps=request.param).codes.astype(float)
    codes[codes == 255] = np.nan
    return pd.DataFrame(codes[:-1].T, columns=list("ABC")), pd.Series(codes[-1].astype(int), name="kind")


@pytest.mark.parametrize("distinct", ["dags", "classes"])
def test_all_graphs_are_the_exact_average(rows, distinct):
    """The mean over every augmented naive Bayes graph, one classifier each, weighted by exp(BDeu) on complete rows."""
    X, y = rows
    ess, logs, proba = 2.0, [], []
    whole = X.notna().all(axis=1)
    for dag in all_dags(3):
        arcs = [*dag.arcs(), *(("kind", name) for name in "ABC")]
        one = tb.FixedStructure(arcs, parameters=tb.BDeu(ess)).fit(X, y)
        scored = tb.FixedStructure(arcs).fit(X[whole], y[whole])
        logs.append(tb.estimators.graph_score(scored, "bdeu", ess=ess))
        proba.append(one.predict_proba(X))
    weights = np.exp(np.array(logs) - max(logs))
    clf = tb.KBestANB(10_000, ess=ess, distinct=distinct).fit(X, y)
    assert len(clf.estimators_) == {"dags": 25, "classes": 11}[distinct]
    tolerance = 1e-12 if whole.all() or distinct == "dags" else 0.02  # equivalent graphs count other rows
    assert clf.predict_proba(X) == pytest.approx(np.average(proba, axis=0, weights=weights), abs=tolerance)


@BOTH
def test_one_graph_is_that_of_exact_search(cls, rows):
    X, y = rows
    exact = {tb.KBestANB: tb.ExactANB, tb.KBestGBN: tb.ExactGBN}[cls](parameters="bdeu").fit(X, y)
    clf = cls(1).fit(X, y)
    assert clf.report_.scores[0] == pytest.approx(exact.structure_score_)
    assert clf.graph_weights_.tolist() == [1.0]
    if X.notna().all(axis=None):
        assert clf.predict_proba(X) == pytest.approx(exact.predict_proba(X))


@BOTH
def test_the_weighted_mean_of_its_networks_and_the_file(cls, rows, tmp_path):
    X, y = rows
    clf = cls(4, parameters="hierarchical").fit(X, y)
    single = [member.predict_proba(X) for member in clf.estimators_]
    assert clf.predict_proba(X) == pytest.approx(np.tensordot(clf.graph_weights_, single, 1), abs=1e-15)
    assert clf.graph_weights_.sum() == pytest.approx(1.0)
    clf.save(tmp_path / "model.json")
    back = tb.load(tmp_path / "model.json")
    assert np.array_equal(back.predict_proba(X), clf.predict_proba(X))
    assert (repr(back), back.report_) == (repr(clf), clf.report_)
    back.save(tmp_path / "again.json")
    assert (tmp_path / "again.json").read_bytes() == (tmp_path / "model.json").read_bytes()
    assert np.array_equal(pickle.loads(pickle.dumps(clf)).predict_proba(X), clf.predict_proba(X))


def test_missing_values_are_summed_out(rows):
    X, y = rows
    clf = tb.KBestANB(3).fit(X, y)
    row = pd.DataFrame({"A": [1.0], "B": [np.nan], "C": [np.nan]})
    expected = np.zeros(2)
    for weight, member in zip(clf.graph_weights_, clf.estimators_, strict=True):
        full = [pd.DataFrame({"A": [1.0], "B": [b], "C": [c]}) for b, c in product(range(3), range(2))]
        joint = sum(np.exp(member.predict_joint_log_proba(each)[0]) for each in full)
        expected += weight * joint / joint.sum()
    assert clf.predict_proba(row)[0] == pytest.approx(expected)


def test_arcs_have_posterior_probabilities(rows):
    X, y = rows
    clf = tb.KBestANB(25, distinct="dags").fit(X, y)
    arcs = clf.arc_frequencies()
    assert arcs["kind", "A"] == pytest.approx(1.0)
    expected = sum(w for w, dag in zip(clf.graph_weights_, clf.report_.dags, strict=True) if ("A", "B") in dag.arcs())
    assert arcs["A", "B"] == pytest.approx(expected)
    many = tb.ModelAveraging(tb.KBestANB(2), 3, random_state=0).fit(X, y)
    means = [member.arc_frequencies().get(("A", "B"), 0.0) for member in many.estimators_]
    assert many.arc_frequencies().get(("A", "B"), 0.0) == pytest.approx(np.mean(means))


def test_subbagging_takes_it_and_so_does_the_command_line(rows, tmp_path):
    X, y = rows
    clf = tb.ModelAveraging(tb.KBestANB(3), 4, subsample=0.8, random_state=1).fit(X, y)
    assert [len(member.estimators_) for member in clf.estimators_] == [3] * 4
    assert clf.predict_proba(X) == pytest.approx(np.mean([m.predict_proba(X) for m in clf.estimators_], axis=0))
    clf.save(tmp_path / "model.json")
    assert np.array_equal(tb.load(tmp_path / "model.json").predict_proba(X), clf.predict_proba(X))
    X.assign(kind=y).to_csv(tmp_path / "rows.csv", index=False)
    words = ("fit", tmp_path / "rows.csv", "--class", "kind", "-l", "kbest-anb", "-o", "k=3")
    told = run(*words, "--out", tmp_path / "cli.json")
    assert "3 models averaged" in told.output
    assert repr(tb.load(tmp_path / "cli.json")) == "KBestANB(k=3)"


def test_a_damaged_file_is_refused(rows, tmp_path):
    tb.KBestANB(3).fit(*rows).save(tmp_path / "model.json")
    document = json.loads((tmp_path / "model.json").read_text())
    graphs = document["graphs"]
    for changed, told in (
        (graphs * 2, "more graphs"), (graphs[::-1], "not sorted"), ([{**graphs[0], "size": 0}], "whole number"),
        ([{**graphs[0], "counts": graphs[0]["counts"][:1]}], "one table of counts"),
    ):  # fmt: skip
        (tmp_path / "bad.json").write_text(json.dumps({**document, "graphs": changed}))
        with pytest.raises(tb.errors.ModelFileError, match=told):
            tb.load(tmp_path / "bad.json")


def test_wrong_options_are_refused(rows):
    for options, told in (
        ({"k": 0}, "k must"), ({"distinct": "?"}, "distinct"), ({"method": "ip"}, "method"), ({"ess": -1}, "ess"),
        ({"parameters": tb.MANB()}, "parameters"), ({"max_parents": 0.5}, "max_parents"),
    ):  # fmt: skip
        with pytest.raises(tb.errors.OptionError, match=told):
            tb.KBestANB(**options).fit(*rows)
    clf = tb.KBestANB(2).fit(*rows)
    assert clone(clf).get_params()["k"] == 2
    clf.ess = 9.0
    with pytest.raises(tb.errors.OptionError, match="changed after fit"):
        clf.save("never.json")
