"""Random k-dependence structures: orders and parents drawn in proportion to their information, for ensembles."""

from __future__ import annotations

import numpy as np

from tanbark.arrays import Floats
from tanbark.structure.fixed.kdb import feature_order

NOISE = 0.5  # standard deviation of the logarithm of the factor on an information
KEPT = 0.7  # probability that an earlier feature may become a parent


def random_kdb(
    relevance: Floats, dependence: Floats, max_parents: int, rng: np.random.Generator | None
) -> tuple[list[int], list[tuple[int, ...]]]:
    """Draw an order of the features and their parents.

    Parameters
    ----------
    relevance : (n,) array
        I(X; C).
    dependence : (n, n) array
        I(X; Y | C).
    max_parents : int
        Feature parents of each feature, as far as there are earlier ones.
    rng : Generator, optional
        Every information is multiplied by exp(0.5 z) with z standard normal, and each earlier feature takes part with
        probability 0.7. None draws nothing: the structure of KDB.

    Returns
    -------
    order : list of features, parents before their children
    parents : for every feature its feature parents, by falling dependence

    >>> random_kdb(np.array([1.0, 2.0]), np.array([[0.0, 1.0], [1.0, 0.0]]), 1, None)
    ([1, 0], [(1,), ()])
    """
    n = len(relevance)
    order = feature_order(relevance if rng is None else relevance * np.exp(NOISE * rng.standard_normal(n)))
    parents: list[tuple[int, ...]] = [()] * n
    for place, feature in enumerate(order):
        earlier = np.sort(np.array(order[:place], np.int64))
        gains = dependence[feature, earlier]
        if rng is not None:
            taking_part = rng.random(place) < KEPT
            gains = (gains * np.exp(NOISE * rng.standard_normal(place)))[taking_part]
            earlier = earlier[taking_part]
        best = earlier[feature_order(gains)[:max_parents]]
        ranked = best[feature_order(dependence[feature, best])] if len(best) else best
        parents[feature] = tuple(int(p) for p in ranked)
    return order, parents
