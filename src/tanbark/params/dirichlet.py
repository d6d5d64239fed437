"""Maximum likelihood and Dirichlet estimates of every table."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tanbark.arrays import Floats
from tanbark.counts import CountEngine
from tanbark.errors import OptionError, TableTooLargeError
from tanbark.graph import Dag, Network
from tanbark.graph.network import family_axes
from tanbark.params.hierarchical.family import HierarchicalFamily, fit_family
from tanbark.params.smoothing import Hierarchical, Smoothing
from tanbark.table import Schema

FEW_STATES, MANY_CELLS = 7, 1 << 10  # numpy adds up to seven numbers in their order, however it walks


def estimate(counts: NDArray[Any], axis: int, smoothing: Smoothing, *, stacked: bool = False) -> Floats:
    r"""Estimate P(node | parents) from the counts of a family.

    .. math:: P(k | j) = \frac{N_{jk} + a_{jk}}{\sum_k N_{jk} + a_{jk}}

    with the prior mass :math:`a_{jk}` of the smoothing. A parent configuration without rows or prior mass becomes
    uniform.

    Parameters
    ----------
    counts : array
        One axis per column of the family.
    axis : int
        The axis of the node itself.
    stacked : bool
        Whether the first axis runs over families of the same shape instead of belonging to one.

    >>> from tanbark.params import Laplace
    >>> estimate(np.array([[3, 1], [0, 0]]), 1, Laplace(0.0)).tolist()
    [[0.75, 0.25], [0.5, 0.5]]
    """
    n = counts.astype(np.float64)
    return _normalized(n + smoothing.mass(n, axis, stacked=stacked), axis)


def _normalized(smooth: Floats, axis: int) -> Floats:
    """Divide by the sums over an axis; what adds up to zero becomes uniform."""
    states = smooth.shape[axis]
    sums = _sum_over(smooth, axis)
    if (sums > 0).all():
        return np.asarray(smooth / sums)
    return np.asarray(np.where(sums > 0, smooth / np.where(sums > 0, sums, 1.0), 1.0 / states))


def _sum_over(values: Floats, axis: int) -> Floats:
    """Add up along an axis; slice by slice where it is short and the others are many, which is several times faster."""
    if values.shape[axis] > FEW_STATES or values.size < MANY_CELLS:
        return np.asarray(values.sum(axis=axis, keepdims=True))
    slices = np.split(values, values.shape[axis], axis=axis)
    return reduce(np.add, slices)


def family_counts(dag: Dag, counts: CountEngine, *, max_cells: int) -> tuple[NDArray[Any], ...]:
    """Count every family of a graph, with the axes of ``family_axes``."""
    schema = counts.schema
    sets = [family_axes(parents, node, schema.target) for node, parents in enumerate(dag.parents)]
    for node, columns in enumerate(sets):
        _check_size(schema, node, columns, max_cells)
    return tuple(np.ascontiguousarray(table) for table in counts.tables(sets))


def _check_size(schema: Schema, node: int, columns: tuple[int, ...], max_cells: int) -> None:
    cells = math.prod(schema.cardinalities[c] for c in columns)
    if cells > max_cells:
        given = ", ".join(f"{schema.names[c]} ({schema.cardinalities[c]:,} states)" for c in columns if c != node)
        msg = (
            f"The table of {schema.names[node]!r} ({schema.cardinalities[node]:,} states) given {given} needs "
            f"{cells:,} cells, above max_cells={max_cells:,}. Drop or group the column with most states, use a simpler "
            "structure, or raise max_cells."
        )
        raise TableTooLargeError(msg)


def fit(
    schema: Schema, dag: Dag, tables: Sequence[NDArray[Any]], smoothing: Smoothing, *, class_prior: Floats | None = None
) -> Network:
    """Estimate every table from the counts of its family; ``class_prior`` replaces the table of the class."""
    estimates = list(tables)
    alike: dict[tuple[int, tuple[int, ...]], list[int]] = {}
    for node, parents in enumerate(dag.parents):
        columns = family_axes(parents, node, schema.target)
        axis = columns.index(node)
        if smoothing.by_column:
            n = tables[node].astype(np.float64)
            estimates[node] = _normalized(n + smoothing.mass_at(n, columns, node, schema), axis)
            continue
        alike.setdefault((axis, tables[node].shape), []).append(node)
    for (axis, _), nodes in alike.items():
        found = estimate(np.stack([tables[node] for node in nodes]), axis + 1, smoothing, stacked=True)
        for node, table in zip(nodes, found, strict=True):
            estimates[node] = table
    return _with_prior(schema, dag, estimates, class_prior)


def fit_with_trees(
    schema: Schema, dag: Dag, tables: Sequence[NDArray[Any]], smoothing: Smoothing, *, class_prior: Floats | None = None
) -> tuple[Network, dict[int, HierarchicalFamily]]:
    """Estimate the same network, and return the context trees of all nodes with hierarchical smoothing and parents."""
    if not isinstance(smoothing, Hierarchical):
        return fit(schema, dag, tables, smoothing, class_prior=class_prior), {}
    estimates: list[Floats] = []
    trees: dict[int, HierarchicalFamily] = {}
    for node, table in enumerate(tables):
        axis = family_axes(dag.parents[node], node, schema.target).index(node)
        if table.ndim == 1 or not table.size:
            estimates.append(estimate(table, axis, smoothing))
        else:
            trees[node], mass = fit_family(table, axis)
            estimates.append(_normalized(table + mass, axis))
    return _with_prior(schema, dag, estimates, class_prior), trees


def _with_prior(schema: Schema, dag: Dag, estimates: Sequence[Floats], class_prior: Floats | None) -> Network:
    """Return a network whose CPT of the class is the one that was given, if any."""
    estimates = list(estimates)
    if class_prior is not None:
        if dag.parents[schema.target]:
            names = [dag.names[p] for p in dag.parents[schema.target]]
            msg = f"class_prior needs a class without parents; in this structure its parents are {names}."
            raise OptionError(msg)
        estimates[schema.target] = class_prior
    return Network(schema, dag, tuple(estimates))
