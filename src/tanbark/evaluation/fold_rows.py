"""Rows laid out in folds: each one's log-joint by its own fold's model, at the cost of what changed since the last.

A family's log-probabilities are kept for all complete rows, each read from its own fold's CPT, so that another
structure costs the families in which it differs. Missing values are summed out exactly, one connected component of the
features after another, and components are kept likewise.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tanbark.arrays import Codes, Floats
from tanbark.graph import Dag, Network
from tanbark.inference.layout import FlatNetwork, lay_out, lay_out_forest, pad, turn
from tanbark.inference.posterior import add_with_missing
from tanbark.machine import run_threads
from tanbark.structure.wrapper.search import Structure, supernodes
from tanbark.table import Schema, missing_code
from tanbark.table.coded import code_dtype

FeatureFamily = tuple[int, tuple[int, ...]]
Component = tuple[FeatureFamily, ...]

KEPT_BYTES = 1 << 29  # families' log-probabilities that are remembered
COMBINATIONS = 1 << 12  # joint states of missing values up to which they are enumerated; beyond, variable elimination


class FoldRows(ABC):
    """Log-joints of rows; a subclass provides the models of the folds.

    Parameters
    ----------
    codes : (n_columns, n_rows) array
        The class last.
    schema : Schema
    folds : (n_rows,) array
        The fold that each row is held out in, from 0.
    n_folds : int
    weights : (n_rows,) array, optional
    may_vanish : bool
        Whether an estimate may be zero.
    kept_bytes : int, optional
        Bytes of log-probabilities that are remembered.
    """

    def __init__(
        self, codes: Codes, schema: Schema, folds: NDArray[np.integer], *, n_folds: int, weights: Floats | None = None,
        may_vanish: bool = True, kept_bytes: int | None = None,
    ) -> None:  # fmt: skip
        self._schema, self._n_folds = schema, n_folds
        missing = (codes[: schema.target] == missing_code(codes)).any(axis=0)
        order = np.lexsort((folds, missing))
        self._codes = np.ascontiguousarray(with_folds(codes, folds, n_folds)[:, order])
        self._states = np.array([*schema.cardinalities, n_folds], np.int64)
        self._weights = np.zeros(0) if weights is None else weights[order]
        n_complete = int((~missing).sum())
        counted = np.ones(len(folds)) if weights is None else weights[order]
        self._parts = [self._part(0, n_complete, counted), self._part(n_complete, len(folds), counted)]
        self._kept: OrderedDict[Any, Floats] = OrderedDict()
        self._kept_bytes, self._room = 0, KEPT_BYTES if kept_bytes is None else kept_bytes
        prior = self._log_prior()
        self._prior = tuple(prior[part[0][-1].astype(np.int64)] for part in self._parts)
        self._zeros, self._may_vanish = False, may_vanish
        self.settle((None,) * schema.target)

    @abstractmethod
    def fold_cpts(self, family: FeatureFamily) -> Floats:
        """Estimate P(feature | parents, class) for every fold from the counts of all rows less the fold's own."""

    @abstractmethod
    def _log_prior(self) -> Floats:
        """Return log P(class) for every fold, (n_folds, n_classes)."""

    def _part(self, low: int, high: int, weights: Floats) -> tuple[Codes, NDArray[np.int64], Floats, NDArray[np.int64]]:
        """Return the codes, labels and weights of some rows, which are sorted by fold, and where each fold begins."""
        codes = np.ascontiguousarray(self._codes[:, low:high])
        bounds = np.searchsorted(codes[-1], np.arange(self._n_folds + 1)).astype(np.int64)
        return codes, codes[self._schema.target].astype(np.int64), weights[low:high], bounds

    def settle(self, structure: Structure) -> None:
        """Make a structure the one that the next ones are compared with."""
        self._families, self._components = feature_families(structure), _components(structure)
        self._complete = _total(self._prior[0], map(self._family_logs, sorted(self._families)))
        self._with_missing = _total(self._prior[1], map(self._component_logs, sorted(self._components)))

    def fold_sums(self, structure: Structure, scoring: str) -> Floats:
        """Add up, for every fold, the weight of right predictions, or weighted log-posteriors of the right class."""
        from tanbark.evaluation import kernels as fold_kernels

        found = np.zeros(self._n_folds)
        add = fold_kernels.count_correct if scoring == "accuracy" else fold_kernels.add_log_posteriors
        for joint, prior, part in zip(self.joints(structure), self._prior, self._parts, strict=True):
            if self._zeros:
                impossible = np.isneginf(joint).all(axis=1)
                joint[impossible] = prior[impossible]
            add(joint, *part[1:], found)
        return found

    def joints(self, structure: Structure) -> tuple[Floats, Floats]:
        """Return log P(class, observed) of the complete rows and of the others, each by its own fold's model."""
        complete, with_missing = self._complete, self._with_missing
        if len(complete):
            new = feature_families(structure)
            complete = self._changed(complete, self._prior[0], self._families, new, self._family_logs)
        if len(with_missing):
            components = _components(structure)
            with_missing = self._changed(
                with_missing, self._prior[1], self._components, components, self._component_logs
            )
        return complete, with_missing

    def _changed(
        self, settled: Floats, prior: Floats, old: frozenset[Any], new: frozenset[Any], logs: Callable[[Any], Floats]
    ) -> Floats:
        """Take the parts out of a sum that are gone and add those that are new, or sum up anew where that is less."""
        gone, fresh = sorted(old - new), sorted(new - old)
        if len(gone) + len(fresh) > len(new):
            return _total(prior, map(logs, sorted(new)))
        out = settled.copy()
        with np.errstate(invalid="ignore"):
            for part in gone:
                out -= logs(part)
            for part in fresh:
                out += logs(part)
        if self._zeros:  # a zero cannot be taken out again: these rows are summed anew
            lost = np.flatnonzero(np.isnan(out).any(axis=1))
            out[lost] = _total(prior[lost], (logs(part)[lost] for part in sorted(new)))
        return out

    def _family_logs(self, family: FeatureFamily) -> Floats:
        return self._remember(("family", family), lambda: self._gather(family), self._may_vanish)

    def _component_logs(self, component: Component) -> Floats:
        return self._remember(("component", component), lambda: self._sum_out(component), True)

    def _remember(self, key: Any, make: Callable[[], Floats], may_vanish: bool) -> Floats:
        """Keep the last results within a fixed amount of memory; note logarithms of zero where there may be some."""
        if key in self._kept:
            self._kept.move_to_end(key)
            return self._kept[key]
        value = make()
        self._zeros = self._zeros or (may_vanish and bool(np.isneginf(value).any()))
        self._kept[key] = value
        self._kept_bytes += value.nbytes
        while self._kept_bytes > self._room and len(self._kept) > 1:
            self._kept_bytes -= self._kept.popitem(last=False)[1].nbytes
        return value

    def _gather(self, family: FeatureFamily) -> Floats:
        from tanbark.evaluation import kernels as fold_kernels

        codes, labels, _, bounds = self._parts[0]
        out = np.empty((len(labels), self._schema.cardinalities[self._schema.target]))
        if len(out):
            members, strides, _ = self._layout((*family[1], family[0]))
            cpts = self.fold_cpts(family).reshape(len(bounds) - 1, -1)
            fold_kernels.gather_fold_logs(codes, members, strides, self._states, cpts, bounds, out)
        return out

    def _layout(self, scope: tuple[int, ...]) -> tuple[NDArray[np.int64], NDArray[np.int64], tuple[int, ...]]:
        """Return the members of a CPT with the class last, their strides in it, and its shape."""
        sizes = self._schema.cardinalities
        stride, strides = sizes[-1], []
        for member in reversed(scope):
            strides.append(stride)
            stride *= sizes[member]
        shape = (*(sizes[member] for member in scope), sizes[-1])
        return np.array(scope, np.int64), np.array(strides[::-1], np.int64), shape

    def _sum_out(self, component: Component) -> Floats:
        """Return the log-evidence of a connected component of features for the rows with missing values."""
        codes, labels, _, bounds = self._parts[1]
        out = np.zeros((len(labels), self._schema.cardinalities[self._schema.target]))
        if len(out):
            cpts = [self.fold_cpts(family) for family in component]
            if all(len(parents) <= 1 for _, parents in component):
                self._pass_up(component, cpts, codes, bounds, out)
            else:
                self._enumerate(component, cpts, codes, bounds, out)
        return out

    def _pass_up(
        self, component: Component, cpts: list[Floats], codes: Codes, bounds: NDArray[np.int64], out: Floats
    ) -> None:
        """Sum out a tree of features, fold by fold."""
        from tanbark.inference import forest_kernels

        families, sizes = _parents_first(component), self._schema.cardinalities
        by_family = dict(zip(component, cpts, strict=True))
        tables = [by_family[family] for family in families]
        scopes = [(*parents, feature, self._schema.target) for feature, parents in families]
        with np.errstate(divide="ignore"):
            logs = [pad(np.log(table), table.ndim - 2) for table in tables]
        padded = (*(size + 1 for size in sizes[:-1]), sizes[-1])
        shape = lay_out_forest(
            families, sizes, [table[0] for table in tables], lay_out(scopes, padded, self._schema.target, np.zeros(0))
        )
        parts = (_one_row_each(each) for each in (logs, tables, [turn(table, 1) for table in tables]))
        for fold, (entries, values, turned) in enumerate(zip(*parts, strict=True)):
            forest = shape._replace(entries=shape.entries._replace(values=entries), probabilities=values, turned=turned)
            forest_kernels.add_forest(codes, forest, bounds[fold], bounds[fold + 1], out)
        doubtful = np.flatnonzero(np.isneginf(out).any(axis=1))  # zero, or below the range of floats
        self._eliminate(component, cpts, codes, doubtful, out)

    def _enumerate(
        self, component: Component, cpts: list[Floats], codes: Codes, bounds: NDArray[np.int64], out: Floats
    ) -> None:
        """Sum out any other component by enumeration, fold by fold, and what is too large for that by elimination."""
        from tanbark.inference import missing_kernels

        nodes, last = [feature for feature, _ in component], len(component)
        place = {feature: k for k, feature in enumerate(nodes)}
        scopes = [(*(place[p] for p in parents), place[feature], last) for feature, parents in component]
        sizes = (*self._states[nodes].tolist(), out.shape[1])
        factors = lay_out(scopes, sizes, last, np.zeros(0))
        order = np.array([place[feature] for feature, _ in reversed(_parents_first(component))], np.int64)
        flat = FlatNetwork(np.array(sizes, np.int64), factors, order, np.zeros(0, np.bool_))
        own, left = np.ascontiguousarray(codes[nodes]), np.zeros(len(out), np.bool_)
        calls = []
        for fold, (values, logs) in enumerate(_by_fold(cpts)):
            model = flat._replace(cpts=factors._replace(values=values))
            calls.append((own, model, logs, COMBINATIONS, bounds[fold], bounds[fold + 1], out, left))
        run_threads(missing_kernels.add_enumerated, calls, 1, long=True)
        self._eliminate(component, cpts, codes, np.flatnonzero(left), out)

    def _eliminate(
        self, component: Component, cpts: list[Floats], codes: Codes, rows: NDArray[np.intp], out: Floats
    ) -> None:
        """Sum out some rows by the general method, the rows of a fold at once."""
        if not len(rows):
            return
        target, sizes = self._schema.target, self._schema.cardinalities
        members = [feature for feature, _ in component]
        parents: list[tuple[int, ...]] = [()] * (target + 1)
        for feature, above in component:
            parents[feature] = (*above, target)
        dag = Dag(self._schema.names, tuple(parents))
        for fold in np.unique(codes[target + 1, rows]):
            chosen = rows[codes[target + 1, rows] == fold]
            full: list[Floats] = [np.full(size, 1.0 / size) for size in sizes]
            full[target] = np.ones(sizes[target])
            for feature, cpt in zip(members, cpts, strict=True):
                full[feature] = cpt[fold]
            seen = np.full((target, len(chosen)), missing_code(codes), codes.dtype)
            seen[members] = codes[np.ix_(members, chosen)]
            part = np.zeros((len(chosen), sizes[target]))
            add_with_missing(Network(self._schema, dag, tuple(full)), seen, part)
            out[chosen] = part


def with_folds(codes: Codes, folds: NDArray[np.integer], n_folds: int) -> Codes:
    """Put the folds below the codes as one more column, in a type that holds both."""
    dtype = np.promote_types(codes.dtype, code_dtype((n_folds,)))
    wide = np.vstack([codes, folds.astype(dtype)], dtype=dtype)
    wide[:-1][codes == missing_code(codes)] = np.iinfo(dtype).max
    return wide


def _by_fold(cpts: list[Floats]) -> Iterator[tuple[Floats, Floats]]:
    """Put the CPTs of every fold one after another; yield them and their logarithms."""
    flat = _one_row_each(cpts)
    with np.errstate(divide="ignore"):
        logs = np.log(flat)
    yield from zip(flat, logs, strict=True)


def _one_row_each(tables: Sequence[Floats]) -> Floats:
    """Put tables with an axis of folds one after another, a row of the result for every fold."""
    return np.concatenate([table.reshape(len(table), -1) for table in tables], axis=1)


def _total(start: Floats, parts: Iterable[Floats]) -> Floats:
    out = start.copy()
    for part in parts:
        out += part
    return out


def feature_families(structure: Structure) -> frozenset[FeatureFamily]:
    """List the features that are in, each with its feature parents."""
    return frozenset((feature, parents) for feature, parents in enumerate(structure) if parents is not None)


def _components(structure: Structure) -> frozenset[Component]:
    return frozenset(
        tuple((feature, structure[feature] or ()) for feature in members) for members in supernodes(structure)
    )


def _parents_first(component: Component) -> Component:
    """Order the families of a component so that parents come before their children."""
    waiting, ordered = dict(component), []
    done: set[int] = set()
    while waiting:
        ready = [feature for feature, parents in waiting.items() if done.issuperset(parents)]
        ordered += [(feature, waiting.pop(feature)) for feature in ready]
        done.update(ready)
    return tuple(ordered)


def too_large(structure: Structure, settled: frozenset[FeatureFamily], schema: Schema, max_cells: int | None) -> bool:
    """Return whether a family that is new needs a larger CPT than allowed."""
    if max_cells is None:
        return False
    sizes = schema.cardinalities
    return any(
        math.prod(sizes[c] for c in (*parents, feature, -1)) > max_cells
        for feature, parents in feature_families(structure) - settled
    )
