"""Boosted trees as nested CASE expressions, one for each tree.

Numbers are compared with cuts. The state of a category is one bit of an integer, so that a set of states is a number
too. With two classes an expression has the value of the leaf; with more, the position of the leaf, at which the values
of each class are read from a string: databases plan one CASE expression for all classes much faster than one for each.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from tanbark.arrays import Floats
from tanbark.export.sql.text import DECIMALS, Step, join_terms, number, select_step
from tanbark.export.sql.values import Codes, Rows
from tanbark.params.boosting.trees import LEAF, Forest
from tanbark.table import Column, Schema

WORD = 60  # states of one integer


def features_read(forest: Forest) -> set[int]:
    """Return the features that the trees read."""
    return set(forest.nodes.features[forest.nodes.features != LEAF].tolist())


def tree_inputs(rows: Rows, schema: Schema, forest: Forest) -> list[str]:
    """Write what the trees compare, from the step ``values``: numbers as they are, and categories as bits.

    Columns are tb_vi for a number, and tb_bi_0, tb_bi_1, ... for a category, with ``WORD`` states each.
    """
    listed = []
    for place in sorted(features_read(forest)):
        column = schema.columns[place]
        if forest.ordered[place]:
            listed.append(f"tb_v{place}")
            continue
        words = range(-(-column.n_states // WORD))
        listed += [f"{rows.state(place, column, _bits(word))} AS tb_b{place}_{word}" for word in words]
    return listed


def _bits(word: int) -> Codes:
    return Codes(lambda state: str(1 << state % WORD) if state // WORD == word else "0", "0", "0")


def tree_steps(
    rows: Rows, before: str, held: Sequence[str], schema: Schema, forest: Forest, scale: float
) -> list[Step]:  # fmt: skip
    """Write the steps up to ``corrected``: columns that are held, and tb_d1, tb_d2, ..., the sums over all trees.

    The sums are multiplied by ``scale``, less that of the first class.
    """
    values = scale * _less_first(forest.nodes.values)
    columns, found = list(held), []
    if values.shape[1] == 1:
        terms = [_nested(schema, forest, root, lambda leaf: number(values[leaf, 0])) for root in forest.roots.tolist()]
        columns.append(f"{join_terms(terms, '+')} AS tb_d1")
    else:
        step, leaves = _leaf_step(rows, before, held, schema, forest)
        before, found = step.name, [step]
        columns += [f"{_looked_up(leaves, values[:, k])} AS tb_d{k + 1}" for k in range(values.shape[1])]
    return [*found, select_step(rows.step("corrected"), columns, before)]


def _less_first(values: Floats) -> Floats:
    return values if values.shape[1] == 1 else values[:, 1:] - values[:, :1]


def _leaf_step(
    rows: Rows, before: str, held: Sequence[str], schema: Schema, forest: Forest
) -> tuple[Step, list[list[int]]]:
    """Write tb_t0, tb_t1, ..., the position in its tree of the leaf that a row is in, and list the leaves."""
    columns, found = list(held), []
    for t, root in enumerate(forest.roots.tolist()):
        leaves: list[int] = []

        def place(leaf: int, leaves: list[int] = leaves) -> str:
            leaves.append(leaf)
            return str(len(leaves) - 1)

        columns.append(f"{_nested(schema, forest, root, place)} AS tb_t{t}")
        found.append(leaves)
    return select_step(rows.step("leaves"), columns, before), found


def _looked_up(leaves: Sequence[Sequence[int]], values: Floats) -> str:
    """Write the sum of the values of one class, read from strings at the positions of the leaves."""
    wide = len(f"{-np.abs(values).max(initial=0.0):.{DECIMALS}f}")
    terms = []
    for t, chosen in enumerate(leaves):
        text = "".join(f"{value:0{wide}.{DECIMALS}f}" for value in values[chosen].tolist())
        terms.append(f"CAST(SUBSTR('{text}', {wide} * tb_t{t} + 1, {wide}) AS DOUBLE PRECISION)")
    return join_terms(terms, "+")


def _nested(schema: Schema, forest: Forest, node: int, write: Callable[[int], str]) -> str:
    """Write the CASE expression of a node; ``write`` is called for every leaf that a known value can reach."""
    nodes = forest.nodes
    feature, left = int(nodes.features[node]), int(nodes.lefts[node])
    if feature == LEAF:
        return write(node)
    condition = _condition(schema.columns[feature], feature, forest, int(nodes.thresholds[node]))
    if not condition:
        return _nested(schema, forest, left + 1, write)
    below = [_nested(schema, forest, child, write) for child in (left, left + 1)]
    return f"CASE WHEN {condition} THEN {below[0]} ELSE {below[1]} END"


def _condition(column: Column, feature: int, forest: Forest, threshold: int) -> str:
    """Write the condition of going left; empty where missing values alone do."""
    if forest.ordered[feature]:
        return "" if threshold < 0 else f"tb_v{feature} <= {number(column.cuts[threshold])}"
    states, parts = np.flatnonzero(forest.nodes.masks[threshold]).tolist(), []
    for word in range(-(-column.n_states // WORD)):
        mask = sum(1 << state % WORD for state in states if state // WORD == word)
        if mask:
            parts.append(f"(tb_b{feature}_{word} & {mask}) > 0")
    return " OR ".join(parts)
