"""The cells of one family: the contexts of its hierarchical CPT, or of its correction."""

from __future__ import annotations

from collections import defaultdict
from typing import NamedTuple

import numpy as np

from tanbark.arrays import Array, Bools, Floats, Integers
from tanbark.export.sql.cells import FILLED, FIRST, NO_STATE
from tanbark.params.boosting.correction import Families
from tanbark.params.hierarchical.context_tree import ContextTree

Cells = dict[int, tuple[Array, Floats]]


class Source(NamedTuple):
    """What a family adds to the logits: contexts that grow by one column at a time, and their values.

    ``sizes`` are the states of the node and of its parents, in the order in which contexts grow. There is one context
    for each of ``n_first``: the classes of a likelihood, the states of the node of a correction. The one below context
    v of length l for state s is ``children[starts[l] + (v - firsts[l]) * size + s]``, or -1 where no row was seen; the
    root is ``firsts[0]``. Row v of ``values`` has the states of the node in a likelihood, the classes in a correction.
    """

    sizes: tuple[int, ...]
    n_first: int
    children: Array
    starts: Array
    firsts: Array
    values: Floats
    by_class: bool

    def cells(self, contexts: Integers) -> Floats:
        """Return the values by state of the node and class, less that of the first class."""
        found = self.values[contexts].T if self.by_class else self.values[contexts]
        return np.asarray(found[:, 1:] - found[:, :1])

    def below(self, reached: Reached, length: int) -> Reached:
        """Return the contexts with one column more, (contexts, states); where there is none, the context stays."""
        size = self.sizes[length]
        begins = self.starts[length] + (reached.contexts[reached.alive] - self.firsts[length]) * size
        children = self.children[begins[:, None] + np.arange(size)]
        contexts = np.repeat(reached.contexts[:, None], size, 1)
        alive = np.zeros(contexts.shape, bool)
        contexts[reached.alive] = np.where(children >= 0, children, contexts[reached.alive])
        alive[reached.alive] = children >= 0
        return Reached(contexts, alive)

    def start(self) -> Reached:
        """Return the contexts below the root."""
        below = self.children[self.starts[0] :][: self.n_first]
        return Reached(np.where(below >= 0, below, self.firsts[0]).astype(np.int64), below >= 0)


class Reached(NamedTuple):
    """Where contexts end; ``alive`` is false where no longer one was seen."""

    contexts: Integers
    alive: Bools


def likelihood_source(tree: ContextTree, sizes: tuple[int, ...], power: float) -> Source:
    """Return the log-likelihood of a family, to a power."""
    logs = power * np.log(tree.probabilities)
    return Source(sizes, int(tree.states[0]), tree.children, tree.starts, tree.levels, logs, by_class=True)


def correction_source(families: Families, place: int, sizes: tuple[int, ...]) -> Source:
    """Return the correction of the family at ``place``."""
    span = slice(families.spans[place], families.spans[place + 1])
    starts, firsts = families.starts[span], families.firsts[span]
    return Source(sizes, sizes[0], families.children, starts, firsts, families.sums, by_class=False)


def family_cells(source: Source, *, missing: bool) -> Cells:
    """List the contexts of a family and their values.

    ``missing`` adds the cells for a missing first parent, with the values of the node alone.
    """
    found: dict[int, list[tuple[Array, Floats]]] = defaultdict(list)
    own = np.arange(source.sizes[0])

    def add(prefix: tuple[int, ...], reached: Reached) -> None:
        length = 1 + len(prefix)
        chosen = own if source.by_class or length == FIRST else own[reached.alive]
        states = np.concatenate([own[:, None], np.tile(prefix, (len(own), 1)).astype(np.int64)], axis=1)
        found[length].append((states[chosen], source.cells(reached.contexts)[chosen]))

    def visit(prefix: tuple[int, ...], reached: Reached) -> None:
        length = 1 + len(prefix)
        if length >= FIRST:
            add(prefix, reached)
        if length == len(source.sizes):
            return
        below = source.below(reached, length)
        for state in range(source.sizes[length]):
            deeper = Reached(below.contexts[:, state], below.alive[:, state])
            if length < FIRST or deeper.alive.any():
                visit((*prefix, state), deeper)

    start = source.start()
    if len(source.sizes) < FIRST:
        add((FILLED,), start)
    elif missing:
        add((NO_STATE,), start)
    visit((), start)
    return {length: (np.concatenate([s for s, _ in parts]), np.concatenate([v for _, v in parts]))
            for length, parts in found.items()}  # fmt: skip
