"""Compiled kernels of leave-one-out: the entries of CPTs without a row's own count, and the tempered log-loss."""

from __future__ import annotations

from math import exp, log

import numpy as np

from tanbark.arrays import Array
from tanbark.evaluation.leave_one_out import CountedFamilies, TreeFamily
from tanbark.machine import kernel
from tanbark.params.context_kernels import NONE, ROOT, passed_on
from tanbark.params.context_tree import ContextTree

SLACK = 1e-6  # by which sums of weights may differ


@kernel
def add_left_out(
    codes: Array, left_out: Array, complete: Array, families: CountedFamilies, top: int, bottom: int, out: Array,
    unknown: Array,
) -> None:  # fmt: skip
    """Add log P(node | parents) without a row's own count to ``out[row, class]``, for all classes.

    ``left_out[row]`` is what the counts of the row's cells lose. A family with a missing value never counted the row
    and adds nothing. Rows that are not ``complete`` begin with the log-joint of the whole model, of which the entries
    of the families without missing values are taken off again. ``unknown`` marks rows that no count contains.
    """
    # Idea: of a family with the class, one entry per row changes unless the prior mass depends on the counts.
    # Layout: codes are (columns, rows), the class last. Cost: O(rows x families x classes).
    cells, target, n_classes = families.cells, len(families.sizes) - 1, out.shape[1]
    for row in range(top, bottom):
        label = np.int64(codes[target, row])
        for family in range(target + 1):
            if families.as_tree[family]:
                continue
            place, total_place, whole = cells.starts[family], families.total_starts[family], True
            for at in range(cells.bounds[family], cells.bounds[family + 1]):
                column = cells.columns[at]
                if column != target:
                    code = np.int64(codes[column, row])
                    if code >= families.sizes[column]:
                        whole = False
                        break
                    place += code * cells.strides[at]
                    total_place += code * families.total_strides[at]
            if not whole:
                continue
            step = 1 if cells.with_class[family] else 0
            less = 0.0 if families.fixed[family] else left_out[row]
            if less > 0.0 and cells.values[place + step * label] < less - SLACK:
                unknown[row] = True
            changed = 0.0
            for c in range(n_classes):
                if step == 1 or c == 0:
                    before = families.logarithms[place + c * step]
                    after = before
                    if less > 0.0 and (step == 0 or c == label or family == target or families.marginal_rows[family]):
                        gone = less if step == 0 or c == label else 0.0
                        state = c if family == target else np.int64(codes[family, row])
                        at_total = total_place + (c if step == 1 and family != target else 0)
                        gone_total = less if family == target else gone
                        after = families.exponents[family] * _left_out_entry(
                            families, family, state, cells.values[place + c * step] - gone,
                            families.totals[at_total] - gone_total, less, state == label or family != target,
                        )  # fmt: skip
                    changed = after
                    if not complete[row]:
                        changed = 0.0 if before == -np.inf else after - before
                out[row, c] += changed


@kernel
def _left_out_entry(
    families: CountedFamilies, family: int, state: int, n: float, total: float, less: float, own: bool
) -> float:
    """Return the logarithm of an entry with the count n of its cell and the total of its parent configuration.

    ``own`` is whether the marginal count of the state loses the row.
    """
    states = families.sizes[family]
    mass, pseudo = families.mass[family], families.mass[family] * states
    if families.marginal_rows[family] > 0.0:
        start = families.marginal_starts[family]
        pseudo, all_rows = families.marginal_rows[family], -less
        for k in range(states):
            all_rows += families.marginals[start + k]
        held = families.marginals[start + state] - (less if own else 0.0)
        mass = pseudo * (max(held, 0.0) + 1.0) / (max(all_rows, 0.0) + states)
    above, below = max(n, 0.0) + mass, max(total, 0.0) + pseudo
    if below <= 0.0:
        return -log(states)
    return log(above / below) if above > 0.0 else -np.inf


@kernel
def add_tree_left_out(
    codes: Array, left_out: Array, complete: Array, family: TreeFamily, top: int, bottom: int, out: Array,
    unknown: Array,
) -> None:  # fmt: skip
    """Add the same for a family with hierarchical smoothing; see :func:`add_left_out`.

    Concentrations and the passing on of rows are held: the contexts above a row's own lose what it no longer passes on.
    """
    # Idea: one walk from the row's deepest context up finds what every level loses, one walk down per class shrinks
    # what is left. Cost: O(rows x levels x classes).
    node, parents, exponent, tree = family
    target, n_classes, n_levels = codes.shape[0] - 1, out.shape[1], len(parents)
    by_class = parents[0] == target
    path, lost = np.zeros(n_levels + 1, np.int64), np.zeros(n_levels + 1)
    for row in range(top, bottom):
        state, label = np.int64(codes[node, row]), np.int64(codes[target, row])
        whole = state < tree.counts.shape[1]
        for level in range(n_levels):
            whole &= np.int64(codes[parents[level], row]) < tree.states[level]
        if not whole:
            continue
        for level in range(n_levels):
            path[level + 1] = _below(tree, level, path[level], np.int64(codes[parents[level], row]))
        less = left_out[row]
        if less > 0.0 and (path[n_levels] < 0 or tree.counts[path[n_levels], state] < less - SLACK):
            unknown[row] = True
            continue
        for level in range(n_levels, 0, -1):
            lost[level] = less
            if less > 0.0:
                n = tree.counts[path[level], state]
                a = tree.concentrations[level] * tree.probabilities[path[level - 1], state]
                less = passed_on(n, a) - passed_on(n - less, a)
        lost[ROOT] = less
        for c in range(n_classes):
            wanted, own = c if node == target else state, c == label or not by_class
            v, gone = np.int64(ROOT), lost[ROOT] if wanted == state else 0.0
            p = (max(tree.counts[ROOT, wanted] - gone, 0.0) + 0.5) / (
                tree.totals[ROOT] - lost[ROOT] + tree.concentrations[ROOT]
            )
            for level in range(n_levels):
                s = c if by_class and level == 0 else np.int64(codes[parents[level], row])
                deeper = _below(tree, level, v, s)
                if deeper < 0:
                    break
                v = deeper
                gone = lost[level + 1] if own and wanted == state else 0.0
                gone_total = lost[level + 1] if own else 0.0
                concentration = tree.concentrations[level + 1]
                p = (max(tree.counts[v, wanted] - gone, 0.0) + concentration * p) / (
                    max(tree.totals[v] - gone_total, 0.0) + concentration
                )
            whole_entry = 0.0 if complete[row] else log(tree.probabilities[v, wanted])
            out[row, c] += exponent * (log(p) - whole_entry)


@kernel
def _below(tree: ContextTree, level: int, v: int, state: int) -> int:
    """Return the context below v, of a level, for a state of the next parent; -1 where v or that context is none."""
    if v < 0:
        return NONE
    return tree.children[tree.starts[level] + (v - tree.levels[level]) * tree.states[level] + state]  # type: ignore[no-any-return]  # an integer


@kernel
def tempered_loss(
    joint: Array, prior: Array, labels: Array, weights: Array, tau: float, top: int, bottom: int
) -> Array:
    """Return the log-loss of posteriors proportional to P(c) P(x | c)^tau, and its first two derivatives by tau.

    ``joint`` and ``prior`` are logarithms, (rows, classes). Rows whose label is impossible count nothing.
    """
    # Idea: the loss is convex in tau; its derivatives are the mean and the variance of log P(x | c) in the posterior.
    # Cost: O(rows x classes).
    n_classes = joint.shape[1]
    found = np.zeros(3)
    for row in range(top, bottom):
        label = labels[row]
        if joint[row, label] == -np.inf or prior[row, label] == -np.inf:
            continue
        wanted = joint[row, label] - prior[row, label]
        reference = prior[row, label] + tau * wanted
        largest = reference
        for c in range(n_classes):
            if joint[row, c] > -np.inf and prior[row, c] > -np.inf:
                largest = max(largest, prior[row, c] + tau * (joint[row, c] - prior[row, c]))
        mass, mean, square = 0.0, 0.0, 0.0
        for c in range(n_classes):
            if joint[row, c] > -np.inf and prior[row, c] > -np.inf:
                difference = joint[row, c] - prior[row, c] - wanted
                p = exp(prior[row, c] + tau * (joint[row, c] - prior[row, c]) - largest)
                mass += p
                mean += p * difference
                square += p * difference * difference
        mean /= mass
        found[0] += weights[row] * (log(mass) + largest - reference)
        found[1] += weights[row] * mean
        found[2] += weights[row] * (square / mass - mean * mean)
    return found
