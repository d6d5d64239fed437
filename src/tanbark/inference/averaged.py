"""Averages over super-parent models: AODE and A2DE."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from tanbark.counts import CountEngine
from tanbark.inference.joined import WORTH_ROWS, Joined, average_joined, join
from tanbark.machine import row_blocks, run_threads, thread_count
from tanbark.params import Smoothing, estimate
from tanbark.table import Schema, missing_code

Floats = NDArray[np.float64]
Codes = NDArray[np.unsignedinteger]


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
    given : (n_states, n_values, n_classes) array
        log P(value of a feature | super-parents' states, class), the features' values one after another; 0 for the
        super-parents themselves.
    """

    members: NDArray[np.int64]
    starts: NDArray[np.int64]
    prior: Floats
    counts: Floats
    given: Floats

    def joined(self, sizes: NDArray[np.int64]) -> Joined | None:
        """Give the tables of joined children, made once; None where they would be too large or unsafe."""
        if "_joined" not in self.__dict__:
            self.__dict__["_joined"] = join(self, sizes)
        return cast("Joined | None", self.__dict__["_joined"])


def super_parent_cells(schema: Schema, order: int) -> int:
    """Number of entries that the tables of all models need."""
    sizes = schema.cardinalities[:-1]
    states = sum(sizes) if order == 1 else sum(a * b for a, b in combinations(sizes, 2))
    return states * sum(sizes) * schema.cardinalities[-1]


def make_super_parents(counts: CountEngine, order: int, smoothing: Smoothing, log_prior: Floats) -> SuperParents:
    """Estimate the tables of all models with ``order`` super-parents."""
    schema = counts.schema
    n, target = schema.target, schema.target
    sizes = np.array(schema.cardinalities[:n], np.int64)
    models = list(combinations(range(n), order))
    states = np.array([int(np.prod(sizes[list(model)])) for model in models], np.int64)
    starts = np.cumsum(states) - states
    places = np.cumsum(sizes) - sizes
    total, n_classes = int(states.sum()), schema.cardinalities[target]
    given = np.zeros((total, int(sizes.sum()), n_classes))
    prior, seen = np.zeros((total, n_classes)), np.zeros(total)
    with np.errstate(divide="ignore"):
        for start, table in zip(starts, counts.tables([(*model, target) for model in models]), strict=True):
            flat = table.reshape(-1, n_classes)
            prior[start : start + len(flat)] = log_prior + np.log(estimate(flat, 0, smoothing))
            seen[start : start + len(flat)] = flat.sum(axis=1)
        _fill_given(counts, models, starts, places, sizes, smoothing, given)
    members = np.full((len(models), 2), -1, np.int64)
    for row, model in enumerate(models):
        members[row, : len(model)] = model
    return SuperParents(members, starts, prior, seen, given)


def _fill_given(
    counts: CountEngine, models: Sequence[tuple[int, ...]], starts: NDArray[np.int64], places: NDArray[np.int64],
    sizes: NDArray[np.int64], smoothing: Smoothing, given: Floats,
) -> None:  # fmt: skip
    """Estimate P(feature | super-parents, class) for every model and feature, tables of one shape at a time."""
    target = len(sizes)
    shapes: dict[tuple[int, ...], list[tuple[int, int]]] = {}
    states = sizes.tolist()
    for row, model in enumerate(models):
        above = tuple(states[parent] for parent in model)
        for feature in range(target):
            if feature not in model:
                shapes.setdefault((*above, states[feature]), []).append((row, feature))
    for (*above_states, feature_states), found in shapes.items():
        parent_states = math.prod(above_states)
        for low in range(0, len(found), 4096):
            part = found[low : low + 4096]
            (stack,) = counts.stacks([[(*models[row], feature, target) for row, feature in part]])
            flat = stack.reshape(len(part), parent_states, feature_states, -1)
            logs = np.log(estimate(flat, 2, smoothing, stacked=True))
            row, feature = np.array(part).T
            states_at = starts[row][:, None, None] + np.arange(parent_states)[:, None]
            given[states_at, places[feature][:, None, None] + np.arange(feature_states)] = logs


def averaged_log_proba(
    models: SuperParents, schema: Schema, codes: Codes, least: float, *, n_jobs: int | None = None
) -> tuple[Floats, NDArray[np.bool_]]:
    r"""Average the joint probabilities of all models whose super-parents' states are observed often enough.

    .. math:: P(c, x) = \frac{1}{|I|} \sum_{s \in I} P(c, x_s) \prod_{l \notin s} P(x_l | c, x_s)

    A missing value drops out, both as a super-parent and as a child. Gives log P(class, observed) and a mask of the
    rows for which no model is left. Webb, Boughton and Wang (2005), equation 6.
    """
    from tanbark.inference import average_kernels

    sizes = np.array(schema.cardinalities[:-1], np.int64)
    threads = thread_count(n_jobs)
    usable = models.counts >= least
    if codes.shape[1] >= WORTH_ROWS and int(codes.max()) < missing_code(codes):
        joined = models.joined(sizes)
        if joined is not None:
            return average_joined(joined, models, sizes, codes, usable, threads)
    out = np.zeros((codes.shape[1], schema.cardinalities[-1]))
    empty = np.zeros(codes.shape[1], np.bool_)
    arguments: tuple[Any, ...] = (sizes, np.cumsum(sizes) - sizes, models.members, models.starts)

    def work(low: int, high: int) -> None:
        average_kernels.average_models(codes, *arguments, models.prior, usable, models.given, low, high, out, empty)

    run_threads(work, row_blocks(len(out), threads, smallest=256), threads)
    return out, empty
