"""Arrays of numbers as text: the bytes of the smallest type that holds them exactly, in base 64."""

from __future__ import annotations

import base64
from typing import Any

import numpy as np

from tanbark.arrays import Array
from tanbark.params.boosting.correction import Families
from tanbark.params.boosting.trees import Forest
from tanbark.params.hierarchical.context_tree import ContextTree

WHOLE = ("uint8", "uint16", "uint32")


def pack(values: Any) -> dict[str, str]:
    """Pack numbers; those that are not whole, or below zero, become float64.

    >>> pack(np.array([1.0, 2.0]))
    {'type': 'uint8', 'data': 'AQI='}
    """
    array = np.asarray(values).ravel()
    kind = next((name for name in WHOLE if _holds(array, name)), "float64")
    little = array.astype(np.dtype(kind).newbyteorder("<"))
    return {"type": kind, "data": base64.b64encode(little.tobytes()).decode("ascii")}


def _holds(array: Array, kind: str) -> bool:
    if not len(array):
        return True
    low, high = array.min(), array.max()
    return bool(low >= 0 and high <= np.iinfo(kind).max and np.all(array == np.floor(array)))


def pack_tree(tree: ContextTree) -> dict[str, Any]:
    """Pack a context tree: where every context hangs, and the counts and concentrations that make its distribution.

    ``places[v - 1]`` is the entry of ``children`` that leads to context v. The counts above zero stand one after
    another: how many each context has, their states, and level by level their values, since the deepest levels have
    whole numbers. The distribution of the root is written out.
    """
    which, states = np.nonzero(tree.counts)
    levels = [tree.counts[low:high] for low, high in zip(tree.levels[:-1], tree.levels[1:], strict=True)]
    return {
        "states": tree.states.tolist(),
        "levels": tree.levels.tolist(),
        "places": pack(_places(tree.children)),
        "held": pack(np.bincount(which, minlength=len(tree.counts))),
        "held_states": pack(states),
        "counts": [pack(level[level != 0]) for level in levels],
        "concentrations": pack(tree.concentrations),
        "root": pack(tree.probabilities[0]),
    }


def pack_families(families: Families) -> dict[str, Any]:
    """Pack the contexts of a correction; ``places`` has the entries of ``children`` that lead to a context, by context.

    Contexts that no entry leads to are the roots of the families.
    """
    names = ("columns", "spans", "states", "firsts", "starts")
    return {
        **{name: getattr(families, name).tolist() for name in names},
        "places": pack(_places(families.children)),
        "n_children": len(families.children),
        "sums": pack(families.sums),
    }


def pack_forest(forest: Forest) -> dict[str, Any]:
    """Pack boosted trees; columns are numbered from one, zero is a leaf, and states below ``bounds`` go left."""
    nodes = forest.nodes
    return {
        "roots": pack(forest.roots),
        "columns": pack(nodes.features + 1),
        "bounds": pack(nodes.thresholds + 1),
        **{name: pack(getattr(nodes, name)) for name in ("lefts", "missing", "fractions", "masks")},
        "values": pack(nodes.values),
        "width": nodes.masks.shape[1],
        "ordered": forest.ordered.tolist(),
    }


def _places(children: Array) -> Array:
    """Return the entries that lead to a context, ordered by the contexts that they lead to."""
    found = np.flatnonzero(children >= 0)
    return found[np.argsort(children[found], kind="stable")]
