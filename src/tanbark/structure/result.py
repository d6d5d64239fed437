"""The result of a structure learner."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tanbark.graph import Dag


@dataclass(frozen=True)
class Learnt:
    """A learnt graph.

    Parameters
    ----------
    dag : Dag
    score : float, optional
        What the learner maximised, where it maximises something: a total in nats, or a cross-validated score.
    history : tuple of steps
        The steps of the search, where the learner searches.
    report : object, optional
        Further details of the search.
    """

    dag: Dag
    score: float | None = None
    history: tuple[Any, ...] = ()
    report: Any = None
