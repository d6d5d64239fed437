"""The peers, one module each.

A peer module has ``NAME``, ``INSTALL`` (how to get it), ``available()`` (None, or the reason why not) and
``version()``, and whichever of these works it can do, each a context manager that gives a ``Work``:

- ``tan_fit(table)``, ``nb_fit(table)``
- ``tan_predict(table, X)``, ``nb_predict(table, X)``: class probabilities of complete rows
- ``tan_predict_gaps(table, X)``: the same for rows with NaN, exactly
- ``aode(table, X)``: fit averaged one-dependence estimators, and class probabilities of complete rows

``MAX_PAIR_ROWS`` is the most rows times pairs of features the peer can fit in two or three minutes; ``MAX_ROWS`` and
``MAX_ROWS_GAPS`` are how many rows it is given to predict, where it would need minutes for all of them. Native input
is made before the clock starts.
"""

from __future__ import annotations

from types import ModuleType

from benchmarks.speed.peers import bnclassify_r, bnlearn_r, pgmpy_peer, pyagrum_peer, sklearn_peer, weka_aode, weka_java

PEERS: tuple[ModuleType, ...] = (
    sklearn_peer, pgmpy_peer, pyagrum_peer, bnlearn_r, bnclassify_r, weka_java, weka_aode,
)  # fmt: skip


def peers_for(work: str) -> list[ModuleType]:
    """The peers that can do a work, installed or not."""
    return [peer for peer in PEERS if hasattr(peer, work)]
