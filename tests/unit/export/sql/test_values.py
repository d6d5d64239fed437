"""Columns stored as text, and names that the statement itself uses."""

import math

import duckdb
import numpy as np
import pandas as pd
import pytest

import tanbark as tb
from databases import ASK, ASK_TEXT, ENGINES, ask_frame
from exported_models import learnt, rows
from tanbark.export.sql.text import number_or_null

TEXTS = [
    "5", "-5", "+5", "5.", ".5", "-.5", "1.25", "0012.50", "1e5", "1E+05", "-1.5e-3", ".5e2", "5.e1", " 7 ",
    "123456789012345678", "", " ", ".", "-", "+.", "e5", "5e", "5e+", "--5", "+-5", "5-", "1-2", "1.2.3", "1e5.2",
    "1e5e5", "1e--5", "abc", "12a", "a12", "0x10", "1_000", "1,5", "inf", "-Infinity", "nan", "NaN", "5 5", "1e+",
    "-e5", ".e5", "true",
]  # fmt: skip


def is_number(text):
    try:
        return math.isfinite(float(text)) and "_" not in text
    except ValueError:
        return False


@pytest.mark.parametrize("engine", ENGINES)
def test_text_is_read_as_python_reads_it_and_never_raises(engine):
    sql = f"SELECT x, {number_or_null('x', 'TRIM(x)')} AS n FROM t"
    found = ask_frame(engine, sql, pd.DataFrame({"x": [*TEXTS, None]}, dtype=object), table="t")
    for text, value in found:
        assert value == (float(text) if text is not None and is_number(text) else None), text


@pytest.mark.parametrize("kind", ["SMALLINT", "BIGINT", "DOUBLE", "FLOAT", "DECIMAL(8, 3)"])
def test_numbers_of_any_type_stay_as_they_are(kind):
    connection = duckdb.connect()
    connection.execute(f"CREATE TABLE t (x {kind})")
    connection.execute("INSERT INTO t VALUES (1), (-2), (300), (0), (NULL)")
    if kind == "DOUBLE":
        connection.execute("INSERT INTO t VALUES (1e-7), (-1e300), (0.1), ('nan'), ('inf')")
    found = connection.execute(
        f"SELECT CAST(x AS DOUBLE), {number_or_null('x', 'TRIM(CAST(x AS VARCHAR))')} FROM t"
    ).fetchall()
    for number, value in found:
        assert value == (number if number is not None and math.isfinite(number) else None)


@pytest.mark.filterwarnings("ignore::tanbark.errors.TanbarkWarning")
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("name", ["tan", "kdb", "gap states", "corrected tan", "classifier"])
def test_columns_of_text_score_as_columns_with_types(name, engine):
    typed, text = ASK[engine], ASK_TEXT[engine]
    clf = learnt(name)
    X = pd.concat([rows(2, 30)[0], rows(3, 30, gaps=0.3)[0]], ignore_index=True)
    sql = tb.export.to_sql(clf, keep=["id"])
    for line, same in zip(typed(sql, X)[1], text(sql, X)[1], strict=True):
        assert str(line[0]) == same[0]
        assert line[1:] == same[1:]


@pytest.mark.parametrize("engine", ENGINES)
def test_text_that_is_no_number_is_missing_or_an_error(engine):
    X = pd.DataFrame({"n": [float(k) for k in range(40)]})
    y = [k > 19 for k in range(40)]
    new = pd.DataFrame({"n": ["30", "3", "many", "", "1e1"]})
    numbers = pd.DataFrame({"n": [30, 3, None, None, 10.0]})
    clf = tb.NaiveBayes(discretize="median", suspicious="keep").fit(X, y)
    found = np.array([line[:2] for line in ask_frame(engine, tb.export.to_sql(clf), new)], float)
    assert found == pytest.approx(clf.predict_proba(numbers))
    clf = tb.NaiveBayes(discretize="median", handle_unknown="error", suspicious="keep").fit(X, y)
    found = np.array([line[:2] for line in ask_frame(engine, tb.export.to_sql(clf), new)], float)
    assert np.isnan(found).all(axis=1).tolist() == [False, False, True, False, False]


@pytest.mark.parametrize("engine", ENGINES)
def test_a_missing_state_is_for_missing_values_only(engine):
    X = pd.DataFrame({"n": [1.0, 2.0, None, None] * 10, "t": ["u", None, "v", None] * 10})
    clf = tb.NaiveBayes(discretize="median", missing="category").fit(X, [0, 1, 1, 1] * 10)
    new = pd.DataFrame({"n": ["1", "", "many", None], "t": ["u", "", "w", None]})
    found = np.array([line[:2] for line in ask_frame(engine, tb.export.to_sql(clf), new)], float)
    states = pd.DataFrame({"n": [1.0, None, None], "t": ["u", None, None]})
    assert found[[0, 1, 3]] == pytest.approx(clf.predict_proba(states))
    assert found[2] == pytest.approx([0.25, 0.75], abs=0.02)


@pytest.mark.parametrize("engine", ENGINES)
def test_truth_values_and_large_numbers(engine):
    large = 9007199254740993
    X = pd.DataFrame({"key": [large, large - 1, large + 2] * 20, "flag": [True, False, True] * 20})
    y = [0, 1, 1] * 20
    clf = tb.NaiveBayes(categorical_features=["key", "flag"]).fit(X, y)
    wanted = clf.predict_proba(X[:3])
    for flags in (["True", "False", "true"], ["1", "0", "t"], ["1.0", "0.0", "1"]):
        new = pd.DataFrame({"key": [str(key) for key in X["key"][:3]], "flag": flags})
        found = ask_frame(engine, tb.export.to_sql(clf), new)
        assert np.array([line[:2] for line in found]) == pytest.approx(wanted)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("model", [tb.TAN(), tb.KDB(2), tb.NetworkEnsemble(2)], ids=["tan", "kdb", "pooled"])
def test_no_name_of_a_column_or_table_is_taken_for_a_generated_one(model, engine):
    rng = np.random.default_rng(0)
    names = ["tb_p0", "TB_L1", "tb_m1_0_0", "tb_row", "Tb_s0", "tb_z", "tb_v1", "tb_k0"]
    y = rng.integers(0, 2, 200)
    X = pd.DataFrame({name: ["u" if v else "v" for v in (rng.random(200) < 0.3 + 0.4 * y)] for name in names})
    clf = model.fit(X, pd.Series(y, name="tb_g1"))
    wanted = clf.predict_proba(X[:50])
    for table in ("rows", "tb_coded", "TB_values", "tb_read", "tb1_posterior"):
        sql = tb.export.to_sql(clf, table=table, keep=["tb_p0", "TB_L1"])
        lines = ask_frame(engine, sql, X[:50], table=table)
        assert [line[:2] for line in lines] == [tuple(line) for line in X[["tb_p0", "TB_L1"]][:50].to_numpy().tolist()]
        assert np.array([line[2:4] for line in lines]) == pytest.approx(wanted, abs=1e-9)
