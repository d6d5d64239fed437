"""Hugin NET.

A node's identifier is a plain word. A name that is not one gets another identifier and is kept, with the types of
states, cut points and the class, in an attribute that other programs ignore.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tanbark.errors import TanbarkError
from tanbark.export.notation import (
    Reader,
    Token,
    annotated,
    check_name,
    checked,
    fail,
    finish,
    labels,
    note,
    number_text,
    plain_name,
    quoted,
    room,
    shaped,
    tokens,
)
from tanbark.graph import Network
from tanbark.graph.build import parents_first
from tanbark.table import Column

ATTRIBUTE = "HR_tanbark"
KEYWORDS = {"net", "class", "node", "discrete", "continuous", "utility", "decision", "function", "potential", "data"}
PATTERN = re.compile(
    r"""(?P<skip>\s+|%[^\n]*)|(?P<string>"(?:[^"\\]|\\.)*")|(?P<mark>[{}();=|])|(?P<word>[^\s{}();=|"%]+)""", re.DOTALL
)


def dumps(network: Network) -> str:
    """Write a network as Hugin NET."""
    columns = network.schema.columns
    words = _identifiers(network.dag.names)
    lines = ["net", "{", "}"]
    for node, column in enumerate(columns):
        states = " ".join(map(quoted, labels(column)))
        lines += [f"node {words[node]}", "{", f"  label = {quoted(column.name)};", f"  states = ({states});"]
        extra = note(column, target=node == network.target, name=words[node] != column.name)
        if extra is not None:
            lines.append(f"  {ATTRIBUTE} = {quoted(extra)};")
        lines.append("}")
    for node in range(len(columns)):
        parents, table = parents_first(network, node)
        given = f" | {' '.join(words[p] for p in parents)}" if parents else ""
        lines += [f"potential ({words[node]}{given})", "{", f"  data = {_nested(table)};", "}"]
    return "\n".join(lines) + "\n"


def _identifiers(names: tuple[str, ...]) -> list[str]:
    """Return a distinct identifier for every name; a plain word is its own identifier."""
    plain = {name for name in names if plain_name(name) and name.lower() not in KEYWORDS}
    words: list[str] = []
    for number, name in enumerate(names):
        word = name if name in plain else f"node_{number}"
        while name not in plain and word in plain:
            word += "_"
        words.append(word)
    return words


def _nested(table: Any) -> str:
    if table.ndim == 1:
        return f"({' '.join(map(number_text, table))})"
    return f"({chr(10).join(_nested(part) for part in table)})"


@dataclass
class _Found:
    """Nodes and CPTs read so far."""

    columns: dict[str, Column] = field(default_factory=dict)
    lines: dict[str, int] = field(default_factory=dict)
    table_lines: dict[str, int] = field(default_factory=dict)
    tables: dict[str, tuple[Sequence[str], Any]] = field(default_factory=dict)
    target: str | None = None


def loads(text: str) -> Network:
    """Read a network from Hugin NET."""
    reader, found = Reader(tokens(text, PATTERN)), _Found()
    while reader.now.kind != "end":
        if reader.skip("net"):
            _attributes(reader)
        elif reader.at("node", "discrete"):
            reader.skip("discrete")
            reader.expect("node")
            _node(reader, found)
        elif reader.skip("potential"):
            _potential(reader, found)
        elif reader.at("continuous", "utility", "decision", "function", "class"):
            fail(reader.now.line, f"{reader.now} is not supported: only discrete chance nodes are")
        else:
            fail(reader.now.line, f"expected 'net', 'node' or 'potential', got {reader.now}")
    for name in found.columns:
        if name not in found.tables:
            fail(found.lines[name], f"the node {name!r} has no potential")
    return finish(found.columns, found.tables, found.target, found.table_lines)


def _attributes(reader: Reader) -> dict[str, list[Token]]:
    """Read ``{ name = value; ... }``, each value as its tokens without parentheses."""
    reader.expect("{")
    found: dict[str, list[Token]] = {}
    while not reader.skip("}"):
        name = reader.name("an attribute")
        reader.expect("=")
        found[name] = [reader.now]
        start, depth = reader.now.line, 0
        while not reader.skip(";"):
            token = reader.take()
            depth += (token.text == "(") - (token.text == ")") if token.kind == "mark" else 0
            if token.kind == "end" or (token.kind == "mark" and token.text in "{}="):
                fail(start, f"expected ';' after {name!r}, got {token}")
            if token.kind != "mark":
                found[name].append(token)
        if depth:
            fail(start, f"expected as many ')' as '(' after {name!r}")
    return found


def _node(reader: Reader, found: _Found) -> None:
    line = reader.now.line
    name = reader.name("the name of a node")
    check_name(found.columns, name, line)
    attributes = _attributes(reader)
    if "states" not in attributes:
        fail(line, f"the node {name!r} has no states")
    extra = attributes.get(ATTRIBUTE)
    try:
        states = [token.text for token in attributes["states"][1:]]
        column, target = annotated(name, states, extra[-1].text if extra else None)
    except TanbarkError as error:
        fail(line, str(error))
    found.columns[name], found.lines[name] = column, line
    found.target = column.name if target else found.target


def _potential(reader: Reader, found: _Found) -> None:
    reader.expect("(")
    line = reader.now.line
    name = reader.declared("the name of a node", found.columns)
    if name in found.tables:
        fail(line, f"the node {name!r} has two potentials")
    parents = []
    if reader.skip("|"):
        while not reader.at(")"):
            parents.append(reader.declared("the name of a parent", found.columns))
    reader.expect(")")
    if len({*parents, name}) <= len(parents):
        fail(line, f"the parents of {name!r} must be different from one another and from it")
    found.table_lines[name] = line
    data = _attributes(reader).get("data")
    shape = [found.columns[each].n_states for each in (*parents, name)]
    if data is None:
        found.tables[name] = parents, np.full(room(shape, name, line), 1 / shape[-1])
        return
    values = []
    for token in data[1:]:
        try:
            values.append(float(token.text))
        except ValueError:
            fail(token.line, f"expected a number, got {token}")
    columns = [found.columns[each] for each in (*parents, name)]
    line = data[0].line
    found.tables[name] = parents, checked(shaped(values, shape, name, line), columns, line)
