"""Minimum message length: the length in nits of a message that encodes the class column, and of its parts.

Message lengths are in nits (natural logarithms), totals, and shorter is better; only :func:`family_score` and
:func:`arc_gains` have the opposite sign, so that they can serve as decomposable scores.
"""

from tanbark.scores.mml.conditional import logit, nb_logit
from tanbark.scores.mml.families import (
    adaptive,
    arc_gains,
    cpt,
    family_score,
    mml87,
    nb_gain,
    nb_joint,
    sparse_arc_gains,
)
from tanbark.scores.mml.lengths import STATED, MessageLength, lattice, unstated
from tanbark.scores.mml.sequential import mbp, nb_adaptive, polytrees

__all__ = [
    "STATED",
    "MessageLength",
    "adaptive",
    "arc_gains",
    "cpt",
    "family_score",
    "lattice",
    "logit",
    "mbp",
    "mml87",
    "nb_adaptive",
    "nb_gain",
    "nb_joint",
    "nb_logit",
    "polytrees",
    "sparse_arc_gains",
    "unstated",
]
