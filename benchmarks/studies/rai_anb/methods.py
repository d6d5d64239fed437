"""The methods of the paper, and the other readings of its words that were tried."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from scipy.special import xlogy

from tanbark.counts import MemoryCounts
from tanbark.graph import Dag
from tanbark.graph.spanning import pair_indices
from tanbark.structure import LEARNERS
from tanbark.structure.ascent import climb
from tanbark.structure.conditional.climb import ConditionalClimb, _class_first, _class_last
from tanbark.structure.conditional.rows import DistinctRows
from tanbark.structure.greedy.moves import REVERSE
from tanbark.structure.result import Learnt
from tanbark.structure.rules import MAX_CELLS
from tanbark.structure.trace import Trace
from tanbark.structure.trees.tan import best_forest

Method = tuple[str | Callable[..., Learnt], dict]

METHODS: dict[str, Method] = {
    "Naive Bayes": ("naive", {}),
    "TAN": ("tan", {}),
    "GBN-CMDL": ("cmdl-gbn", {}),
    "BNC2P": ("bnc2p", {}),
    "TAN-aCLL": ("acll-tan", {}),
    "exact-GBN": ("exact-gbn", {}),
    "exact-ANB": ("exact-anb", {}),
    "RAI-GBN": ("rai-gbn", {}),
    "RAI-ANB": ("rai-anb", {}),
}


def learn(counts: MemoryCounts, method: Method) -> Learnt:
    """Learn with a learner of the package, named, or with a function of this study."""
    learner, options = method
    return (LEARNERS[learner].learn if isinstance(learner, str) else learner)(counts, **options)


class WithoutReversal(ConditionalClimb):
    """The search of GBN-CMDL by additions and deletions alone."""

    def legal(self) -> np.ndarray:
        found = super().legal()
        found[REVERSE] = False
        return found


def learn_cmdl(
    counts: MemoryCounts, *, start: str | None = None, reversals: bool = True, max_parents: int | None = None,
    class_arcs: str = "any",
) -> Learnt:  # fmt: skip
    """Search by conditional description length from a start, with some moves left out.

    ``start`` is None, "naive" or "tan"; ``class_arcs="out"`` allows no parents of the class.
    """
    names = counts.schema.names
    begin = LEARNERS["tan"].learn(counts).dag if start == "tan" else start
    forbidden = [(name, names[-1]) for name in names[:-1]] if class_arcs == "out" else ()
    rules, arcs = _class_first(counts, max_parents, (), forbidden, begin)
    rows, make = DistinctRows(counts), ConditionalClimb if reversals else WithoutReversal
    penalty = 0.5 * math.log(rows.total)
    score, found = climb(
        lambda: make(rows, rules, arcs, penalty=penalty, max_cells=MAX_CELLS, threads=1), Trace()
    )  # fmt: skip
    return Learnt(_class_last(counts, found), score)


def learn_plain_tree(counts: MemoryCounts) -> Learnt:
    """Learn the tree of highest mutual information between features, the class left aside, then add the class."""
    schema = counts.schema
    n = len(schema.features)
    first, second = pair_indices(n)
    codes = counts.table.codes[:n].astype(np.int64)

    def entries(cells: np.ndarray) -> float:
        times = np.bincount(cells)
        return float(xlogy(times, times).sum())

    single = [entries(column) for column in codes]
    gains = np.full(len(first), counts.total * math.log(counts.total))
    for place, (i, j) in enumerate(zip(first.tolist(), second.tolist(), strict=True)):
        gains[place] += entries(codes[i] * schema.cardinalities[j] + codes[j]) - single[i] - single[j]
    parents, _ = best_forest(gains, np.array(schema.cardinalities[:n], float), None)
    return Learnt(Dag.augmented(schema.names, parents), None)


RAI_VARIANTS: dict[str, Method] = {"RAI-ANB, order 1": ("rai-anb", {"start_order": 1})}
TAN_VARIANTS: dict[str, Method] = {"TAN, class left aside": (learn_plain_tree, {})}
CMDL_VARIANTS: dict[str, Method] = {
    "GBN-CMDL, no reversal": (learn_cmdl, {"reversals": False}),
    "GBN-CMDL, naive": (learn_cmdl, {"start": "naive"}),
    "GBN-CMDL, naive, no reversal": (learn_cmdl, {"start": "naive", "reversals": False}),
    "GBN-CMDL, TAN": (learn_cmdl, {"start": "tan"}),
    "GBN-CMDL, class a root": (learn_cmdl, {"class_arcs": "out"}),
    "GBN-CMDL, two parents": (learn_cmdl, {"max_parents": 2}),
    "GBN-CMDL, naive, two parents": (learn_cmdl, {"start": "naive", "max_parents": 2}),
}
ALL: dict[str, Method] = {**METHODS, **RAI_VARIANTS, **TAN_VARIANTS, **CMDL_VARIANTS}
