"""A network as an ONNX graph, checked by onnx itself and run by onnxruntime, against Python."""

import numpy as np
import pandas as pd
import pytest

import tanbark as tb
from exported_models import MODELS, learnt, posteriors, rows

onnx = pytest.importorskip("onnx", reason="onnx makes and checks the graphs")
runtime = pytest.importorskip("onnxruntime", reason="onnxruntime runs the graphs")


def run(model, X):
    """Check a model by onnx, and run it on a frame."""
    onnx.checker.check_model(model, full_check=True)
    session = runtime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    given = {}
    for each in session.get_inputs():
        values = X[each.name].astype(object)
        text = each.type == "tensor(string)"
        filled = values.where(values.notna(), "" if text else np.nan)
        given[each.name] = filled.to_numpy(dtype=object if text else np.float64).reshape(-1, 1)
    return session.run(["probabilities", "label"], given)


@pytest.mark.filterwarnings("ignore::tanbark.errors.TanbarkWarning")
@pytest.mark.parametrize("name", [name for name in MODELS if not name.startswith("corrected")])
def test_graphs_give_the_probabilities_of_python(name):
    clf = learnt(name)
    X = pd.concat([rows(2, 40)[0], rows(3, 60, gaps=0.3)[0]], ignore_index=True)
    X.loc[0, "a"] = "never seen"
    found, labels = run(tb.export.to_onnx(clf), X)
    answered = ~np.isnan(found).any(axis=1)
    assert answered[1:40].all(), "a complete row has an answer"
    for line, wanted, label in zip(
        found[answered], np.array(posteriors(clf, X), object)[answered], labels[answered], strict=True
    ):
        assert line == pytest.approx(wanted.astype(float), abs=1e-12)
        assert label == clf.classes_[np.argmax(wanted)]
    if name in {"naive", "weighted"}:
        assert answered.all()
    else:
        assert answered.sum() > 45


def test_missing_values_without_observed_descendants_are_summed_out():
    clf = tb.FixedStructure([("y", "a"), ("y", "b"), ("a", "b"), ("b", "c")]).fit(*rows(1))
    X = rows(2, 8)[0].astype(object)
    X.loc[0, ["b", "c"]] = None
    X.loc[1, "c"] = None
    X.loc[2, "b"] = None
    X.loc[3, "a"] = None
    found, _ = run(tb.export.to_onnx(clf), X)
    assert np.isnan(found).any(axis=1).tolist() == [False, False, True, True, False, False, False, False]
    whole = [0, 1, 4, 5, 6, 7]
    assert found[whole] == pytest.approx(clf.predict_proba(X)[whole], abs=1e-12)


def test_values_that_were_not_seen_have_no_answer_where_they_are_an_error():
    X, y = rows(1)
    model = tb.export.to_onnx(tb.NaiveBayes(handle_unknown="error").fit(X, y))
    new = rows(2, 4)[0]
    new.loc[1, "a"], new.loc[2, "b"] = "never seen", 17.0
    assert np.isnan(run(model, new)[0]).any(axis=1).tolist() == [False, True, True, False]


@pytest.mark.parametrize("labels", [[0, 1], [1.0, 2.0], [False, True], ["no", "ja"]])
def test_labels_of_any_type(labels):
    X = pd.DataFrame({"a": ["u", "v"] * 20, "n": np.arange(40.0)})
    clf = tb.NaiveBayes(suspicious="keep").fit(X, np.array(labels * 20))
    found, label = run(tb.export.to_onnx(clf), X)
    assert label.tolist() == clf.predict(X).tolist()
    assert found == pytest.approx(clf.predict_proba(X), abs=1e-12)


def test_what_a_graph_cannot_hold_is_refused():
    X, y = rows(1)
    for clf in (tb.NetworkEnsemble(2).fit(X, y), learnt("corrected naive")):
        with pytest.raises(tb.errors.OptionError, match="single network"):
            tb.export.to_onnx(clf)
    mixed = pd.DataFrame({"a": ["x", 1, "x", 1]}, dtype=object)
    with pytest.raises(tb.errors.InputError, match="strings and numbers"):
        tb.export.to_onnx(tb.NaiveBayes().fit(mixed, [0, 1, 0, 1]))
    large = pd.DataFrame({"a": [2**53 + 1, 2**53 + 3] * 4})
    with pytest.raises(tb.errors.InputError, match="no doubles"):
        tb.export.to_onnx(tb.NaiveBayes(categorical_features=["a"]).fit(large, [0, 1] * 4))
