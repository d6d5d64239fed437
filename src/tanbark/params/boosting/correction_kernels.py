"""Compiled kernels of boosted corrections."""

from __future__ import annotations

from math import exp

import numpy as np

from tanbark.arrays import Array
from tanbark.kernel import kernel
from tanbark.params.boosting.correction import NO_WEIGHTS, Families, LabelledRows
from tanbark.params.hierarchical.context_kernels import grow

LARGEST_STEP = 4.0  # of Newton: where all posteriors are nearly certain, curvature vanishes
LEAST = 1e-200  # posterior, or odds, that steps begin with
SHORT_STEP = 0.5  # of which a series has the exponential, which vector instructions compute
NO_CONTEXTS = np.zeros(0, np.int32)


@kernel
def number_contexts(
    codes: Array, columns: Array, spans: Array, states: Array, contexts: Array
) -> tuple[Array, Array, Array, Array]:
    """Number the contexts of all families, and write the deepest one of every row, ``contexts[family, row]``.

    Returns the arrays of :class:`Families` that follow: ``firsts``, ``starts``, ``children`` and ``above``.
    """
    firsts, starts = np.empty(len(columns), np.int64), np.empty(len(columns), np.int64)
    parts, uppers = [np.empty(0, np.int32)], [np.empty(0, np.int32)]
    n_children = n_contexts = 0
    for family in range(len(spans) - 1):
        low, high = spans[family], spans[family + 1]
        children, own_starts, levels, above, found = grow(codes, columns[low:high], states[low:high], NO_WEIGHTS, 1.0)
        for level in range(high - low):
            firsts[low + level], starts[low + level] = n_contexts + levels[level], n_children + own_starts[level]
        for row in range(codes.shape[1]):
            deepest = found[0, row]
            for level in range(1, high - low + 1):
                deepest = max(deepest, found[level, row])  # deeper contexts have higher numbers
            contexts[family, row] = n_contexts + deepest
        for at in range(len(children)):
            children[at] += n_contexts if children[at] >= 0 else 0
        parts.append(children)
        uppers.append(above + np.int32(n_contexts))
        n_contexts, n_children = n_contexts + len(above), n_children + len(children)
    return firsts, starts, _join(parts, n_children), _join(uppers, n_contexts)


@kernel
def _join(parts: list[Array], size: int) -> Array:
    """Return arrays one after another."""
    found, low = np.empty(size, np.int32), 0
    for part in parts:
        found[low : low + len(part)] = part
        low += len(part)
    return found


@kernel
def fill_posteriors(logits: Array, posteriors: Array) -> None:
    """Fill in the softmax of every row; of two classes, if there is one column, the odds of the second.

    None becomes zero or infinite: steps multiply it, and it must be able to return.
    """
    n_rows, n_classes = logits.shape
    if posteriors.shape[1] == 1:
        for row in range(n_rows):
            posteriors[row, 0] = min(max(exp(min(logits[row, 1] - logits[row, 0], 700.0)), LEAST), 1.0 / LEAST)
        return
    for row in range(n_rows):
        largest, mass = logits[row, 0], 0.0
        for c in range(1, n_classes):
            largest = max(largest, logits[row, c])
        for c in range(n_classes):
            p = max(exp(logits[row, c] - largest), LEAST)
            posteriors[row, c] = p
            mass += p
        for c in range(n_classes):
            posteriors[row, c] /= mass


@kernel
def take_steps(families: Families, contexts: Array, rows: LabelledRows, penalty: float, rate: float) -> None:
    """Take one step for every family in turn, and keep the posteriors up to date.

    ``contexts[family, row]`` is the deepest context of a row; the gradient of a context is that of all rows below it.
    """
    # Idea: rows add to their deepest contexts only, and the contexts pass sums on upwards; changes are summed downwards
    # likewise, so that a row is corrected once for all levels. Posteriors are multiplied by the exponential of the
    # change, one per context, instead of one per row. One pass over the rows corrects them by the family before and
    # adds them to the sums of the next.
    # Layout: gradients, curvatures and factors are (contexts of the family, outputs), the root first; of two classes
    # the second is the only output, and instead of its posterior rows have its odds.
    # Cost: O((rows + contexts) x outputs) per family, for any number of levels.
    n_families, n_outputs = len(contexts), rows.posteriors.shape[1]
    widest, last = 0, len(families.above)
    for family in range(n_families - 1, -1, -1):
        first = families.firsts[families.spans[family]]
        widest, last = max(widest, last - first), first
    gradients, curvatures = np.empty((widest, n_outputs)), np.empty((widest, n_outputs))
    factors = np.empty((widest, n_outputs))
    before, start = contexts[0], 0
    for family in range(n_families + 1):
        if family == n_families:
            first, here = 0, NO_CONTEXTS
        else:
            first, here = families.firsts[families.spans[family]], contexts[family]
            last = families.firsts[families.spans[family + 1]] if family + 1 < n_families else len(families.above)
            gradients[: last - first] = 0.0
            curvatures[: last - first] = 0.0
        done = before[: len(before) if family else 0]
        if n_outputs == 1:
            pass_two(rows, done, start, factors, here, first, gradients, curvatures)
        else:
            pass_many(rows, done, start, factors, here, first, gradients, curvatures)
        if family < n_families:
            newton_steps(families, first, last, penalty, rate, gradients, curvatures, factors)
        before, start = here, first


@kernel
def pass_two(
    rows: LabelledRows, before: Array, start: int, factors: Array, here: Array, first: int, gradients: Array,
    curvatures: Array,
) -> None:  # fmt: skip
    """Correct the posteriors by one family and sum gradients and curvatures over the contexts of the next.

    There is no correction if ``before`` is empty, and there are no sums if ``here`` is.
    """
    labels, weights, odds = rows
    corrects, sums, weighted = len(before) > 0, len(here) > 0, len(weights) > 0
    for row in range(len(labels)):
        o = odds[row, 0]
        if corrects:
            v = before[row] - start
            if v > 0:
                o *= factors[v, 0]
                odds[row, 0] = o
        if sums:
            v = here[row] - first
            if v > 0:
                w = weights[row] if weighted else 1.0
                other = 1.0 / (1.0 + o)
                p = o * other
                gradients[v, 0] += w * (labels[row] - p)
                curvatures[v, 0] += w * p * other


@kernel
def pass_many(
    rows: LabelledRows, before: Array, start: int, factors: Array, here: Array, first: int, gradients: Array,
    curvatures: Array,
) -> None:  # fmt: skip
    """Do the same for more than two classes; the sums of a root are of no use."""
    # Idea: loops over the classes without branches, each array with the class as its last index, become vector code.
    labels, weights, posteriors = rows
    n_outputs = posteriors.shape[1]
    corrects, sums, weighted = len(before) > 0, len(here) > 0, len(weights) > 0
    for row in range(len(labels)):
        scale = 1.0
        if corrects:
            v = before[row] - start
            if v > 0:
                mass = 0.0
                for c in range(n_outputs):
                    p = posteriors[row, c] * factors[v, c]
                    posteriors[row, c] = p
                    mass += p
                scale = 1.0 / mass
        if sums:
            v = here[row] - first
            w = weights[row] if weighted else 1.0
            for c in range(n_outputs):
                p = posteriors[row, c] * scale
                posteriors[row, c] = p
                gradients[v, c] -= w * p
                curvatures[v, c] += w * (p - p * p)
            gradients[v, labels[row]] += w
        else:
            for c in range(n_outputs):
                posteriors[row, c] *= scale


@kernel
def newton_steps(
    families: Families, first: int, last: int, penalty: float, rate: float, gradients: Array, curvatures: Array,
    factors: Array,
) -> None:  # fmt: skip
    """Move the corrections of one family, and write the factors of its posteriors.

    The objective is the log-likelihood less half the penalty times the squares of the corrections. With two classes
    the correction of the first is the negative of that of the second. The gradients become the changes.
    """
    above, sums = families.above, families.sums
    n_contexts, n_outputs = last - first, factors.shape[1]
    lowest, doubled = sums.shape[1] - n_outputs, 2.0 if n_outputs == 1 else 1.0
    for v in range(n_contexts - 1, 0, -1):
        up = above[first + v] - first
        for c in range(n_outputs):
            g, h = gradients[v, c], curvatures[v, c]
            gradients[up, c] += g
            curvatures[up, c] += h
            own = sums[first + v, lowest + c] - sums[first + up, lowest + c]
            step = (g - penalty * own) / (h + penalty)
            gradients[v, c] = rate * min(max(step, -LARGEST_STEP), LARGEST_STEP)
    gradients[0] = 0.0
    for v in range(1, n_contexts):
        up, longest = above[first + v] - first, 0.0
        for c in range(n_outputs):
            change = gradients[v, c] + gradients[up, c]
            gradients[v, c] = change
            sums[first + v, lowest + c] += change
            longest = max(longest, abs(change))
        if doubled * longest <= SHORT_STEP:
            for c in range(n_outputs):
                factors[v, c] = short_exp(doubled * gradients[v, c])
        else:
            for c in range(n_outputs):
                factors[v, c] = exp(doubled * gradients[v, c])
        if lowest:
            sums[first + v, 0] = -sums[first + v, 1]


@kernel
def short_exp(x: float) -> float:
    """Return exp(x) for |x| <= 1/2 by eleven terms of its series; the relative error is below 1e-12."""
    high = 1.0 / 5040.0 + x * (1.0 / 40320.0 + x * (1.0 / 362880.0 + x * (1.0 / 3628800.0 + x / 39916800.0)))
    low = 1.0 / 6.0 + x * (1.0 / 24.0 + x * (1.0 / 120.0 + x * (1.0 / 720.0 + x * high)))
    return 1.0 + x * (1.0 + x * (0.5 + x * low))


@kernel
def find_contexts(families: Families, codes: Array) -> Array:
    """Return the longest context seen of every row in every family, (n_families, n_rows)."""
    # Cost: one step in the tree per column of a family.
    columns, spans, states, firsts, starts, children, _, _ = families
    found = np.empty((len(spans) - 1, codes.shape[1]), np.int32)
    for family in range(len(spans) - 1):
        for row in range(codes.shape[1]):
            v = firsts[spans[family]]
            for entry in range(spans[family], spans[family + 1]):
                state = np.int64(codes[columns[entry], row])
                if state >= states[entry]:
                    break
                deeper = np.int64(children[starts[entry] + (v - firsts[entry]) * states[entry] + state])
                if deeper < 0:
                    break
                v = deeper
            found[family, row] = v
    return found


@kernel
def sum_corrections(contexts: Array, sums: Array, fractions: Array, logits: Array) -> None:
    """Add a fraction of the corrections of every row, in the contexts of all families, to its logits."""
    n_families, n_rows = contexts.shape
    n_classes = logits.shape[1]
    for family in range(n_families):
        for row in range(n_rows):
            v = contexts[family, row]
            for c in range(n_classes):
                logits[row, c] += fractions[row] * sums[v, c]


@kernel
def add_sums(families: Families, codes: Array, top: int, bottom: int, logits: Array) -> None:
    """Add the corrections of rows from top to bottom to their logits."""
    # Cost: one step in the tree per column of a family, one addition per class.
    columns, spans, states, firsts, starts, children, _, sums = families
    n_classes = logits.shape[1]
    for family in range(len(spans) - 1):
        root = firsts[spans[family]]
        for row in range(top, bottom):
            v = root
            for entry in range(spans[family], spans[family + 1]):
                state = np.int64(codes[columns[entry], row])
                if state >= states[entry]:
                    break
                deeper = np.int64(children[starts[entry] + (v - firsts[entry]) * states[entry] + state])
                if deeper < 0:
                    break
                v = deeper
            if v > root:
                for c in range(n_classes):
                    logits[row, c] += sums[v, c]


@kernel
def complete_fractions(families: Families, codes: Array) -> Array:
    """Return the fraction of complete families of every row."""
    # Cost: O(rows x columns of all families).
    columns, spans, states = families.columns, families.spans, families.states
    n_rows, n_families = codes.shape[1], len(spans) - 1
    found = np.ones(n_rows)
    for row in range(n_rows):
        complete = 0
        for family in range(n_families):
            whole = 1
            for entry in range(spans[family], spans[family + 1]):
                if np.int64(codes[columns[entry], row]) >= states[entry]:
                    whole = 0
                    break
            complete += whole
        if n_families:
            found[row] = complete / n_families
    return found
