"""Corrections as lists of plain numbers, for the model file, and back."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from tanbark.arrays import Array
from tanbark.params.boosting.correction import Families, FamilyContexts, join_families
from tanbark.table.schema_json import demand, is_number, read_list


def list_families(families: Families) -> list[dict[str, Any]]:
    """List the columns of every family and, for each context but its root, the one above, the last state, the sums."""
    last_state = np.zeros(len(families.above), np.int64)
    ends = np.append(families.starts, len(families.children))[1:]
    for start, end, size in zip(families.starts, ends, families.states, strict=True):
        block = families.children[start:end]
        places = np.flatnonzero(block >= 0)
        last_state[block[places]] = places % size
    found, spans = [], families.spans
    roots = np.append(families.firsts[spans[:-1]], len(families.above)).tolist()
    for family, (root, end) in enumerate(pairwise(roots)):
        found.append({
            "columns": families.columns[spans[family] : spans[family + 1]].tolist(),
            "above": (families.above[root + 1 : end] - root).tolist(),
            "states": last_state[root + 1 : end].tolist(),
            "sums": families.sums[root + 1 : end].tolist(),
        })  # fmt: skip
    return found


def read_families(document: Any, sizes: Sequence[int], n_classes: int) -> Families:
    """Read families back; anything that does not fit the columns raises an error."""
    parts, sums = [], [np.zeros((0, n_classes))]
    for item in read_list(document, "corrections"):
        columns = _whole_numbers(item["columns"], len(sizes) - 1, "columns")
        demand(0 < len(columns) == len(set(columns.tolist())), "a correction has no columns or one of them twice")
        above = _whole_numbers(item["above"], len(item["above"]) + 1, "contexts")
        states = _whole_numbers(item["states"], max(sizes), "states")
        rows = [read_list(row, "sums of corrections") for row in read_list(item["sums"], "sums of corrections")]
        demand(len(rows) == len(above) == len(states), "there are not as many corrections as contexts")
        demand(all(len(row) == n_classes and all(map(is_number, row)) for row in rows), "a correction is no number")
        parts.append(_read_contexts(columns, above, states, np.array(sizes, np.int64)))
        sums += [np.zeros((1, n_classes)), np.array(rows, float).reshape(-1, n_classes)]
    return join_families(parts, np.array(sizes, np.int64), np.concatenate(sums))


def _read_contexts(columns: Array, above: Array, states: Array, sizes: Array) -> FamilyContexts:
    """Find the children of all contexts, level by level."""
    depths = np.zeros(len(above) + 1, np.int64)
    for context, up in enumerate(above.tolist(), start=1):
        demand(up < context, "a context of a correction comes before the one above it")
        depths[context] = depths[up] + 1
    deepest = len(columns)
    demand(bool((np.diff(depths) >= 0).all() and depths[-1] <= deepest), "the contexts of a correction are not sorted")
    levels = np.searchsorted(depths, np.arange(deepest + 2))
    children = []
    for level, column in enumerate(columns.tolist()):
        first, last = levels[level + 1], levels[level + 2]
        inside = states[first - 1 : last - 1]
        demand((inside < sizes[column]).all(), "a context of a correction has a state that its column lacks")
        block = np.full((levels[level + 1] - levels[level]) * sizes[column], -1, np.int32)
        places = (above[first - 1 : last - 1] - levels[level]) * sizes[column] + inside
        demand(len(np.unique(places)) == len(places), "a context of a correction is there twice")
        block[places] = np.arange(first, last)
        children.append(block)
    return FamilyContexts(columns, levels, np.concatenate(children), np.append(0, above))


def _whole_numbers(document: Any, limit: int, what: str) -> Array:
    numbers = read_list(document, what)
    demand(all(type(n) is int and 0 <= n < limit for n in numbers), f"{what} of a correction are out of range")
    return np.array(numbers, np.int64)
