"""Damaged, foreign and hostile model files: each gives a clear error and runs nothing."""

from __future__ import annotations

import copy
import json
import time
import tracemalloc

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import tanbark as tb

GENERAL = [("colour", "kind"), ("size", "kind"), ("kind", "weight"), ("size", "weight"), ("colour", "on")]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.json"


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A small document with every part a file can have."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        {
            "colour": rng.choice(["red", "blue"], 20),
            "size": rng.integers(0, 4, 20),
            "weight": rng.normal(size=20),
            "on": rng.random(20) < 0.5,
        }
    )
    model = tb.FixedStructure(tuple(GENERAL), discretize=tb.UniformDiscretizer(2))
    model.fit(X, pd.Series(["a", "b", "c", "a"] * 5, name="kind"))
    path = tmp_path_factory.mktemp("whole") / "model.json"
    model.save(path)
    document = json.loads(path.read_text(encoding="utf-8"))
    document["structure_score"] = -12.5
    return document


def refuse(path, content, match=None):
    path.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
    with pytest.raises(tb.errors.ModelFileError, match=match) as caught:
        tb.load(path)
    assert isinstance(caught.value, ValueError)
    assert str(path) in str(caught.value)
    assert len(str(caught.value)) < 600


def changed(document, place, value):
    """Copy a document with one node replaced; ``place`` is a path of keys and positions."""
    fresh = copy.deepcopy(document)
    node = fresh
    for step in place[:-1]:
        node = node[step]
    node[place[-1]] = value
    return fresh


def test_a_truncated_file_is_refused(whole, path):
    text = json.dumps(whole).encode()
    for length in range(0, len(text), 50):
        refuse(path, text[:length], "not valid JSON")


@pytest.mark.parametrize(
    "content",
    [
        b"", b"\x00\x01\x80\xff" * 9, b"PK\x03\x04", b"[" * 100_000, b'{"a":' * 100_000, b"null", b"[]", b"3", b'"x"',
        b'{"format": "other", "version": 1}', b"9" * 5_000, b'{"format": "tanbark-model"}', "{}".encode("utf-16"),
    ],
    ids=lambda content: repr(content[:20]),
)  # fmt: skip
def test_a_foreign_file_is_refused(content, path):
    refuse(path, content)


def test_every_part_is_needed(whole, path):
    for key in whole.keys() - {"text", "smoothing", "seen"}:  # a file may do without these
        refuse(path, {name: part for name, part in whole.items() if name != key})
    for key in ("name", "kind", "values", "levels"):
        lacking = copy.deepcopy(whole)
        del lacking["columns"][0][key]
        refuse(path, lacking, f"lacks '{key}'")


@pytest.mark.parametrize(
    ("place", "value", "match"),
    [
        (["version"], 3, "version 3, newer than 2.*update"),
        (["version"], 0, "version"),
        (["version"], True, "version"),
        (["version"], "1", "version"),
        (["estimator"], "os.system", "unknown"),
        (["estimator"], "__import__", "unknown"),
        (["estimator"], {"py/object": "os.system"}, "unknown"),
        (["estimator"], "GaussianNB", "unknown"),
        (["options", "self"], 1, "option 'self' is unknown"),
        (["options", "__class__"], "os", "unknown"),
        (["options", "parameters"], -1, "alpha"),
        (["options", "parameters"], "1", "parameters must be"),
        (["options", "parameters"], 1.7e308, "alpha must be"),
        (["options", "parameters"], {"part": "BDeu", "options": {"ess": "1"}}, "ess must be"),
        (["options", "n_jobs"], "all", "n_jobs"),
        (["options", "parameters"], "none", "parameters"),
        (["options", "class_prior"], [0.5, 0.5, 0.5], "class_prior"),
        (["options", "discretize"], {"part": "os.system", "options": {}}, "part 'os.system' is unknown"),
        (["options", "discretize"], {"part": "MDLPDiscretizer", "options": {"n": 1}}, "option 'n' is unknown"),
        (["options", "discretize"], {"eval": "1"}, "lacks 'part'"),
        (["options", "arcs"], {"pairs": [[[], 1]]}, "damaged"),
        (["columns"], {"0": 1}, "no list"),
        (["columns", 0, "levels"], "red", "no list"),
        (["columns", 0, "levels"], ["red", "red"], "twice"),
        (["columns", 0, "levels"], ["red", ["blue"]], "no plain value"),
        (["columns", 0, "levels"], ["red"], "do not fit"),
        (["columns", 0, "name"], "size", "more than once"),
        (["columns", 0, "kind"], "code", "unknown kind"),
        (["columns", 2, "cuts"], [1.0, 2.0], "do not fit"),
        (["columns", 2, "cuts"], [2.0, 1.0], "do not rise"),
        (["columns", 2, "cuts"], [True], "no finite number"),
        (["columns", 4, "levels"], [], "no labels"),
        (["labels"], "V", "unknown"),
        (["labels"], "int8", "damaged"),
        (["labels"], "bool", "not of the type"),
        (["parents", 0], [4], "cycle"),
        (["parents", 0], [0], "cycle"),
        (["parents", 0], [5], "no column"),
        (["parents", 0], [-1], "no column"),
        (["parents", 0], ["size"], "no column"),
        (["parents"], [], "parents"),
        (["counts", 0], [1], "do not fit"),
        (["counts", 0], [1, -1], "at least 0"),
        (["counts", 0], [1, "2"], "at least 0"),
        (["counts", 0], [1, None], "at least 0"),
        (["counts", 0], [1, True], "at least 0"),
        (["counts", 0], [1, 2**70], "damaged"),
        (["counts", 0], [1.7e308, 1.7e308], "no probabilities"),
        (["counts"], [], "one table"),
        (["structure_score"], "high", "structure score"),
        (["named"], "yes", "names"),
        (["text"], 3, "no text"),
        (["smoothing", "options"], {"alpha": 7.0}, "smoothing"),
        (["seen"], [], "no mapping"),
        (["seen", "rows"], -1, "number of rows"),
        (["seen", "rows"], "20", "number of rows"),
        (["seen", "columns"], {}, "no list"),
        (["seen", "columns", 0], "colour", "no mapping"),
        (["seen", "columns", 0, "name"], "hue", "not those that were seen"),
        (["seen", "columns", 0, "name"], 3, "no names"),
        (["seen", "columns", 0, "values"], "code", "unknown values"),
        (["seen", "columns", 0, "missing"], 0.5, "number of rows"),
        (["seen", "columns", 0, "distinct"], "2", "number of rows"),
        (["seen", "columns", 0, "finding"], "bomb", "unknown"),
        (["seen", "left_out"], [0], "not those that were seen"),
        (["seen", "left_out"], [9], "left out"),
        (["seen", "left_out"], [True], "number of rows"),
        (["seen", "class_rows"], [20], "rows for each class"),
    ],
)  # fmt: skip
def test_a_wrong_part_is_named(place, value, match, whole, path):
    if place[-1] == "class_prior":
        whole = changed(changed(whole, ["parents", 4], []), ["counts", 4], [1, 2, 3])
    refuse(path, changed(whole, place, value), match)


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999", "-1e999"])
def test_numbers_that_are_none_are_refused(number, whole, path):
    for place in (["columns", 2, "cuts", 0], ["counts", 0, 0], ["structure_score"], ["options", "parameters"]):
        refuse(path, json.dumps(changed(whole, place, "HERE")).replace('"HERE"', number).encode(), "no JSON number")


def test_a_deep_option_is_refused(whole, path):
    deep = b"[" * 900 + b"]" * 900
    path.write_bytes(json.dumps(changed(whole, ["options", "arcs"], "HERE")).encode().replace(b'"HERE"', deep))
    assert loads_or_refuses(path)


def test_a_small_file_takes_little_memory(path):
    """Sizes come from lists that are in the file, so they cannot be made up."""
    wide = [{"name": f"x{k}", "kind": "category", "values": "number", "levels": list(range(100))} for k in range(9)]
    label = {"name": "class", "kind": "category", "values": "number", "levels": [0, 1]}
    document = {
        "format": "tanbark-model", "version": 1, "estimator": "FixedStructure", "options": {}, "named": False,
        "columns": [*wide, label], "labels": "int64", "parents": [*([[]] * 9), list(range(9))],
        "structure_score": None, "weights": None, "counts": [*([[1] * 100] * 9), [1, 1]],
    }  # fmt: skip
    tracemalloc.start()
    refuse(path, document, "do not fit")
    assert tracemalloc.get_traced_memory()[1] < 20e6
    tracemalloc.stop()


def loads_or_refuses(path):
    try:
        return tb.load(path)
    except tb.errors.ModelFileError as error:
        return error


def places(node, here=()):
    """List the paths of all nodes of a document."""
    inner = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    return [*([here] if here else []), *(found for key, item in inner for found in places(item, (*here, key)))]


KEYS = st.sampled_from(["pairs", "tuple", "set", "part", "options", "name"])
TELLING = st.sampled_from(["interval", "category", "number", "T", "O", "uint8", "TAN", 0, 1, -1, 1e308, 2**64])
FLOATS = st.floats(allow_nan=False, allow_infinity=False)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | FLOATS | st.text(max_size=9) | TELLING,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=6,
)


@given(st.data())
@settings(max_examples=250, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_mutation_loads_or_is_refused(whole, path, data):
    document = whole
    for _ in range(data.draw(st.integers(1, 2))):
        document = changed(document, data.draw(st.sampled_from(places(document))), data.draw(JSON))
    path.write_text(json.dumps(document), encoding="utf-8")
    before = time.process_time()
    model = loads_or_refuses(path)
    assert time.process_time() - before < 2
    if isinstance(model, tb.errors.TanbarkError):
        return
    X = np.full((1, model.n_features_in_), None, object)
    if hasattr(model, "feature_names_in_"):  # a mutation may take the names away
        X = pd.DataFrame(X, columns=model.schema_.names[:-1])
    assert np.isfinite(model.set_params(handle_unknown="marginalize").predict_proba(X)).all()
