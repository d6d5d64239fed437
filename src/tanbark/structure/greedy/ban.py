"""Augmented naive Bayes by hill climbing: the class is a parent of every feature, and features of one another."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tanbark.checks import check_count
from tanbark.counts import CountEngine
from tanbark.errors import OptionError
from tanbark.graph import Dag
from tanbark.structure.greedy.gains import Gains
from tanbark.structure.greedy.hill_climb import Walk, search
from tanbark.structure.result import Learnt
from tanbark.structure.rules import MAX_CELLS, Arcs, Draws, make_rules


def learn(
    counts: CountEngine, *, criterion: str = "bdeu", ess: float = 1.0, conditional: bool = True,
    max_parents: int | None = None, required: Arcs = (), forbidden: Arcs = (), start: Any = None,
    space: str = "orders", patience: int | None = None, time_limit: float | None = None, tabu: int = 10,
    tabu_length: int = 10, restarts: int = 0, perturbation: int = 8, random_state: Any = None, verbose: bool = False,
    max_cells: int = MAX_CELLS,
) -> Learnt:  # fmt: skip
    """Search for the arcs among the features that score highest, the class being a parent of all.

    With ``conditional`` a family is scored with the class in it, s(X | parents, class), which is what TAN does for
    trees; without, the class is ignored until the arcs are found. ``max_parents`` counts feature parents. Arcs from the
    class are there in any case; arcs into it raise an error. The other options are those of hill climbing.

    Notes
    -----
    Friedman, Geiger and Goldszmidt (1997), section 4.3; Cheng and Greiner (1999), section 3.3.
    """
    schema = counts.schema
    target = schema.target
    if max_parents is not None:
        check_count("max_parents", max_parents)
    most = None if max_parents is None else int(max_parents) + bool(conditional)
    rules, begin = make_rules(counts, max_parents=most, required=required, forbidden=forbidden, start=start)
    if begin[:, target].any():
        msg = "In a BAN the class has no parents; take the arcs into it out of required and start."
        raise OptionError(msg)
    allowed, fixed = rules.allowed.copy(), rules.fixed.copy()
    allowed[:, target] = allowed[target] = False
    begin[target], fixed[target] = conditional, conditional
    begin[target, target] = fixed[target, target] = False
    rules = replace(rules, allowed=allowed, fixed=fixed)
    most_cells = max_cells if conditional else max_cells // schema.cardinalities[target]  # the class is added later
    gains = Gains(counts, criterion, ess=ess, allowed=allowed, max_cells=most_cells)
    walk = Walk(tabu, tabu_length, restarts, perturbation, space, verbose, patience, time_limit)
    found = search(gains, rules, begin, walk, Draws(random_state))
    inner = [tuple(p for p in parents if p != target) for parents in found.dag.parents[:target]]
    return Learnt(Dag.augmented(schema.names, inner), found.score, found.history)
