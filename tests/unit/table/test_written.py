"""Numbers as people write them: what is read as a number, what stays text, and that every reader agrees."""

import json
import sqlite3
from contextlib import closing

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tanbark as tb
from tanbark.errors import InputError, ModelFileError, TanbarkWarning, UnseenCategoryWarning
from tanbark.table import read_table
from tanbark.table.written import UNITS, Tally, read_number, read_written


def decided(*texts):
    found = Tally()
    found.add(texts, [1] * len(texts))
    return found.decide()


@pytest.mark.parametrize(
    ("texts", "written"),
    [
        (["$1,792.70", "$12", "-$3.50"], ".$"), (["1.234,50 €", "3,10 €"], ",€"), (["12 %", "7.5 %"], ".%"),
        (["1,234", "999"], "."), (["1.234.567", "12"], ","), (["1'234.50", "7"], "."), (["12 EUR", "EUR 7"], ".EUR"),
        (["1,234", "2,345"], "."), (["1.234 €", "2.345 €"], ",€"), (["1\u202f234,5", "3,2"], ","),
        (["12", "13"], ""), (["01234", "99999"], ""), (["$5", "€5"], ""), (["12 %", "0.5"], ""), (["1,5", "2,3"], ""),
        (["12,34", "5"], ""), (["a", "$5"], ""), (["555 123 456", "555 123 789"], ""), ([], ""), (["$ 5 %"], ""),
        (["2024-01-05", "2024-02-07"], ""), (["10:30", "11:45"], ""), (["192.168.1.1", "10.0.0.1"], ""),
    ],
)  # fmt: skip
def test_which_columns_of_text_are_numbers(texts, written):
    assert decided(*texts) == written


def test_one_value_in_twenty_may_be_something_else():
    money = [f"${k}.00" for k in range(19)]
    assert decided(*money, "on request") == ".$"
    assert decided(*money[1:], "on request") == ""


@given(st.decimals(-(10**9), 10**9, places=2), st.sampled_from(UNITS), st.booleans())
def test_what_is_written_is_read(number, unit, continental):
    text = f"{number:,}"
    if continental:
        text = text.translate(str.maketrans(",.", ".,"))
    text = f"{text} {unit}"
    assert read_number(text, ("," if continental else ".") + unit) == float(number)
    assert decided(text) in (f",{unit}", f".{unit}")


def test_declared_and_named_columns_stay_text():
    texts = ["$1", "$2,000", "$3"]
    table = read_table(pd.DataFrame({"a": texts, "b": pd.Categorical(texts), "c": texts}))
    found = read_written(table, None, np.array([False, False, True]))
    assert [block.columns for block in found.blocks] == [(0,)]
    assert [item.column for item in found.coded] == [1, 2]
    assert found.blocks[0].values.ravel().tolist() == [1.0, 2000.0, 3.0]


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 200)
    amount = np.exp(rng.normal(6 + y, 1.0)).round(2)
    frame = pd.DataFrame({
        "price": [f"${each:,.2f}" for each in amount], "rate": [f"{k} %" for k in (y + rng.integers(0, 3, 200))],
        "euro": [f"{each:,.2f} €".translate(str.maketrans(",.", ".,")) for each in amount],
    })  # fmt: skip
    frame.loc[3, "price"] = "on request"
    frame.loc[4, "price"] = None
    return frame, amount, y


@pytest.fixture
def fitted(rows):
    frame, _, y = rows
    with pytest.warns(TanbarkWarning, match="'price' is read as numbers, .* 1 value is none"):
        return tb.TAN().fit(frame, y)


def test_a_model_of_written_numbers_is_the_model_of_the_numbers(rows, fitted):
    frame, amount, y = rows
    numbers = pd.DataFrame({"price": amount, "rate": [int(text[:-2]) for text in frame["rate"]], "euro": amount})
    numbers.loc[3:4, "price"] = None
    expected = tb.TAN().fit(numbers, y)
    with pytest.warns(UnseenCategoryWarning, match="'price': 1"):
        np.testing.assert_array_equal(fitted.predict_proba(frame), expected.predict_proba(numbers))
    np.testing.assert_array_equal(fitted.predict_proba(numbers), expected.predict_proba(numbers))
    assert [column.written for column in fitted.schema_.features] == [".$", ".%", ",€"]
    assert "text such as '$1,234.5' read as numbers" in str(fitted.data_report_)
    assert fitted.data_report_.to_dict()["columns"][2]["written"] == ",€"
    fitted.partial_fit(frame.assign(rate="9 %"), y)
    assert fitted.schema_.columns[1].levels[-1] == 9


@pytest.mark.filterwarnings("ignore::tanbark.errors.TanbarkWarning")
def test_files_batches_and_exports_read_them_too(rows, fitted, tmp_path):
    frame, _, y = rows
    expected = fitted.predict_proba(frame)
    fitted.save(tmp_path / "model.json")
    loaded = tb.load(tmp_path / "model.json")
    np.testing.assert_array_equal(loaded.predict_proba(frame), expected)
    frame.assign(y=y).to_csv(tmp_path / "rows.csv", index=False)
    scan = tb.scan(str(tmp_path / "rows.csv"), target="y", batch_rows=7)
    assert tb.TAN().fit(scan).schema_.features == fitted.schema_.features
    assert loaded.predict_file(tmp_path / "rows.csv", tmp_path / "out.csv", proba=True) == len(y)
    np.testing.assert_allclose(pd.read_csv(tmp_path / "out.csv")["P(1)"], expected[:, 1], atol=1e-12)
    module = {"__name__": "scorer"}
    exec(tb.export.to_python(loaded), module)
    found = [module["predict_proba"](row)[1] for row in frame.to_dict("records")]
    np.testing.assert_allclose(found, expected[:, 1], atol=1e-12)


@pytest.mark.filterwarnings("ignore::tanbark.errors.TanbarkWarning")
def test_sql_reads_a_decimal_point_and_refuses_a_decimal_comma(rows, fitted):
    frame, _, y = rows
    with pytest.raises(InputError, match=r"'euro' was text such as '1.234,5 €'"):
        tb.export.to_sql(fitted)
    part = frame[["price", "rate"]]
    model = tb.TAN().fit(part, y)
    with closing(sqlite3.connect(":memory:")) as database:
        part.to_sql("rows", database, index=False)
        found = pd.read_sql(tb.export.to_sql(model), database)["P(class=1)"]
    np.testing.assert_allclose(found, model.predict_proba(part)[:, 1], atol=1e-12)


@pytest.mark.filterwarnings("ignore::tanbark.errors.TanbarkWarning")
def test_a_damaged_file_is_refused(fitted, tmp_path):
    fitted.save(tmp_path / "model.json")
    document = json.loads((tmp_path / "model.json").read_text())
    for wrong in ("x$", 5, ".dollars"):
        document["columns"][0]["written"] = wrong
        (tmp_path / "model.json").write_text(json.dumps(document))
        with pytest.raises(ModelFileError, match="written"):
            tb.load(tmp_path / "model.json")
