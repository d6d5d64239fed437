"""Tables in every format, from files and pipes."""

import gzip
import io
import json

import pandas as pd
import pytest

import tanbark as tb
from command_line import bad, direct, good, run
from tanbark.cli.tables import read_table
from tanbark.errors import TanbarkWarning


@pytest.mark.parametrize(
    "name", ["rows.csv", "rows.tsv", "rows.csv.gz", "rows.parquet", "rows.arrow", "stream.arrow", "rows.arff"]
)
def test_every_format_gives_the_predictions_of_python(folder, tmp_path, name):
    good("fit", folder / name, "--class", "spam", "--drop", "id", "-l", "tan", "--out", tmp_path / "m.json")
    clf, frame = direct()
    told = pd.read_csv(io.StringIO(good("predict", tmp_path / "m.json", folder / name, "--proba", "--keep", "id")))
    assert list(told.columns) == ["id", "spam", "P(spam=no)", "P(spam=yes)"]
    wanted = clf.predict_proba(frame[["word", "caps", "code"]])
    assert told[["P(spam=no)", "P(spam=yes)"]].to_numpy() == pytest.approx(wanted)
    assert told["spam"].tolist() == clf.predict(frame[["word", "caps", "code"]]).tolist()
    assert [path.name for path in tmp_path.iterdir()] == ["m.json"]


def test_tables_and_models_flow_through_pipes(folder):
    content = (folder / "rows.csv").read_bytes()
    model = good("fit", "-", "--class", "spam", "--drop", "id", "-l", "tan", "--out", "-", "-q", stdin=content)
    assert json.loads(model) == json.loads((folder / "model.json").read_text())
    parquet = (folder / "rows.parquet").read_bytes()
    answers = [good("predict", folder / "model.json", "-", stdin=raw) for raw in (content, parquet)]
    assert answers[0] == answers[1]
    assert answers[0].splitlines()[0] == "spam"
    packed = good("predict", folder / "model.json", "-", stdin=gzip.compress(content))
    assert packed == answers[0]


@pytest.mark.parametrize("suffix", ["csv", "tsv", "parquet", "arrow", "csv.gz"])
def test_answers_are_written_in_every_format(folder, tmp_path, suffix):
    out = tmp_path / f"answers.{suffix}"
    assert good("predict", folder / "model.json", folder / "rows.csv", "--out", out) == ""
    readers = {
        "csv": pd.read_csv,
        "csv.gz": pd.read_csv,
        "tsv": lambda path: pd.read_csv(path, sep="\t"),
        "parquet": pd.read_parquet,
        "arrow": pd.read_feather,
    }
    assert readers[suffix](out)["spam"].tolist() == direct()[0].predict(direct()[1][["word", "caps", "code"]]).tolist()


def test_a_column_of_words_that_look_like_numbers_stays_words(tmp_path):
    (tmp_path / "train.csv").write_text("a,y\n1,p\nx,q\n2,p\nx,q\n")
    (tmp_path / "new.csv").write_text("a\n1\n2\n")
    good("fit", tmp_path / "train.csv", "--class", "y", "-l", "naive", "--out", tmp_path / "m.json")
    assert good("predict", tmp_path / "m.json", tmp_path / "new.csv").split() == ["y", "p", "p"]


@pytest.mark.parametrize(
    ("content", "hint"),
    [
        (b"", "empty"),
        (b"a,b,spam\n1,2\n", "cannot be read as CSV"),
        (b"a,a,spam\n1,2,x\n", "several columns of the name 'a'"),
        (b"spam\nx\ny\n", "no column beside the class"),
        (b"a,spam\n1,\n2,\n", "no value in any row"),
        (b"@relation x\n@attribute a {p,q}\n@attribute spam {x,y}\n@data\nr,x\n", "'r' is none of its categories"),
        (b"@relation x\n@attribute a wierd\n@data\n1\n", "line 2"),
        (b"@relation x\n@attribute a real\n@attribute spam {x,y}\n@data\n1\n", "line 5: expected 2 values, got 1"),
        (b"\x1f\x8bnonsense", "damaged"),
        (b"PAR1nonsense", "PARQUET"),
    ],
)
def test_tables_that_cannot_be_read(content, hint, tmp_path):
    assert hint in bad("fit", "-", "--class", "spam", "--out", tmp_path / "m.json", stdin=content)
    assert not list(tmp_path.iterdir())


def test_sparse_arff(tmp_path):
    text = "@relation x\n@attribute a real\n@attribute 'b c' {p,'q r'}\n@attribute spam {x,y}\n@data\n"
    (tmp_path / "t.arff").write_text(text + "{0 3.5, 2 y}\n{}\n{1 'q r'}\n{0 ?, 2 y}\n")
    from tanbark.cli.tables import read_table

    assert read_table(str(tmp_path / "t.arff")).to_pylist() == [
        {"a": 3.5, "b c": "p", "spam": "y"},
        {"a": 0.0, "b c": "p", "spam": "x"},
        {"a": 0.0, "b c": "q r", "spam": "x"},
        {"a": None, "b c": "p", "spam": "y"},
    ]


@pytest.mark.parametrize("point", [".", ","])
def test_semicolons_between_cells_and_decimal_commas(tmp_path, point):
    path = tmp_path / "rows.csv"
    path.write_text(f"name;size;class\nx;1{point}5;a\ny, z;-2{point}25;b\n;3;a\n")
    table = read_table(str(path))
    assert table.to_pydict() == {"name": ["x", "y, z", None], "size": [1.5, -2.25, 3.0], "class": ["a", "b", "a"]}


def test_other_encodings_are_read(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("a,b\nKöln,2\n", encoding="utf-16")
    assert read_table(str(path)).to_pylist() == [{"a": "Köln", "b": 2}]
    path.write_bytes(path.read_bytes()[:-1])
    assert "its end is damaged" in bad("describe", path, "--class", "b")
    path.write_text("a,b\nKöln,2\n", encoding="cp1252")
    with pytest.warns(TanbarkWarning, match=r"not in UTF-8 \(line 2\); it is read as Windows-1252"):
        assert read_table(str(path)).to_pylist() == [{"a": "Köln", "b": 2}]
    path.write_bytes(b"a,b\nK\x81ln,2\n")  # a byte that Windows-1252 does not have
    assert "line 2: expected text in UTF-8, got the byte 0x81" in bad("describe", path, "--class", "b")


def test_cells_without_a_name(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("a,,b,,\n1,2,x,,\n3,4,y,,\n")
    assert read_table(str(path)).column_names == ["a", "column 2", "b"]
    path.write_text("1,2,1\n3,4,5\n")
    assert "'1'. Its first line must be the names of the columns" in bad("describe", path, "--class", "b")


@pytest.mark.parametrize(("point", "apart"), [(".", ","), (",", ";")])
def test_marks_among_numbers_are_missing_and_stay_text_among_words(tmp_path, point, apart):
    path = tmp_path / "rows.txt"
    lines = [
        f"x{apart}y{apart}z",
        f"1{point}5{apart}-{apart}-",
        f"-{apart}+{apart}1{point}5",
        f"n.a.{apart}-{apart}2{point}0",
    ]
    path.write_text("\n".join(lines) + "\n")
    found = read_table(str(path)).to_pydict()
    assert found == {"x": [1.5, None, None], "y": ["-", "+", "-"], "z": [None, 1.5, 2.0]}
    path.write_text(f"x{apart}y\n-{apart}-\n")
    assert read_table(str(path), numbers=["x"]).to_pydict() == {"x": [None], "y": ["-"]}


def test_dates_are_left_out_of_training(tmp_path):
    lines = [f"2024-01-{1 + k % 28:02d},{1 + k % 12}/{1 + k % 28}/2023,{k % 3},{k % 2}" for k in range(60)]
    (tmp_path / "rows.csv").write_text("\n".join(["when,then,x,y", *lines]))
    ran = run("fit", tmp_path / "rows.csv", "--class", "y", "-l", "naive", "--out", tmp_path / "m.json")
    assert "Left out: 'when', 'then', which hold dates or times." in ran.stderr
    assert [column.name for column in tb.load(tmp_path / "m.json").schema_.columns] == ["x", "y"]


def test_a_class_that_identifies_rows_or_has_one_value(tmp_path):
    lines = [f"c{k},{k % 3},1" for k in range(60)]
    (tmp_path / "rows.csv").write_text("\n".join(["id,x,y", *lines]))
    told = bad("fit", tmp_path / "rows.csv", "--class", "id", "--out", tmp_path / "m.json")
    assert "The class 'id' has 60 different values in 60 rows" in told
    ran = run("fit", tmp_path / "rows.csv", "--class", "y", "-l", "naive", "--out", tmp_path / "m.json")
    assert "The class 'y' has one value, 1, which every prediction will be." in ran.stderr
    (tmp_path / "none.csv").write_text("id,x,y\n")
    assert "has no rows below its names" in bad("fit", tmp_path / "none.csv", "--class", "y", "--out", "m.json")
    assert "has no rows" in bad("predict", tmp_path / "m.json", tmp_path / "none.csv")


def test_numbers_with_a_word_among_them_are_remarked_on(tmp_path):
    lines = [f"{k},{k % 2},{'unknown' if k % 10 == 0 else 20 + k % 40},word{k % 3}" for k in range(60)]
    (tmp_path / "rows.csv").write_text("\n".join(["id,y,age,other", *lines]))
    options = ("--class", "y", "--drop", "id", "-l", "naive", "--out", tmp_path / "m.json")
    told = run("fit", tmp_path / "rows.csv", *options).stderr
    assert told.count("tanbark: warning") == 1
    assert "'age' holds numbers and a few texts" in told
    assert "such as 'unknown'" in told
    assert "--na TEXT" in told
    assert "warning" not in run("fit", tmp_path / "rows.csv", *options, "--na", "unknown").stderr
    assert "few texts" in run("describe", tmp_path / "rows.csv", "--class", "y", "--drop", "id").stdout


def test_advice_on_suspicious_columns_is_for_the_command_line(tmp_path):
    lines = [f"c-{(7919 * k) % 99991:05d},{k % 2},{k % 3}" for k in range(60)]
    (tmp_path / "rows.csv").write_text("\n".join(["id,y,x", *lines]))
    told = run("fit", tmp_path / "rows.csv", "--class", "y", "-l", "naive", "--out", tmp_path / "m.json").stderr
    assert "-o suspicious=keep" in told
    assert "data_report_" not in told
