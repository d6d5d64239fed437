"""Explanations: parts that add up, and a table that people can read."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tanbark as tb

GENERAL = [("x0", "class"), ("class", "x1"), ("x0", "x2"), ("x1", "x2"), ("x2", "x3"), ("class", "x3")]
MODELS = {
    "naive": tb.NaiveBayes(),
    "tan": tb.TAN(parameters=0.5),
    "general": tb.FixedStructure(GENERAL),
    "class without children": tb.FixedStructure([("x0", "class"), ("x1", "class")]),
}


def make_rows(seed, n_classes, rows=40, gaps=0.2):
    rng = np.random.default_rng(seed)
    y = np.concatenate([np.arange(n_classes), rng.integers(0, n_classes, rows - n_classes)])
    X = (rng.integers(0, 3, (rows, 4)) + y[:, None] * (rng.random((rows, 4)) < 0.5)).astype(float)
    X[rng.random(X.shape) < gaps] = np.nan
    return X, y


def log_odds(probabilities, chosen):
    return math.log(probabilities[chosen] / np.delete(probabilities, chosen).sum())


@given(st.integers(0, 10_000), st.integers(2, 4), st.sampled_from(list(MODELS)), st.sampled_from([0.0, 0.3, 1.0]))
@settings(max_examples=60)
def test_the_parts_add_up_to_the_posterior(seed, n_classes, name, gaps):
    X, y = make_rows(seed, n_classes)
    model = MODELS[name].fit(X, y)
    rows = np.where(np.random.default_rng(seed + 1).random((5, 4)) < gaps, np.nan, X[:5])
    proba, predicted = model.predict_proba(rows), model.predict(rows)
    for row, told in enumerate(model.explain(rows)):
        chosen = model.classes_.tolist().index(predicted[row])
        assert told.row == row
        assert told.label == predicted[row]
        assert told.log_odds == pytest.approx(log_odds(proba[row], chosen), abs=1e-9)
        assert sum(part.nats for part in told.parts) == pytest.approx(told.log_odds, abs=1e-9)
        assert told.probability == pytest.approx(proba[row, chosen])
        assert [part.name for part in told.parts[:1]] == ["prior"]
        named = {part.name for part in told.parts[1:]} | set(told.missing)
        assert named == {"x0", "x1", "x2", "x3"}
        assert len(told.missing) == np.isnan(rows[row]).sum()


@given(st.integers(0, 10_000), st.sampled_from(["naive", "tan"]))
@settings(max_examples=20)
def test_two_classes_and_no_gap_are_differences_of_log_tables(seed, name):
    X, y = make_rows(seed, 2, gaps=0.0)
    model = MODELS[name].fit(X, y)
    codes = {column.name: {v: k for k, v in enumerate(column.levels)} for column in model.schema_.features}
    told = model.explain(X[:1], label=1)[0]
    values = dict(zip(model.schema_.names, X[0], strict=False))
    for part in told.parts[1:]:
        node = model.dag_.index(part.name)
        axes = [model.schema_.names[axis] for axis in model.network_.axes(node)]
        place = tuple(codes[axis][values[axis]] for axis in axes if axis != "class")
        table = model.network_.log_tables[node][place]
        assert part.nats == pytest.approx(table[1] - table[0])
    prior = model.network_.log_tables[model.schema_.target]
    assert told.parts[0].nats == pytest.approx(prior[1] - prior[0])


def test_each_label_can_be_explained():
    X, y = make_rows(3, 3)
    model = tb.TAN().fit(X, np.array(["a", "b", "c"])[y])
    proba = model.predict_proba(X[:4])
    for place, label in enumerate("abc"):
        for row, told in enumerate(model.explain(X[:4], label=label)):
            assert told.label == label
            assert told.log_odds == pytest.approx(log_odds(proba[row], place))
    with pytest.raises(tb.errors.OptionError, match="'z'"):
        model.explain(X, label="z")


def test_nats_and_bits():
    part = tb.NaiveBayes(parameters=1).fit([[0], [0], [1]], [0, 0, 1]).explain([[0]])[0].parts[0]
    assert part.nats == pytest.approx(math.log(3 / 2))
    assert part.bits == pytest.approx(math.log2(3 / 2))


def test_parents_come_before_their_children():
    X, y = make_rows(5, 2, gaps=0.0)
    told = MODELS["general"].fit(X, y).explain(X[:1])[0]
    assert [part.name for part in told.parts] == ["prior", "x0", "x1", "x2", "x3"]
    assert told.parts[3].given == f"x0 = {X[0, 0]:.0f}, x1 = {X[0, 1]:.0f}"


# ---------------------------------------------------------------------- zeros and single classes


def test_a_value_that_rules_a_class_out_is_infinite():
    model = tb.NaiveBayes(parameters=0).fit([["a", 0], ["a", 1], ["b", 0], ["b", 1]], [0, 0, 1, 1])
    told = model.explain([["b", 0]])[0]
    assert [part.nats for part in told.parts] == [0.0, math.inf, 0.0]
    assert (told.label, told.probability, told.log_odds) == (1, 1.0, math.inf)
    against = model.explain([["b", 0]], label=0)[0]
    assert [part.nats for part in against.parts] == [0.0, -math.inf, 0.0]
    assert against.probability == 0.0
    assert "inf" in str(told)
    assert "nan" not in str(told)


def test_an_impossible_row_is_left_to_the_prior():
    X = [["a", 0], ["a", 0], ["b", 1], ["b", 1], ["b", 1]]
    model = tb.NaiveBayes(parameters=0).fit(X, [0, 0, 1, 1, 1])
    told = model.explain([["a", 1]])[0]
    with pytest.warns(tb.errors.ImpossibleEvidenceWarning):
        proba, predicted = model.predict_proba([["a", 1]]), model.predict([["a", 1]])
    assert told.impossible
    assert told.label == predicted[0] == 1
    assert told.probability == pytest.approx(proba[0, 1])
    assert [part.nats for part in told.parts] == [pytest.approx(math.log(3 / 2)), 0.0, 0.0]
    assert "the prior alone decides" in str(told)


@given(st.integers(0, 10_000), st.sampled_from(list(MODELS)))
@settings(max_examples=20)
def test_nothing_is_nan_without_smoothing(seed, name):
    X, y = make_rows(seed, 3, rows=8)
    model = MODELS[name].__class__(**{**MODELS[name].get_params(deep=False), "parameters": 0}).fit(X, y)
    for label in (None, 0, 2):
        for told in model.explain(X[::-1], label=label):
            assert not any(math.isnan(part.nats) for part in told.parts)
            assert sum(part.nats for part in told.parts) == pytest.approx(told.log_odds)


def test_a_single_class_is_certain():
    told = tb.TAN().fit([[0, 1], [1, 1]], ["only", "only"]).explain([[0, 1]])[0]
    assert (told.label, told.probability) == ("only", 1.0)
    assert [part.nats for part in told.parts] == [math.inf, 0.0, 0.0]


def test_the_explained_class_is_the_predicted_one_in_a_tie():
    X = [[a, b, c] for a in (0, 1) for b in (0, 1) for c in (0, 1)] * 2
    model = tb.TAN().fit(X, [0, 1] * 8)
    assert [told.label for told in model.explain(X)] == model.predict(X).tolist()


# ---------------------------------------------------------------------- as text


def test_the_table_in_full():
    X = pd.DataFrame({"colour": ["red", "red", "blue", "blue"], "size": [1, 2, 1, 2]})
    model = tb.FixedStructure([("kind", "colour"), ("colour", "size"), ("kind", "size")], parameters="laplace")
    model.fit(X, pd.Series(["a", "a", "b", "b"], name="kind"))
    assert str(model.explain(pd.DataFrame({"colour": ["red", None], "size": [2, 1]}))) == "\n".join(
        [
            "row 0: P(kind = a) = 0.7500",
            "  evidence  value  given           nats    bits",
            "  ─────────────────────────────────────────────",
            "  prior                          +0.000  +0.000",
            "  colour    red                  +1.099  +1.585",
            "  size      2      colour = red  +0.000  +0.000",
            "  ─────────────────────────────────────────────",
            "  log-odds                       +1.099  +1.585",
            "",
            "row 1: P(kind = a) = 0.5000",
            "  evidence  value  given                  nats    bits",
            "  ────────────────────────────────────────────────────",
            "  prior                                 +0.000  +0.000",
            "  size      1      colour not observed  +0.000  +0.000",
            "  ────────────────────────────────────────────────────",
            "  log-odds                              +0.000  +0.000",
            "  not observed: colour",
        ]
    )


def test_long_names_and_line_breaks_keep_the_table_narrow():
    X = pd.DataFrame({"long " * 50: ["a\nb" * 40, "c"], "line\nbreak": ["", "\t"]})
    text = str(tb.TAN().fit(X, pd.Series(["yes " * 40, "no"], name="n" * 300)).explain(X))
    assert max(map(len, text.splitlines())) < 160
    assert "line break" in text
    assert "…" in text


def test_many_features_are_summed_up():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (50, 100))
    told = tb.NaiveBayes().fit(X, rng.integers(0, 2, 50)).explain(X[:1])[0]
    lines = str(told).splitlines()
    assert len(lines) == 1 + 2 + 1 + 20 + 1 + 2
    assert lines[-3].split()[:2] == ["80", "others"]
    printed = [float(line.split()[-2]) for line in lines[3:-2]]
    assert sum(printed) == pytest.approx(told.log_odds, abs=0.02)
    strengths = np.abs(printed[1:-1])
    assert (np.diff(strengths) <= 1e-9).all()


def test_unseen_and_missing_values_are_listed():
    model = tb.NaiveBayes().fit([["a", 0], ["b", 1]], [0, 1])
    with pytest.warns(tb.errors.UnseenCategoryWarning):
        told = model.explain([["z", None]])[0]
    assert told.missing == ("x0", "x1")
    assert told.probability == pytest.approx(0.5)
    assert str(told).endswith("not observed: x0, x1")
    wide = tb.NaiveBayes().fit(np.eye(30, dtype=int), [0, 1] * 15)
    assert str(wide.explain(np.full((1, 30), np.nan))).endswith("x8, x9 and 20 others")


def test_the_repr_is_the_table_and_bounded():
    X, y = make_rows(0, 2, gaps=0.0)
    told = tb.NaiveBayes().fit(X, y).explain(X)
    assert repr(told[0]) == str(told[0])
    assert repr(told).endswith("… and 35 more rows")
    assert str(told).count("\n\n") == 39
    assert len(told) == 40
    assert [row.row for row in told] == list(range(40))


def test_intervals_are_told_in_words():
    X = np.arange(40.0)[:, None] + 0.5
    told = tb.NaiveBayes(discretize="median").fit(X, np.arange(40) // 20).explain(X[-1:])[0]
    assert told.parts[1].value == "> 20"


# ---------------------------------------------------------------------- as a frame


@pytest.mark.parametrize(
    ("backend", "kind"), [("pandas", pd.DataFrame), ("polars", pl.DataFrame), ("pyarrow", pa.Table)]
)
def test_a_frame_has_a_line_per_row_and_part(backend, kind):
    X, y = make_rows(0, 2, gaps=0.0)
    told = tb.TAN().fit(X, y).explain(X[:3])
    frame = told.to_frame(backend=backend)
    assert isinstance(frame, kind)
    plain = pd.DataFrame(frame.to_pydict() if backend == "pyarrow" else {c: list(frame[c]) for c in frame.columns})
    assert list(plain) == ["row", "class", "evidence", "value", "given", "nats", "bits"]
    assert plain["row"].tolist() == [0] * 5 + [1] * 5 + [2] * 5
    assert plain.groupby("row")["nats"].sum().tolist() == pytest.approx([row.log_odds for row in told])
    assert (plain["bits"] * math.log(2)).tolist() == pytest.approx(plain["nats"].tolist())


def test_an_unfitted_model_explains_nothing():
    with pytest.raises(ValueError, match="not fitted"):
        tb.NaiveBayes().explain([[0]])
