"""What a structure learner gives back."""

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
        How a search got there, where the learner searches.
    report : object, optional
        What else the learner can tell of its work.
    """

    dag: Dag
    score: float | None = None
    history: tuple[Any, ...] = ()
    report: Any = None
