"""A structure that somebody drew."""

from __future__ import annotations

from collections.abc import Iterable

from tanbark.counts import CountEngine
from tanbark.errors import OptionError
from tanbark.graph import Dag
from tanbark.structure.result import Learnt


def learn(counts: CountEngine, *, arcs: Iterable[tuple[str, str]] = ()) -> Learnt:
    """Take the given (parent, child) arcs as the graph."""
    if isinstance(arcs, str) or iter(arcs) is arcs:
        msg = f"arcs must be a list of (parent, child) pairs; got {type(arcs).__name__}, which can be read only once."
        raise OptionError(msg)
    return Learnt(Dag.from_arcs(arcs, counts.schema.names))
