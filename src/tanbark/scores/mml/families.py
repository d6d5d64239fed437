"""Message lengths that are functions of counts alone: multinomials, CPTs, naive Bayes, arcs."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from tanbark.arrays import Floats
from tanbark.errors import find
from tanbark.scores.dirichlet import log_gamma_ratio, log_marginal
from tanbark.scores.mml.lengths import STATED, MessageLength, lattice


def adaptive(counts: ArrayLike, *, alpha: float = 1.0) -> float:
    r"""Length of a column encoded value by value, each with the predictive probabilities given the earlier ones.

    .. math:: \ln\frac{\Gamma(N + r\alpha)}{\Gamma(r\alpha)} + \sum_k \ln\frac{\Gamma(\alpha)}{\Gamma(n_k + \alpha)}

    Parameters
    ----------
    counts : (..., n_states) array
        Rows are encoded independently of one another, and add up.
    alpha : float
        Pseudo-count of every state.

    Notes
    -----
    Exact, one-part, and the same for every order of the values. Boulton and Wallace (1969).

    >>> round(adaptive([3, 7]), 6), round(adaptive([1, 0]), 6)
    (7.185387, 0.693147)
    """
    n = np.asarray(counts, dtype=float)
    return -log_marginal(n.reshape(-1, n.shape[-1]), alpha=alpha)


def mml87(counts: ArrayLike, *, alpha: float = 1.0) -> MessageLength:
    r"""Two-part length of one multinomial column with estimates :math:`(n_k + \alpha - 1/2) / (N + r\alpha - r/2)`.

    Kept for its estimates and as a reference: with few rows it is shorter than any code can be. The difference from
    :func:`adaptive` tends to ``STATED`` for every free parameter. Wallace (2005), section 5.4.

    >>> round(mml87([3, 7]).total, 6)
    7.289244
    """
    n = np.asarray(counts, dtype=float)
    r, total = len(n), float(n.sum())
    if total == 0:
        return MessageLength(0.0, d=r - 1)
    pseudo = n + alpha - 0.5
    theta = pseudo / pseudo.sum()
    seen = pseudo > 0
    log_theta = np.zeros(r)
    log_theta[seen] = np.log(theta[seen])
    nll = -float((n * log_theta).sum())
    from scipy.special import gammaln  # late: reading a saved network needs no scipy

    prior = float(r * gammaln(alpha) - gammaln(r * alpha) - ((alpha - 1) * log_theta).sum())
    fisher = 0.5 * float((r - 1) * math.log(total) - log_theta.sum())
    return MessageLength(nll, prior, fisher, lattice(r - 1), r - 1)


def cpt(counts: ArrayLike, *, alpha: float = 1.0, stated: str = "none", n_configs: int | None = None) -> MessageLength:
    r"""Length of a column encoded by a full CPT: one multinomial for every configuration of its parents.

    .. math:: \sum_j A(N_j) + K (r - 1) \tfrac12\ln\frac{\pi e}{6}

    Parameters
    ----------
    counts : (n_configs, n_states) array
        Rows are parent configurations; those that never occur may be left out.
    alpha : float
        Prior mass per cell.
    stated : {"none", "observed", "all"}
        Of how many configurations K the parameters are stated: of none (one-part), of those that occur, or of all.
    n_configs : int, optional
        How many configurations there are in all, where ``counts`` leaves some out.

    Notes
    -----
    Wallace and Korb (1999), section 3.

    >>> round(cpt([[2, 0], [0, 1]]).total, 4), round(cpt([[2, 0], [0, 1]], stated="all").total, 4)
    (1.7918, 2.1447)
    """
    n = np.asarray(counts, dtype=float)
    every = len(n) if n_configs is None else n_configs
    n_stated = find("stated", stated, {"none": 0, "observed": int((n.sum(axis=1) > 0).sum()), "all": every})
    free = (n.shape[1] - 1) * n_stated
    one_part = stated == "none"
    return MessageLength(adaptive(n, alpha=alpha), lattice=STATED * free, d=free, one_part=one_part)


def family_score(counts: ArrayLike, *, alpha: float = 1.0, stated: str = "none") -> float:
    """Minus the message length of one family, as a decomposable score: nits, higher is better.

    Parameters
    ----------
    counts : (n_configs, n_states) array
    alpha, stated
        As in :func:`cpt`.

    >>> round(family_score([[2, 0], [0, 1]]), 4)
    -1.7918
    """
    return -cpt(counts, alpha=alpha, stated=stated).total


def nb_gain(table: ArrayLike, *, alpha: float = 1.0) -> float:
    """Nits saved by encoding a feature given the class, A(X) - sum over classes of A(X | y).

    Parameters
    ----------
    table : (n_states, n_classes) array

    Notes
    -----
    A log Bayes factor: above 0 the arc from the class pays. It does not depend on the other features.

    >>> round(nb_gain([[5, 0], [0, 5]]), 4)
    4.3438
    """
    n = np.asarray(table, dtype=float)
    return adaptive(n.sum(axis=1), alpha=alpha) - adaptive(n.T, alpha=alpha)


def nb_joint(
    class_counts: ArrayLike, tables: Sequence[ArrayLike], chosen: Sequence[int] | None = None, *, alpha: float = 1.0
) -> MessageLength:
    """Length of the class and of all features, the chosen ones encoded given the class and the others alone.

    Parameters
    ----------
    class_counts : (n_classes,) array
    tables : sequence of (n_states, n_classes) arrays
        Every feature with the class, chosen or not: lengths are comparable only if they encode the same columns.
    chosen : sequence of positions, optional
        By default all.
    alpha : float

    Notes
    -----
    The joint message of naive Bayes, class first. It adds up over features, so no search is needed, and it does not
    detect redundant features.

    >>> table = [[5, 0], [0, 5]]
    >>> round(nb_joint([5, 5], [table], []).total - nb_joint([5, 5], [table]).total, 4)
    4.3438
    """
    inside = set(range(len(tables)) if chosen is None else chosen)
    total = adaptive(class_counts, alpha=alpha)
    free = np.asarray(class_counts).shape[-1] - 1
    for feature, table in enumerate(tables):
        n = np.asarray(table, dtype=float)
        encoded = n.T if feature in inside else n.sum(axis=1)[None]
        total += adaptive(encoded, alpha=alpha)
        free += (n.shape[0] - 1) * len(encoded)
    return MessageLength(total, d=free, one_part=True)


def arc_gains(counts: ArrayLike, *, alpha: float = 1.0) -> tuple[Floats, Floats]:
    """Nits saved by an arc between two features given the class, for both directions.

    Parameters
    ----------
    counts : (..., n_x, n_y, n_classes) array
        Any number of pairs with the same numbers of states.

    Returns
    -------
    gains of x -> y and of y -> x
        A(Y | C) - A(Y | X, C), and the same with the roles exchanged. The two differ a little: uniform priors of the
        rows of a CPT do not form a prior of the joint distribution.

    >>> forth, back = arc_gains([[[4], [0]], [[0], [4]]])
    >>> round(float(forth), 4), round(float(back), 4)
    (3.2268, 3.2268)
    """
    n = np.asarray(counts, dtype=float)
    cells = log_gamma_ratio(n, alpha).sum(axis=(-3, -2, -1))
    return _both_ways(cells, n.sum(axis=-2), n.sum(axis=-3), alpha)


def sparse_arc_gains(
    cells: ArrayLike, x_class: ArrayLike, y_class: ArrayLike, *, alpha: float = 1.0
) -> tuple[float, float]:
    """Return :func:`arc_gains` of one pair, from the counts of its observed cells and two margins.

    Parameters
    ----------
    cells : (n_cells,) array
    x_class, y_class : (n_x, n_classes) and (n_y, n_classes) arrays

    >>> forth, back = sparse_arc_gains([4, 4], [[4], [4]], [[4], [4]])
    >>> round(forth, 4), round(back, 4)
    (3.2268, 3.2268)
    """
    joint = np.asarray(log_gamma_ratio(np.asarray(cells, dtype=float), alpha).sum())
    forth, back = _both_ways(joint, np.asarray(x_class, dtype=float), np.asarray(y_class, dtype=float), alpha)
    return float(forth), float(back)


def _both_ways(cells: Floats, x_class: Floats, y_class: Floats, alpha: float) -> tuple[Floats, Floats]:
    by_class = x_class.sum(axis=-2)

    def gain(child: Floats, parent: Floats) -> Floats:
        states = child.shape[-2]
        alone = log_gamma_ratio(by_class, states * alpha).sum(axis=-1) - log_gamma_ratio(child, alpha).sum(
            axis=(-2, -1)
        )
        helped = log_gamma_ratio(parent, states * alpha).sum(axis=(-2, -1)) - cells
        return np.asarray(alone - helped)

    return gain(y_class, x_class), gain(x_class, y_class)
