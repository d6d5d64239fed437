"""Shared by the formats: columns with their types, the class, a tokenizer, and errors that name a line."""

from __future__ import annotations

import base64
import json
import math
import re
from collections.abc import Iterator, Sequence, Set
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise
from typing import Any, NamedTuple, NoReturn
from xml.parsers import expat

import numpy as np

from tanbark.errors import InputError, ModelFileError, TanbarkError, nearest
from tanbark.graph import Network
from tanbark.graph.build import assemble, check_table, make_column
from tanbark.table import Column

FROM_FILE = 5e-3  # tolerance of the sum of a rounded distribution; it is normalised when read
MOST_CUT = 1.7e308  # so that a cut point is a finite double
SPARE_NUMBERS = 1 << 22  # of CPTs that are not written number by number


def labels(column: Column) -> list[str]:
    """Return the names of the states in a file: distinct strings."""
    found = column.labels()
    if len(set(found)) < len(found):
        twice = next(label for label in found if found.count(label) > 1)
        msg = f"{column.name!r} has two states that a file would call {twice!r}. Rename one of them."
        raise InputError(msg)
    return found


def words(texts: Sequence[str], reserved: Set[str] = frozenset(), *, numbers: bool = True) -> list[str]:
    """Return distinct plain words for names or states; a plain word is its own, and so is a whole number if allowed.

    Programs differ in what they accept inside quotes, and some keep the quotes; a plain word is read by all of them.

    >>> words(["yes", "3", "\u2264 18", "18 to 65", "a b", "a/b"])
    ['yes', '3', 'le_18', '_18_to_65', 'a_b', 'a_b_']
    """
    plain = {text for text in texts if _is_word(text, reserved) and (numbers or not text.lstrip("-").isdigit())}
    found: dict[str, None] = {}
    for text in texts:
        word = text
        if text not in plain:
            word = re.sub(r"[^A-Za-z0-9]+", "_", text.replace("\u2264", "le").replace(">", "gt"))
            word = word if word[:1].isalpha() else f"_{word.lstrip('_')}"
            while word in plain or word in found or not _is_word(word, reserved):
                word += "_"
        found[word] = None
    return list(found)


def _is_word(text: str, reserved: Set[str]) -> bool:
    return re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*|-?[0-9]{1,9}", text) is not None and text.lower() not in reserved


def note(column: Column, written: tuple[str, Sequence[str]], *, target: bool = False) -> str | None:
    """Return what a format has no place for, in letters that all of them read; None if there is nothing.

    These are types of states, cut points, the class, and names that are ``written`` otherwise: JSON in base64.
    """
    name, states = written
    extra: dict[str, Any] = {} if name == column.name else {"name": column.name}
    if list(states) != labels(column):
        extra["states"] = labels(column)
    if target:
        extra["class"] = True
    if column.missing_state:
        extra["missing"] = True
    if column.kind == "interval":
        extra["cuts"] = list(column.cuts)
    elif (
        column.missing_state or not column.levels or column.values != "text"
        or any(not isinstance(level, str) for level in column.levels)
    ):  # fmt: skip
        extra |= {"values": column.values, "levels": list(column.levels)}
    if not extra:
        return None
    return base64.urlsafe_b64encode(json.dumps(extra, ensure_ascii=True).encode()).decode().rstrip("=")


def annotated(name: str, states: Sequence[str], text: str | None) -> tuple[Column, bool]:
    """Build a column from a file's name and states and our own note, if any; return it and whether it is the class."""
    extra = _parse_note(text)
    real, shown = extra.get("name", name), extra.get("states", list(states))
    if not isinstance(real, str):
        raise InputError("a note's name is no string")
    if not isinstance(shown, list) or len(shown) != len(states) or not all(isinstance(label, str) for label in shown):
        raise InputError(f"the note of {real!r} does not name its {len(states)} states")
    column = make_column(real, shown)
    cuts, levels, missing = extra.get("cuts"), extra.get("levels"), extra.get("missing") is True
    if isinstance(cuts, list) and all(type(cut) in (int, float) for cut in cuts):
        if not all(abs(cut) <= MOST_CUT for cut in cuts) or any(low >= high for low, high in pairwise(cuts)):
            raise InputError(f"the cut points of {real!r} must be finite and rise; got {cuts[:10]}")
        column = Column(real, "interval", "number", cuts=tuple(map(float, cuts)), missing_state=missing)
    elif isinstance(levels, list) and extra.get("values") in ("number", "text", "boolean"):
        if levels:
            make_column(real, levels)
        column = Column(real, "category", extra["values"], tuple(levels), missing_state=missing)
    if column.labels() != shown:
        msg = f"the note of {real!r} does not fit its states {shown[:10]}"
        raise InputError(msg)
    return column, bool(extra.get("class"))


def _parse_note(text: str | None) -> dict[str, Any]:
    """Read a note; one that is damaged, or another program's, is no note."""
    if text is None:
        return {}
    try:
        extra = json.loads(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)))
    except (ValueError, RecursionError):
        return {}
    return extra if isinstance(extra, dict) else {}


def fail(line: int, message: str) -> NoReturn:
    """Raise the error of a file, with the line."""
    raise ModelFileError(f"line {line}: {message}")


class Token(NamedTuple):
    """A piece of a file: its kind ("word", "string" or "mark"), its text and its line."""

    kind: str
    text: str
    line: int

    def __str__(self) -> str:
        return "the end of the file" if self.kind == "end" else repr(self.text)


def parse_xml(parser: expat.XMLParserType, text: str) -> None:
    """Run a parser of XML over a whole file."""
    try:
        parser.Parse(text.encode("utf-8", "surrogatepass"), True)
    except expat.ExpatError as error:
        fail(error.lineno, f"expected well-formed XML, got {expat.ErrorString(error.code)}")
    except LookupError as error:  # the declaration names an encoding that Python does not have
        fail(1, f"expected text in UTF-8: {error}")


ESCAPES = {"n": "\n", "r": "\r", "t": "\t"}


def unquoted(text: str) -> str:
    """Read the inside of a string in quotes."""
    return re.sub(r"\\(.)", lambda match: ESCAPES.get(match[1], match[1]), text, flags=re.DOTALL)


class Tokens:
    """The tokens of a text, one after another; the pattern has the groups skip, string, mark and word."""

    def __init__(self, text: str, pattern: re.Pattern[str]) -> None:
        self._text, self._pattern, self._at, self._line = text, pattern, 0, 1

    def __iter__(self) -> Iterator[Token]:
        return self

    def __next__(self) -> Token:
        while self._at < len(self._text):
            match, line = self._pattern.match(self._text, self._at), self._line
            if match is None or match.end() == self._at:
                fail(line, f"expected a name, a number or a mark; got {self._text[self._at : self._at + 20]!r}")
            kind, found = match.lastgroup or "skip", match[0]
            if kind == "open":
                fail(line, "the comment that begins here has no end")
            self.pass_over(found)
            if kind != "skip":
                return Token(kind, unquoted(found[1:-1]) if kind == "string" else found, line)
        return Token("end", "", self._line)

    def ahead(self, mark: str) -> str | None:
        """Return the text from here to the next such mark; None if there is none."""
        end = self._text.find(mark, self._at)
        return None if end < 0 else self._text[self._at : end]

    def pass_over(self, text: str) -> None:
        """Go on behind a text that comes next."""
        self._at += len(text)
        self._line += text.count("\n")


class Reader:
    """Parser state: the tokens of a file, of which only the next one is held."""

    def __init__(self, found: Tokens) -> None:
        self._tokens = found
        self.now = next(found)

    def take(self) -> Token:
        """Return the next token and go on."""
        token = self.now
        if token.kind != "end":
            self.now = next(self._tokens)
        return token

    def at(self, *texts: str) -> bool:
        """Return whether the next token is one of these marks or words."""
        return self.now.kind in ("mark", "word") and self.now.text in texts

    def skip(self, text: str) -> bool:
        """Go past a mark or word if it comes next."""
        found = self.at(text)
        if found:
            self.take()
        return found

    def expect(self, text: str) -> Token:
        """Go past a mark or word that must come next."""
        if not self.at(text):
            fail(self.now.line, f"expected {text!r}, got {self.now}")
        return self.take()

    def name(self, what: str) -> str:
        """Read a name."""
        if self.now.kind not in ("word", "string"):
            fail(self.now.line, f"expected {what}, got {self.now}")
        return self.take().text

    def declared(self, what: str, known: dict[str, Any]) -> str:
        """Read the name of a variable that was declared."""
        line = self.now.line
        return known_name(known, self.name(what), line)

    def number(self) -> float:
        """Read a number."""
        token = self.take()
        try:
            return float(token.text)
        except ValueError:
            fail(token.line, f"expected a number, got {token}")

    def skip_past(self, mark: str) -> None:
        """Go past the next such mark."""
        start = self.now.line
        while not self.skip(mark):
            if self.take().kind == "end":
                fail(start, f"expected {mark!r} before the end of the file")

    def ahead(self, mark: str) -> str | None:
        """Return the text between the next token and such a mark; None if there is no such mark."""
        return self._tokens.ahead(mark)

    def pass_over(self, text: str) -> None:
        """Go past the next token and the text behind it, as ``ahead`` returned it."""
        self._tokens.pass_over(text)
        self.take()


def check_name(known: dict[str, Any], name: str, line: int) -> None:
    """Raise an error for a second declaration of a variable."""
    if name in known:
        fail(line, f"the variable {name!r} is declared twice")


def known_name(known: dict[str, Any], name: str, line: int) -> str:
    """Return the name of a declared variable; raise an error for another."""
    if name not in known:
        fail(line, f"there is no variable {name!r}.{nearest(name, list(known))}")
    return name


def shaped(values: list[float], shape: Sequence[int], name: str, line: int) -> Any:
    """Reshape a flat list of numbers to its CPT."""
    wanted = math.prod(shape)
    if len(values) != wanted:
        fail(line, f"the CPT of {name!r} must have {wanted:,} numbers, got {len(values):,}")
    return np.array(values, float).reshape(tuple(shape))


def checked(table: Any, columns: Sequence[Column], line: int) -> Any:
    """Validate the numbers of a CPT, the variable's own axis last."""
    try:
        return check_table(table, columns, FROM_FILE)
    except TanbarkError as error:
        fail(line, str(error))


def number_text(value: float) -> str:
    """Format a number so that it reads back to the last bit."""
    return repr(float(value))


class Room:
    """The numbers that the CPTs of a file may have in all; a file that writes every one of them always has room.

    Parameters
    ----------
    text : str
        The file.
    """

    def __init__(self, text: str) -> None:
        self._left = len(text) + SPARE_NUMBERS

    def take(self, shape: Sequence[int], name: str, line: int) -> tuple[int, ...]:
        """Raise an error for a CPT that is too large for the file, before memory is allocated."""
        wanted = math.prod(shape)
        if wanted > self._left:
            fail(line, f"the CPT of {name!r} would have {wanted:,} numbers, too many for a file of this length")
        self._left -= wanted
        return tuple(shape)


def finish(
    columns: dict[str, Column], tables: dict[str, tuple[Sequence[str], Any]], target: str | None, lines: dict[str, int]
) -> Network:
    """Build the network that a file describes; identifiers become the real names, and CPTs begin at ``lines``."""
    real = {name: column.name for name, column in columns.items()}
    owners: dict[str, str] = {}
    for name, wanted in real.items():
        if owners.setdefault(wanted, name) != name:
            fail(lines[name], f"the variables {owners[wanted]!r} and {name!r} are both noted to be {wanted!r}")
    try:
        TopologicalSorter({name: parents for name, (parents, _) in tables.items()}).prepare()
    except CycleError as error:
        cycle = error.args[1]
        fail(max(lines[name] for name in cycle), f"the graph has a cycle: {' -> '.join(cycle)}")
    named = {real[name]: ([real[parent] for parent in parents], table) for name, (parents, table) in tables.items()}
    try:
        return assemble(list(columns.values()), named, target=target, tolerance=FROM_FILE)
    except TanbarkError as error:
        raise ModelFileError(str(error)) from None
