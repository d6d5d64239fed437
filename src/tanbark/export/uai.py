"""UAI, the format of the inference competitions: a BAYES preamble and CPTs.

It has no names of variables or states: variables read from it are called x0, x1, … with the states 0, 1, … A ``#``
begins a comment.
"""

from __future__ import annotations

import re
from typing import Any

from tanbark.export.notation import Reader, Tokens, checked, fail, finish, number_text, shaped
from tanbark.graph import Network
from tanbark.graph.build import make_column, parents_first

PATTERN = re.compile(r"(?P<skip>\s+|#[^\n]*)|(?P<word>[^\s#]+)")


def dumps(network: Network) -> str:
    """Write a network as UAI; names are not part of it."""
    sizes = network.schema.cardinalities
    families = [parents_first(network, node) for node in range(len(sizes))]
    lines = ["BAYES", str(len(sizes)), " ".join(map(str, sizes)), str(len(sizes))]
    lines += [" ".join(map(str, (len(parents) + 1, *parents, node))) for node, (parents, _) in enumerate(families)]
    for _, table in families:
        lines += ["", str(table.size), *(" ".join(map(number_text, row)) for row in table.reshape(-1, table.shape[-1]))]
    return "\n".join(lines) + "\n"


def loads(text: str) -> Network:
    """Read a network from UAI: the last variable of a scope is the child."""
    reader = Reader(Tokens(text, PATTERN))
    if not reader.skip("BAYES"):
        fail(reader.now.line, f"expected 'BAYES', got {reader.now}: only Bayesian networks can be read")
    n = _whole(reader, "the number of variables", least=1)
    sizes = [_whole(reader, "a number of states", least=1) for _ in range(n)]
    line = reader.now.line
    if _whole(reader, "the number of tables") != n:
        fail(line, f"expected {n} tables, one for each variable")
    families: dict[int, list[int]] = {}
    lines: dict[str, int] = {}
    for _ in range(n):
        line = reader.now.line
        family = [_whole(reader, "a variable", below=n) for _ in range(_whole(reader, "the size of a scope", least=1))]
        if family[-1] in families or len(set(family)) < len(family):
            fail(line, f"expected the family of a variable that had none, its parents different; got {family}")
        families[family[-1]], lines[f"x{family[-1]}"] = family, line
    read = {node: _numbers(reader, [sizes[each] for each in family], node) for node, family in families.items()}
    if reader.now.kind != "end":
        fail(reader.now.line, f"expected the end of the file, got {reader.now}")
    columns = [make_column(f"x{node}", range(size)) for node, size in enumerate(sizes)]
    tables: dict[str, Any] = {}
    for node, (line, table) in read.items():
        scope = [columns[each] for each in families[node]]
        tables[f"x{node}"] = [column.name for column in scope[:-1]], checked(table, scope, line)
    return finish({column.name: column for column in columns}, tables, None, lines)


def _numbers(reader: Reader, shape: list[int], node: int) -> tuple[int, Any]:
    """Read a CPT; return its line and its numbers."""
    line = reader.now.line
    values = [reader.number() for _ in range(_whole(reader, "the size of a table"))]
    return line, shaped(values, shape, f"x{node}", line)


def _whole(reader: Reader, what: str, *, least: int = 0, below: int | None = None) -> int:
    token = reader.take()
    if not re.fullmatch(r"\d{1,9}", token.text) or int(token.text) < least:
        fail(token.line, f"expected {what}, got {token}")
    if below is not None and int(token.text) >= below:
        fail(token.line, f"expected {what} below {below}, got {token}")
    return int(token.text)
