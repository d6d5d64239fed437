r"""At which probabilities of two classes asking on is worth more than deciding.

The region is drawn around one row with the observed values e. Let q be the posterior of the second class as it is, and
suppose that it were p instead, while everything that the features tell is held:

* the likelihoods of the states, :math:`P(s | e, c)`, so that s is seen with probability
  :math:`P_p(s) = (1 - p) P(s | e, c_0) + p P(s | e, c_1)`;
* the weight of evidence of every state, so that the posterior after it is :math:`p_s` with
  :math:`\mathrm{logit}\, p_s - \mathrm{logit}\, p = \mathrm{logit}\, p(c_1 | e, s) - \mathrm{logit}\, q`.

The value of asking for a feature F at p is :math:`V_F(p) = \sum_s P_p(s) [k_{d^*}(p_s) - \min_d k_d(p_s)]` with
:math:`d^*` the decision of least expected cost at p. The region has those p where :math:`V_F(p)` is greater than what
the question costs for at least one F. At p = q it is the value of asking itself: the row is in the region if and only
if asking is worth it. For one network, with temperature and correction or without, p is the posterior that other odds
of the classes before any evidence would give, because both held quantities do not depend on them; for averages of
several models that holds only approximately, and what is held is the definition.

In a network without temperature and correction every :math:`V_F` is convex between the thresholds of decisions, so
that the region of two decisions is one interval around the threshold. In other models, or with further decisions, it
may have several parts.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tanbark.arrays import Bools, Floats
from tanbark.estimators.questions.model import Outcomes

LEAST = 1e-12  # values below are rounding
STEPS, FURTHEST = 1024, 16.0  # points at which it is looked for, in log-odds from -FURTHEST to FURTHEST
HALVINGS = 60
BLOCK = 1 << 20  # entries that are held at once

Region = tuple[tuple[float, float], ...]


def asking_region(before: Floats, seen: Sequence[Outcomes], matrix: Floats, prices: Floats) -> Region:
    """Return the intervals of P(second class) in which it is worth to ask before deciding.

    They are looked for at 1,025 points that are equally spaced in log-odds from -16 to 16, at the thresholds between
    decisions and at the present probability; borders between them are found by bisection. A part, or a gap, that lies
    between two neighbouring points is not found.

    Parameters
    ----------
    before : (2,) array
        The class probabilities as things are.
    seen : what may be seen in every feature
    matrix : (2, n_decisions) array
        The costs.
    prices : (n_features,) array
        What it costs to ask for each feature, all of the table.
    """
    if not (before > 0.0).all() or not seen:
        return ()
    inside = _Inside(before, seen, matrix, prices)
    logits = np.linspace(-FURTHEST, FURTHEST, STEPS + 1)
    points = np.unique(np.concatenate([1.0 / (1.0 + np.exp(-logits)), _thresholds(matrix), before[1:]]))
    within = inside(points)
    found = []
    edges = np.flatnonzero(np.diff(np.concatenate([[False], within, [False]]).astype(np.int8)))
    for first, last in zip(edges[::2], edges[1::2] - 1, strict=True):
        low = points[first] if first == 0 else _border(inside, points[first - 1], points[first])
        high = points[last] if last == len(points) - 1 else _border(inside, points[last + 1], points[last])
        found.append((float(low), float(high)))
    return tuple(found)


class _Inside:
    """Whether asking is worth it, as a function of the probability of the second class."""

    def __init__(self, before: Floats, seen: Sequence[Outcomes], matrix: Floats, prices: Floats) -> None:
        kept = [each for each in seen if each.possible.any()]
        self.likelihoods = np.concatenate([each.likelihoods[each.possible] for each in kept] or [np.zeros((0, 2))])
        after = np.concatenate([each.posteriors[each.possible] for each in kept] or [np.zeros((0, 2))])
        self.ratios = after / before
        self.starts = np.cumsum([0, *(int(each.possible.sum()) for each in kept)])[:-1]
        self.least = np.array([max(float(prices[each.column]), 0.0) + LEAST for each in kept])
        self.matrix = matrix

    def __call__(self, points: Floats) -> Bools:
        if not len(self.least):
            return np.zeros(len(points), np.bool_)
        step = max(1, BLOCK // (self.ratios.size * self.matrix.shape[1]))
        return np.concatenate([self._some(points[low : low + step]) for low in range(0, len(points), step)])

    def _some(self, points: Floats) -> Bools:
        classes = np.column_stack([1.0 - points, points])
        chances = classes @ self.likelihoods.T
        weights = classes[:, None] * self.ratios
        total = weights.sum(axis=2, keepdims=True)
        posteriors = np.where(total > 0.0, weights / np.where(total > 0.0, total, 1.0), classes[:, None])
        costs = posteriors @ self.matrix
        chosen = (classes @ self.matrix).argmin(axis=1)
        saved = np.take_along_axis(costs, chosen[:, None, None], axis=2)[..., 0] - costs.min(axis=2)
        values = np.add.reduceat(chances * saved, self.starts, axis=1)
        return np.asarray((values > self.least).any(axis=1))


def _thresholds(matrix: Floats) -> Floats:
    """Return the probabilities at which two decisions cost the same."""
    gaps = matrix[:, :, None] - matrix[:, None, :]
    first, second = gaps[0], gaps[1]
    crossing = first * second < 0.0
    return np.asarray(first[crossing] / (first[crossing] - second[crossing]))


def _border(inside: _Inside, outer: float, inner: float) -> float:
    for _ in range(HALVINGS):
        middle = (outer + inner) / 2
        if inside(np.array([middle]))[0]:
            inner = middle
        else:
            outer = middle
    return inner
