"""How contingency tables (parent configurations, child, candidate parent) lie in one flat array of counts.

A row of a layout describes one table as four nested axes: where it starts in the flat array, then the size and the
stride of the outer and of the inner parent configurations, of the child's states, and of the candidate's levels. Where
the candidate is a parent already, the configurations of the parents before it are the outer ones, and of those after it
the inner ones; otherwise all are outer.
"""

from __future__ import annotations

import numpy as np

from tanbark.arrays import Counts, Floats, Integers

START, OUTER, OUTER_STEP, INNER, INNER_STEP, STATES, STATE_STEP, LEVELS, LEVEL_STEP = range(9)  # columns of a layout
FIELDS = 9  # and their number
SHAPE = [OUTER, INNER, STATES, LEVELS]
NO_PENALTY, AIC, BIC = range(3)  # cost of a free parameter: nothing, one nat, half the log of the rows
PENALTIES = {"loglik": NO_PENALTY, "aic": AIC, "bic": BIC, "bdeu": NO_PENALTY, "k2": NO_PENALTY}  # of compiled scores


def prior_masses(criterion: str, layout: Integers, ess: float) -> Floats:
    """Return the prior masses of a cell, of a configuration, and of both without the candidate; 0 for n ln n."""
    configs = (layout[:, OUTER] * layout[:, INNER]).astype(float)
    states, levels = layout[:, STATES], layout[:, LEVELS]
    if criterion == "bdeu":
        sizes = [configs * levels * states, configs * levels, configs * states, configs]
        return np.stack([ess / size for size in sizes], axis=1)
    found = np.zeros((len(layout), 4))
    if criterion == "k2":
        found[:, 0] = found[:, 2] = 1.0
        found[:, 1] = found[:, 3] = states
    return found


def family_masses(criterion: str, shapes: Integers, ess: float) -> Floats:
    """Return the prior masses of a cell and of a configuration of (configurations, states) tables; 0 for n ln n."""
    if criterion == "bdeu":
        return ess / np.stack([shapes.prod(axis=1), shapes[:, 0]], axis=1)
    found = np.zeros((len(shapes), 2))
    if criterion == "k2":
        found[:, 0], found[:, 1] = 1.0, shapes[:, 1]
    return found


def stack_tables(flat: Counts, layout: Integers) -> Counts:
    """Gather tables of one shape from a flat array, as (tables, configurations, child, candidate)."""
    outer, inner, states, levels = layout[0, SHAPE].tolist()
    place = layout[:, START]
    for size, step in ((outer, OUTER_STEP), (inner, INNER_STEP), (states, STATE_STEP), (levels, LEVEL_STEP)):
        place = place[..., None] + np.expand_dims(layout[:, step], tuple(range(1, place.ndim + 1))) * np.arange(size)
    return flat[place].reshape(len(layout), outer * inner, states, levels)
