"""Hugin NET.

Identifiers and states are plain words, because few programs read others. Other names, the types of states, cut points
and the class are kept in an attribute that other programs ignore.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tanbark.arrays import Floats
from tanbark.errors import TanbarkError
from tanbark.export.notation import (
    FROM_FILE,
    Reader,
    Room,
    Token,
    Tokens,
    annotated,
    check_name,
    checked,
    fail,
    finish,
    labels,
    note,
    number_text,
    shaped,
    words,
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
    names = words(network.dag.names, KEYWORDS, numbers=False)
    lines = ["net", "{", "}"]
    for node, column in enumerate(columns):
        states = words(labels(column))
        listed = " ".join(f'"{state}"' for state in states)
        lines += [f"node {names[node]}", "{", f'  label = "{names[node]}";', f"  states = ({listed});"]
        extra = note(column, (names[node], states), target=node == network.target)
        if extra is not None:
            lines.append(f'  {ATTRIBUTE} = "{extra}";')
        lines.append("}")
    for node in range(len(columns)):
        parents, table = parents_first(network, node)
        given = f" | {' '.join(names[p] for p in parents)}" if parents else ""
        lines += [f"potential ({names[node]}{given})", "{", f"  data = {_nested(table)};", "}"]
    return "\n".join(lines) + "\n"


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
    room: Room = field(default_factory=lambda: Room(""))
    target: str | None = None


def loads(text: str) -> Network:
    """Read a network from Hugin NET."""
    reader, found = Reader(Tokens(text, PATTERN)), _Found(room=Room(text))
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
    if not found.columns:
        fail(reader.now.line, "expected at least one node")
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
        found.tables[name] = parents, np.full(found.room.take(shape, name, line), 1 / shape[-1])
        return
    values = []
    for token in data[1:]:
        try:
            values.append(float(token.text))
        except ValueError:
            fail(token.line, f"expected a number, got {token}")
    columns = [found.columns[each] for each in (*parents, name)]
    line = data[0].line
    table = _normalised(shaped(values, shape, name, line))
    found.tables[name] = parents, checked(table, columns, line)


def _normalised(table: Floats) -> Floats:
    """Normalise rows that add up to anything above 0, as the format allows; others are left for the check."""
    sums = table.sum(axis=-1, keepdims=True)
    usable = np.isfinite(sums) & (sums > 0) & (table >= 0).all(axis=-1, keepdims=True) & (np.abs(sums - 1) > FROM_FILE)
    return np.where(usable, table / np.where(usable, sums, 1.0), table)
