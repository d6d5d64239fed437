"""Cross-validated scores of structures, at the cost of what changed since the last one.

Every fold's model comes from the whole table's counts less the fold's own. A family's log-probabilities are kept for
all complete rows, each read from its own fold's table, so that another structure costs the families in which it
differs. Rows with gaps are summed out exactly, group by group of connected features, and groups are kept likewise.
"""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Callable, Iterable
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tanbark.errors import OptionError, find
from tanbark.graph import Dag, Network
from tanbark.inference.eliminate import add_with_gaps
from tanbark.params import Smoothing, estimate
from tanbark.params.dirichlet import LARGEST_ALPHA
from tanbark.structure.search import Structure, supernodes
from tanbark.table import Schema, missing_code
from tanbark.table.coded import code_dtype

Floats = NDArray[np.float64]
Codes = NDArray[np.unsignedinteger]
Family = tuple[int, tuple[int, ...]]
Group = tuple[Family, ...]

KEPT_BYTES = 1 << 29  # families' log-probabilities that are remembered
SURELY_ABOVE_ZERO = 1e-100  # with so much added to every cell no single estimate is zero
COMBINATIONS = 1 << 12  # gaps with more combinations are summed out by elimination instead of enumeration


class FoldEvaluator:
    """Score structures by stratified cross-validation.

    Parameters
    ----------
    codes : (n_columns, n_rows) array
        The class last.
    schema : Schema
    folds : (n_rows,) array
        The fold that each row is held out in, from 0; none is empty.
    weights : (n_rows,) array, optional
    smooth : float
        What is added to every cell of the fold models.
    scoring : {"accuracy", "log-loss"}
        The mean over the folds of the share of right predictions (ties go to the first class), or of the mean
        log-posterior of the right class, in nats. A row that is impossible under every class gets the class prior.
    max_cells : int, optional
        A structure with a family that needs a larger table has the score -inf.
    """

    def __init__(
        self, codes: Codes, schema: Schema, folds: NDArray[np.int64], *, weights: Floats | None = None,
        smooth: float = 0.01, scoring: str = "accuracy", max_cells: int | None = None,
    ) -> None:  # fmt: skip
        find("scoring", scoring, {"accuracy": None, "log-loss": None})
        _check_smooth(smooth)
        self._schema, self._scoring, self._max_cells = schema, scoring, max_cells
        self._smoothing = Smoothing("laplace", smooth)
        n_folds = int(folds.max()) + 1
        gaps = (codes[: schema.target] == missing_code(codes)).any(axis=0)
        order = np.lexsort((folds, gaps))
        self._codes = np.ascontiguousarray(_with_folds(codes, folds, n_folds)[:, order])
        self._states = np.array([*schema.cardinalities, n_folds], np.int64)
        self._weights = np.zeros(0) if weights is None else weights[order]
        self._fold_weight = np.bincount(folds, weights, n_folds)
        n_complete = int((~gaps).sum())
        counted = np.ones(len(folds)) if weights is None else weights[order]
        self._parts = [self._part(0, n_complete, counted), self._part(n_complete, len(folds), counted)]
        self._kept: OrderedDict[Any, Floats] = OrderedDict()
        self._kept_bytes = 0
        self._prior = self._log_prior()
        self._zeros, self._may_vanish = False, smooth < SURELY_ABOVE_ZERO
        self.settle((None,) * schema.target)

    def _part(self, low: int, high: int, weights: Floats) -> tuple[Codes, NDArray[np.int64], Floats, NDArray[np.int64]]:
        """Give the codes, labels and weights of some rows, which are sorted by fold, and where each fold begins."""
        codes = np.ascontiguousarray(self._codes[:, low:high])
        bounds = np.searchsorted(codes[-1], np.arange(len(self._fold_weight) + 1)).astype(np.int64)
        return codes, codes[self._schema.target].astype(np.int64), weights[low:high], bounds

    @property
    def best_possible(self) -> float:
        """The score that nothing can exceed."""
        return 1.0 if self._scoring == "accuracy" else 0.0

    def settle(self, structure: Structure) -> None:
        """Make a structure the one that the next ones are compared with."""
        self._families, self._groups = _families(structure), _groups(structure)
        self._complete = _total(self._prior[0], map(self._family_logs, sorted(self._families)))
        self._with_gaps = _total(self._prior[1], map(self._group_logs, sorted(self._groups)))

    def score(self, structure: Structure) -> float:
        """Give the mean score over the folds."""
        from tanbark.inference import fold_kernels

        if self._too_large(structure):
            return -math.inf
        found = np.zeros(len(self._fold_weight))
        add = fold_kernels.count_correct if self._scoring == "accuracy" else fold_kernels.add_log_posteriors
        for joint, prior, part in zip(self.joints(structure), self._prior, self._parts, strict=True):
            if self._zeros:
                impossible = np.isneginf(joint).all(axis=1)
                joint[impossible] = prior[impossible]
            add(joint, *part[1:], found)
        return float((found / self._fold_weight).mean())

    def _too_large(self, structure: Structure) -> bool:
        """Tell whether a family that is new needs a larger table than allowed."""
        if self._max_cells is None:
            return False
        sizes = self._schema.cardinalities
        return any(
            math.prod(sizes[c] for c in (*parents, feature, -1)) > self._max_cells
            for feature, parents in _families(structure) - self._families
        )

    def joints(self, structure: Structure) -> tuple[Floats, Floats]:
        """Give log P(class, observed) of the complete rows and of the others, each by its own fold's model."""
        complete, with_gaps = self._complete, self._with_gaps
        if len(complete):
            families = _families(structure)
            complete = self._changed(complete, self._prior[0], self._families, families, self._family_logs)
        if len(with_gaps):
            groups = _groups(structure)
            with_gaps = self._changed(with_gaps, self._prior[1], self._groups, groups, self._group_logs)
        return complete, with_gaps

    def _changed(
        self, settled: Floats, prior: Floats, old: frozenset[Any], new: frozenset[Any], logs: Callable[[Any], Floats]
    ) -> Floats:
        """Take the parts out of a sum that are gone and add those that are new."""
        out = settled.copy()
        with np.errstate(invalid="ignore"):
            for part in sorted(old - new):
                out -= logs(part)
            for part in sorted(new - old):
                out += logs(part)
        if self._zeros:  # a zero cannot be taken out again: these rows are summed anew
            lost = np.flatnonzero(np.isnan(out).any(axis=1))
            out[lost] = _total(prior[lost], (logs(part)[lost] for part in sorted(new)))
        return out

    def fold_tables(self, family: Family) -> Floats:
        """Estimate P(feature | parents, class) for every fold from the counts of all rows less the fold's own."""
        return self._remember(("tables", family), lambda: self._estimate(family), False)

    def _estimate(self, family: Family) -> Floats:
        from tanbark.inference import fold_kernels

        members, strides, shape = self._layout((*family[1], family[0]))
        out = np.empty((len(self._fold_weight), math.prod(shape)))
        smooth = float(self._smoothing.alpha)
        fold_kernels.estimate_folds(self._codes, self._weights, members, strides, self._states, smooth, out)
        return out.reshape(len(out), *shape)

    def _log_prior(self) -> tuple[Floats, Floats]:
        target = self._schema.target
        n_folds, n_classes = len(self._fold_weight), self._schema.cardinalities[target]
        flat = self._codes[target + 1].astype(np.int64) * n_classes + self._codes[target]
        weights = self._weights if len(self._weights) else None
        by_fold = np.bincount(flat, weights, n_folds * n_classes).reshape(n_folds, n_classes)
        with np.errstate(divide="ignore"):
            prior = np.log(estimate(by_fold.sum(axis=0) - by_fold, -1, self._smoothing))
        first, second = (prior[part[0][target + 1].astype(np.int64)] for part in self._parts)
        return first, second

    def _family_logs(self, family: Family) -> Floats:
        return self._remember(("family", family), lambda: self._gather(family), self._may_vanish)

    def _group_logs(self, group: Group) -> Floats:
        return self._remember(("group", group), lambda: self._sum_out(group), True)

    def _remember(self, key: Any, make: Callable[[], Floats], may_vanish: bool) -> Floats:
        """Keep the last results within a fixed amount of memory; note logarithms of zero where there may be some."""
        if key in self._kept:
            self._kept.move_to_end(key)
            return self._kept[key]
        value = make()
        self._zeros = self._zeros or (may_vanish and bool(np.isneginf(value).any()))
        self._kept[key] = value
        self._kept_bytes += value.nbytes
        while self._kept_bytes > KEPT_BYTES and len(self._kept) > 1:
            self._kept_bytes -= self._kept.popitem(last=False)[1].nbytes
        return value

    def _gather(self, family: Family) -> Floats:
        from tanbark.inference import fold_kernels

        codes, labels, _, bounds = self._parts[0]
        out = np.empty((len(labels), self._schema.cardinalities[self._schema.target]))
        if len(out):
            members, strides, _ = self._layout((*family[1], family[0]))
            tables = self.fold_tables(family).reshape(len(bounds) - 1, -1)
            fold_kernels.gather_fold_logs(codes, members, strides, self._states, tables, bounds, out)
        return out

    def _layout(self, scope: tuple[int, ...]) -> tuple[NDArray[np.int64], NDArray[np.int64], tuple[int, ...]]:
        """Give the members of a table with the class last, their strides in it, and its shape."""
        sizes = self._schema.cardinalities
        stride, strides = sizes[-1], []
        for member in reversed(scope):
            strides.append(stride)
            stride *= sizes[member]
        shape = (*(sizes[member] for member in scope), sizes[-1])
        return np.array(scope, np.int64), np.array(strides[::-1], np.int64), shape

    def _sum_out(self, group: Group) -> Floats:
        """Give the log-evidence of a group of connected features for the rows with gaps."""
        codes, labels, _, bounds = self._parts[1]
        out = np.zeros((len(labels), self._schema.cardinalities[self._schema.target]))
        if len(out):
            tables = [self.fold_tables(family) for family in group]
            if all(len(parents) <= 1 for _, parents in group):
                self._pass_up(group, tables, codes, bounds, out)
            else:
                self._enumerate(group, tables, codes, bounds, out)
        return out

    def _pass_up(
        self, group: Group, tables: list[Floats], codes: Codes, bounds: NDArray[np.int64], out: Floats
    ) -> None:
        from tanbark.inference import kernels

        n, n_classes = self._schema.target, out.shape[1]
        starts, parent = np.zeros(n, np.int64), np.full(n, -1, np.int64)
        flat = np.concatenate([table.reshape(len(table), -1) for table in tables], axis=1)
        ends = np.cumsum([0, *(table[0].size for table in tables)])
        for (feature, parents), start in zip(group, ends, strict=False):
            starts[feature], parent[feature] = start, parents[0] if parents else -1
        order = np.array([feature for feature, _ in reversed(_parents_first(group))], np.int64)
        messages = np.concatenate([[0], np.cumsum(self._states[:n] * n_classes)])
        with np.errstate(divide="ignore"):
            logs = np.log(flat)
        for fold in range(len(bounds) - 1):
            kernels.add_forest(
                codes, flat[fold], logs[fold], starts, self._states[:n], parent, order, messages,
                bounds[fold], bounds[fold + 1], out,
            )  # fmt: skip
        doubtful = np.flatnonzero(np.isneginf(out).any(axis=1))  # zero, or below the range of floats
        self._eliminate(group, tables, codes, doubtful, out)

    def _enumerate(
        self, group: Group, tables: list[Floats], codes: Codes, bounds: NDArray[np.int64], out: Floats
    ) -> None:
        from tanbark.inference import fold_kernels

        ordered = _parents_first(group)
        place = {feature: k for k, (feature, _) in enumerate(ordered)}
        scopes = [(*parents, feature) for feature, parents in ordered]
        members = np.array([place[m] for scope in scopes for m in scope], np.int64)
        strides = np.concatenate([self._layout(scope)[1] for scope in scopes])
        children = [[place[f] for f, parents in ordered if feature in parents] for feature, _ in ordered]
        nodes = np.array([feature for feature, _ in ordered], np.int64)
        sorted_tables = [tables[group.index(family)] for family in ordered]
        flat = np.concatenate([table.reshape(len(table), -1) for table in sorted_tables], axis=1)
        with np.errstate(divide="ignore"):
            logs = np.log(flat)
        starts = np.cumsum([0, *(table[0].size for table in sorted_tables)])[:-1].astype(np.int64)
        hard = np.zeros(len(out), np.bool_)
        for fold in range(len(bounds) - 1):
            fold_kernels.add_component(
                codes, logs[fold], starts, nodes, self._states[nodes], members, strides,
                np.cumsum([0, *map(len, scopes)]), np.array([c for found in children for c in found], np.int64),
                np.cumsum([0, *map(len, children)]), COMBINATIONS, bounds[fold], bounds[fold + 1], hard, out,
            )  # fmt: skip
        self._eliminate(group, tables, codes, np.flatnonzero(hard), out)

    def _eliminate(self, group: Group, tables: list[Floats], codes: Codes, rows: NDArray[np.intp], out: Floats) -> None:
        """Sum some rows out by the general way, the rows of a fold at once."""
        if not len(rows):
            return
        target, sizes = self._schema.target, self._schema.cardinalities
        members = [feature for feature, _ in group]
        parents: list[tuple[int, ...]] = [()] * (target + 1)
        for feature, above in group:
            parents[feature] = (*above, target)
        dag = Dag(self._schema.names, tuple(parents))
        for fold in np.unique(codes[target + 1, rows]):
            chosen = rows[codes[target + 1, rows] == fold]
            full: list[Floats] = [np.full(size, 1.0 / size) for size in sizes]
            full[target] = np.ones(sizes[target])
            for feature, table in zip(members, tables, strict=True):
                full[feature] = table[fold]
            seen = np.full((target, len(chosen)), missing_code(codes), codes.dtype)
            seen[members] = codes[np.ix_(members, chosen)]
            part = np.zeros((len(chosen), sizes[target]))
            add_with_gaps(Network(self._schema, dag, tuple(full)), seen, part)
            out[chosen] = part


def _check_smooth(smooth: object) -> None:
    if isinstance(smooth, bool) or not isinstance(smooth, Real) or not 0 <= float(smooth) <= LARGEST_ALPHA:
        msg = f"smooth must be a number from 0 to {LARGEST_ALPHA:g}; got {smooth!r}."
        raise OptionError(msg)


def _with_folds(codes: Codes, folds: NDArray[np.int64], n_folds: int) -> Codes:
    """Put the folds below the codes as one more column, in a type that holds both."""
    dtype = np.promote_types(codes.dtype, code_dtype((n_folds,)))
    wide = np.vstack([codes, folds.astype(dtype)], dtype=dtype)
    wide[:-1][codes == missing_code(codes)] = np.iinfo(dtype).max
    return wide


def _total(start: Floats, parts: Iterable[Floats]) -> Floats:
    out = start.copy()
    for part in parts:
        out += part
    return out


def _families(structure: Structure) -> frozenset[Family]:
    return frozenset((feature, parents) for feature, parents in enumerate(structure) if parents is not None)


def _groups(structure: Structure) -> frozenset[Group]:
    return frozenset(
        tuple((feature, structure[feature] or ()) for feature in members) for members in supernodes(structure)
    )


def _parents_first(group: Group) -> Group:
    """Order the families of a group so that parents come before their children."""
    waiting, ordered = dict(group), []
    done: set[int] = set()
    while waiting:
        ready = [feature for feature, parents in waiting.items() if done.issuperset(parents)]
        ordered += [(feature, waiting.pop(feature)) for feature in ready]
        done.update(ready)
    return tuple(ordered)
