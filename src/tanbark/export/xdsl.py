"""XDSL, the format of GeNIe and SMILE.

Identifiers of nodes and states begin with a letter and hold letters, digits and underscores, as GeNIe demands; the real
names, types of states, cut points and the class are kept in a ``property`` of the node. Chance nodes (``cpt``) and
``deterministic`` ones are read, others raise an error. The parser expands no entities.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any
from xml.parsers import expat
from xml.sax.saxutils import escape, quoteattr

import numpy as np

from tanbark.errors import TanbarkError
from tanbark.export.notation import (
    Room,
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
from tanbark.export.xmlbif import spaced
from tanbark.graph import Network
from tanbark.graph.build import parents_first
from tanbark.table import Column

PROPERTY, PLACE = "tanbark", "tanbark_place"
HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n<smile version="1.0" id="network" numsamples="1000">\n<nodes>\n'
EXTENSION = '<extensions>\n<genie version="1.0" app="Tanbark" name="network">'
GRID, PER_LINE = 110, 8
NODES = ("cpt", "deterministic")


def dumps(network: Network) -> str:
    """Write a network as XDSL."""
    columns = network.schema.columns
    names = identifiers(network.dag.names)
    lines = []
    for node in network.dag.order:  # a node comes after its parents
        column, (parents, table) = columns[node], parents_first(network, node)
        states = identifiers(labels(column))
        lines.append(f"<cpt id={quoteattr(names[node])}>")
        lines += [f"<state id={quoteattr(state)} />" for state in states]
        if parents:
            lines.append(f"<parents>{' '.join(names[parent] for parent in parents)}</parents>")
        lines.append(f"<probabilities>{' '.join(map(number_text, table.ravel()))}</probabilities>")
        extra = note(column, (names[node], states), target=node == network.target)
        if extra is not None:
            lines.append(f'<property id="{PROPERTY}">{escape(extra)}</property>')
        lines.append(f'<property id="{PLACE}">{node}</property>')
        lines.append("</cpt>")
    shown = spaced(network.dag.names)
    drawn = "\n".join(_drawn(names[node], shown[node], place) for place, node in enumerate(network.dag.order))
    return HEAD + "\n".join(lines) + f"\n</nodes>\n{EXTENSION}\n{drawn}\n</genie>\n</extensions>\n</smile>\n"


def _drawn(identifier: str, name: str, place: int) -> str:
    """Write how GeNIe shows a node: its name, and a place in a grid; GeNIe arranges graphs when it is asked to."""
    left, top = GRID * (place % PER_LINE), GRID * (place // PER_LINE)
    return (
        f'<node id="{identifier}"><name>{escape(name)}</name><interior color="e5f6f7" /><outline color="000080" />'
        f'<font color="000000" name="Arial" size="8" /><position>{left} {top} {left + 76} {top + 52}</position></node>'
    )


def identifiers(texts: Sequence[str]) -> list[str]:
    """Return distinct identifiers of GeNIe for names or states; one that is an identifier already is its own.

    >>> identifiers(["yes", "3", "18 to 65"])
    ['yes', 's_3', 's_18_to_65']
    """
    found = words(texts, numbers=False)
    taken = {word for word in found if word[0].isalpha()}
    for place, word in enumerate(found):
        while not found[place][0].isalpha():
            word = f"s{word if word.startswith('_') else '_' + word}"
            found[place] = word if word not in taken else f"_{word}"
        taken.add(found[place])
    return found


@dataclass
class _Node:
    """A node while it is read."""

    kind: str
    name: str
    line: int
    states: list[str] = field(default_factory=list)
    texts: dict[str, str] = field(default_factory=dict)


class _Handler:
    """Collect nodes from the parser's events."""

    def __init__(self) -> None:
        self.parser = expat.ParserCreate()
        self.parser.StartElementHandler = self.start
        self.parser.EndElementHandler = self.end
        self.parser.CharacterDataHandler = self.characters
        self.parser.EntityDeclHandler = self.entity
        self.nodes: list[_Node] = []
        self.path: list[str] = []
        self.key, self.text = "", [""]

    @property
    def line(self) -> int:
        """The line that the parser is at."""
        return int(self.parser.CurrentLineNumber)

    def entity(self, *_: Any) -> None:
        """Raise an error for an entity: expanding entities can exhaust memory or read other files."""
        fail(self.line, "the file declares an entity, which is not expanded. Remove it")

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        """Begin an element."""
        if not self.path and tag != "smile":
            fail(self.line, f"expected the element 'smile', got {tag!r}")
        if self.path[1:] == ["nodes"]:
            if tag not in NODES:
                fail(self.line, f"a node of the kind {tag!r} is not supported: only chance nodes with CPTs are")
            self.nodes.append(_Node(tag, self._id(tag, attributes), self.line))
        elif self.path[1:2] == ["nodes"] and tag == "state":
            self.nodes[-1].states.append(self._id(tag, attributes))
        self.key = f"property {attributes.get('id')}" if tag == "property" else tag
        self.path.append(tag)
        self.text = []

    def _id(self, tag: str, attributes: dict[str, str]) -> str:
        if "id" not in attributes:
            fail(self.line, f"expected an id of this {tag}")
        return attributes["id"]

    def characters(self, text: str) -> None:
        """Collect text."""
        self.text.append(text)

    def end(self, tag: str) -> None:
        """Finish an element."""
        self.path.pop()
        if self.path[1:2] == ["nodes"] and len(self.path) == 3 and tag != "state":
            self.nodes[-1].texts[self.key] = "".join(self.text)
        self.text = []


def loads(text: str) -> Network:
    """Read a network from XDSL."""
    handler = _Handler()
    parse_xml(handler.parser, text)
    if not handler.nodes:
        fail(1, "expected at least one node")
    columns: dict[str, Column] = {}
    lines: dict[str, int] = {}
    target = None
    for node in sorted(handler.nodes, key=_place):  # files have parents first
        check_name(columns, node.name, node.line)
        try:
            column, is_class = annotated(node.name, node.states, node.texts.get(f"property {PROPERTY}"))
        except TanbarkError as error:
            fail(node.line, str(error))
        columns[node.name], lines[node.name] = column, node.line
        target = column.name if is_class else target
    room = Room(text)
    tables = {node.name: _table(node, columns, room) for node in handler.nodes}
    return finish(columns, tables, target, lines)


def _place(node: _Node) -> int:
    """Return which column a node was when we wrote the file; 0 for all nodes of other programs."""
    text = node.texts.get(f"property {PLACE}", "")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else 0


def _table(node: _Node, columns: dict[str, Column], room: Room) -> tuple[Sequence[str], Any]:
    parents = [known_name(columns, parent, node.line) for parent in node.texts.get("parents", "").split()]
    if len({*parents, node.name}) <= len(parents):
        fail(node.line, f"the parents of {node.name!r} must be different from one another and from it")
    family = [columns[each] for each in (*parents, node.name)]
    shape = [column.n_states for column in family]
    if node.kind == "deterministic":
        states = node.texts.get("resultingstates", "").split()
        number = {state: float(k) for k, state in enumerate(node.states)}
        places = [number[known_name(number, state, node.line)] for state in states]
        room.take(shape, node.name, node.line)
        return parents, np.eye(shape[-1])[shaped(places, shape[:-1], node.name, node.line).astype(int)]
    values = []
    for text in node.texts.get("probabilities", "").split():
        try:
            values.append(float(text))
        except ValueError:
            fail(node.line, f"expected a number in the CPT of {node.name!r}, got {text!r}")
    return parents, checked(shaped(values, shape, node.name, node.line), family, node.line)
