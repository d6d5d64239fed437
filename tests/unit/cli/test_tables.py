"""Tables in every format, from files and pipes."""

import gzip
import io
import json

import pandas as pd
import pytest

from command_line import bad, direct, good, run
from tanbark.cli.tables import read_table


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


def test_utf_16_is_named(tmp_path):
    (tmp_path / "rows.csv").write_text("a,b\n1,2\n", encoding="utf-16")
    assert "expected text in UTF-8, got UTF-16" in bad("describe", tmp_path / "rows.csv", "--class", "b")


def test_numbers_with_a_word_among_them_are_remarked_on(tmp_path):
    lines = [f"{k},{k % 2},{'unknown' if k % 10 == 0 else 20 + k % 40},word{k % 3}" for k in range(60)]
    (tmp_path / "rows.csv").write_text("\n".join(["id,y,age,other", *lines]))
    told = run("describe", tmp_path / "rows.csv", "--class", "y", "--drop", "id").stderr
    assert told.count("tanbark: warning") == 1
    assert "'age' holds numbers, and also 'unknown' (6 rows)" in told
    assert "--na unknown" in told
    assert run("describe", tmp_path / "rows.csv", "--class", "y", "--drop", "id", "--na", "unknown").stderr == ""


def test_advice_on_suspicious_columns_is_for_the_command_line(tmp_path):
    lines = [f"c-{(7919 * k) % 99991:05d},{k % 2},{k % 3}" for k in range(60)]
    (tmp_path / "rows.csv").write_text("\n".join(["id,y,x", *lines]))
    told = run("fit", tmp_path / "rows.csv", "--class", "y", "-l", "naive", "--out", tmp_path / "m.json").stderr
    assert "-o suspicious=keep" in told
    assert "data_report_" not in told
