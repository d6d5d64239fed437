"""Compiled kernels of leave-one-out: the entries of CPTs without a row's own count, and the tempered log-loss."""

from __future__ import annotations

from math import exp, log

import numpy as np

from tanbark.arrays import Array
from tanbark.evaluation.leave_one_out import CountedFamilies, TreeFamily
from tanbark.kernel import kernel
from tanbark.params.hierarchical.context_kernels import NONE, ROOT, no_longer_passed_on

SLACK = 1e-6  # by which sums of weights may differ
SMALL = 1e-2  # a relative change below this enters a logarithm by five terms of its series


@kernel
def add_left_out(
    codes: Array, left_out: Array, complete: Array, families: CountedFamilies, nodes: tuple[int, int], top: int,
    bottom: int, out: Array, unknown: Array,
) -> None:  # fmt: skip
    """Add log P(node | parents) without a row's own count to ``out[row, class]``, for all classes.

    The families are those of the columns from ``nodes[0]`` to before ``nodes[1]``.
    ``left_out[row]`` is what the counts of the row's cells lose. A family with a missing value never counted the row
    and adds nothing. Rows that are not ``complete`` begin with the log-joint of the whole model, of which the entries
    of the families without missing values are taken off again. ``unknown`` marks rows that no count contains.
    """
    # Idea: of a family with the class, one entry per row changes unless the prior mass depends on the counts. Families
    # are the outer loop, so that the counts of one stay in the cache.
    # Layout: codes are (columns, rows), the class last. Cost: O(rows x families x classes).
    # Helpers take numbers and single arrays: a tuple of arrays costs a reference count for each of them in every call.
    counts, starts, columns, strides, bounds, with_class = families.cells
    sizes, logarithms, totals, marginals = families.sizes, families.logarithms, families.totals, families.marginals
    total_strides, target, n_classes = families.total_strides, len(families.sizes) - 1, out.shape[1]
    for family in range(nodes[0], nodes[1]):
        if families.as_tree[family]:
            continue
        states, exponent, step = sizes[family], families.exponents[family], 1 if with_class[family] else 0
        fixed, mass, pseudo = families.fixed[family], families.mass[family], families.mass[family] * states
        by_marginal, margin = families.marginal_rows[family] > 0.0, families.marginal_starts[family]
        if by_marginal:
            pseudo = families.marginal_rows[family]
        for row in range(top, bottom):
            label = np.int64(codes[target, row])
            place, total_place, whole = starts[family], families.total_starts[family], True
            for at in range(bounds[family], bounds[family + 1]):
                column = columns[at]
                if column != target:
                    code = np.int64(codes[column, row])
                    if code >= sizes[column]:
                        whole = False
                        break
                    place += code * strides[at]
                    total_place += code * total_strides[at]
            if not whole:
                continue
            less = 0.0 if fixed else left_out[row]
            if less > 0.0 and counts[place + step * label] < less - SLACK:
                unknown[row] = True
            if step == 1 and family != target and not by_marginal:
                if complete[row]:
                    for c in range(n_classes):
                        out[row, c] += logarithms[place + c]
                if less > 0.0:
                    n, total = counts[place + label] - less, totals[total_place + label] - less
                    out[row, label] += _entry(n, total, mass, pseudo, states, exponent) - logarithms[place + label]
                continue
            changed = 0.0
            for c in range(n_classes):
                if step == 1 or c == 0:
                    before = logarithms[place + c * step]
                    after = before
                    if less > 0.0:
                        gone = less if step == 0 or c == label else 0.0
                        at_total = total_place + (c if step == 1 and family != target else 0)
                        n, total = counts[place + c * step] - gone, totals[at_total] - gone
                        if family == target:
                            total = totals[at_total] - less
                        if by_marginal:
                            state = c if family == target else np.int64(codes[family, row])
                            held = less if state == label or family != target else 0.0
                            mass = _marginal_mass(marginals[margin : margin + states], state, held, less, pseudo)
                        after = _entry(n, total, mass, pseudo, states, exponent)
                    changed = after
                    if not complete[row]:
                        changed = 0.0 if before == -np.inf else after - before
                out[row, c] += changed


@kernel
def _entry(n: float, total: float, mass: float, pseudo: float, states: int, exponent: float) -> float:
    """Return the weighted logarithm of an entry with a count n, the total of its configuration and their prior mass."""
    if exponent == 0.0:
        return 0.0
    above, below = max(n, 0.0) + mass, max(total, 0.0) + pseudo
    if below <= 0.0:
        return -exponent * log(states)
    return exponent * log(above / below) if above > 0.0 else -np.inf


@kernel
def _marginal_mass(marginal: Array, state: int, held: float, less: float, pseudo: float) -> float:
    """Return the prior mass of a state by the m-estimate when its count has lost ``held`` and all counts ``less``."""
    n, total = max(marginal[state] - held, 0.0), max(marginal.sum() - less, 0.0)
    return pseudo * (n + 1.0) / (total + len(marginal))  # type: ignore[no-any-return]  # a float


@kernel
def add_tree_left_out(
    codes: Array, left_out: Array, complete: Array, family: TreeFamily, top: int, bottom: int, out: Array,
    unknown: Array,
) -> None:  # fmt: skip
    """Add the same for a family with hierarchical smoothing; see :func:`add_left_out`.

    Concentrations and the passing on of rows are held: the contexts above a row's own lose what it no longer passes on.
    """
    # Idea: rows of the same cell lose the same, so that one of them finds it, for all classes, for the others.
    # Layout: ``slots`` has for every row its place in ``changes``, or -1 where a value is missing, ``firsts`` the row
    # that finds a change; ``sums`` are the changes and the logarithms of the CPT.
    # Cost: O(rows x (levels + classes)), and a number for every cell.
    n_rows, n_classes = bottom - top, out.shape[1]
    slots, firsts = np.empty(n_rows, np.int32), np.empty(n_rows, np.int64)
    n_kept = _number_cells(codes, left_out, family, top, slots, firsts)
    changes, sums = np.empty((n_kept, n_classes)), np.empty((n_kept, n_classes))
    known = _fill_changes(codes, left_out, family, firsts[:n_kept], changes, sums)
    for row in range(top, bottom):
        slot = slots[row - top]
        if slot >= 0 and not known[slot]:
            unknown[row] = True
        elif slot >= 0 and complete[row]:
            for c in range(n_classes):
                out[row, c] += sums[slot, c]
        elif slot >= 0:
            for c in range(n_classes):
                out[row, c] += changes[slot, c]


@kernel
def _number_cells(codes: Array, left_out: Array, family: TreeFamily, top: int, slots: Array, firsts: Array) -> int:
    """Number the cells of the rows from ``top`` on; a row of which not one whole row is left out has its own number."""
    parents, strides, states, n_states = family.parents, family.strides, family.tree.states, family.tree.counts.shape[1]
    node, n_levels, n_kept = family.node, len(parents), 0
    numbers = np.full(len(family.probabilities), NONE, np.int32)
    for place in range(len(slots)):
        row = top + place
        state = np.int64(codes[node, row])
        cell, whole = state * strides[n_levels], state < n_states
        for level in range(n_levels):
            code = np.int64(codes[parents[level], row])
            whole &= code < states[level]
            cell += code * strides[level]
        slot = NONE
        if whole:
            slot = numbers[cell] if left_out[row] == 1.0 else NONE
            if slot == NONE:
                slot = n_kept
                firsts[slot] = row
                n_kept += 1
                if left_out[row] == 1.0:
                    numbers[cell] = slot
        slots[place] = slot
    return n_kept


@kernel
def _fill_changes(codes: Array, left_out: Array, family: TreeFamily, rows: Array, changes: Array, sums: Array) -> Array:
    """Write by how much the weighted logarithms of the cells of rows change, for all classes, when the row is left out.

    ``sums`` get the changes and the logarithms. Returns which rows are among those that were counted.
    """
    # Idea: one walk from the row's deepest context up finds what every level loses, one walk down shrinks what is
    # left. The contexts of other classes have lost nothing but what the root carries down to them, which is linear.
    node, target, parents, strides, cpt = (
        family.node,
        family.target,
        family.parents,
        family.strides,
        family.probabilities,
    )
    children, starts, states, levels, counts, totals, probabilities, concentrations = family.tree
    cpt, known = family.probabilities, np.ones(len(rows), np.bool_)
    n_levels, by_class = len(parents), parents[0] == target
    step = 1 if by_class else strides[n_levels] if node == target else 0
    path, lost = np.zeros(n_levels + 1, np.int64), np.zeros(n_levels + 1)
    for slot in range(len(rows)):
        row, less = rows[slot], left_out[rows[slot]]
        state, label = np.int64(codes[node, row]), np.int64(codes[codes.shape[0] - 1, row])
        cell, config = state * strides[n_levels] - label * step, np.int64(0)  # of the first class
        for level in range(n_levels):
            v, code = path[level], np.int64(codes[parents[level], row])
            path[level + 1] = NONE if v < 0 else children[starts[level] + (v - levels[level]) * states[level] + code]
            cell += code * strides[level]
            config += code * family.carried_strides[level] if parents[level] != target else 0
        v = path[n_levels]
        if less > 0.0 and (v < 0 or counts[v, state] < less - SLACK):
            known[slot] = False
            continue
        for level in range(n_levels, 0, -1):
            lost[level] = less
            if less > 0.0:
                a = concentrations[level] * probabilities[path[level - 1], state]
                less = no_longer_passed_on(counts[path[level], state], less, a)
        lost[ROOT] = less
        entry = log(_tree_entry(counts, totals, concentrations, path, lost, state, state))
        root = (max(counts[ROOT, state] - less, 0.0) + 0.5) / (totals[ROOT] - less + concentrations[ROOT])
        moved = root - probabilities[ROOT, state]
        for c in range(changes.shape[1]):
            at = cell + c * step
            if node == target:
                change = log(_tree_entry(counts, totals, concentrations, path, lost, c, state)) - log(cpt[at])
            elif c == label or not by_class:
                change = entry - log(cpt[at])
            else:
                change = _log_one_plus(moved * family.carried[config + c] / cpt[at])
            changes[slot, c] = family.exponent * change
            sums[slot, c] = changes[slot, c] + family.logarithms[at]
    return known


@kernel
def _log_one_plus(x: float) -> float:
    """Return log(1 + x) with an error below 2e-13."""
    if abs(x) < SMALL:
        return x * (1.0 - x * (0.5 - x * (1.0 / 3.0 - x * (0.25 - x * 0.2))))
    return log(1.0 + x)


@kernel
def _tree_entry(
    counts: Array, totals: Array, concentrations: Array, path: Array, lost: Array, state: int, own: int
) -> float:
    """Return P(state | contexts of a path) when every context of it has lost some rows of the state ``own``."""
    p = 0.5 / concentrations[ROOT]  # the distribution above the root is uniform
    for level in range(len(path)):
        v = path[level]
        if v < 0:
            break
        n = max(counts[v, state] - (lost[level] if state == own else 0.0), 0.0)
        p = (n + concentrations[level] * p) / (max(totals[v] - lost[level], 0.0) + concentrations[level])
    return float(p)


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
