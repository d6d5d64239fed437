"""Cross-validated scores of structures, at the cost of what changed since the last one.

Every fold's model comes from the whole table's counts less the fold's own. A family's log-probabilities are kept for
all complete rows, each read from its own fold's table, so that another structure costs the families in which it
differs. Rows with gaps are summed out exactly, group by group of connected features, and groups are kept likewise.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tanbark.errors import find
from tanbark.graph import Dag, Network
from tanbark.inference.eliminate import add_with_gaps
from tanbark.params import Smoothing, estimate
from tanbark.structure.search import Structure, supernodes
from tanbark.table import Schema

Floats = NDArray[np.float64]
Codes = NDArray[np.unsignedinteger]
Family = tuple[int, tuple[int, ...]]
Group = tuple[Family, ...]

KEPT_BYTES = 1 << 29  # families' log-probabilities that are remembered
COMBINATIONS = 1 << 12  # gaps with more combinations are summed out by elimination instead of enumeration


class FoldEvaluator:
    """Score structures by stratified cross-validation.

    Parameters
    ----------
    codes : (n_columns, n_rows) array
        The class last.
    schema : Schema
    folds : (n_rows,) array
        The fold that each row is held out in, from 0.
    weights : (n_rows,) array, optional
    smooth : float
        What is added to every cell of the fold models.
    scoring : {"accuracy", "log-loss"}
        The mean over the folds of the share of right predictions (ties go to the first class), or of the mean
        log-posterior of the right class, in nats.
    """

    def __init__(
        self, codes: Codes, schema: Schema, folds: NDArray[np.int64], *, weights: Floats | None = None,
        smooth: float = 0.01, scoring: str = "accuracy",
    ) -> None:  # fmt: skip
        find("scoring", scoring, {"accuracy": None, "log-loss": None})
        self._schema, self._scoring = schema, scoring
        self._smoothing = Smoothing("laplace", smooth)
        target = schema.target
        gaps = (codes[:target] == np.iinfo(codes.dtype).max).any(axis=0)
        order = np.lexsort((folds, gaps))
        n_folds = int(folds.max()) + 1
        self._codes = np.ascontiguousarray(np.vstack([codes, folds.astype(codes.dtype)])[:, order])
        self._states = np.array([*schema.cardinalities, n_folds], np.int64)
        self._weights = np.zeros(0) if weights is None else weights[order]
        self._n_complete = int((~gaps).sum())
        counted = np.ones(len(folds)) if weights is None else weights[order]
        self._parts = []
        for low, high in ((0, self._n_complete), (self._n_complete, len(folds))):
            bounds = np.searchsorted(self._codes[-1, low:high], np.arange(n_folds + 1)).astype(np.int64)
            labels = self._codes[target, low:high].astype(np.int64)
            self._parts.append((np.ascontiguousarray(self._codes[:, low:high]), labels, counted[low:high], bounds))
        self._fold_weight = np.bincount(folds, weights, n_folds)
        self._kept: OrderedDict[Any, Floats] = OrderedDict()
        self._kept_bytes = 0
        self._prior = self._log_prior()
        self.settle((None,) * target)

    @property
    def best_possible(self) -> float:
        """The score that nothing can exceed."""
        return 1.0 if self._scoring == "accuracy" else 0.0

    def settle(self, structure: Structure) -> None:
        """Make a structure the one that the next ones are compared with."""
        self._structure = structure
        self._groups = _groups(structure)
        self._complete = self._prior[0].copy()
        for feature, parents in enumerate(structure):
            if parents is not None:
                self._complete += self._family_logs((feature, parents))
        self._with_gaps = self._prior[1].copy()
        for group in self._groups:
            self._with_gaps += self._group_logs(group)

    def score(self, structure: Structure) -> float:
        """Give the mean score over the folds."""
        from tanbark.inference import fold_kernels

        joints = self.joints(structure)
        found = np.zeros(len(self._fold_weight))
        add = fold_kernels.count_correct if self._scoring == "accuracy" else fold_kernels.add_log_posteriors
        for joint, (_, labels, weights, bounds) in zip(joints, self._parts, strict=True):
            add(joint, labels, weights, bounds, found)
        return float((found / self._fold_weight).mean())

    def joints(self, structure: Structure) -> tuple[Floats, Floats]:
        """Give log P(class, observed) of the complete rows and of the others, each by its own fold's model."""
        complete, with_gaps = self._complete, self._with_gaps
        if len(complete):
            complete = complete.copy()
            for feature, (old, new) in enumerate(zip(self._structure, structure, strict=True)):
                if old != new:
                    if old is not None:
                        complete -= self._family_logs((feature, old))
                    if new is not None:
                        complete += self._family_logs((feature, new))
        if len(with_gaps):
            groups = _groups(structure)
            with_gaps = with_gaps.copy()
            for group in self._groups - groups:
                with_gaps -= self._group_logs(group)
            for group in groups - self._groups:
                with_gaps += self._group_logs(group)
        return complete, with_gaps

    def fold_tables(self, family: Family) -> Floats:
        """Estimate P(feature | parents, class) for every fold from the counts of all rows less the fold's own."""
        from tanbark.counts import kernels

        feature, parents = family
        target = self._schema.target
        columns = np.array([target + 1, *parents, feature, target], np.int64)
        shape = self._states[columns]
        counts = np.zeros(int(shape.prod()), np.float64 if len(self._weights) else np.int64)
        zero = np.zeros(1, np.int64)
        ends = np.array([0, len(columns)], np.int64)
        kernels.count_sets(self._codes, self._weights, columns, ends, self._states, zero, counts)
        by_fold = counts.reshape(shape)
        return estimate(by_fold.sum(axis=0) - by_fold, -2, self._smoothing)

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
        return self._remember(("family", family), lambda: self._gather(family))

    def _group_logs(self, group: Group) -> Floats:
        return self._remember(("group", group), lambda: self._sum_out(group))

    def _remember(self, key: Any, make: Callable[[], Floats]) -> Floats:
        """Keep the last results within a fixed amount of memory."""
        if key in self._kept:
            self._kept.move_to_end(key)
            return self._kept[key]
        value = make()
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
            members = np.array([*family[1], family[0]], np.int64)
            with np.errstate(divide="ignore"):
                tables = np.log(self.fold_tables(family)).reshape(len(bounds) - 1, -1)
            fold_kernels.gather_fold_logs(codes, members, self._strides(members), tables, bounds, out)
        return out

    def _strides(self, members: NDArray[np.int64]) -> NDArray[np.int64]:
        sizes = np.array([*self._states[members], self._states[self._schema.target]], np.int64)
        return np.cumprod(sizes[::-1])[::-1][1:].copy()

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
        for row in np.flatnonzero(np.isneginf(out).any(axis=1)):
            self._eliminate(group, tables, codes, int(row), out)

    def _enumerate(
        self, group: Group, tables: list[Floats], codes: Codes, bounds: NDArray[np.int64], out: Floats
    ) -> None:
        from tanbark.inference import fold_kernels

        ordered = _parents_first(group)
        tables = [tables[group.index(family)] for family in ordered]
        place = {feature: k for k, (feature, _) in enumerate(ordered)}
        scopes = [(*parents, feature) for feature, parents in ordered]
        members = np.array([m for scope in scopes for m in scope], np.int64)
        strides = np.concatenate([self._strides(np.array(scope)) for scope in scopes])
        children = [[place[f] for f, parents in ordered if feature in parents] for feature, _ in ordered]
        nodes = np.array([feature for feature, _ in ordered], np.int64)
        flat = np.concatenate([table.reshape(len(table), -1) for table in tables], axis=1)
        with np.errstate(divide="ignore"):
            logs = np.log(flat)
        starts = np.cumsum([0, *(table[0].size for table in tables)])[:-1].astype(np.int64)
        hard = np.zeros(len(out), np.bool_)
        for fold in range(len(bounds) - 1):
            fold_kernels.add_component(
                codes, logs[fold], starts, nodes, self._states[nodes], members,
                np.array([place[m] for m in members], np.int64), strides, np.cumsum([0, *map(len, scopes)]),
                np.array([c for found in children for c in found], np.int64), np.cumsum([0, *map(len, children)]),
                COMBINATIONS, bounds[fold], bounds[fold + 1], hard, out,
            )  # fmt: skip
        for row in np.flatnonzero(hard):
            self._eliminate(group, tables_of(group, ordered, tables), codes, int(row), out)

    def _eliminate(self, group: Group, tables: list[Floats], codes: Codes, row: int, out: Floats) -> None:
        """Sum one row out by the general way."""
        target, sizes = self._schema.target, self._schema.cardinalities
        fold = int(codes[target + 1, row])
        parents: list[tuple[int, ...]] = [()] * (target + 1)
        full: list[Floats] = [np.full(size, 1.0 / size) for size in sizes]
        full[target] = np.ones(sizes[target])
        for (feature, above), table in zip(group, tables, strict=True):
            parents[feature], full[feature] = (*above, target), table[fold]
        network = Network(self._schema, Dag(self._schema.names, tuple(parents)), tuple(full))
        seen = np.full((target, 1), np.iinfo(codes.dtype).max, codes.dtype)
        for feature, _ in group:
            seen[feature] = codes[feature, row]
        part = np.zeros((1, out.shape[1]))
        add_with_gaps(network, seen, part)
        out[row] = part[0]


def tables_of(group: Group, ordered: Group, tables: list[Floats]) -> list[Floats]:
    """Bring tables from the order of their graph back to that of their group."""
    return [tables[ordered.index(family)] for family in group]


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
