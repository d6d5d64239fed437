"""The registry: one place for the defaults, for a learner by name as for its class."""

import inspect

import numpy as np
import pytest

import tanbark as tb
from strategies import make_table
from tanbark.estimators.catalogue import catalogue, known_classifiers
from tanbark.structure.registry import FOLDS, PROVIDED

CLASSES = {
    name: known_classifiers()[entry.estimator]
    for name, entry in catalogue().items()
    if name in tb.LEARNERS and entry.estimator != "BayesNetClassifier"
}


def test_every_learner_but_one_has_a_class():
    assert set(tb.LEARNERS) - set(CLASSES) == {"selective-mml"}  # that is SelectiveNaiveBayes(criterion="mml")


@pytest.mark.parametrize("name", CLASSES)
def test_a_class_has_the_defaults_of_its_learner(name):
    learner, options = tb.LEARNERS[name], inspect.signature(CLASSES[name]).parameters
    assert {option: options[option].default for option in learner.defaults} == learner.defaults


@pytest.mark.parametrize("name", CLASSES)
def test_a_class_has_no_option_that_its_learner_does_not_know(name):
    shared = set(inspect.signature(tb.NaiveBayes).parameters)
    own = set(inspect.signature(CLASSES[name]).parameters) - shared
    assert own - {"criterion" if name == "selective" else ""} == set(tb.LEARNERS[name].defaults)


@pytest.mark.parametrize("gaps", [0.0, 0.1])
@pytest.mark.parametrize("name", CLASSES)
def test_a_learner_by_name_learns_what_its_class_learns(name, gaps):
    codes = make_table(np.random.default_rng(3), (3, 2, 3, 2, 4, 3), 250, gaps=gaps).codes.astype(float)
    codes[codes == 255] = np.nan
    X, y = codes[:-1].T, codes[-1].astype(int)
    seed = {"random_state": 0} if "random_state" in tb.LEARNERS[name].defaults else {}
    arcs = {"arcs": [("x0", "x1"), ("class", "x0")]} if name == "fixed" else {}
    ours = CLASSES[name](**seed, **arcs).fit(X, y)
    theirs = tb.BayesNetClassifier(name, options={**seed, **arcs}).fit(X, y)
    assert ours.dag_ == theirs.dag_
    assert ours.smoothing_ == theirs.smoothing_
    assert np.array_equal(ours.predict_proba(X), theirs.predict_proba(X))


@pytest.mark.parametrize("name", tb.LEARNERS)
def test_every_option_of_a_learner_has_a_default(name):
    learner = tb.LEARNERS[name]
    assert inspect.Parameter.empty not in learner.defaults.values()
    assert not set(PROVIDED) & set(learner.defaults)
    assert learner.wrapper == (set(FOLDS) <= set(learner.defaults))
