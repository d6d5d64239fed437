"""Ensembles that learn and forget rows while the structures of their networks stay.

A context is stored from its second row on, so the counts of the contexts do not suffice to add rows: the rows
themselves are kept, coded, one byte per value in most tables.
"""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from typing import Any

import numpy as np

from tanbark.arrays import Codes, Floats
from tanbark.errors import InputError, OptionError
from tanbark.estimators import inputs
from tanbark.estimators.ensemble.coarsening import Coarsening, merge_to
from tanbark.estimators.ensemble.left_out import left_out_logits
from tanbark.estimators.ensemble.member import Member
from tanbark.estimators.ensemble.pooled import Pooled, class_priors, count_classes, usual_missing
from tanbark.estimators.reports import leave_one_out
from tanbark.estimators.scikit import check_is_fitted
from tanbark.estimators.training import code_further
from tanbark.inference.sparse_network import lay_out_trees
from tanbark.machine import run_threads, thread_count
from tanbark.params.hierarchical.context_tree import fit_tree
from tanbark.table import CodedTable, Schema, missing_code

KEPT_BYTES = 1 << 23  # coded rows of at most this size are kept by fit, to be added to later
SLACK = 1e-9  # by which a row may be forgotten more often than it was learnt


class Stepwise:
    """Learning, forgetting and leaving out rows with held structures; for pooled networks without a correction."""

    rows_: CodedTable

    @inputs.all_or_nothing
    def partial_fit(self: Any, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Any:
        """Learn from further rows; the structures that the first ones have led to stay.

        The first call learns as ``fit`` does (give ``classes`` where the first rows may lack some). Later calls hold
        the networks' structures, their intervals and weights, add the rows to the counts of all CPTs and of the
        classes, and estimate these again, as if all rows had been there with the same structures. Categories that are
        new are added. A later call takes about as long as ``fit`` takes to count all rows.

        The coded rows are kept for this, one byte per value in most tables: in ``rows_``, also by ``fit`` where they
        take at most 8 MiB. They are part of a pickle, not of the model file.
        """
        if not self.__sklearn_is_fitted__():
            self.rows_ = self._fit(X, y, sample_weight, classes=classes)
            return self
        self._check_options()
        earlier, lead = self._kept_rows(), copy(self)
        return self._recount(lead, join_rows(earlier, code_further(lead, X, y, sample_weight, grow=True)))

    @inputs.all_or_nothing
    def forget(self: Any, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Take rows out of the counts again, exactly, as if they had never been counted.

        Structures, intervals, weights, columns and categories stay. Rows that were never learnt raise an error.
        """
        check_is_fitted(self)
        self._check_options()
        earlier, lead = self._kept_rows(), copy(self)
        return self._recount(lead, take_out(earlier, code_further(lead, X, y, sample_weight, grow=False)))

    def leave_one_out_proba(self: Any, X: Any, y: Any, sample_weight: Any = None) -> Floats:
        """Return the class probabilities of the training rows, each as if it had not been among them.

        The count of a row is taken out of every CPT of every network, without learning again. Structures, intervals,
        concentrations and weights are held, and the weights were chosen for these very probabilities, so they are a
        little too good. With missing values, each feature reads its parents before the first missing one.

        Parameters
        ----------
        X, y : the training rows and their labels
        sample_weight : array-like, optional
            The weights that the rows were learnt with. A row of weight 3 stands for three, one of which is left out.

        Returns
        -------
        (n_rows, n_classes) array, as of ``predict_proba``
        """
        check_is_fitted(self)
        return leave_one_out.left_out_proba(self, X, y, sample_weight)[0]

    def leave_one_out_measures(self: Any, X: Any, y: Any, sample_weight: Any = None) -> dict[str, float]:
        """Measure ``leave_one_out_proba`` of the training rows against their labels.

        Returns
        -------
        dict with accuracy, balanced_accuracy, log_loss (nats per row), brier, auc and calibration_error
            Every row counts once, whatever its weight.
        """
        check_is_fitted(self)
        return leave_one_out.left_out_measures(self, X, y, sample_weight)

    def _left_out(self: Any, table: CodedTable) -> Floats:
        return left_out_logits(self.model_, table, fixed_prior=self.class_prior is not None, n_jobs=self.n_jobs)

    def _kept_rows(self) -> CodedTable:
        if not hasattr(self, "rows_"):
            msg = (
                f"This {type(self).__name__} keeps no rows to add to or to take from: it was loaded from a file, or "
                f"fit found rows of more than {KEPT_BYTES >> 20} MiB. To learn or forget step by step, begin with "
                "partial_fit."
            )
            raise OptionError(msg)
        return self.rows_

    def _recount(self: Any, lead: Any, table: CodedTable) -> Any:
        """Estimate all CPTs from rows; what fails leaves the estimator as it was."""
        lead.__dict__.pop("set_scores_", None)
        prior = inputs.read_class_prior(self.class_prior, self.classes_)
        lead.model_ = recount(self.model_, table, n_jobs=self.n_jobs)
        if prior is not None:
            with np.errstate(divide="ignore"):
                lead.model_ = lead.model_.with_prior(np.log(prior))
        lead.rows_ = table
        lead._count_values(table)
        self.__dict__.clear()
        self.__dict__.update(lead.__dict__)
        return self


def recount(pooled: Pooled, table: CodedTable, *, n_jobs: int | None) -> Pooled:
    """Estimate the CPTs and the class prior from rows; structures, intervals and weights are held."""
    old = list({id(member.coarsening): member.coarsening for member in pooled.members}.values())
    kinds = {id(kind): _regrown(kind, table.schema) for kind in old}
    merged = {key: kind.apply(table.codes) for key, kind in kinds.items()}

    def count(member: Member) -> Member:
        key = id(member.coarsening)
        return recount_member(member, kinds[key], merged[key], table.weights)

    members = run_threads(count, [(member,) for member in pooled.members], thread_count(n_jobs))
    labels, n_classes = table.codes[-1].astype(np.int64), table.schema.cardinalities[-1]
    log_prior, _ = class_priors(labels, table.weights, n_classes)
    return replace(
        pooled, schema=table.schema, members=members, log_prior=log_prior, usual_missing=usual_missing(table),
        class_counts=count_classes(labels, table.weights, n_classes),
    )  # fmt: skip


def recount_member(member: Member, kind: Coarsening, merged: Codes, weights: Floats | None) -> Member:
    """Estimate the CPTs of one network from rows with merged intervals."""
    sizes = [kind.schema.cardinalities[c] for c in (*member.columns.tolist(), kind.schema.target)]
    codes = np.ascontiguousarray(merged[np.append(member.columns, kind.schema.target)])
    trees = [fit_tree(codes, k, parents, sizes, weights)[0] for k, parents in enumerate(member.parents)]
    network = lay_out_trees(trees, member.parents, sizes, member.order)
    return replace(member, coarsening=kind, trees=trees, network=network)


def _regrown(kind: Coarsening, grid: Schema) -> Coarsening:
    """Return merged intervals over a grid that may have further categories."""
    if kind.schema.columns == grid.columns:
        return kind
    pairs = zip(kind.schema.columns, grid.columns, strict=True)
    return merge_to(grid, Schema(tuple(old if old.kind == "interval" else new for old, new in pairs)))


def join_rows(earlier: CodedTable, further: CodedTable) -> CodedTable:
    """Append rows whose schema has at least the states of the earlier ones."""
    codes = np.concatenate([_widened(earlier.codes, further.codes), further.codes], axis=1)
    if earlier.weights is None and further.weights is None:
        return CodedTable(further.schema, codes)
    return CodedTable(further.schema, codes, np.concatenate([_weights(earlier), _weights(further)]))


def take_out(earlier: CodedTable, gone: CodedTable) -> CodedTable:
    """Remove rows, the latest of equal ones first; a row that is not there raises an error."""
    codes = np.concatenate([earlier.codes, gone.codes], axis=1)
    _, kinds = np.unique(codes, axis=1, return_inverse=True)
    kinds, n = kinds.ravel(), earlier.n_rows
    weights = _weights(earlier)
    lost = np.bincount(kinds[n:], _weights(gone), kinds.max(initial=0) + 1)
    order = np.lexsort((-np.arange(n), kinds[:n]))  # equal rows together, the latest first
    ends = np.cumsum(weights[order])
    begins = ends - weights[order]
    firsts = np.concatenate([[True], np.diff(kinds[:n][order]) > 0])[: len(order)]
    before = begins - np.repeat(begins[firsts], np.diff(np.append(np.flatnonzero(firsts), len(order))))
    taken = np.clip(lost[kinds[:n][order]] - before, 0.0, weights[order])
    missed = lost.sum() - taken.sum()
    if missed > SLACK * max(1.0, float(lost.sum())):
        msg = f"forget was asked for rows that were never learnt, or not as often: {missed:g} too many."
        raise InputError(msg)
    left = weights.copy()
    left[order] -= taken
    kept = left > SLACK
    rest = np.ascontiguousarray(earlier.codes[:, kept])
    return CodedTable(earlier.schema, rest, None if earlier.weights is None else left[kept])


def _weights(table: CodedTable) -> Floats:
    return np.ones(table.n_rows) if table.weights is None else table.weights


def _widened(codes: Codes, like: Codes) -> Codes:
    """Return codes in the type of others, the missing ones with its code."""
    if codes.dtype == like.dtype:
        return codes
    wide = codes.astype(like.dtype)
    wide[codes == missing_code(codes)] = missing_code(like)
    return wide
