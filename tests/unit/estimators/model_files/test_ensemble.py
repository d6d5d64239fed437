"""Model files of ensembles: they restore everything, and no damage to them reaches a kernel."""

import base64
import json
import pickle
import zlib

import numpy as np
import pandas as pd
import pytest

import tanbark as tb
from tanbark.errors import ModelFileError, OptionError

KINDS = (tb.NetworkEnsemble, tb.Classifier)


def make_rows(seed=0, n=500):
    """Rows of a rule, so that Classifier learns a correction; two columns are never observed together."""
    rng = np.random.default_rng(seed)
    parts = rng.integers(0, 3, (4, n))
    y = np.where(np.minimum(parts[0], parts[1]) + np.minimum(parts[2], parts[3]) >= 2, "yes", "no")
    X = pd.DataFrame({f"x{k}": np.array(["a", "b", "c"])[part] for k, part in enumerate(parts)})
    X["number"] = np.where(y == "yes", 0.5, 0.0) + rng.normal(size=n)
    X["same"] = 1
    X["odd"], X["even"] = rng.integers(0, 3, (2, n)).astype(float)
    X.loc[::2, "odd"] = np.nan
    X.loc[1::2, "even"] = np.nan
    return X, y


@pytest.fixture(scope="module", params=KINDS, ids=lambda cls: cls.__name__)
def fitted(request):
    X, y = make_rows()
    return request.param(2, 2).fit(X, y), X, y


@pytest.fixture(scope="module")
def document(fitted, tmp_path_factory):
    path = tmp_path_factory.mktemp("models") / "model.json"
    fitted[0].save(path)
    return json.loads(path.read_text(encoding="utf-8"))


def load(document, tmp_path):
    (tmp_path / "model.json").write_text(json.dumps(document), encoding="utf-8")
    return tb.load(tmp_path / "model.json")


def test_a_file_restores_everything(fitted, tmp_path):
    clf, X, _ = fitted
    clf.save(tmp_path / "a.json")
    back = tb.load(tmp_path / "a.json")
    holes = X.mask(np.random.default_rng(1).random(X.shape) < 0.3)
    for rows in (X, holes):
        assert np.array_equal(back.predict_proba(rows), clf.predict_proba(rows))
        assert np.array_equal(back.support(rows), clf.support(rows))
    assert repr(back) == repr(clf)
    assert back.schema_ == clf.schema_
    assert np.array_equal(back.weights_, clf.weights_)
    assert list(back.feature_names_in_) == list(X)
    assert back.explain(X[:2]).to_frame(backend="pandas").equals(clf.explain(X[:2]).to_frame(backend="pandas"))
    back.save(tmp_path / "b.json")
    assert (tmp_path / "a.json").read_bytes() == (tmp_path / "b.json").read_bytes()
    assert np.array_equal(pickle.loads(pickle.dumps(clf)).predict_proba(X), clf.predict_proba(X))
    if isinstance(clf, tb.Classifier):
        assert clf.choice_.rounds > 0
        assert str(back.choice_) == str(clf.choice_)
        assert np.array_equal(back.choice_.held_out, clf.choice_.held_out)
        assert np.array_equal(back.predict_set(X).members, clf.predict_set(X).members)
        assert back.network_.dag == clf.network_.dag
        assert all(map(np.array_equal, back.network_.tables, clf.network_.tables))


def places(node, path=(), items=1):
    """List the paths of everything in a document, of lists those of the first items: the others are like them."""
    yield path
    if isinstance(node, dict) and set(node) != {"type", "shape", "data"}:
        for key, item in node.items():
            yield from places(item, (*path, key), items)
    elif isinstance(node, list):
        for key in range(min(len(node), items)):
            yield from places(node[key], (*path, key), items)


def places_of_arrays(document):
    return [path for path in places(document, items=2) if is_array(get(document, path))]


def get(document, path):
    for key in path:
        document = document[key]
    return document


def put(document, path, value):
    """Return a document with another value at a path; all else is shared."""
    out = document.copy()
    out[path[0]] = put(document[path[0]], path[1:], value) if path[1:] else value
    return out


def drop(document, path):
    """Return a document without what is at a path; all else is shared."""
    if not path[1:]:
        return {key: value for key, value in document.items() if key != path[0]}
    return put(document, path[:1], drop(document[path[0]], path[1:]))


def is_array(node):
    return isinstance(node, dict) and set(node) == {"type", "shape", "data"}


def read_array(node):
    content = zlib.decompress(base64.b64decode(node["data"]))
    return np.frombuffer(content, node["type"]).reshape(node["shape"])


def array(values):
    data = base64.b64encode(zlib.compress(np.ascontiguousarray(values).tobytes())).decode()
    return {"type": values.dtype.name, "shape": list(values.shape), "data": data}


def predicts(document, tmp_path, X):
    """Load a document; where that works, predict, so that a wrong index would show. Return whether it worked."""
    try:
        clf = load(document, tmp_path)
    except ModelFileError:
        return False
    assert np.isfinite(clf.predict_proba(X)).all()
    return True


FREE = {"named", "handle_unknown", "random_state", "verbose", "n_jobs", "time_budget", "class_prior"}  # any plain value


def test_what_is_no_array_is_checked(fitted, document, tmp_path):
    """Of every part that is missing, of another type, or too long, loading raises ModelFileError and nothing else."""
    X = fitted[1][:20]
    for path in places(document):
        if not path or path[0] in ("options", "set_scores", "seen", "text") or path[-1] in FREE:
            continue
        value = get(document, path)
        if isinstance(path[-1], str):
            assert not predicts(drop(document, path), tmp_path, X), path
        for wrong in (None, "word", -1, 10**6, 10**400, [], {}, [[]], True, [None]):
            if (type(wrong) is type(value) and isinstance(value, (str, bool))) or wrong == value:
                continue
            worked = predicts(put(document, path, wrong), tmp_path, X)
            assert not worked or wrong_but_harmless(path, wrong), (path, wrong)
        if isinstance(value, list) and value and path[-1] != "log_losses":
            assert not predicts(put(document, path, [*value, value[-1]]), tmp_path, X), path
            assert not predicts(put(document, path, value[:-1]), tmp_path, X), path


def wrong_but_harmless(path, wrong):
    """Say of a value that it is another, but a good one."""
    numbers = type(wrong) is int and wrong == 10**6
    if path[-1] in ("usual_missing", "temperature", "plain_temperature", "log_loss", "network_log_loss", "fade"):
        return type(wrong) is int and wrong < 10**7 and (wrong > 0 or path[0] == "choice")
    if path[0] == "weights" or "log_losses" in path:
        return numbers or (wrong == -1 and "log_losses" in path)
    return path in (("correction",), ("choice",)) and wrong is None


def test_arrays_are_checked(fitted, document, tmp_path):
    """Of every array of another type, another shape, or with an index out of range, loading raises or predicts."""
    X = fitted[1][:20]
    arrays = places_of_arrays(document)
    assert len(arrays) > 20
    for path in arrays:
        node = get(document, path)
        values = read_array(node)
        other = "int64" if node["type"] == "float64" else "float64"
        if path[0] != "value_counts":
            assert not predicts(put(document, path, array(values.astype(other))), tmp_path, X), path
        for damage in (
            {**node, "type": "object"}, {**node, "type": None}, {**node, "shape": [-1]},
            {**node, "shape": [10**9, 10**9]},
            {**node, "shape": [0, 10**30]}, {**node, "shape": "x"}, {**node, "data": node["data"][:-4]},
            {**node, "data": "?"}, {**node, "data": 7}, {**node, "shape": [*node["shape"], 1]},
            {"type": node["type"]}, array(values.ravel()[:-1]), array(np.append(values.ravel(), values.ravel()[-1:])),
            array(values[None]), array(values.ravel()[0].reshape(())) if values.size else None,
        ):  # fmt: skip
            if damage != node and (values.size or damage is not None):
                assert not predicts(put(document, path, damage), tmp_path, X), (path, damage)


def test_no_index_leads_a_kernel_astray(fitted, document, tmp_path):
    X = fitted[1][:20]
    rng = np.random.default_rng(0)
    arrays = places_of_arrays(document)
    refused = tried = 0
    for path in arrays:
        values = read_array(get(document, path))
        if not values.size:
            continue
        bad = (
            [-1, 0, 1, 99, -(2**31), 2**31 - 1]
            if values.dtype.kind in "iu"
            else [-1.0, 0.5, np.nan, np.inf, -np.inf, 1e300]
        )
        bad += [2**62, -(2**62)] if values.dtype == np.int64 else []
        if values.dtype.kind in "iu":
            bad = [wrong for wrong in bad if np.iinfo(values.dtype).min <= wrong <= np.iinfo(values.dtype).max]
        spots = {0, values.size - 1, *rng.integers(0, values.size, 3).tolist()}
        for spot in spots:
            for wrong in bad:
                changed = values.ravel().copy()
                changed[spot] = wrong
                tried += 1
                refused += not predicts(put(document, path, array(changed.reshape(values.shape))), tmp_path, X)
        if values.ndim == 1 and len(values) > 1:
            predicts(put(document, path, array(values[::-1].copy())), tmp_path, X)
    assert tried > 500
    assert refused > 0.75 * tried  # other values of leaves, thresholds and weights are good ones


def test_trees_that_lead_back_or_out_are_rejected(fitted, document, tmp_path):
    if document["correction"] is None:
        pytest.skip("no correction")
    X = fitted[1][:20]
    for name, change in (("lefts", -10), ("lefts", 10**6), ("features", 50), ("thresholds", 10**6), ("missing", 9)):
        path = ("correction", name)
        values = read_array(get(document, path))
        for spot in np.flatnonzero(read_array(get(document, ("correction", "features"))) >= 0)[:5]:
            changed = values.copy()
            changed[spot] += change
            assert not predicts(put(document, path, array(changed)), tmp_path, X), (name, spot)
    for roots in ([1], [0, 0], [0, 10**6], []):
        wrong = put(document, ("correction", "roots"), array(np.array(roots, np.int64)))
        assert not predicts(wrong, tmp_path, X), roots


def test_trees_are_restored_bit_by_bit_from_counts_and_concentrations(fitted, document, tmp_path):
    """Distributions and totals are not written: they are three quarters of a file, and follow from the rest."""
    back = load(document, tmp_path)
    for ours, theirs, written in zip(fitted[0].model_.members, back.model_.members, document["members"], strict=True):
        for one, other, tree in zip(ours.trees, theirs.trees, written["trees"], strict=True):
            assert set(tree) == {"children", "starts", "states", "levels", "counts", "concentrations"}
            assert all(map(np.array_equal, one, other))


def test_a_context_has_exactly_one_above(document, fitted, tmp_path):
    place = next(k for k, tree in enumerate(document["members"][0]["trees"]) if read_array(tree["levels"])[2] > 2)
    path = ("members", 0, "trees", place, "children")
    values = read_array(get(document, path))
    first, second = np.flatnonzero(values >= 0)[:2]
    twice = values.copy()
    twice[second] = values[first]
    assert not predicts(put(document, path, array(twice)), tmp_path, fitted[1][:5])
    none = values.copy()
    none[first] = -1
    assert not predicts(put(document, path, array(none)), tmp_path, fitted[1][:5])


def test_what_cannot_be_written_is_said(tmp_path):
    X, y = make_rows()

    class Mine(tb.NetworkEnsemble):
        pass

    with pytest.raises(OptionError, match="Mine is no classifier of Tanbark's own; pickle it"):
        Mine(2).fit(X, y).save(tmp_path / "m.json")
    with pytest.raises(OptionError, match="random_state"):
        tb.NetworkEnsemble(2, random_state=np.random.default_rng(0)).fit(X, y).save(tmp_path / "m.json")
    assert not (tmp_path / "m.json").exists()
