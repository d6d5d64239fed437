"""Training rows predicted by pooled networks, each without its own count."""

from __future__ import annotations

import numpy as np

from tanbark.arrays import Codes, Floats
from tanbark.estimators.ensemble.member import Member
from tanbark.estimators.ensemble.pooled import CLASS_PRIOR, Pooled, leave_out_classes
from tanbark.machine import run_threads, thread_count
from tanbark.params.hierarchical.context_tree import NO_WEIGHTS
from tanbark.table import CodedTable


def left_out_logits(pooled: Pooled, table: CodedTable, *, fixed_prior: bool, n_jobs: int | None) -> Floats:
    """Return log P(class | observed) of training rows up to a constant, each row's count taken out of all CPTs."""

    def leave(member: Member) -> Floats:
        return left_out_likelihoods(member, member.coarsening.apply(table.codes), table.weights)

    parts = run_threads(leave, [(member,) for member in pooled.members], thread_count(n_jobs))
    evidence = pooled.plain_temperature * np.tensordot(pooled.weights, np.stack(parts), 1)
    if fixed_prior:
        return np.asarray(pooled.log_prior + evidence)
    labels = table.codes[-1].astype(np.int64)
    return np.asarray(leave_out_classes(pooled.class_counts + CLASS_PRIOR, labels, table.weights) + evidence)


def left_out_likelihoods(member: Member, merged: Codes, weights: Floats | None) -> Floats:
    """Return log P(values | class) of rows with merged intervals, the class as the last one, in one network.

    As in training, missing values are left out together with the parents after the first missing one.
    """
    from tanbark.params.hierarchical import context_kernels

    codes = np.ascontiguousarray(merged[np.append(member.columns, len(merged) - 1)])
    out = np.zeros((codes.shape[1], member.coarsening.schema.cardinalities[-1]))
    given = NO_WEIGHTS if weights is None else weights
    for feature, (parents, tree) in enumerate(zip(member.parents, member.trees, strict=True)):
        family = np.array(parents)
        contexts = context_kernels.find_contexts(codes, family, tree)
        context_kernels.add_left_out(codes, feature, family, given, tree, contexts, out)
    return out
