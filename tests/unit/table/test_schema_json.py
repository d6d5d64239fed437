import json

import pytest

from tanbark.errors import ModelFileError
from tanbark.table import Column
from tanbark.table.schema_json import column_document, read_column

GOOD = {"name": "x", "kind": "category", "values": "text", "levels": ["a", "b"]}


@pytest.mark.parametrize(
    "column",
    [
        Column("x", "category", "text", ("a", "b")),
        Column("x", "category", "number", (1, 2.5), missing_state=True),
        Column("x", "category", "boolean", (False, True)),
        Column("x", "interval", "number", cuts=(-0.5, 1e300)),
        Column("x", "interval", "number", cuts=(), missing_state=True),
    ],
)
def test_a_column_reads_back(column):
    assert read_column(json.loads(json.dumps(column_document(column)))) == column


def test_the_key_of_a_missing_state_is_that_of_older_files():
    assert column_document(Column("x", missing_state=True))["gap_state"] is True
    assert read_column({**GOOD, "gap_state": True}).missing_state


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"name": 3}, "no string"),
        ({"kind": "odd"}, "unknown kind"),
        ({"values": "odd"}, "unknown values"),
        ({"levels": "ab"}, "no list"),
        ({"levels": ["a", "a"]}, "occurs twice"),
        ({"levels": [["a"]]}, "no plain value"),
        ({"gap_state": 1}, "is not said"),
        ({"kind": "interval", "cuts": [2, 1]}, "do not rise"),
        ({"kind": "interval", "cuts": ["1"]}, "no finite number"),
    ],
)
def test_a_damaged_column_raises_an_error(change, message):
    with pytest.raises(ModelFileError, match=message):
        read_column({**GOOD, **change})
