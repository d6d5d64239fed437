"""Compiled elimination in the factors of one row: the size of a product, and the sum over a variable of it."""

from __future__ import annotations

from math import log

import numpy as np

from tanbark.arrays import Array
from tanbark.inference.sparse_network import RowFactors
from tanbark.kernel import kernel

MOST_AXES = 14  # columns of a factor: binary columns reach the limit of entries first
TOO_LARGE = -2
MOST_UNION, LARGEST = 64, 1e300  # columns of a product whose size is found; the size of those with more


@kernel
def product_size(n_states: Array, v: int, axes: Array, n_axes: Array, used: int) -> float:
    """Return the entries, for one class, of the product of all factors that hold the variable v."""
    union = np.empty(MOST_UNION, np.int64)
    n_union, entries = 0, 1.0
    for k in range(used):
        holds = False
        for j in range(n_axes[k]):
            holds = holds or axes[k, j] == v
        if not holds:
            continue
        for j in range(n_axes[k]):
            a = axes[k, j]
            known = False
            for i in range(n_union):
                known = known or union[i] == a
            if not known:
                if n_union == MOST_UNION:
                    return LARGEST
                union[n_union] = a
                n_union += 1
                entries *= n_states[a]
    return entries


@kernel
def sum_out(
    n_states: Array, v: int, factors: RowFactors, used: int, most_entries: int, free: int, total: Array, dry: bool
) -> int:
    """Multiply the factors with variable v, sum over its states; return where free space begins, or TOO_LARGE.

    The result becomes factor ``used``, or goes to ``total`` if no variable is left. It is scaled by its largest entry.
    """
    axes, n_axes, begins, work = factors
    n_classes = len(total)
    union = np.empty(MOST_AXES, np.int64)
    members = np.empty(used, np.int64)
    n_union, n_members, entries = 0, 0, n_classes * n_states[v]
    for k in range(used):
        holds = False
        for j in range(n_axes[k]):
            holds = holds or axes[k, j] == v
        if not holds:
            continue
        members[n_members] = k
        n_members += 1
        for j in range(n_axes[k]):
            a = axes[k, j]
            known = a == v
            for i in range(n_union):
                known = known or union[i] == a
            if not known:
                entries *= n_states[a]
                if n_union == MOST_AXES or entries > most_entries:
                    return TOO_LARGE
                union[n_union] = a
                n_union += 1
    size = entries // n_states[v]
    if free + size > len(work):
        return TOO_LARGE
    if not dry:
        _multiply_members(n_states, v, union[:n_union], members[:n_members], factors, work[free : free + size], total)
    for i in range(n_members):
        n_axes[members[i]] = -1
    if n_union == 0:
        for label in range(0 if dry else n_classes):
            result = work[free + label]
            total[label] += log(result) if result > 0.0 else -np.inf
        return int(free)
    n_axes[used], begins[used] = n_union, free
    for u in range(n_union):
        axes[used, u] = union[u]
    return int(free + size)


@kernel
def _multiply_members(
    n_states: Array, v: int, union: Array, members: Array, factors: RowFactors, result: Array, total: Array
) -> None:
    """Multiply factors and sum over v; what scales the result goes to ``total``."""
    axes, n_axes, begins, work = factors
    n_union, n_members, n_classes = len(union), len(members), len(total)
    strides = np.zeros((n_members, n_union + 1), np.int64)  # the last one is that of v
    for i in range(n_members):
        k, stride = members[i], n_classes
        for j in range(n_axes[k] - 1, -1, -1):
            a = axes[k, j]
            if a == v:
                strides[i, n_union] = stride
            for u in range(n_union):
                if union[u] == a:
                    strides[i, u] = stride
            stride *= n_states[a]
    _multiply(n_states, v, union, strides, begins[members], n_classes, work, result)
    largest = _largest(result)
    if largest > 0.0:
        for place in range(len(result)):
            result[place] /= largest
        for label in range(n_classes):
            total[label] += log(largest)


@kernel
def _multiply(
    n_states: Array, v: int, union: Array, strides: Array, begins: Array, n_classes: int, work: Array, result: Array
) -> None:
    """Write, for all states of the union and classes, the sum over v of the product of the factors."""
    n_union, n_members = len(union), len(begins)
    counter = np.zeros(n_union, np.int64)
    at = begins.copy()
    product = np.empty(n_classes)
    for place in range(0, len(result), n_classes):
        for label in range(n_classes):
            result[place + label] = 0.0
        for state in range(n_states[v]):
            product[:] = 1.0
            for i in range(n_members):
                begin = at[i] + state * strides[i, n_union]
                for label in range(n_classes):
                    product[label] *= work[begin + label]
            for label in range(n_classes):
                result[place + label] += product[label]
        for u in range(n_union - 1, -1, -1):  # the next state of the union, the last column fastest
            counter[u] += 1
            for i in range(n_members):
                at[i] += strides[i, u]
            if counter[u] < n_states[union[u]]:
                break
            for i in range(n_members):
                at[i] -= strides[i, u] * n_states[union[u]]
            counter[u] = 0


# A loop instead of numpy's max: Numba's own imports scipy.linalg with the kept kernel.


@kernel
def _largest(values: Array) -> float:
    """Return the largest of some numbers of at least 0."""
    found = 0.0
    for value in values:
        found = max(found, value)
    return found
