"""A model as one SELECT that scores a table inside a database.

Every feature becomes the number of its state, or NULL if it is missing or not seen in training. If the features form
trees given the class, missing values are marginalised by messages up the trees, one step of the WITH clause per level.
For any other structure a missing value is marginalised exactly if it has no observed descendant; a row with another
missing value gets NULL as its prediction.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import product
from typing import Any

import numpy as np

from tanbark.errors import InputError
from tanbark.export.notation import number_text
from tanbark.export.scored import scored_network
from tanbark.graph import Network
from tanbark.inference import class_log_prior, normalize
from tanbark.table import Column

NEVER = -1e9  # in place of the logarithm of zero
FAR = 700.0  # EXP overflows beyond this difference of logarithms


def to_sql(network: Network, *, table: str = "rows", keep: Sequence[str] = ()) -> str:
    """Write a SELECT that adds to a table the probability of every class and the most probable one.

    It is standard SQL with ``EXP`` and ``LN``, for DuckDB, SQLite (from 3.35) and PostgreSQL. NULL is a missing value;
    NaN is not. Rows of probability zero under every class get the class prior, as in Python.

    Parameters
    ----------
    network : Network, or a classifier that has one
        Only a classifier has a temperature.
    table : str, default "rows"
        The table to score; it has the model's columns by name.
    keep : list of str
        Further columns of the table to select, such as a key.

    Examples
    --------
    >>> tables = {"C": [0.5, 0.5], "A": (("C",), [[0.1, 0.9], [0.5, 0.5]])}
    >>> network = Network.from_tables({"A": ["no", "yes"], "C": ["a", "b"]}, tables, target="C")
    >>> print(to_sql(network).splitlines()[4])
      SELECT tb_rows.*,
    """
    temperature = float(getattr(network, "temperature_", 1.0))
    network = scored_network(network, "SQL scores rows")
    trees = _is_forest(network)
    steps = [("tb_coded", _coded(network, table), False)]
    steps += _tree_steps(network) if trees else []
    steps.append(("tb_scored", _scored(network, steps[-1][0], trees=trees), False))
    if temperature != 1.0:
        steps.append(("tb_tempered", _tempered(network, temperature), False))
    steps.append(("tb_posterior", _posteriors(network, steps[-1][0]), False))
    body = ",\n".join(f"{name} AS {'MATERIALIZED ' if kept else ''}(\n  {select}\n)" for name, select, kept in steps)
    return f"{_remarks(network, trees)}\nWITH {body}\n{_selection(network, keep)};\n"


def _remarks(network: Network, trees: bool) -> str:
    how = (
        "marginalised exactly" if trees else
        "marginalised exactly where no observed column depends on them; otherwise the prediction is NULL"
    )  # fmt: skip
    return "\n".join([
        f"-- P({_one_line(network.dag.names[network.target])} | row) by a network over {network.target} features.",
        f"-- Missing values (NULL) and categories not seen in training are {how}.",
        "-- NaN is not NULL: convert it to NULL first.",
    ])  # fmt: skip


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _name(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'


def _text(value: str) -> str:
    if "\x00" in value:
        msg = f"{value!r} holds a zero byte, which SQL cannot hold. Rename it."
        raise InputError(msg)
    return "'" + value.replace("'", "''") + "'"


def _literal(value: Any) -> str:
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, (bool, np.bool_)):
        return "TRUE" if value else "FALSE"
    return str(value) if isinstance(value, int) else number_text(value)


def _number(value: float) -> str:
    """Format a number as a double in every dialect: with an exponent, it is not a decimal."""
    return f"{float(value):.17e}" if value else "0e0"


def _log(value: float) -> str:
    return _number(value if np.isfinite(value) else NEVER)


# ---------------------------------------------------------------------- states


def _coded(network: Network, table: str) -> str:
    features = network.schema.features
    if len({name.lower() for name in network.schema.names}) < len(network.schema.names):
        msg = "Two columns differ in capitals only, which SQL does not distinguish. Rename one of them."
        raise InputError(msg)
    cases = ",\n    ".join(f"{_state_case(column)} AS tb_s{node}" for node, column in enumerate(features))
    relation = ".".join(_name(part) for part in table.split("."))
    return f"SELECT tb_rows.*,\n    {cases}\n  FROM {relation} AS tb_rows"


def _state_case(column: Column) -> str:
    name, first = f"tb_rows.{_name(column.name)}", int(column.missing_state)
    missing = f"WHEN {name} IS NULL THEN {0 if column.missing_state else 'NULL'} "
    if column.kind == "interval":
        whens = "".join(f"WHEN {name} <= {_number(cut)} THEN {k + first} " for k, cut in enumerate(column.cuts))
        return f"CASE {missing}{whens}ELSE {len(column.cuts) + first} END"
    kinds = {"text" if isinstance(level, str) else "number" for level in column.levels}
    if len(kinds) > 1:
        msg = f"Column {column.name!r} holds strings and numbers, which no column of a database can. Convert some."
        raise InputError(msg)
    whens = "".join(f"WHEN {name} = {_literal(level)} THEN {k + first} " for k, level in enumerate(column.levels))
    return f"CASE {missing}{whens}ELSE NULL END" if whens else f"CASE {missing}ELSE NULL END"


# ---------------------------------------------------------------------- trees: messages from the leaves up


def _feature_parents(network: Network, node: int) -> list[int]:
    return [p for p in network.dag.parents[node] if p != network.target]


def _is_forest(network: Network) -> bool:
    """Return whether the features form trees given the class."""
    single = all(len(_feature_parents(network, node)) <= 1 for node in range(network.target))
    plain = network.exponents is None or not any(_feature_parents(network, node) for node in range(network.target))
    return single and plain and not network.dag.parents[network.target]


def _by_class(network: Network, node: int) -> Any:
    """Return P(node | parent, class) as an array (parent states, own states, classes); one parent state for a root."""
    target = network.target
    n_classes = network.schema.cardinalities[target]
    table = network.tables[node]
    if target not in network.dag.parents[node]:
        table = np.repeat(table[..., None], n_classes, axis=-1)
    return table.reshape(-1, network.schema.cardinalities[node], n_classes)


def _heights(network: Network) -> list[int]:
    heights = [0] * network.target
    for node in reversed(network.dag.order):
        if node != network.target:
            below = [heights[c] + 1 for c in network.dag.children[node]]
            heights[node] = max(below, default=0)
    return heights


def _tree_steps(network: Network) -> list[tuple[str, str, bool]]:
    """Write the messages of each feature for every parent state and class, from the leaves up."""
    heights = _heights(network)
    linked = [node for node in range(network.target) if _feature_parents(network, node) or network.dag.children[node]]
    steps, before = [], "tb_coded"
    for height in range(max((heights[node] for node in linked), default=-1) + 1):
        columns = [
            f"{expression} AS {_message(node, s, c)}"
            for node in linked
            if heights[node] == height
            for s, c, expression in _messages(network, node)
        ]
        name = f"tb_level{height}"
        steps.append((name, f"SELECT {before}.*,\n    " + ",\n    ".join(columns) + f"\n  FROM {before}", True))
        before = name
    return steps


def _message(node: int, s: int, c: int) -> str:
    return f"tb_m{node}_{s}_{c}"


def _messages(network: Network, node: int) -> Iterable[tuple[int, int, str]]:
    """Write the messages of a node: its probability times its children's messages, summed over its states if missing.

    The probabilities of an observed state are divided by their geometric mean over parent states and classes, so that
    products of very many neither underflow nor overflow.
    """
    table = _by_class(network, node)
    children = network.dag.children[node]
    positive = np.where(table > 0, table, np.nan)
    with np.errstate(invalid="ignore"):
        logs = np.log(positive)
    scale = [
        float(np.exp(np.nanmean(logs[:, k]))) if np.isfinite(logs[:, k]).any() else 1.0 for k in range(table.shape[1])
    ]
    for s, c in product(range(table.shape[0]), range(table.shape[2])):
        below = ["".join(f" * {_message(child, k, c)}" for child in children) for k in range(table.shape[1])]
        observed = " ".join(
            f"WHEN {k} THEN {_number(table[s, k, c] / scale[k])}{below[k]}" for k in range(table.shape[1])
        )
        terms = [f"{_number(table[s, k, c])}{below[k]}" for k in range(table.shape[1])]
        summed = " + ".join(terms) if children else _number(1.0)
        yield s, c, f"CASE WHEN tb_s{node} IS NULL THEN {summed} ELSE CASE tb_s{node} {observed} END END"


# ---------------------------------------------------------------------- log joints and posteriors


def _scored(network: Network, before: str, *, trees: bool) -> str:
    n_classes = network.schema.cardinalities[network.target]
    columns = []
    for c in range(n_classes):
        terms = _tree_terms(network, c) if trees else _family_terms(network, c)
        columns.append("(" + "\n      + ".join(terms) + f") AS tb_l{c}")
    return f"SELECT {before}.*,\n    " + ",\n    ".join(columns) + f"\n  FROM {before}"


def _tree_terms(network: Network, c: int) -> list[str]:
    terms = [_log(network.log_tables[network.target][c])]
    for node in range(network.target):
        if _feature_parents(network, node):
            continue
        if network.dag.children[node]:
            message = _message(node, 0, c)
            terms.append(f"CASE WHEN {message} > 0 THEN LN({message}) ELSE {_number(NEVER)} END")
        elif network.target in network.dag.parents[node]:
            logs = network.log_tables[node][:, c]
            whens = " ".join(f"WHEN {k} THEN {_log(value)}" for k, value in enumerate(logs.tolist()))
            terms.append(f"CASE WHEN tb_s{node} IS NULL THEN 0e0 ELSE CASE tb_s{node} {whens} END END")
    return terms


def _family_terms(network: Network, c: int) -> list[str]:
    """Write the families that contain the class; a missing value with an observed descendant makes a term NULL."""
    target = network.target
    terms = [_lookup(network, target, c)]
    for child in network.dag.children[target]:
        below = sorted(_descendants(network, child))
        empty = "".join(f" AND tb_s{node} IS NULL" for node in below)
        terms.append(f"CASE WHEN tb_s{child} IS NULL{empty} THEN 0e0 ELSE {_lookup(network, child, c)} END")
    return terms


def _descendants(network: Network, node: int) -> set[int]:
    found: set[int] = set()
    stack = [node]
    while stack:
        fresh = [child for child in network.dag.children[stack.pop()] if child not in found]
        found.update(fresh)
        stack += fresh
    return found


def _lookup(network: Network, node: int, c: int) -> str:
    """Write the logarithm of a family's probability for a class as a lookup by the other columns' states."""
    axes = network.axes(node)
    logs = np.take(network.log_tables[node], c, axis=axes.index(network.target)).ravel()
    others = [axis for axis in axes if axis != network.target]
    if not others:
        return _log(float(logs[0]))
    code, size = "", 1
    for axis in reversed(others):
        term = f"tb_s{axis}" if size == 1 else f"{size} * tb_s{axis}"
        code = f"{term} + {code}" if code else term
        size *= network.schema.cardinalities[axis]
    whens = " ".join(f"WHEN {k} THEN {_log(value)}" for k, value in enumerate(logs.tolist()))
    return f"CASE {code} {whens} END"


def _tempered(network: Network, temperature: float) -> str:
    """Raise the likelihood to the temperature: log P(c) + temperature * log P(row | c)."""
    columns = []
    for c, prior in enumerate(class_log_prior(network).tolist()):
        held = _number((1.0 - temperature) * prior if np.isfinite(prior) else 0.0)
        raised = f"{held} + {_number(temperature)} * tb_l{c}"
        columns.append(
            f"CASE WHEN tb_l{c} IS NULL THEN NULL WHEN tb_l{c} > {_number(NEVER / 2)} THEN {raised} "
            f"ELSE {_number(NEVER)} END AS tb_t{c}"
        )
    return "SELECT tb_scored.*,\n    " + ",\n    ".join(columns) + "\n  FROM tb_scored"


def _posteriors(network: Network, before: str) -> str:
    """Normalise log joints to posteriors: one over the sum of the ratios, which cannot overflow."""
    n_classes = network.schema.cardinalities[network.target]
    log = "tb_t" if before == "tb_tempered" else "tb_l"
    prior = normalize(class_log_prior(network)[None].copy(), logs=False)[0][0].tolist()
    possible = " OR ".join(f"{log}{c} > {_number(NEVER / 2)}" for c in range(n_classes))
    columns = []
    for c in range(n_classes):
        ratios = " + ".join(
            "1e0" if d == c else
            f"CASE WHEN {log}{d} - {log}{c} > {FAR} THEN 1e300 WHEN {log}{d} - {log}{c} < -{FAR} THEN 0e0 "
            f"ELSE EXP({log}{d} - {log}{c}) END"
            for d in range(n_classes)
        )  # fmt: skip
        nothing = " OR ".join(f"{log}{d} IS NULL" for d in range(n_classes))
        posterior = f"WHEN {possible} THEN 1e0 / ({ratios}) ELSE {_number(prior[c])}"
        columns.append(f"CASE WHEN {nothing} THEN NULL {posterior} END AS tb_p{c}")
    return f"SELECT {before}.*,\n    " + ",\n    ".join(columns) + f"\n  FROM {before}"


def _selection(network: Network, keep: Sequence[str]) -> str:
    """Choose the kept columns, the probabilities and the most probable class; ties go to the first."""
    column = network.schema.columns[network.target]
    labels: Sequence[Any] = column.states()
    whens = []
    for c, label in enumerate(labels[:-1]):
        best = " AND ".join(f"tb_p{c} >= tb_p{d}" for d in range(c + 1, len(labels)))
        whens.append(f"WHEN {best} THEN {_literal(label)}")
    last = _literal(labels[-1])
    chosen = f"CASE WHEN tb_p0 IS NULL THEN NULL {' '.join(whens)} ELSE {last} END"
    names = [f"tb_posterior.{_name(each)}" for each in keep]
    posteriors = [f"tb_p{c} AS {_name(f'P({column.name}={label})')}" for c, label in enumerate(column.labels())]
    listed = ",\n  ".join([*names, *posteriors, f"{chosen} AS {_name(f'predicted {column.name}')}"])
    return f"SELECT {listed}\nFROM tb_posterior"
