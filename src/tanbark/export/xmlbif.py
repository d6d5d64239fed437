"""XMLBIF 0.3, the format of Weka and others.

Files are written without a document type declaration, which some readers reject and none needs. The parser expands no
entities: a file that declares one raises an error. Names with spaces that a reader of XML may collapse are written as
plain words; the real names, types of states, cut points and the class are kept in a ``PROPERTY``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any
from xml.parsers import expat
from xml.sax.saxutils import escape

from tanbark.errors import InputError, TanbarkError
from tanbark.export.notation import (
    annotated,
    check_name,
    checked,
    fail,
    finish,
    known_name,
    labels,
    note,
    number_text,
    parse_xml,
    shaped,
    words,
)
from tanbark.graph import Network
from tanbark.graph.build import parents_first
from tanbark.table import Column

PROPERTY = "tanbark = "
HEAD = """<?xml version="1.0" encoding="UTF-8"?>
<BIF VERSION="0.3">
<NETWORK>
<NAME>unknown</NAME>
"""
FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def dumps(network: Network) -> str:
    """Write a network as XMLBIF."""
    columns = network.schema.columns
    names = spaced(network.dag.names)
    lines = []
    for node, column in enumerate(columns):
        states = spaced(labels(column))
        lines += ['<VARIABLE TYPE="nature">', _element("NAME", names[node])]
        lines += [_element("OUTCOME", state) for state in states]
        extra = note(column, (names[node], states), target=node == network.target)
        if extra is not None:
            lines.append(_element("PROPERTY", PROPERTY + extra))
        lines.append("</VARIABLE>")
    for node in range(len(columns)):
        parents, table = parents_first(network, node)
        lines += ["<DEFINITION>", _element("FOR", names[node])]
        lines += [_element("GIVEN", names[parent]) for parent in parents]
        rows = [" ".join(map(number_text, row)) for row in table.reshape(-1, table.shape[-1])]
        lines += ["<TABLE>", *rows, "</TABLE>", "</DEFINITION>"]
    return HEAD + "\n".join(lines) + "\n</NETWORK>\n</BIF>\n"


def _element(tag: str, text: str) -> str:
    return f"<{tag}>{escape(text)}</{tag}>"


def spaced(texts: Sequence[str]) -> list[str]:
    """Return names or states as they are, or as plain words if spaces of theirs could be lost."""
    whole = all(text and text == " ".join(text.split()) for text in texts)
    for text in texts:
        _check(text)
    return list(texts) if whole else words(texts)


def _check(text: str) -> None:
    if FORBIDDEN.search(text):
        msg = f"XML cannot hold the name {text!r}: it has a control character. Rename it, or write BIF."
        raise InputError(msg)


@dataclass
class _Part:
    """A variable or a definition while it is read: the texts of its elements."""

    line: int
    texts: dict[str, list[str]] = field(default_factory=dict)

    def one(self, tag: str, inside: str) -> str:
        """Return the text of an element that occurs once."""
        found = self.texts.get(tag, [])
        if len(found) != 1:
            fail(self.line, f"expected one {tag} in this {inside}, got {len(found)}")
        return found[0]


class _Handler:
    """Collect variables and definitions from the parser's events."""

    def __init__(self) -> None:
        self.parser = expat.ParserCreate()
        self.parser.StartElementHandler = self.start
        self.parser.EndElementHandler = self.end
        self.parser.CharacterDataHandler = self.characters
        self.parser.EntityDeclHandler = self.entity
        self.variables: list[_Part] = []
        self.definitions: list[_Part] = []
        self.part: _Part | None = None
        self.text: list[str] = []
        self.preserve = False

    @property
    def line(self) -> int:
        """The line that the parser is at."""
        return int(self.parser.CurrentLineNumber)

    def entity(self, *_: Any) -> None:
        """Raise an error for an entity: expanding entities can exhaust memory or read other files."""
        fail(self.line, "the file declares an entity, which is not expanded. Remove it")

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        """Begin an element."""
        if tag in ("VARIABLE", "DEFINITION"):
            self.part = _Part(self.line)
            (self.variables if tag == "VARIABLE" else self.definitions).append(self.part)
            if attributes.get("TYPE", "nature") != "nature":
                fail(self.line, f"expected a variable of type 'nature', got {attributes['TYPE']!r}")
        self.text = []
        self.preserve = attributes.get("xml:space") == "preserve"

    def characters(self, text: str) -> None:
        """Collect text."""
        self.text.append(text)

    def end(self, tag: str) -> None:
        """Finish an element."""
        if tag in ("VARIABLE", "DEFINITION"):
            self.part = None
        elif self.part is not None:
            text = "".join(self.text)
            self.part.texts.setdefault(tag, []).append(text if self.preserve else text.strip())
        self.text = []


def loads(text: str) -> Network:
    """Read a network from XMLBIF."""
    handler = _Handler()
    parse_xml(handler.parser, text)
    if not handler.variables:
        fail(1, "expected at least one VARIABLE in a BIF document")
    columns: dict[str, Column] = {}
    target = None
    for part in handler.variables:
        name, column, is_class = _column(part)
        check_name(columns, name, part.line)
        columns[name] = column
        target = column.name if is_class else target
    tables: dict[str, Any] = {}
    lines: dict[str, int] = {}
    for part in handler.definitions:
        name, parents, table = _table(part, columns)
        if name in tables:
            fail(part.line, f"the variable {name!r} has two definitions")
        tables[name], lines[name] = (parents, table), part.line
    for part in handler.variables:
        if part.texts["NAME"][0] not in tables:
            fail(part.line, f"the variable {part.texts['NAME'][0]!r} has no definition")
    return finish(columns, tables, target, lines)


def _column(part: _Part) -> tuple[str, Column, bool]:
    name = part.one("NAME", "VARIABLE")
    extra = [text.removeprefix(PROPERTY) for text in part.texts.get("PROPERTY", []) if text.startswith(PROPERTY)]
    outcomes = part.texts.get("OUTCOME") or part.texts.get("VALUE") or []
    try:
        column, is_class = annotated(name, outcomes, extra[0] if extra else None)
    except TanbarkError as error:
        fail(part.line, str(error))
    return name, column, is_class


def _table(part: _Part, columns: dict[str, Column]) -> tuple[str, list[str], Any]:
    name = known_name(columns, part.one("FOR", "DEFINITION"), part.line)
    parents = [known_name(columns, parent, part.line) for parent in part.texts.get("GIVEN", [])]
    if len({*parents, name}) <= len(parents):
        fail(part.line, f"the parents of {name!r} must be different from one another and from it")
    values = []
    for text in part.one("TABLE", "DEFINITION").split():
        try:
            values.append(float(text))
        except ValueError:
            fail(part.line, f"expected a number in the CPT of {name!r}, got {text!r}")
    shape = [columns[each].n_states for each in (*parents, name)]
    family = [columns[each] for each in (*parents, name)]
    return name, parents, checked(shaped(values, shape, name, part.line), family, part.line)
