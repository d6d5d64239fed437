"""BIF, the interchange format of the Bayesian network repository (version 0.15).

Names that are no plain words are written as such, because few programs read others. The real names, types of states,
cut points and the class are kept in a ``property``, which other programs ignore.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tanbark.errors import TanbarkError
from tanbark.export.notation import (
    FROM_FILE,
    Reader,
    Room,
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

KEYWORDS = {"network", "variable", "probability", "property", "type", "discrete", "default", "table"}
PROPERTY = "tanbark"
PATTERN = re.compile(
    r"""(?P<skip>\s+|//[^\n]*|/\*.*?\*/)|(?P<open>/\*)|(?P<string>"(?:[^"\\]|\\.)*")|(?P<mark>[{}()\[\];,|])"""
    r"""|(?P<word>(?:(?!//|/\*)[^\s{}()\[\];,|"])+)""",
    re.DOTALL,
)
SPECIAL = re.compile(r"""["/{|\[\]]""")  # what a block of plain rows has not


def dumps(network: Network) -> str:
    """Write a network as BIF."""
    columns = network.schema.columns
    names = words(network.dag.names, KEYWORDS, numbers=False)
    states = [words(labels(column), KEYWORDS) for column in columns]
    lines = ["network unknown {", "}"]
    for node, column in enumerate(columns):
        lines += [
            f"variable {names[node]} {{",
            f"  type discrete [ {column.n_states} ] {{ {', '.join(states[node])} }};",
        ]
        extra = note(column, (names[node], states[node]), target=node == network.target)
        if extra is not None:
            lines.append(f"  property {PROPERTY} = {extra};")
        lines.append("}")
    for node in range(len(columns)):
        parents, table = parents_first(network, node)
        given = f" | {', '.join(names[p] for p in parents)}" if parents else ""
        lines.append(f"probability ( {names[node]}{given} ) {{")
        for config in itertools.product(*(range(columns[p].n_states) for p in parents)):
            numbers = ", ".join(map(number_text, table[config]))
            named = ", ".join(states[p][k] for p, k in zip(parents, config, strict=True))
            lines.append(f"  ({named}) {numbers};" if parents else f"  table {numbers};")
        lines.append("}")
    return "\n".join(lines) + "\n"


@dataclass
class _Found:
    """Variables and CPTs read so far."""

    columns: dict[str, tuple[Column, list[str]]]
    tables: dict[str, tuple[Sequence[str], Any]]
    lines: dict[str, int]
    table_lines: dict[str, int]
    room: Room
    target: str | None = None


def loads(text: str) -> Network:
    """Read a network from BIF."""
    reader, found = Reader(Tokens(text, PATTERN)), _Found({}, {}, {}, {}, Room(text))
    while reader.now.kind != "end":
        if reader.skip("network"):
            reader.skip_past("{")
            _skip_block(reader)
        elif reader.skip("variable"):
            _variable(reader, found)
        elif reader.skip("probability"):
            _probability(reader, found)
        else:
            fail(reader.now.line, f"expected 'network', 'variable' or 'probability', got {reader.now}")
    if not found.columns:
        fail(reader.now.line, "expected at least one variable")
    for name in found.columns:
        if name not in found.tables:
            fail(found.lines[name], f"the variable {name!r} has no probability block")
    columns = {name: column for name, (column, _) in found.columns.items()}
    return finish(columns, found.tables, found.target, found.table_lines)


def _skip_block(reader: Reader) -> None:
    while not reader.skip("}"):
        if reader.take().kind == "end":
            fail(reader.now.line, "expected '}' before the end of the file")


def _variable(reader: Reader, found: _Found) -> None:
    line = reader.now.line
    name = reader.name("the name of a variable")
    check_name(found.columns, name, line)
    reader.expect("{")
    states: list[str] | None = None
    extra = None
    while not reader.skip("}"):
        if reader.skip("type"):
            states = _states(reader)
        elif reader.skip("property"):
            if reader.skip(PROPERTY):
                reader.skip("=")
                extra = reader.now.text
            reader.skip_past(";")
        else:
            fail(reader.now.line, f"expected 'type', 'property' or '}}', got {reader.now}")
    if states is None:
        fail(line, f"the variable {name!r} has no type")
    try:
        column, target = annotated(name, states, extra)
    except TanbarkError as error:
        fail(line, str(error))
    found.columns[name], found.lines[name] = (column, states), line
    found.target = column.name if target else found.target


def _states(reader: Reader) -> list[str]:
    reader.expect("discrete")
    reader.expect("[")
    line = reader.now.line
    count = reader.number()
    reader.expect("]")
    reader.expect("{")
    states = []
    while not reader.skip("}"):
        states.append(reader.name("a state"))
        if not reader.at("}"):
            reader.expect(",")
    reader.skip(";")
    if count != len(states):
        fail(line, f"expected {count:g} states, got {len(states)}")
    return states


def _probability(reader: Reader, found: _Found) -> None:
    reader.expect("(")
    line = reader.now.line
    name = reader.declared("the name of a variable", found.columns)
    if name in found.tables:
        fail(line, f"the variable {name!r} has two probability blocks")
    parents = []
    if reader.skip("|"):
        while not reader.at(")"):
            parents.append(reader.declared("the name of a parent", found.columns))
            if not reader.at(")"):
                reader.expect(",")
    reader.expect(")")
    if len({*parents, name}) <= len(parents):
        fail(line, f"the parents of {name!r} must be different from one another and from it")
    shape = [len(found.columns[each][1]) for each in (*parents, name)]
    table = np.full(found.room.take(shape, name, line), np.nan)
    if not _plain_entries(reader, found, parents, table):
        reader.expect("{")
        while not reader.skip("}"):
            _entry(reader, found, parents, table, name)
    if np.isnan(table).any():
        config = np.argwhere(np.isnan(table))[0][:-1]
        states = [found.columns[p][1][k] for p, k in zip(parents, config, strict=True)]
        fail(line, f"the CPT of {name!r} has no entry for ({', '.join(states)})")
    columns = [found.columns[each][0] for each in (*parents, name)]
    found.tables[name], found.table_lines[name] = (tuple(parents), checked(table, columns, line)), line


def _plain_entries(reader: Reader, found: _Found, parents: list[str], table: NDArray[np.float64]) -> bool:
    """Read a whole probability block at once, if it has nothing but rows of numbers, as nearly all have.

    Whatever else is in it, an error included, is left to the reading token by token; then nothing was read.
    """
    block = reader.ahead("}") if reader.at("{") else None
    if block is None or SPECIAL.search(block) or not block.rstrip().endswith(";"):
        return False
    states = [found.columns[parent][1] for parent in parents]
    places = [{state: k for k, state in enumerate(each) if len(state.split()) == 1} for each in states]
    rows, numbers, width = list[int](), list[str](), table.shape[-1]
    for entry in block.split(";")[:-1]:
        config, _, row_numbers = entry.strip().partition(")" if parents else "table")
        if config[:1] != ("(" if parents else "") or config.count(",") != max(len(parents) - 1, 0):
            return False
        numbers += row_numbers.split(",")
        row = 0
        try:
            for known, size, state in zip(places, table.shape, config[1:].split(","), strict=False):
                row = row * size + known[state.strip()]
        except KeyError:
            return False
        rows.append(row)
        if len(numbers) != width * len(rows):
            return False
    try:
        values = np.array(numbers, np.float64).reshape(-1, width)
    except ValueError:
        return False
    if not ((values >= 0).all() and (np.abs(values.sum(axis=1) - 1) <= FROM_FILE).all()):
        return False
    table.reshape(-1, width)[rows] = values
    reader.pass_over(block)
    reader.expect("}")
    return True


def _entry(reader: Reader, found: _Found, parents: list[str], table: NDArray[np.float64], name: str) -> None:
    line = reader.now.line
    if reader.skip("property"):
        reader.skip_past(";")
    elif reader.skip("table"):
        # the format lets the variable itself run slowest here, and the last parent fastest
        transposed = shaped(_numbers(reader), (table.shape[-1], *table.shape[:-1]), name, line)
        table[...] = np.moveaxis(transposed, 0, -1)
        checked(table, [found.columns[each][0] for each in (*parents, name)], line)
    elif reader.skip("default"):
        row = shaped(_numbers(reader), table.shape[-1:], name, line)
        checked(row, [found.columns[name][0]], line)
        table[...] = np.where(np.isnan(table), row, table)
    elif reader.skip("("):
        config = []
        for place, parent in enumerate(parents):
            state, known = reader.name("a state"), found.columns[parent][1]
            if state not in known:
                fail(line, f"{parent!r} has no state {state!r}; its states are {known[:20]}")
            config.append(known.index(state))
            if place < len(parents) - 1:
                reader.expect(",")
        reader.expect(")")
        row = shaped(_numbers(reader), table.shape[-1:], name, line)
        checked(row, [found.columns[name][0]], line)
        table[tuple(config)] = row
    else:
        fail(line, f"expected 'table', 'default', '(' or '}}', got {reader.now}")


def _numbers(reader: Reader) -> list[float]:
    values = []
    while not reader.skip(";"):
        values.append(reader.number())
        reader.skip(",")
    return values
