"""From rows to counts: where one pass counts whole numbers, the model is that of coded rows."""

import warnings

import numpy as np
import pytest

import tanbark as tb
from tanbark.estimators import fit
from tanbark.table import CodedTable, small_numbers

RNG = np.random.default_rng(0)
Y = RNG.integers(0, 3, 400)
TABLES = {
    "codes": RNG.integers(0, 4, (400, 5)),
    "bytes": RNG.integers(0, 4, (400, 5)).astype(np.int8),
    "other levels": RNG.choice([1, 3, 7], (400, 4)),
    "a constant": np.stack([np.full(400, 2), Y], axis=1),  # and a leak
    "a row number, and intervals": np.stack([np.arange(400) % 60, RNG.integers(0, 4, 400)], axis=1),
}


def fitted(model, X, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(X, Y, **options)


def document(model, path):
    model.save(path)
    return path.read_bytes()


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("parameters", [None, tb.MANB()], ids=["plain", "manb"])
def test_counting_without_codes_changes_nothing(name, parameters, monkeypatch, tmp_path):
    X, seen = TABLES[name], []
    plain = fitted(tb.NaiveBayes(parameters=parameters), X)
    monkeypatch.setattr(small_numbers, "MIN_COUNTED", 0)
    read = fit.read_training
    monkeypatch.setattr(fit, "read_training", lambda *given, **named: seen.append(read(*given, **named)) or seen[-1])
    counted = fitted(tb.NaiveBayes(parameters=parameters), X)
    assert isinstance(seen[0], CodedTable) == (name == "a row number, and intervals")
    assert document(counted, tmp_path / "counted.json") == document(plain, tmp_path / "plain.json")
    assert counted.counts_.flat.dtype == plain.counts_.flat.dtype
    np.testing.assert_array_equal(counted.counts_.flat, plain.counts_.flat)
    assert str(counted.data_report_) == str(plain.data_report_)
    more = [model.partial_fit(X, Y).predict_proba(X) for model in (counted, plain)]
    np.testing.assert_array_equal(*more)


@pytest.mark.parametrize(
    ("model", "options"),
    [
        (tb.NaiveBayes(temperature="auto"), {}),
        (tb.NaiveBayes(), {"sample_weight": RNG.integers(0, 3, 400)}),
        (tb.NaiveBayes(parameters=tb.EM(unlabelled=2, max_iter=2)), {}),
        (tb.TAN(), {}),
    ],
    ids=["temperature", "weights", "unlabelled", "tan"],
)
def test_what_needs_rows_gets_them(model, options, monkeypatch):
    plain = fitted(model, TABLES["codes"], **options).predict_proba(TABLES["codes"])
    monkeypatch.setattr(small_numbers, "MIN_COUNTED", 0)
    np.testing.assert_array_equal(fitted(model, TABLES["codes"], **options).predict_proba(TABLES["codes"]), plain)
