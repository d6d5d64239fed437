"""Networks of model files, read without their classifiers."""

import json
import subprocess
import sys

import numpy as np
import pytest

import tanbark as tb
from tanbark.params.network_file import read_saved_network


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(3)
    y = rng.integers(0, 2, 80)
    return np.column_stack([(y + rng.integers(0, 2, 80)) % 3, rng.integers(0, 3, 80), rng.normal(y)]), y


MODELS = [
    tb.NaiveBayes(), tb.TAN(parameters="laplace"), tb.TAN(), tb.KDB(parameters=0.0), tb.GBN(parameters="bdeu"),
    tb.TAN(temperature=0.5, missing="category"), tb.ChowLiuTree(parameters=tb.MEstimate(3.0)), tb.Classifier(2),
    tb.BayesNetClassifier("tan", options={"criterion": "aic"}),
]  # fmt: skip
LEFT = [
    tb.NaiveBayes(parameters=tb.WANBIA()), tb.NaiveBayes(class_prior=[0.3, 0.7]), tb.AODE(), tb.TAN(missing="em"),
    tb.KBestANB(2), tb.NetworkEnsemble(2), tb.ModelAveraging(tb.TAN(), 2, random_state=0),
]  # fmt: skip


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_the_network_is_the_classifiers_own(model, rows, tmp_path):
    model.fit(*rows).save(tmp_path / "model.json")
    saved = read_saved_network(tmp_path / "model.json")
    assert (saved.estimator, saved.text) == (type(model).__name__, " ".join(repr(model).split()))
    assert saved.network.schema == model.network_.schema
    assert saved.network.dag == model.network_.dag
    for ours, its in zip(saved.network.tables, model.network_.tables, strict=True):
        assert np.array_equal(ours, its)


@pytest.mark.parametrize("model", LEFT, ids=repr)
def test_other_models_are_left_to_their_classifiers(model, rows, tmp_path):
    model.fit(*rows).save(tmp_path / "model.json")
    assert read_saved_network(tmp_path / "model.json") is None


@pytest.mark.parametrize(
    "wrong", [{"counts": []}, {"version": 1}, {"format": "other"}, {"smoothing": {"part": "os"}}, {"parents": [[9]]}]
)
def test_what_is_wrong_is_left_to_the_classifier(wrong, rows, tmp_path):
    tb.TAN(parameters="laplace").fit(*rows).save(tmp_path / "model.json")
    document = json.loads((tmp_path / "model.json").read_text())
    (tmp_path / "model.json").write_text(json.dumps(document | wrong))
    assert read_saved_network(tmp_path / "model.json") is None


def test_neither_scikit_learn_nor_scipy_is_needed(rows, tmp_path):
    tb.TAN(parameters="laplace").fit(*rows).save(tmp_path / "model.json")
    code = f"""if True:
        import sys
        from tanbark.cli.models import load_network
        load_network({str(tmp_path / "model.json")!r})
        import tanbark.export
        print(sorted({{"sklearn", "scipy", "pandas", "numba"}} & set(sys.modules)))"""
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120)
    assert ran.stdout.strip() == "[]"
