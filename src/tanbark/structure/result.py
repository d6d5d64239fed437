"""What a structure learner gives back."""

from __future__ import annotations

from dataclasses import dataclass

from tanbark.graph import Dag


@dataclass(frozen=True)
class Learnt:
    """A learnt graph.

    Parameters
    ----------
    dag : Dag
    score : float, optional
        The total that the learner maximised, in nats, where it maximises one.
    """

    dag: Dag
    score: float | None = None
