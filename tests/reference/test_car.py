"""R bnclassify 0.4.8 and bnlearn 5.2.1 on the car evaluation table; car.json holds each number with its R call."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from pytest import approx

import tanbark as tb
from car import car_table
from tanbark.counts import MemoryCounts
from tanbark.estimators.training import encode_training
from tanbark.graph import Dag
from tanbark.params import family_counts
from tanbark.scores import bdeu, free_parameters, k2, log_likelihood, mutual_information, penalty

NUMBERS = json.loads((Path(__file__).parent / "car.json").read_text(encoding="utf-8"))
CAR = NUMBERS["car"]
LEVELS = NUMBERS["about"]["level_order"]


def value(name):
    return CAR[name]["value"]


pytestmark = pytest.mark.filterwarnings("ignore::tanbark.errors.NaiveStructureWarning")  # BIC keeps no arc here


@pytest.fixture(scope="module")
def car():
    frame = car_table()
    assert frame["class"].value_counts().to_dict() == {"unacc": 1210, "acc": 384, "good": 69, "vgood": 65}
    for name, levels in LEVELS.items():
        frame[name] = pd.Categorical(frame[name], categories=levels)
    return frame.drop(columns="class"), frame["class"].astype(str).rename("class")


MODELS = {
    "nb_smooth0": lambda: tb.NaiveBayes(parameters=0),
    "nb_smooth1": lambda: tb.NaiveBayes(parameters=1),
    "tan_cl_smooth0": lambda: tb.TAN(parameters=0),
    "tan_cl_smooth1": lambda: tb.TAN(parameters=1),
    "tan_cl_loglik_smooth0": lambda: tb.TAN(criterion="loglik", parameters=0),
    "tan_cl_aic_smooth0": lambda: tb.TAN(criterion="aic", parameters=0),
    "tan_cl_bic_smooth0": lambda: tb.TAN(criterion="bic", parameters=0),
}
MEASURES = {"logLik": "log_likelihood", "AIC": "aic", "BIC": "bic", "cLogLik": "conditional_log_likelihood"}


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("measure", MEASURES)
def test_measures(car, model, measure):
    if f"{model}.{measure}" not in CAR:
        assert model not in ("nb_smooth0", "nb_smooth1", "tan_cl_smooth0", "tan_cl_smooth1")
        return
    clf = MODELS[model]().fit(*car)
    assert getattr(clf, MEASURES[measure])(*car) == approx(value(f"{model}.{measure}"), abs=1e-8)


@pytest.mark.parametrize("model", ["nb_smooth0", "nb_smooth1", "tan_cl_smooth0", "tan_cl_smooth1"])
def test_parameters_accuracy_and_posteriors(car, model):
    clf = MODELS[model]().fit(*car)
    assert clf.n_parameters_ == value(f"{model}.nparams")
    assert clf.score(*car) == approx(value(f"{model}.train_accuracy"), abs=1e-12)
    found = clf.predict_proba(car[0].iloc[:5])
    for row, expected in zip(found, value(f"{model}.predict_first5"), strict=True):
        assert dict(zip(clf.classes_, row, strict=True)) == approx(expected, abs=1e-12)


def test_tables(car):
    network = tb.NaiveBayes(parameters=1).fit(*car).network_
    classes = network.schema.columns[-1].levels
    assert dict(zip(classes, network.table("class"), strict=True)) == approx(
        value("nb_smooth1.params_prior"), abs=1e-12
    )
    expected = value("nb_smooth1.params_first_feature")
    table = np.array(expected["values"]).reshape(4, 4)  # class by class
    order = [classes.index(label) for label in expected["dimnames"]["class"]]
    assert approx(table, abs=1e-12) == network.table("buying")[:, order].T


@pytest.mark.parametrize("score", ["loglik", "aic", "bic"])
def test_tree_arcs(car, score):
    clf = tb.TAN(criterion=score).fit(*car)
    found = {arc for arc in clf.dag_.arcs() if arc[0] != "class"}
    assert found == {tuple(arc) for arc in value(f"tan_cl_{score}.arcs")}


@pytest.mark.parametrize("score", ["loglik", "aic", "bic"])
def test_modelstrings(car, score):
    assert tb.TAN(criterion=score).fit(*car).dag_.modelstring() == value(f"tan_cl_{score}.modelstring")


def engine(car):
    return MemoryCounts(encode_training(tb.NaiveBayes(), *car, None))


def test_information(car):
    counts = engine(car)
    names = counts.schema.names
    found = counts.pair_information()
    pairs = {(names[i], names[j]): k for k, (i, j) in enumerate(zip(*np.triu_indices(6, 1), strict=True))}
    for a, b, expected in value("cmi_given_class"):
        k = pairs.get((a, b), pairs.get((b, a)))
        assert found.gain[k] / found.rows[k] == approx(expected, abs=1e-12)
    for name, expected in value("mi_with_class").items():
        table = counts.tables([(names.index(name), 6)])[0]
        assert mutual_information(table) == approx(expected, abs=1e-12)


def test_bnlearn_scores(car):
    counts = engine(car)
    for graph in CAR["bnlearn_scores"].values():
        dag = Dag.from_arcs([tuple(arc) for arc in graph["arcs"]], counts.schema.names)
        tables = [
            np.moveaxis(table, list(axes).index(node), -1).reshape(-1, table.shape[list(axes).index(node)])
            for node, (table, axes) in enumerate(
                zip(family_counts(dag, counts, max_cells=10**6), _axes(dag), strict=True)
            )
        ]
        found = {
            "loglik": sum(map(log_likelihood, tables)),
            "k2": sum(map(k2, tables)),
            **{f"bdeu_iss{ess}": sum(bdeu(t, ess=ess) for t in tables) for ess in (1, 10)},
        }
        parameters = sum(map(free_parameters, tables))
        found["aic"] = found["loglik"] - parameters * penalty("aic", counts.total)
        found["bic"] = found["loglik"] - parameters * penalty("bic", counts.total)
        for name, entry in graph["scores"].items():
            assert name in found, f"no score of ours for {entry['call']}"
            assert found[name] == approx(entry["value"], abs=1e-7)


def _axes(dag):
    from tanbark.graph.network import family_axes

    return [family_axes(parents, node, len(dag.names) - 1) for node, parents in enumerate(dag.parents)]


@pytest.mark.parametrize("prior", [0.1, 0.5, 0.9])
def test_model_averaging(car, prior):
    clf = tb.NaiveBayes(parameters=tb.MANB(arc_prior=prior)).fit(*car)
    assert clf.parameters_.arc_posterior_ == approx(value(f"manb_prior{prior}.arc_posterior"), rel=1e-9)
    if prior == 0.5:
        found = clf.predict_proba(car[0].iloc[:5])
        for row, expected in zip(found, value("manb_prior0.5.predict_first5"), strict=True):
            assert dict(zip(clf.classes_, row, strict=True)) == approx(expected, rel=1e-9)


def test_averaged_one_dependence(car):
    X, y = car
    clf = tb.AODE().fit(X, y)
    found = clf.predict_proba(X.iloc[:5])
    for row, expected in zip(found, value("aode_smooth1.predict_first5"), strict=True):
        assert dict(zip(clf.classes_, row, strict=True)) == approx(expected, rel=1e-9)
    assert clf.score(X, y) == approx(value("aode_smooth1.train_accuracy"), abs=1e-12)
    unacc = list(clf.classes_).index("unacc")
    assert clf.predict_proba(X.iloc[[11]])[0, unacc] == approx(0.793434, abs=5e-7)  # from Weka, by bnclassify's tests


@pytest.mark.parametrize("normalize", [False, True])
def test_weights_that_are_all_one(car, normalize):
    """On these data no weight below 1 helps, so that renormalising, as bnclassify does, makes no difference."""
    clf = tb.NaiveBayes(parameters=tb.WANBIA(normalize=normalize, smoothing=1)).fit(*car)
    assert clf.parameters_.weights_ == approx(value("wanbia.weights"), abs=1e-9)
    assert clf.conditional_log_likelihood(*car) == approx(value("wanbia.cLogLik"), abs=1e-8)
