"""How sure a posterior is: tables drawn from the Dirichlet distributions that the counts leave, and the rows behind."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tanbark.arrays import Codes, Floats
from tanbark.checks import check_count, check_fraction
from tanbark.graph import Network
from tanbark.inference import class_log_prior, normalize, temper
from tanbark.machine import blocks
from tanbark.params import Hierarchical, Smoothing
from tanbark.params.hierarchical.context_tree import dense_counts
from tanbark.params.hierarchical.family import context_tree
from tanbark.table import missing_code

if TYPE_CHECKING:
    from tanbark.estimators.network import NetworkClassifier


KEPT = 1 << 23  # drawn probabilities that are held at once


class Levels:
    r"""Draw hierarchical CPTs, each level around the level with one parent fewer, which is drawn as well.

    A context v of level l is drawn from a Dirichlet distribution with the parameters :math:`t_v + c_l \theta`, where
    :math:`\theta` is what was drawn for the context above and t are the counts of the deepest level, the expected
    tables further up. This is the posterior of a hierarchical Dirichlet process given its tables and concentrations
    (Teh, Jordan, Beal and Blei 2006, section 5), and its mean is the estimated CPT.

    Parameters
    ----------
    counts : sequence of arrays
        The counts of families with at least two columns.
    axes : sequence of int
        The axis of the node in each of them.
    """

    def __init__(self, counts: Sequence[NDArray[Any]], axes: Sequence[int]) -> None:
        found = [context_tree(table, axis) for table, axis in zip(counts, axes, strict=True)]
        self._trees = [tree for tree, _ in found]
        self._counts = [dense_counts(tree) for tree in self._trees]
        self._shapes = [tuple(table.shape[k] for k in (*order, axis)) for table, axis, (_, order) in zip(
            counts, axes, found, strict=True
        )]  # fmt: skip
        self._places = [np.argsort([*order, axis]) for axis, (_, order) in zip(axes, found, strict=True)]

    def draw(self, rng: np.random.Generator) -> list[Floats]:
        """Draw the CPTs, with the axes of their counts."""
        drawn = [np.full((1, tree.counts.shape[1]), 1.0 / tree.counts.shape[1]) for tree in self._trees]
        for level in range(max((len(counts) for counts in self._counts), default=0)):
            deep = [k for k, counts in enumerate(self._counts) if len(counts) > level]
            shapes = []
            for k in deep:
                times = int(self._trees[k].states[level - 1]) if level else 1
                above = np.repeat(drawn[k], times, axis=0)
                shapes.append(self._counts[k][level] + self._trees[k].concentrations[level] * above)
            flat = _log_gammas(np.concatenate([part.ravel() for part in shapes]), rng)
            ends = np.cumsum([part.size for part in shapes])[:-1]
            for k, part, logs in zip(deep, shapes, np.split(flat, ends), strict=True):
                drawn[k] = _normalized(logs.reshape(part.shape), 1)
        parts = zip(drawn, self._shapes, self._places, strict=True)
        return [np.ascontiguousarray(part.reshape(shape).transpose(place)) for part, shape, place in parts]


def draw_table(counts: NDArray[Any], axis: int, smoothing: Smoothing, rng: np.random.Generator) -> Floats:
    r"""Draw P(node | parents) from its posterior: a Dirichlet with the counts and the prior mass as parameters.

    Each column is :math:`G_k / \sum_l G_l` with :math:`G_k \sim Gamma(N_{jk} + a_{jk})`, taken in logarithms, since a
    small parameter's variate may be below the least float. Where there is neither a row nor prior mass, any
    distribution is as likely as any other. With hierarchical smoothing the prior is drawn too, see :class:`Levels`.

    >>> from tanbark.params import Laplace
    >>> draw_table(np.array([10**9, 10**9]), 0, Laplace(), np.random.default_rng(0)).round(3).tolist()
    [0.5, 0.5]
    """
    if has_levels(counts, smoothing):
        return Levels([counts], [axis]).draw(rng)[0]
    return _normalized(_log_gammas(_shapes(counts, axis, smoothing.mass(counts, axis)), rng), axis)


def has_levels(counts: NDArray[Any], smoothing: Smoothing) -> bool:
    """Return whether a CPT is drawn level by level."""
    return isinstance(smoothing, Hierarchical) and counts.ndim > 1


def _shapes(counts: NDArray[Any], axis: int, mass: float | Floats) -> Floats:
    """Return the parameters of a family's Dirichlet distributions, from counts and prior mass."""
    shapes = np.asarray(counts + mass, dtype=np.float64)
    return np.where(shapes.sum(axis=axis, keepdims=True) > 0, shapes, 1.0)


def _log_gammas(shapes: Floats, rng: np.random.Generator) -> Floats:
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        logs = np.log(rng.standard_gamma(shapes + 1.0)) - rng.standard_exponential(shapes.shape) / shapes
    return np.where(shapes > 0, logs, -np.inf)


def _normalized(logs: Floats, axis: int) -> Floats:
    drawn = np.exp(logs - logs.max(axis=axis, keepdims=True))
    return np.asarray(drawn / drawn.sum(axis=axis, keepdims=True))


class Drawing:
    """Draw all tables of a classifier's network; a class prior that was given, and weights, stay as they are."""

    def __init__(self, model: NetworkClassifier) -> None:
        self._network, self._counts = model.network_, model.family_counts_
        self._smoothing = model.smoothing_
        self._parameters: Any = getattr(model, "parameters_", None)
        fixed = model.network_.target if model.class_prior is not None else -1
        found = [node for node in range(len(self._counts)) if node != fixed]
        self._deep = [node for node in found if has_levels(self._counts[node], self._smoothing)]
        self._levels = Levels([self._counts[node] for node in self._deep], [self._axis(node) for node in self._deep])
        self._drawn = [node for node in found if node not in self._deep]
        self._axes = [self._axis(node) for node in self._drawn]
        parts = zip(self._drawn, self._axes, strict=True)
        self._shapes = [_shapes(self._counts[node], axis, self._mass(node)) for node, axis in parts]
        self._flat = np.concatenate([np.zeros(0), *(shapes.ravel() for shapes in self._shapes)])
        self._ends = np.cumsum([shapes.size for shapes in self._shapes])[:-1]

    def _mass(self, node: int) -> float | Floats:
        network = self._network
        return self._smoothing.mass_at(self._counts[node], network.axes(node), node, network.schema)

    def _axis(self, node: int) -> int:
        return self._network.axes(node).index(node)

    def draw(self, rng: np.random.Generator) -> Network:
        """Draw a network."""
        network, tables = self._network, list(self._network.tables)
        logs = np.split(_log_gammas(self._flat, rng), self._ends) if self._drawn else []
        for node, axis, shapes, part in zip(self._drawn, self._axes, self._shapes, logs, strict=True):
            tables[node] = _normalized(part.reshape(shapes.shape), axis)
        for node, table in zip(self._deep, self._levels.draw(rng), strict=True):
            tables[node] = table
        drawn = Network(network.schema, network.dag, tuple(tables))
        if self._parameters is None:
            return drawn
        found: Network = self._parameters.drawn(drawn, self._counts, self._smoothing, rng)
        return found


def read_drawing(level: Any, n_draws: Any, random_state: Any) -> tuple[tuple[float, float], np.random.Generator]:
    """Validate the options of intervals; return the probabilities below their ends, and the generator of the draws."""
    fraction = check_fraction("level", level, inside=True)
    check_count("n_draws", n_draws, least=2)
    if isinstance(random_state, np.random.RandomState):
        random_state = random_state.randint(2**31 - 1)
    return ((1.0 - fraction) / 2.0, (1.0 + fraction) / 2.0), np.random.default_rng(random_state)


def proba_interval(
    model: NetworkClassifier, codes: Codes, *, level: Any, n_draws: Any, random_state: Any
) -> tuple[Floats, Floats]:
    """Return the lower and upper ends of the credible intervals; see ``predict_proba_interval``."""
    tails, rng = read_drawing(level, n_draws, random_state)
    seeds = rng.integers(0, 2**63, int(n_draws)).tolist()
    n_rows, n_classes = codes.shape[1], len(model.classes_)
    low, high = np.empty((n_rows, n_classes)), np.empty((n_rows, n_classes))
    nothing = np.full((codes.shape[0], 1), missing_code(codes), codes.dtype)
    drawing, tau, proba = Drawing(model), model.temperature_, model._posterior(model._joint(codes), logs=False)
    for first, last in blocks(n_rows, max(1, KEPT // (len(seeds) * n_classes))):
        part = np.ascontiguousarray(codes[:, first:last])
        drawn = np.empty((len(seeds), last - first, n_classes))
        for draw, seed in enumerate(seeds):  # by seeds of their own, so that every block sees the same networks
            network = drawing.draw(np.random.default_rng(seed))
            joint = model._joint_of(network, part)
            posterior, impossible = normalize(
                joint if tau == 1.0 else temper(joint, class_log_prior(network), tau), logs=False
            )
            if impossible.any():
                posterior[impossible] = normalize(model._joint_of(network, nothing), logs=False)[0]
            drawn[draw] = posterior
        low[first:last], high[first:last] = np.quantile(drawn, tails, axis=0)
    return np.minimum(low, proba), np.maximum(high, proba)


# ---------------------------------------------------------------------- rows behind a prediction


@dataclass(frozen=True, eq=False)
class Counted:
    """Rows by the states of some features, and the features whose support that is (none: the class's own table)."""

    owners: tuple[int, ...]
    columns: tuple[int, ...]
    counts: NDArray[Any]


def feature_support(counted: Iterable[Counted], codes: Codes, total: float) -> tuple[Floats, Floats]:
    """Find the support of every row, and that of every value; NaN stands for values that are missing.

    A value's support is the number of training rows with this value and the values of the features that the model
    has it depend on, those that are missing left aside. A row's is the least of them.
    """
    missing = codes == missing_code(codes)
    values = np.full(codes.shape, np.inf)
    rows = np.full(codes.shape[1], float(total))
    for part in counted:
        wanted = ~missing[list(part.owners)].any(axis=0) if part.owners else ~missing[list(part.columns)].all(axis=0)
        found = _gather(part, codes, missing, np.flatnonzero(wanted))
        rows[wanted] = np.minimum(rows[wanted], found)
        for owner in part.owners:
            values[owner, wanted] = np.minimum(values[owner, wanted], found)
    values[missing] = np.nan
    return rows, values


def _gather(part: Counted, codes: Codes, missing: NDArray[np.bool_], rows: NDArray[np.int64]) -> Floats:
    """Look the counts up, summed over the columns that a row lacks."""
    out = np.empty(len(rows))
    absent = missing[list(part.columns)][:, rows]
    kinds, kind = np.unique(absent, axis=1, return_inverse=True)
    for k in range(kinds.shape[1]):
        chosen = np.flatnonzero(kind.ravel() == k)
        lacking = kinds[:, k]
        table = part.counts.sum(axis=tuple(np.flatnonzero(lacking).tolist()))
        there = [column for column, gone in zip(part.columns, lacking, strict=True) if not gone]
        out[chosen] = table[tuple(codes[column, rows[chosen]] for column in there)]
    return out


def network_counts(network: Network, counts: Sequence[NDArray[Any]]) -> list[Counted]:
    """Return the counts of all families, summed over the class."""
    target, found = network.target, []
    for node, table in enumerate(counts):
        axes = network.axes(node)
        columns = tuple(axis for axis in axes if axis != target)
        if columns:
            summed = table.sum(axis=axes.index(target)) if target in axes else table
            found.append(Counted(() if node == target else (node,), columns, summed))
    return found
