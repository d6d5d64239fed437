"""A folder with the same table in every format, and a model."""

import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet
import pytest

from command_line import make_rows, run


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("cli")
    frame = make_rows()
    frame.to_csv(place / "rows.csv", index=False)
    frame.to_csv(place / "rows.tsv", index=False, sep="\t")
    frame.to_csv(place / "rows.csv.gz", index=False)
    table = pa.Table.from_pandas(frame)
    pa.parquet.write_table(table, place / "rows.parquet")
    with pa.ipc.new_file(place / "rows.arrow", table.schema) as file:
        file.write_table(table)
    with pa.ipc.new_stream(place / "stream.arrow", table.schema) as file:
        file.write_table(table)
    head = "@relation spam\n% a remark\n@attribute id numeric\n@attribute word {win,dear,hello}\n"
    head += "@attribute caps REAL\n@ATTRIBUTE 'code' integer\n@attribute spam {yes, no}\n@data\n"
    (place / "rows.arff").write_text(head + frame.to_csv(index=False, header=False, na_rep="?"))
    ran = run("fit", place / "rows.csv", "--class", "spam", "--drop", "id", "-l", "tan", "--out", place / "model.json")
    assert ran.exit_code == 0, ran.stderr
    return place


@pytest.fixture(scope="session")
def pooled(folder):
    """The run that learns a model by default, its output, and the model file."""
    out = folder / "pooled.json"
    return run("fit", folder / "rows.csv", "--class", "spam", "--drop", "id", "--out", out), out
