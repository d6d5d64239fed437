"""The door to scikit-learn, and what stands in for it."""

import subprocess
import sys

import pytest
import sklearn.base
from sklearn.exceptions import NotFittedError

import tanbark as tb
from tanbark.estimators import scikit, stand_ins


class Part(stand_ins.BaseEstimator):
    def __init__(self, size=1, *, names=None):
        self.size, self.names = size, names


class Twin(sklearn.base.BaseEstimator):
    def __init__(self, size=1, *, names=None):
        self.size, self.names = size, names


@pytest.mark.parametrize("deep", [False, True])
def test_the_stand_in_lists_the_same_options(deep):
    assert Part(tb.Laplace(2.0), names=["a"]).get_params(deep) == Twin(tb.Laplace(2.0), names=["a"]).get_params(deep)


def test_the_stand_in_is_cloned_with_its_parts():
    part = Part(Part(3), names=["a"]).set_params(names=["b"])
    part.fitted_ = True
    copy = stand_ins.clone(part)
    assert (copy.size.size, copy.names) == (3, ["b"])
    assert copy.size is not part.size
    assert copy.names is not part.names
    assert not hasattr(copy, "fitted_")


def test_estimators_are_scikit_learns_where_it_may_be_used():
    assert isinstance(tb.TAN(), sklearn.base.BaseEstimator)
    assert isinstance(tb.TAN(), sklearn.base.ClassifierMixin)
    assert scikit.BaseEstimator is sklearn.base.BaseEstimator


def test_what_is_not_fitted_raises_scikit_learns_error():
    with pytest.raises(NotFittedError, match="This TAN instance is not fitted yet"):
        tb.TAN().predict([[1]])
    with pytest.raises(NotFittedError, match="This MDLPDiscretizer instance is not fitted yet"):
        tb.MDLPDiscretizer().transform([[1.0]])


def test_a_method_is_available_only_where_its_condition_holds():
    class Some:
        def __init__(self, able):
            self.able = able

        @scikit.available_if(lambda self: self.able)
        def act(self):
            """Act."""
            return 1

    assert Some(True).act() == 1
    assert not hasattr(Some(False), "act")
    assert Some.act.__doc__ == "Act."


def test_scipy_stats_is_there_for_whoever_needs_it():
    code = """if True:
        import sys, tanbark as tb
        tb.TAN
        print("scipy.stats" in sys.modules)
        from sklearn.utils.fixes import _mode
        print(int(_mode([1, 1, 2]).mode[0]))
        import scipy.stats, scipy.stats.distributions as kept
        print(sys.modules["scipy.stats.distributions"] is kept, scipy.stats.rankdata([3, 1]).tolist())"""
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120)
    assert ran.stdout.split("\n")[1:3] == ["1", "True [2.0, 1.0]"]
