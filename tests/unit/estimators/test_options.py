"""Options: one name has one default and one meaning, unless a reason is given."""

import inspect

import numpy as np
import pytest

import tanbark as tb
from tanbark.estimators.option_texts import OPTIONS, REASONS
from tanbark.estimators.options import described

ESTIMATORS = [
    thing for name in tb.__all__ if inspect.isclass(thing := getattr(tb, name)) and hasattr(thing, "get_params")
]
USES = described(ESTIMATORS)


def differ(name):
    return len({repr(use.default) for use in USES[name]}) > 1 or len({use.meaning for use in USES[name]}) > 1


def test_every_option_is_described_once_per_estimator():
    for cls in ESTIMATORS:
        told = [use.estimator for uses in USES.values() for use in uses].count(cls.__name__)
        assert told == len(inspect.signature(cls).parameters), cls.__name__
    assert all(use.meaning for uses in USES.values() for use in uses)


@pytest.mark.parametrize("name", USES)
def test_several_defaults_or_meanings_have_a_reason(name):
    assert differ(name) <= (name in REASONS), (
        f"{name} has several defaults or meanings; give the reason, or make it one"
    )


@pytest.mark.parametrize("name", REASONS)
def test_no_reason_is_given_in_vain(name):
    assert differ(name)


def test_the_table_has_no_option_that_nobody_has():
    assert set(OPTIONS) <= set(USES)


@pytest.mark.parametrize("cls", [cls for cls in ESTIMATORS if "random_state" in inspect.signature(cls).parameters])
def test_every_kind_of_random_state_is_taken(cls):
    X, y = [[0, 0, 1], [0, 1, 0], [1, 0, 1], [1, 1, 0]] * 9, [0, 0, 1, 1] * 9
    for state in (None, 1, np.random.default_rng(1), np.random.RandomState(1)):
        made = cls(random_state=state)
        (made if hasattr(made, "fit") else tb.NaiveBayes(parameters=made)).fit(X, y)


def test_old_names_are_gone():
    assert not {"score", "m_", "unseen", "epsilon", "shake", "over", "pseudo", "smooth", "prior"} & set(USES)
    assert {use.estimator for use in USES["k"]} == {"KBestANB", "KBestGBN"}  # the number of graphs, not of parents
    assert {use.estimator for use in USES["alpha"]} & {"TAN", "NaiveBayes", "GBN"} == set()
    assert [use.estimator for use in USES["m"]] == ["MEstimate"]
