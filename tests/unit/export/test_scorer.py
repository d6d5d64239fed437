"""A model as a Python module, in a bare interpreter, against Python."""

import csv
import io
import json
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

import tanbark as tb
from exported_models import MODELS, POOLED, learn_rule, learnt, posteriors, rows


@pytest.mark.filterwarnings("ignore::tanbark.errors.TanbarkWarning")
@pytest.mark.parametrize("name", [*MODELS, *POOLED])
def test_the_module_gives_the_probabilities_of_python(name, tmp_path):
    clf = learnt(name)
    X = pd.concat([rows(2, 10)[0], rows(3, 30, gaps=0.4)[0]], ignore_index=True)
    X.loc[0, "a"] = "never seen"
    (tmp_path / "scorer.py").write_text(tb.export.to_python(clf), encoding="utf-8")
    code = """if True:
        import json, sys, scorer
        assert not [name for name in sys.modules if name.startswith(("numpy", "tanbark"))]
        for line in sys.stdin:
            row = json.loads(line)
            try:
                print(json.dumps([list(scorer.predict_proba(row).values()), scorer.predict(row)]))
            except ValueError as error:
                print(json.dumps([None, str(error)]))"""
    ran = subprocess.run(
        [sys.executable, "-I", "-S", "-c", f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n{code}"],
        input="\n".join(json.dumps(row) for row in X.to_dict("records")), capture_output=True, text=True, check=True,
        timeout=120,
    )  # fmt: skip
    for line, wanted in zip(ran.stdout.splitlines(), posteriors(clf, X), strict=True):
        found, label = json.loads(line)
        if wanted is None:
            assert found is None
        else:
            assert found == pytest.approx(wanted.tolist(), abs=1e-12)
            assert label == clf.classes_[np.argmax(wanted)]


def test_a_correction_fades_with_missing_values_in_the_module_too():
    clf, X = learn_rule()
    rng = np.random.default_rng(0)
    assert clf.choice_.rounds > 0
    assert clf.choice_.fade < 1
    module = {"__name__": "scorer"}
    exec(tb.export.to_python(clf), module)
    for rate in (0.0, 0.3, 0.8):
        holes = X[:80].mask(rng.random((80, 6)) < rate, None)
        found = [list(module["predict_proba"](row).values()) for row in holes.to_dict("records")]
        assert np.array(found) == pytest.approx(clf.predict_proba(holes), abs=1e-12)


def test_sums_that_are_too_large_are_said():
    rng = np.random.default_rng(0)
    hidden = rng.integers(0, 60, 4000)
    X = pd.DataFrame({f"x{k}": ((hidden + (rng.random(4000) < 0.2)) % 60).astype(str) for k in range(5)})
    clf = tb.NetworkEnsemble(1, 4).fit(X, hidden % 7)
    module = {"__name__": "scorer"}
    exec(tb.export.to_python(clf), module)
    row = X.iloc[0].to_dict()
    assert list(module["predict_proba"](row).values()) == pytest.approx(clf.predict_proba(X[:1])[0].tolist())
    last = f"x{clf.model_.members[0].order[-1]}"
    with pytest.raises(ValueError, match="Too many values are missing"):
        module["predict"]({last: row[last]})


@pytest.mark.parametrize("name", ["tan", "classifier"])
def test_the_module_is_a_program(name, tmp_path):
    clf = learnt(name)
    X = rows(4, 5, gaps=0.2)[0]
    (tmp_path / "scorer.py").write_text(tb.export.to_python(clf), encoding="utf-8")
    ran = subprocess.run(
        [sys.executable, "-I", str(tmp_path / "scorer.py")], input=X.to_csv(index=False), capture_output=True,
        text=True, check=True, timeout=120,
    )  # fmt: skip
    lines = list(csv.DictReader(io.StringIO(ran.stdout)))
    assert [line["y"] for line in lines] == clf.predict(X).tolist()
    assert [float(line["P(y=no)"]) for line in lines] == pytest.approx(clf.predict_proba(X)[:, 1].tolist())


def test_a_module_needs_a_class():
    with pytest.raises(tb.errors.OptionError, match="a network with a class"):
        tb.export.to_python(tb.Network.from_tables({"A": [0, 1]}, {"A": [0.5, 0.5]}))


def test_labels_of_other_types_are_written_as_pythons_own_and_their_methods_are_not_run():
    class Label(str):
        def __repr__(self):
            raise AssertionError("this must not be run")

    X = np.array([["a", "b"], ["b", "a"]] * 20, object)
    X = np.array([[np.str_(value) for value in row] for row in X], object)
    y = np.array([Label("no"), Label("yes")] * 20, object)
    module = {"__name__": "scorer"}
    exec(tb.export.to_python(tb.NaiveBayes().fit(X, y)), module)
    assert module["predict"]({"x0": "a", "x1": "b"}) == "no"
    assert type(module["LABELS"][0]) is str
