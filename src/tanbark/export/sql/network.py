"""The log-joints of one network: messages up the trees of features, or one lookup per family."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product
from typing import Any

import numpy as np

from tanbark.arrays import Floats
from tanbark.export.sql.text import NEVER, Step, join_terms, log_number, number, select_step, step_from
from tanbark.export.sql.values import Codes, Rows
from tanbark.graph import Network

STATES = Codes(str, "NULL", "-1")
EXACTLY = "marginalised exactly"
PARTLY = f"{EXACTLY} where no observed column depends on them; otherwise the prediction is NULL"


def log_joint_steps(rows: Rows, network: Network, output: str) -> tuple[list[Step], str]:
    """Write the steps up to the log-joints of all classes, and how missing values are treated.

    The columns of the last step are tb_s0, tb_s1, ..., the states of the features or NULL, and the log-joints, whose
    names begin with ``output``.
    """
    steps = [*rows.value_steps(), state_step(rows)]
    if rows.strict:
        strange = join_terms([f"tb_s{place} < 0" for place in range(network.target)] or ["1 = 0"], "OR")
        flag = f"CASE WHEN {strange} THEN 1 ELSE 0 END AS tb_unknown"
        steps.append(step_from(rows.step("known"), steps[-1].name, [flag]))
    trees = _is_forest(network)
    if trees:
        steps += _tree_steps(rows, network, steps[-1].name)
    steps.append(_scored(rows, network, steps[-1].name, output, trees=trees))
    return steps, EXACTLY if trees else PARTLY


def state_step(rows: Rows) -> Step:
    """Write the states of all features: NULL for a missing value, -1 for one not seen in training if that matters."""
    held = ["tb_row"] * rows.numbered + [f"tb_k{place}" for place in range(len(rows.keep))]
    features = enumerate(rows.schema.features)
    states = [f"{rows.state(place, column, STATES)} AS tb_s{place}" for place, column in features]
    return select_step(rows.step("coded"), [*held, *states], rows.step("values"))


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


def _tree_steps(rows: Rows, network: Network, before: str) -> list[Step]:
    """Write the messages of each feature for every parent state and class, from the leaves up."""
    heights = _heights(network)
    linked = [node for node in range(network.target) if _feature_parents(network, node) or network.dag.children[node]]
    steps: list[Step] = []
    for height in range(max((heights[node] for node in linked), default=-1) + 1):
        columns = [
            f"{expression} AS {_message(node, s, c)}"
            for node in linked
            if heights[node] == height
            for s, c, expression in _messages(network, node)
        ]
        steps.append(step_from(rows.step(f"level{height}"), before, columns))
        before = steps[-1].name
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
            f"WHEN {k} THEN {number(table[s, k, c] / scale[k])}{below[k]}" for k in range(table.shape[1])
        )
        terms = [f"{number(table[s, k, c])}{below[k]}" for k in range(table.shape[1])]
        summed = " + ".join(terms) if children else number(1.0)
        yield s, c, f"CASE WHEN tb_s{node} IS NULL THEN {summed} ELSE CASE tb_s{node} {observed} END END"


# ---------------------------------------------------------------------- log joints and posteriors


def _scored(rows: Rows, network: Network, before: str, output: str, *, trees: bool) -> Step:
    columns = []
    for c in range(network.schema.cardinalities[network.target]):
        terms = _tree_terms(network, c) if trees else _family_terms(network, c)
        columns.append(f"{join_terms(terms, '+')} AS {output}{c}")
    return step_from(rows.step("scored"), before, columns)


def _tree_terms(network: Network, c: int) -> list[str]:
    terms = [log_number(network.log_tables[network.target][c])]
    for node in range(network.target):
        if _feature_parents(network, node):
            continue
        if network.dag.children[node]:
            message = _message(node, 0, c)
            terms.append(f"CASE WHEN {message} > 0 THEN LN({message}) ELSE {number(NEVER)} END")
        elif network.target in network.dag.parents[node]:
            logs = network.log_tables[node][:, c]
            whens = " ".join(f"WHEN {k} THEN {log_number(value)}" for k, value in enumerate(logs.tolist()))
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
        return log_number(float(logs[0]))
    code, size = "", 1
    for axis in reversed(others):
        term = f"tb_s{axis}" if size == 1 else f"{size} * tb_s{axis}"
        code = f"{term} + {code}" if code else term
        size *= network.schema.cardinalities[axis]
    whens = " ".join(f"WHEN {k} THEN {log_number(value)}" for k, value in enumerate(logs.tolist()))
    return f"CASE {code} {whens} END"


def tempered_step(rows: Rows, before: str, log_prior: Floats, temperature: float) -> Step:
    """Raise the likelihood to the temperature: log P(c) + temperature * log P(row | c), from tb_j to tb_l."""
    columns = []
    for c, prior in enumerate(log_prior.tolist()):
        held = number((1.0 - temperature) * prior if np.isfinite(prior) else 0.0)
        raised = f"{held} + {number(temperature)} * tb_j{c}"
        columns.append(
            f"CASE WHEN tb_j{c} IS NULL THEN NULL WHEN tb_j{c} > {number(NEVER / 2)} THEN {raised} "
            f"ELSE {number(NEVER)} END AS tb_l{c}"
        )
    return step_from(rows.step("tempered"), before, columns)
