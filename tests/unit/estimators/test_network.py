"""Looking inside a fitted model: graph, tables, totals."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tanbark as tb


def make_rows(seed=0, rows=60, n_classes=2):
    rng = np.random.default_rng(seed)
    y = np.concatenate([np.arange(n_classes), rng.integers(0, n_classes, rows - n_classes)])
    X = rng.integers(0, 3, (rows, 4)) + (rng.random((rows, 4)) < 0.4) * y[:, None]
    X[:, 1] = np.where(rng.random(rows) < 0.7, X[:, 0], X[:, 1])
    return X, y


@pytest.fixture(scope="module")
def tan():
    X, y = make_rows()
    frame = pd.DataFrame(X, columns=["a", "b", "c", "d"])
    frame["c"] = np.array(["low", "middle", "high", "top"])[X[:, 2]]
    return tb.TAN().fit(frame, pd.Series(np.where(y, "yes", "no"), name="answer"))


# ---------------------------------------------------------------------- the graph


def test_families_arcs_and_graph_agree(tan):
    families = tan.network_.families()
    assert list(families) == ["a", "b", "c", "d", "answer"]
    assert families["answer"] == []
    assert tan.dag_.arcs() == [(parent, child) for child, parents in families.items() for parent in parents]
    assert tan.dag_ is tan.network_.dag
    assert tan.dag_.n_arcs == 4 + 3


def test_parameters_are_counted(tan):
    sizes = dict(zip(tan.schema_.names, tan.schema_.cardinalities, strict=True))
    expected = sum(
        (sizes[child] - 1) * math.prod(sizes[parent] for parent in parents)
        for child, parents in tan.network_.families().items()
    )
    assert tan.n_parameters_ == tan.network_.n_parameters == expected


def test_the_markov_blanket_of_the_class_is_what_matters():
    X, y = make_rows()
    model = tb.FixedStructure([("x0", "class"), ("class", "x1"), ("x2", "x1"), ("x3", "x2")]).fit(X, y)
    assert model.network_.markov_blanket() == ["x0", "x1", "x2"]
    assert model.network_.markov_blanket("x3") == ["x2"]
    without = X.astype(float)
    without[:, 3] = np.nan
    assert model.predict_proba(X) == pytest.approx(model.predict_proba(without))
    with pytest.raises(tb.errors.InputError, match="Did you mean 'class'"):
        model.network_.markov_blanket("clas")


def test_reprs(tan):
    assert repr(tan.dag_) == "Dag(5 nodes, 7 arcs)"
    assert repr(tan.network_) == f"Network(5 columns, 7 arcs, class 'answer', {tan.n_parameters_} free parameters)"
    assert str(tan.network_) == tan.network_.text()
    assert str(tan.network_).startswith("answer ─▶ every feature\n")


# ---------------------------------------------------------------------- the tables


def test_tables_are_distributions(tan):
    for node, name in enumerate(tan.schema_.names):
        table = tan.network_.table(name)
        assert table.sum(axis=tan.network_.axes(node).index(node)) == pytest.approx(1.0)
        table[:] = 0
        assert tan.network_.table(node).any(), "a copy is given"


@pytest.mark.parametrize(
    ("backend", "kind"), [("pandas", pd.DataFrame), ("polars", pl.DataFrame), ("pyarrow", pa.Table)]
)
def test_a_table_as_a_frame_is_labelled(tan, backend, kind):
    frame = tan.network_.table_frame("c", backend=backend)
    assert isinstance(frame, kind)
    columns = frame.to_pydict() if backend == "pyarrow" else {name: list(frame[name]) for name in frame.columns}
    parents = [name for name in tan.network_.families()["c"] if name != "answer"]
    states = [f"c={level}" for level in tan.schema_.columns[2].levels]
    assert list(columns) == [*parents, "answer", *states]
    assert np.sum([columns[state] for state in states], axis=0) == pytest.approx(1.0)
    assert set(columns["answer"]) == {"no", "yes"}


def test_a_line_of_the_frame_is_the_smoothed_share():
    X = pd.DataFrame({"colour": ["red", "red", "blue", "red"], "size": [1, 2, 2, 2]})
    model = tb.NaiveBayes(parameters=1).fit(X, pd.Series([True, True, True, False], name="sold"))
    frame = model.network_.table_frame("size", backend="pandas")
    assert frame["sold"].tolist() == [False, True]
    assert frame["size=2"].tolist() == pytest.approx([2 / 3, 3 / 5])
    prior = model.network_.table_frame("sold", backend="pandas")
    assert prior.shape == (1, 2)
    assert prior.iloc[0].tolist() == pytest.approx([2 / 6, 4 / 6])


def test_the_frame_of_a_class_with_parents_and_of_intervals():
    X = pd.DataFrame({"w": np.arange(40) + 0.5, "s": [0, 1] * 20})
    model = tb.FixedStructure([("w", "class"), ("s", "class")], discretize="median").fit(X, np.arange(40) // 20)
    frame = model.network_.table_frame("class", backend="pandas")
    assert list(frame) == ["w", "s", "class=0", "class=1"]
    assert frame["w"].tolist() == ["≤ 20", "≤ 20", "> 20", "> 20"]
    assert frame["s"].tolist() == [0, 1, 0, 1]


# ---------------------------------------------------------------------- totals


@pytest.mark.filterwarnings("ignore::tanbark.errors.NaiveStructureWarning")
@given(st.integers(0, 10_000), st.sampled_from(["loglik", "aic", "bic"]), st.integers(1, 4))
@settings(max_examples=30)
def test_the_structure_score_is_that_of_the_maximum_likelihood_model(seed, score, n_classes):
    X, y = make_rows(seed, n_classes=n_classes)
    model = tb.TAN(criterion=score, parameters=0).fit(X, y)
    totals = {"loglik": model.log_likelihood, "aic": model.aic, "bic": model.bic}
    assert model.structure_score_ == pytest.approx(totals[score](X, y))


@pytest.mark.filterwarnings("ignore::tanbark.errors.NaiveStructureWarning")
def test_no_one_dependence_structure_scores_higher():
    X, y = make_rows(4)
    best = tb.TAN(criterion="bic", parameters=0).fit(X, y)
    for arcs in ([], [("x0", "x1")], [("x2", "x3")], [("x0", "x1"), ("x1", "x2"), ("x2", "x3")]):
        drawn = tb.FixedStructure([*(("class", f"x{k}") for k in range(4)), *arcs], parameters=0).fit(X, y)
        assert drawn.bic(X, y) <= best.structure_score_ + 1e-9


def test_only_a_learner_that_maximises_has_a_score():
    X, y = make_rows()
    assert not hasattr(tb.NaiveBayes().fit(X, y), "structure_score_")
    assert not hasattr(tb.FixedStructure([("class", "x0")]).fit(X, y), "structure_score_")
    model = tb.BayesNetClassifier("tan").fit(X, y)
    assert hasattr(model, "structure_score_")
    assert not hasattr(model.set_params(learner="naive").fit(X, y), "structure_score_")


@pytest.mark.parametrize("model", [tb.NaiveBayes(), tb.TAN(), tb.FixedStructure([("x0", "class"), ("class", "x1")])])
def test_totals_are_sums_over_rows(model):
    X, y = make_rows(1, n_classes=3)
    X = np.where(np.random.default_rng(0).random(X.shape) < 0.2, np.nan, X)
    model.fit(X, y)
    joint, log_proba = model.predict_joint_log_proba(X), model.predict_log_proba(X)
    rows = np.arange(len(y))
    assert model.log_likelihood(X, y) == pytest.approx(joint[rows, y].sum())
    assert model.conditional_log_likelihood(X, y) == pytest.approx(log_proba[rows, y].sum())
    assert model.aic(X, y) == pytest.approx(model.log_likelihood(X, y) - model.n_parameters_)
    assert model.bic(X, y) == pytest.approx(model.log_likelihood(X, y) - model.n_parameters_ * np.log(len(y)) / 2)


def test_weights_count_as_repeats_in_totals():
    X, y = make_rows(2)
    model = tb.TAN().fit(X, y)
    weights = np.arange(len(y)) % 3
    again = np.repeat(np.arange(len(y)), weights)
    for total in (model.log_likelihood, model.conditional_log_likelihood, model.aic, model.bic):
        assert total(X, y, sample_weight=weights) == pytest.approx(total(X[again], y[again]))


def test_the_joint_gives_the_posterior():
    X, y = make_rows(3, n_classes=3)
    model = tb.TAN().fit(X, y)
    joint = model.predict_joint_log_proba(X)
    norm = np.logaddexp.reduce(joint, axis=1)
    assert model.predict_log_proba(X) == pytest.approx(joint - norm[:, None])
    assert model.predict_proba(X) == pytest.approx(np.exp(joint - norm[:, None]))
    every = list(product(*(column.levels for column in model.schema_.features)))
    assert np.exp(model.predict_joint_log_proba(every)).sum() == pytest.approx(1.0)


def test_totals_want_known_labels_of_the_same_number():
    X, y = make_rows()
    model = tb.NaiveBayes().fit(X, y)
    with pytest.raises(tb.errors.InputError, match="none of the classes"):
        model.log_likelihood(X, y + 5)
    with pytest.raises(tb.errors.InputError, match="60 rows and y has 10 labels"):
        model.aic(X, y[:10])


@pytest.mark.parametrize(
    "error",
    [
        tb.errors.InputError,
        tb.errors.OptionError,
        tb.errors.ModelFileError,
        tb.errors.MissingPackageError,
        tb.errors.TableTooLargeError,
    ],
)
def test_errors_are_ours(error):
    assert issubclass(error, tb.errors.TanbarkError)
    assert issubclass(error, ImportError if error is tb.errors.MissingPackageError else ValueError)
