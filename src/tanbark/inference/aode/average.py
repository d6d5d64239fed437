"""Averages over super-parent models: AODE and A2DE."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from tanbark.arrays import Codes, Floats, Integers
from tanbark.counts import ChosenCounts, StoredCounts
from tanbark.inference.aode.joint_tables import WORTH_ROWS, Joined, Models, average_joined, join
from tanbark.machine import blocks, row_blocks, run_threads, thread_count
from tanbark.params import Smoothing, estimate
from tanbark.table import Schema, missing_code

Kept = StoredCounts | ChosenCounts


@dataclass(frozen=True, eq=False)
class SuperParents:
    """Every model that has one feature (or one pair of features) as a parent of all the others.

    Parameters
    ----------
    members : (n_models, 2) array
        The super-parents of each model; -1 where there is but one.
    starts : (n_models,) array
        Where the states of each model's super-parents begin among all of them.
    prior : (n_states, n_classes) array
        log P(class, super-parents' states).
    counts : (n_states,) array
        Rows with these states.
    probabilities : (n_states, n_values, n_classes) array
        P(value of a feature | super-parents' states, class), the features' values one after another; 1 for the
        super-parents themselves.
    """

    members: NDArray[np.int64]
    starts: NDArray[np.int64]
    prior: Floats
    counts: Floats
    probabilities: Floats

    @property
    def n_joint(self) -> NDArray[np.int64]:
        """Number of joint states of the super-parents of each model."""
        return np.diff(self.starts, append=len(self.prior))

    @cached_property
    def logs(self) -> Floats:
        """The logarithms of the probabilities, (n_states, n_values * n_classes)."""
        with np.errstate(divide="ignore"):
            return np.log(self.probabilities).reshape(len(self.probabilities), math.prod(self.probabilities.shape[1:]))

    def joined(self, sizes: NDArray[np.int64]) -> Joined | None:
        """Return the joined children, made once; None where they would be too large or unsafe."""
        if "_joined" not in self.__dict__:
            self.__dict__["_joined"] = join(self, sizes)
        return cast("Joined | None", self.__dict__["_joined"])


def make_super_parents(counts: Kept, models: Integers, smoothing: Smoothing, log_prior: Floats) -> SuperParents:
    """Estimate the CPTs of models with the given super-parents, (n_models, 1 or 2)."""
    schema = counts.schema
    sizes = np.array(schema.cardinalities[:-1], np.int64)
    states = sizes[models].prod(axis=1)
    starts = np.cumsum(states) - states
    total, n_classes = int(states.sum()), schema.cardinalities[-1]
    probabilities = np.ones((total, int(sizes.sum()), n_classes))
    prior, seen = np.zeros((total, n_classes)), np.zeros(total)
    with np.errstate(divide="ignore"):
        for some in _alike(sizes[models]):
            stack = _stack(counts, models[some])
            flat = stack.reshape(len(stack), -1, n_classes)
            places = starts[some][:, None] + np.arange(flat.shape[1])
            prior[places] = log_prior + np.log(estimate(flat, 1, smoothing, stacked=True))
            seen[places] = flat.sum(axis=2)
    _fill_probabilities(counts, models, starts, sizes, smoothing, probabilities)
    members = np.full((len(models), 2), -1, np.int64)
    members[:, : models.shape[1]] = models
    return SuperParents(members, starts, prior, seen, probabilities)


def _fill_probabilities(
    counts: Kept, models: NDArray[np.int64], starts: NDArray[np.int64], sizes: NDArray[np.int64],
    smoothing: Smoothing, probabilities: Floats,
) -> None:  # fmt: skip
    """Estimate P(feature | super-parents, class) for every model and feature, CPTs of one shape at a time."""
    from tanbark.inference.aode import kernels as average_kernels

    places = np.cumsum(sizes) - sizes
    row, feature = (grid.ravel() for grid in np.indices((len(models), len(sizes))))
    others = (models[row] != feature[:, None]).all(axis=1)
    row, feature = row[others], feature[others]
    sets = np.column_stack([models[row], feature])
    for alike in _alike(sizes[sets]):
        for low, high in blocks(len(alike), 4096):
            some = alike[low:high]
            stack = _stack(counts, sets[some])
            *above, below, n_classes = stack.shape[1:]
            flat = stack.reshape(len(some), math.prod(above), below, n_classes)
            found = estimate(flat, 2, smoothing, stacked=True)
            average_kernels.place_probabilities(found, starts[row[some]], places[feature[some]], probabilities)


def _alike(shapes: NDArray[np.int64]) -> list[NDArray[np.intp]]:
    """Put rows that are equal together: the places of each kind."""
    if not len(shapes):
        return []
    kind = np.ravel_multi_index(tuple(shapes.T), tuple((shapes.max(axis=0) + 1).tolist()))
    order = np.argsort(kind, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(kind[order])) + 1)


def _stack(counts: Kept, features: NDArray[np.int64]) -> NDArray[Any]:
    """Look up the contingency tables of features with the class, which have one shape."""
    return counts.stack(np.column_stack([features, np.full(len(features), counts.schema.target)]))


def averaged_log_proba(
    models: SuperParents,
    schema: Schema,
    codes: Codes,
    least: float,
    *,
    missing_parent: str = "sum",
    n_jobs: int | None = None,
) -> tuple[Floats, NDArray[np.bool_]]:
    r"""Average the joint probabilities of all models whose super-parents' observed states are frequent enough.

    .. math:: P(c, x) = \frac{1}{|I|} \sum_{s \in I} \sum_{v \sim x_s} P(c, v) \prod_{l \notin s} P(x_l | c, v)

    The inner sum is over the joint states v of the super-parents that agree with the observed values: one where none
    is missing, and all states of those that are missing otherwise. A model takes part (is in I) if at least ``least``
    training rows have one of these joint states. With ``missing_parent="drop"``, models with a missing super-parent do
    not take part. A missing child drops out of the product, since its CPT sums to one.

    Returns log P(class, observed) and a mask of the rows for which no model is left. Webb, Boughton and Wang (2005),
    equation 6, for complete rows.
    """
    from tanbark.inference.aode import kernels as average_kernels

    sizes = np.array(schema.cardinalities[:-1], np.int64)
    threads = thread_count(n_jobs)
    flat = Models(sizes, models.members, models.starts, models.n_joint, models.prior, models.counts >= least)
    if codes.shape[1] >= WORTH_ROWS and int(codes.max()) < missing_code(codes):
        joined = models.joined(sizes)
        if joined is not None:
            return average_joined(joined, flat, codes, threads)
    out = np.zeros((codes.shape[1], schema.cardinalities[-1]))
    empty = np.zeros(codes.shape[1], np.bool_)
    places = np.cumsum(sizes) - sizes
    enough = float(least) if missing_parent == "sum" else np.inf

    def work(low: int, high: int) -> None:
        average_kernels.average_models(
            codes, flat, places, models.logs, models.counts, enough, low, high, out, empty
        )  # fmt: skip

    run_threads(work, row_blocks(len(out), threads, smallest=256), threads, long=len(out) >= WORTH_ROWS)
    return out, empty
