"""The names that users see."""

from __future__ import annotations

import importlib.metadata
import inspect
import subprocess
import sys

import pytest

import tanbark as tb

CLASSES = [name for name in tb.__all__ if inspect.isclass(getattr(tb, name))]
ESTIMATORS = [name for name in CLASSES if hasattr(getattr(tb, name), "get_params")]


def test_all_is_what_there_is():
    public = {
        name
        for name in dir(tb.public)
        if not name.startswith("_") and name not in ("PLACES", "TYPE_CHECKING", "lazy_names")
    }
    assert public == set(tb.__all__) <= set(dir(tb))
    assert len(set(tb.__all__)) == len(tb.__all__)
    for name in tb.__all__:
        assert getattr(tb, name) is getattr(tb.public, name)


def test_parts_are_loaded_when_asked_for():
    assert tb.graph.Dag is tb.Dag
    with pytest.raises(AttributeError, match="module 'tanbark' has no attribute 'TAM'"):
        _ = tb.TAM
    with pytest.raises(ImportError, match="TAM"):
        from tanbark import TAM  # noqa: F401


def test_the_version_is_the_installed_one():
    assert tb.__version__ == importlib.metadata.version("tanbark")


def test_importing_is_light():
    """Scikit-learn itself imports pandas in some versions, so what it brings is left out."""
    heavy = {"numba", "pandas", "polars", "pyarrow", "matplotlib"}
    code = f"""if True:
        import sys, sklearn.naive_bayes
        before = set(sys.modules)
        import tanbark
        tanbark.TAN
        print(sorted({heavy} & (set(sys.modules) - before)))"""
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120)
    assert told.stdout.strip() == "[]"
    assert not told.stderr


def test_the_package_alone_loads_nothing():
    code = "import sys, tanbark; print(sorted({'numpy', 'sklearn', 'scipy', 'narwhals'} & set(sys.modules)))"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120)
    assert told.stdout.strip() == "[]"


@pytest.mark.parametrize("name", CLASSES)
def test_every_class_is_documented(name):
    text = inspect.getdoc(getattr(tb, name))
    assert text
    assert "{common}" not in text


@pytest.mark.parametrize("name", ESTIMATORS)
def test_every_option_is_documented(name):
    cls = getattr(tb, name)
    options = [option for option in inspect.signature(cls).parameters if option != "self"]
    text = inspect.getdoc(cls)
    assert "Parameters\n----------" in text or not options
    for option in options:
        assert f"\n{option} : " in text, f"{option} is not told in the docstring of {name}"


@pytest.mark.parametrize("name", ESTIMATORS)
def test_every_public_method_is_documented(name):
    for method, thing in inspect.getmembers(getattr(tb, name), inspect.isfunction):
        if not method.startswith("_"):
            assert inspect.getdoc(thing), f"{name}.{method}"


def test_errors_and_warnings_have_one_root():
    raised = [cls for cls in vars(tb.errors).values() if inspect.isclass(cls) and issubclass(cls, Exception)]
    assert len(raised) > 10
    for cls in raised:
        assert issubclass(cls, tb.errors.TanbarkWarning if issubclass(cls, Warning) else tb.errors.TanbarkError)
        assert not hasattr(tb.public, cls.__name__)


def test_few_names_are_at_the_top():
    # 50, what predicts best (Classifier, NetworkEnsemble, Discriminative), five learners of the registry (SelectiveKDB,
    # PC and MMHC), five tests of independence, the prior counts of an expert, the K best graphs, data temperature
    assert len(tb.__all__) <= 67
    kinds = {name: getattr(tb, name) for name in tb.__all__}
    values = {name for name, thing in kinds.items() if inspect.isclass(thing) and not hasattr(thing, "get_params")}
    assert values == {"Dag", "Network"}


def test_the_learners_are_told_of():
    for name, learner in tb.LEARNERS.items():
        assert name == name.lower()
        assert learner.title
        assert learner.reference
        assert inspect.getdoc(learner.learn)
