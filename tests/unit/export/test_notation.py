"""What the formats share: strings in quotes, notes on columns, Tokens with their lines."""

import base64
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tanbark as tb
from tanbark.export.notation import Reader, Tokens, annotated, labels, note, unquoted, words
from tanbark.table import Column

WORDS = re.compile(r"(?P<skip>\s+)|(?P<mark>[{};])|(?P<word>[^\s{};]+)")


def test_strings_in_quotes_have_escapes():
    assert unquoted(r"a \"b\" \\ \n") == 'a "b" \\ \n'


@given(st.lists(st.text(), unique=True), st.booleans())
def test_words_are_plain_and_distinct(texts, numbers):
    found = words(texts, {"table", "node"}, numbers=numbers)
    assert len(set(found)) == len(found) == len(texts)
    for text, word in zip(texts, found, strict=True):
        assert re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*|-?[0-9]{1,9}" if numbers else r"[A-Za-z_][A-Za-z0-9_]*", word)
        assert word.lower() not in ("table", "node")
        assert word == text or not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", text) or text.lower() in ("table", "node")


@pytest.mark.parametrize(
    "column",
    [
        Column("x", "category", "text", ("a", "b")),
        Column("x", "category", "number", (1, 2.5)),
        Column("x", "category", "boolean", (False, True)),
        Column("x", "interval", "number", cuts=(0.5, 1.5)),
        Column("x", "category", "text", ("a b", 'say "hi"')),
        Column("a b", "category", "text", ("a", "b"), missing_state=True),
        Column("x", "interval", "number", cuts=(0.5, 1.5), missing_state=True),
    ],
)
def test_a_note_restores_names_types_cut_points_and_the_class(column):
    for written in ((column.name, column.labels()), ("x", words(column.labels()))):
        assert annotated(*written, note(column, written, target=True)) == (column, True)
        assert annotated(*written, note(column, written)) == (column, False)


def test_text_needs_no_note():
    assert note(Column("x", "category", "text", ("a", "b")), ("x", ["a", "b"])) is None


@pytest.mark.parametrize("cuts", ["1.0, 0.5", "NaN", "Infinity", "1" + "0" * 400])
def test_cut_points_of_a_note_rise_and_are_finite(cuts):
    text = base64.urlsafe_b64encode(f'{{"cuts": [{cuts}]}}'.encode()).decode()
    with pytest.raises(tb.errors.InputError, match="must be finite and rise"):
        annotated("x", ["low", "high"], text)


def test_a_note_that_does_not_fit_raises_an_error():
    column = Column("x", "interval", "number", cuts=(0.5,))
    with pytest.raises(tb.errors.InputError, match="does not fit"):
        annotated("x", ["a", "b"], note(column, ("x", column.labels())))
    with pytest.raises(tb.errors.InputError, match="does not name its 2 states"):
        annotated("x", ["a", "b"], note(Column("x", levels=("a", "b", "c")), ("x", ["a"])))


def test_states_of_one_name_raise_an_error():
    with pytest.raises(tb.errors.InputError, match="two states"):
        labels(Column("x", "category", "text", ("1", 1)))


def test_tokens_know_their_lines():
    reader = Reader(Tokens("a {\n b;\n}", WORDS))
    assert [reader.take().line for _ in range(5)] == [1, 1, 2, 2, 3]
    assert reader.now.kind == "end"
    with pytest.raises(tb.errors.ModelFileError, match="line 3: expected ';', got the end of the file"):
        reader.expect(";")
