"""The cells of one family: contexts of its hierarchical CPT and of its correction, joined."""

from __future__ import annotations

from collections import defaultdict
from typing import NamedTuple

import numpy as np

from tanbark.arrays import Array, Bools, Floats, Integers
from tanbark.export.sql.cells import FILLED, FIRST, NO_STATE
from tanbark.params.context_tree import ContextTree
from tanbark.params.correction import Families

Cells = dict[int, tuple[Array, Floats]]


class Source(NamedTuple):
    """What a family adds to the logits: a tempered log-likelihood, a correction, or both.

    ``sizes`` are the states of the node and of its parents, in the order in which contexts grow. Family ``place`` of
    ``families`` has the same columns.
    """

    sizes: tuple[int, ...]
    n_classes: int
    tree: ContextTree | None = None
    power: float = 1.0
    families: Families | None = None
    place: int = 0
    scale: float = 1.0


class Reached(NamedTuple):
    """Where a context ends: for each class in the tree, for each state of the node in the correction.

    ``alive`` and ``moving`` are false where no longer context was seen.
    """

    contexts: Integers
    alive: Bools
    corrected: Integers
    moving: Bools


def family_cells(source: Source, *, missing: bool) -> Cells:
    """List the contexts of a family and their values, less that of the first class.

    ``missing`` adds the cells for a missing first parent, with the values of the node alone.
    """
    logs = None if source.tree is None else source.power * np.log(source.tree.probabilities)
    found: dict[int, list[tuple[Array, Floats]]] = defaultdict(list)
    own = np.arange(source.sizes[0])[:, None]

    def add(prefix: tuple[int, ...], reached: Reached, chosen: Integers) -> None:
        values = np.zeros((source.sizes[0], source.n_classes))
        if logs is not None:
            values += logs[reached.contexts].T
        if source.families is not None:
            values += source.scale * source.families.sums[reached.corrected]
        states = np.concatenate([own, np.tile(prefix, (len(own), 1)).astype(np.int64)], axis=1)
        found[1 + len(prefix)].append((states[chosen], (values[:, 1:] - values[:, :1])[chosen]))

    def visit(prefix: tuple[int, ...], reached: Reached) -> None:
        length = 1 + len(prefix)
        if length >= FIRST:
            everything = length == FIRST or reached.alive.any()
            add(prefix, reached, np.flatnonzero(everything | reached.moving))
        if length == len(source.sizes):
            return
        below = _below(source, reached, length)
        for state in range(source.sizes[length]):
            deeper = Reached(*(part[:, state] for part in below))
            if length < FIRST or deeper.alive.any() or deeper.moving.any():
                visit((*prefix, state), deeper)

    start = _start(source)
    everything = np.arange(source.sizes[0])
    if len(source.sizes) < FIRST:
        add((FILLED,), start, everything)
    elif missing:
        add((NO_STATE,), start, everything)
    visit((), start)
    return {length: (np.concatenate([s for s, _ in parts]), np.concatenate([v for _, v in parts]))
            for length, parts in found.items()}  # fmt: skip


def _start(source: Source) -> Reached:
    """Go to the contexts of the class in the tree, and of the node's state in the correction."""
    contexts, alive = np.zeros(source.n_classes, np.int64), np.zeros(source.n_classes, bool)
    if source.tree is not None:
        below = source.tree.children[: source.n_classes]
        contexts, alive = np.maximum(below, 0).astype(np.int64), below >= 0
    corrected, moving = np.zeros(source.sizes[0], np.int64), np.zeros(source.sizes[0], bool)
    if source.families is not None:
        families, entry = source.families, source.families.spans[source.place]
        below = families.children[families.starts[entry] :][: source.sizes[0]]
        moving = below >= 0
        corrected = np.where(moving, below, families.firsts[entry]).astype(np.int64)
    return Reached(contexts, alive, corrected, moving)


def _below(source: Source, reached: Reached, length: int) -> tuple[Array, Array, Array, Array]:
    """Return the contexts with one column more, for every state of it; where there is none, the context stays."""
    size = np.arange(source.sizes[length])
    contexts, alive = np.repeat(reached.contexts[:, None], len(size), 1), np.zeros((source.n_classes, len(size)), bool)
    if source.tree is not None:
        tree, on = source.tree, reached.alive
        begins = tree.starts[length] + (reached.contexts[on] - tree.levels[length]) * len(size)
        children = tree.children[begins[:, None] + size]
        contexts[on] = np.where(children >= 0, children, contexts[on])
        alive[on] = children >= 0
    corrected = np.repeat(reached.corrected[:, None], len(size), 1)
    moving = np.zeros(corrected.shape, bool)
    if source.families is not None:
        families, on = source.families, reached.moving
        entry = families.spans[source.place] + length
        begins = families.starts[entry] + (reached.corrected[on] - families.firsts[entry]) * len(size)
        children = families.children[begins[:, None] + size]
        corrected[on] = np.where(children >= 0, children, corrected[on])
        moving[on] = children >= 0
    return contexts, alive, corrected, moving
