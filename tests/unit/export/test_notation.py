"""What the formats share: strings in quotes, notes on columns, tokens with their lines."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tanbark as tb
from tanbark.export.notation import Reader, annotated, labels, note, plain_name, quoted, tokens, unquoted
from tanbark.table import Column

WORDS = re.compile(r"(?P<skip>\s+)|(?P<mark>[{};])|(?P<word>[^\s{};]+)")


@given(st.text())
def test_quoted_strings_read_back(text):
    assert unquoted(quoted(text)[1:-1]) == text
    assert "\n" not in quoted(text)


@pytest.mark.parametrize(
    "column",
    [
        Column("x", "category", "text", ("a", "b")),
        Column("x", "category", "number", (1, 2.5)),
        Column("x", "category", "boolean", (False, True)),
        Column("x", "interval", "number", cuts=(0.5, 1.5)),
    ],
)
def test_a_note_restores_types_cut_points_and_the_class(column):
    assert annotated("x", column.labels(), note(column, target=True)) == (column, True)
    assert annotated("x", column.labels(), note(column)) == (column, False)


def test_text_needs_no_note():
    assert note(Column("x", "category", "text", ("a", "b"))) is None


def test_a_note_that_does_not_fit_raises_an_error():
    with pytest.raises(tb.errors.InputError, match="does not fit"):
        annotated("x", ["a", "b"], note(Column("x", "interval", "number", cuts=(0.5,))))


def test_states_of_one_name_raise_an_error():
    with pytest.raises(tb.errors.InputError, match="two states"):
        labels(Column("x", "category", "text", ("1", 1)))


def test_tokens_know_their_lines():
    reader = Reader(tokens("a {\n b;\n}", WORDS))
    assert [reader.take().line for _ in range(5)] == [1, 1, 2, 2, 3]
    assert reader.now.kind == "end"
    with pytest.raises(tb.errors.ModelFileError, match="line 3: expected ';', got the end of the file"):
        reader.expect(";")


def test_plain_names():
    assert [plain_name(name) for name in ("a_1", "1a", "a b", "")] == [True, False, False, False]
