"""A graph given by the user."""

from __future__ import annotations

from collections.abc import Iterable

from tanbark.counts import CountEngine
from tanbark.graph import Dag
from tanbark.structure.result import Learnt
from tanbark.structure.rules import check_arcs


def learn(counts: CountEngine, *, arcs: Iterable[tuple[str, str]] = ()) -> Learnt:
    """Take the given (parent, child) arcs as the graph."""
    check_arcs("arcs", arcs)
    return Learnt(Dag.from_arcs(arcs, counts.schema.names))
