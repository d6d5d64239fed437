"""The compiled planning of variable elimination: what matters, in which order, and the program that does it.

A plan knows which variables are observed, not their states.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tanbark.arrays import Array
from tanbark.inference.order_kernels import KEPT, MAX, SEEN, SUM, elimination
from tanbark.machine import kernel


@kernel
def _phases(n: int, members: Array, ends: tuple[int, int, int]) -> tuple[Array, Array]:
    """Assign each variable its phase and mark which have soft evidence.

    ``members`` are those to keep, up to the first end, to maximise, up to the second, observed, and softly observed.
    """
    phase, softly = np.zeros(n, np.int8), np.zeros(n, np.bool_)
    phase[members[: ends[0]]] = KEPT
    phase[members[ends[0] : ends[1]]] = MAX
    phase[members[ends[1] : ends[2]]] = SEEN
    softly[members[ends[2] :]] = True
    return phase, softly


@kernel
def price(
    sizes: Array, scopes: Array, bounds: Array, zeros: Array, members: Array, ends: tuple[int, int, int],
    whole: bool,
) -> Any:  # fmt: skip
    """Return what :func:`elimination` gives for a pattern."""
    phase, softly = _phases(len(sizes), members, ends)
    used = relevant(scopes, bounds, phase, softly, np.ones_like(zeros) if whole else zeros)
    return elimination(sizes, scopes, bounds, used, phase)


@kernel
def make(
    sizes: Array, scopes: Array, strides: Array, bounds: Array, starts: Array, tables: Array, zeros: Array,
    members: Array, ends: tuple[int, int, int], whole: bool, limit: float,
) -> tuple[float, Array, Array]:  # fmt: skip
    """Plan from end to end: which families, which order, and, unless the largest factor is past the limit, how.

    Returns the entries of the largest factor, the program in one array (few arrays cross quickly between Python and the
    kernels), and the tables that it starts from.
    """
    phase, softly = _phases(len(sizes), members, ends)
    slots, kept = np.full(len(sizes), -1, np.int64), members[: ends[0]]
    for k in range(ends[1], ends[2]):
        slots[members[k]] = k - ends[1]
    used = relevant(scopes, bounds, phase, softly, np.ones_like(zeros) if whole else zeros)
    order, around, bands, _, largest = elimination(sizes, scopes, bounds, used, phase)
    joint = 1.0
    for node in kept:
        joint *= sizes[node]
    largest = max(largest, joint)
    if largest > limit:
        return largest, slots, np.empty(0)
    softly &= used
    program = assemble(
        sizes,
        scopes,
        strides,
        bounds,
        starts,
        used,
        phase,
        softly,
        slots,
        order,
        around,
        bands,
        kept,
        ends[1] - ends[0],
    )
    return largest, _pack(program), _gather(tables, starts, np.flatnonzero(used))


@kernel
def _pack(parts: tuple[Array, ...]) -> Array:
    """Put the parts of a program into one array, after the places where they begin and the last one ends."""
    total = len(parts) + 1
    for k in range(len(parts)):
        total += len(parts[k])
    packed, filled = np.empty(total, np.int64), len(parts) + 1
    for k in range(len(parts)):
        packed[k] = filled
        packed[filled : filled + len(parts[k])] = parts[k]
        filled += len(parts[k])
    packed[len(parts)] = filled
    return packed


@kernel
def _gather(tables: Array, starts: Array, nodes: Array) -> Array:
    """Put the tables of some nodes one after another."""
    total = 0
    for node in nodes:
        total += starts[node + 1] - starts[node]
    given, filled = np.empty(total), 0
    for node in nodes:
        size = starts[node + 1] - starts[node]
        given[filled : filled + size] = tables[starts[node] : starts[node + 1]]
        filled += size
    return given


@kernel
def relevant(scopes: Array, bounds: Array, phase: Array, soft: Array, zeros: Array) -> Array:
    """Mark the families that an answer needs: of ancestors of what is known or asked, and not cut off from it.

    A part that shares no unobserved variable with what is asked only scales the answer. It is left out, unless it
    holds a zero and so could make the evidence impossible.
    """
    n = len(phase)
    used = np.zeros(n, np.bool_)
    stack = np.empty(n, np.int64)
    top = 0
    for node in range(n):
        if phase[node] != SUM or soft[node]:
            used[node] = True
            stack[top] = node
            top += 1
    while top:
        top -= 1
        node = stack[top]
        for at in range(bounds[node], bounds[node + 1]):
            parent = scopes[at]
            if not used[parent]:
                used[parent] = True
                stack[top] = parent
                top += 1
    head = np.arange(n)
    for node in range(n):
        if used[node]:
            _join(scopes, bounds[node], bounds[node + 1], phase, head)
    wanted = np.zeros(n, np.bool_)
    for node in range(n):
        if used[node]:
            first = _first_free(scopes, bounds[node], bounds[node + 1], phase)
            if first >= 0 and (zeros[node] or soft[node] or phase[node] in (KEPT, MAX)):
                wanted[_root(head, first)] = True
    for node in range(n):
        if used[node]:
            first = _first_free(scopes, bounds[node], bounds[node + 1], phase)
            used[node] = zeros[node] if first < 0 else wanted[_root(head, first)]
    return used


@kernel
def _first_free(scopes: Array, low: int, high: int, phase: Array) -> int:
    for at in range(low, high):
        if phase[scopes[at]] != SEEN:
            return int(scopes[at])
    return -1


@kernel
def _root(head: Array, node: int) -> int:
    while head[node] != node:
        head[node] = head[head[node]]
        node = head[node]
    return node


@kernel
def _join(scopes: Array, low: int, high: int, phase: Array, head: Array) -> None:
    """Put the unobserved variables of a family into one group."""
    first = -1
    for at in range(low, high):
        node = scopes[at]
        if phase[node] != SEEN:
            root = _root(head, node)
            if first >= 0 and root != first:
                head[max(root, first)] = min(root, first)
                first = min(root, first)
            else:
                first = root


@kernel
def assemble(
    sizes: Array, scopes: Array, strides: Array, bounds: Array, starts: Array, used: Array, phase: Array, soft: Array,
    slots: Array, order: Array, around: Array, ends: Array, kept: Array, n_best: int,
) -> tuple[Array, ...]:  # fmt: skip
    """Write the program: for every step its factors, how to walk through them, and where the result goes.

    Step s < len(order) eliminates order[s]; then comes the product of the factors without any free variable, and
    last the product of what is left, over the ``kept`` variables in their order. Factors are the used families, the
    likelihoods of soft evidence, and the results of the steps, all in one array: first the families' tables.
    """
    n, n_steps = len(sizes), len(order) + 2
    nodes, softs = np.flatnonzero(used), np.flatnonzero(soft)
    n_given = len(nodes) + len(softs)
    turn = np.full(n, n_steps - 1, np.int64)
    for step in range(len(order)):
        turn[order[step]] = step
    base = np.zeros(n_given + n_steps, np.int64)
    filled = _place_given(nodes, softs, sizes, starts, base)
    bucket = np.empty(n_given + n_steps, np.int64)
    seen_bounds, seen_slots, seen_strides = _observe(
        scopes, strides, bounds, phase, slots, nodes, softs, turn, n_steps, bucket
    )
    axes, axis_bounds = np.empty(len(around) + len(kept), np.int64), np.zeros(n_steps + 1, np.int64)
    for step in range(n_steps):
        low, f = axis_bounds[step], n_given + step
        bucket[f] = n_steps - 1 if step < n_steps - 1 else n_steps
        members = kept[: len(kept) * (step == n_steps - 1)]
        if step < len(order):
            members = around[ends[step] : ends[step + 1]]
        size = 1
        for k in range(len(members)):
            axes[low + k] = members[k]
            size *= sizes[members[k]]
            if step < len(order):
                bucket[f] = min(bucket[f], turn[members[k]])
        axis_bounds[step + 1] = low + len(members)
        base[f] = filled
        filled += size
    inputs, input_bounds = _inputs(bucket, n_steps)
    input_strides, stride_bounds, own = _walks(
        sizes, scopes, strides, bounds, nodes, softs, order, axes, axis_bounds, inputs, input_bounds
    )
    return (
        base, seen_bounds, seen_slots, seen_strides, axes[: axis_bounds[n_steps]], axis_bounds,
        inputs, input_bounds, input_strides, stride_bounds, own, np.array([filled, n_given, len(order) - n_best]),
        order, _rooms(sizes, axes, axis_bounds, len(order) - n_best, n_best), softs,
    )  # fmt: skip


@kernel
def _rooms(sizes: Array, axes: Array, axis_bounds: Array, n_sums: int, n_best: int) -> Array:
    """Bound the room in which each maximum keeps its choices, one for every entry of its result."""
    rooms = np.zeros(n_best + 1, np.int64)
    for k in range(n_best):
        entries = 1
        for axis in range(axis_bounds[n_sums + k], axis_bounds[n_sums + k + 1]):
            entries *= sizes[axes[axis]]
        rooms[k + 1] = rooms[k] + entries
    return rooms


@kernel
def _observe(
    scopes: Array, strides: Array, bounds: Array, phase: Array, slots: Array, nodes: Array, softs: Array, turn: Array,
    n_steps: int, bucket: Array,
) -> tuple[Array, Array, Array]:  # fmt: skip
    """Find the step that uses each given factor, and where its observed variables move it to."""
    n_given, n_seen = len(nodes) + len(softs), 0
    seen_bounds = np.zeros(n_given + n_steps + 1, np.int64)
    seen_slots, seen_strides = np.empty(len(scopes), np.int64), np.empty(len(scopes), np.int64)
    for f in range(n_given):
        bucket[f] = n_steps - 2
        if f >= len(nodes):
            bucket[f] = turn[softs[f - len(nodes)]]
        else:
            for at in range(bounds[nodes[f]], bounds[nodes[f] + 1]):
                if phase[scopes[at]] == SEEN:
                    seen_slots[n_seen], seen_strides[n_seen] = slots[scopes[at]], strides[at]
                    n_seen += 1
                elif bucket[f] == n_steps - 2 or turn[scopes[at]] < bucket[f]:
                    bucket[f] = turn[scopes[at]]
        seen_bounds[f + 1] = n_seen
    seen_bounds[n_given + 1 :] = n_seen
    return seen_bounds, seen_slots[:n_seen], seen_strides[:n_seen]


@kernel
def _place_given(nodes: Array, softs: Array, sizes: Array, starts: Array, base: Array) -> int:
    filled = 0
    for f in range(len(nodes)):
        base[f] = filled
        filled += starts[nodes[f] + 1] - starts[nodes[f]]
    for f in range(len(softs)):
        base[len(nodes) + f] = filled
        filled += sizes[softs[f]]
    return filled


@kernel
def _inputs(bucket: Array, n_steps: int) -> tuple[Array, Array]:
    """Sort the factors by the step that uses them."""
    input_bounds = np.zeros(n_steps + 2, np.int64)
    for f in range(len(bucket)):
        input_bounds[bucket[f] + 1] += 1
    input_bounds = np.cumsum(input_bounds)
    free = input_bounds.copy()
    inputs = np.empty(len(bucket), np.int64)
    for f in range(len(bucket)):
        inputs[free[bucket[f]]] = f
        free[bucket[f]] += 1
    return inputs, input_bounds


@kernel
def _walks(
    sizes: Array, scopes: Array, strides: Array, bounds: Array, nodes: Array, softs: Array, order: Array, axes: Array,
    axis_bounds: Array, inputs: Array, input_bounds: Array,
) -> tuple[Array, Array, Array]:  # fmt: skip
    """Return each step's factors their strides along the step's axes, and along the variable that it eliminates."""
    n_steps, n_given = len(axis_bounds) - 1, len(nodes) + len(softs)
    stride_bounds = np.zeros(n_steps + 1, np.int64)
    for step in range(n_steps):
        cells = (axis_bounds[step + 1] - axis_bounds[step]) * (input_bounds[step + 1] - input_bounds[step])
        stride_bounds[step + 1] = stride_bounds[step] + cells
    walk, own = np.zeros(stride_bounds[n_steps], np.int64), np.zeros(len(inputs), np.int64)
    place = np.full(len(sizes), -1, np.int64)
    for step in range(n_steps):
        low, width = axis_bounds[step], axis_bounds[step + 1] - axis_bounds[step]
        mine = order[step] if step < len(order) else -1
        for k in range(width):
            place[axes[low + k]] = k
        for at in range(input_bounds[step], input_bounds[step + 1]):
            f, row = inputs[at], stride_bounds[step] + (at - input_bounds[step]) * width
            if f < len(nodes):
                for entry in range(bounds[nodes[f]], bounds[nodes[f] + 1]):
                    if scopes[entry] == mine:
                        own[at] = strides[entry]
                    elif place[scopes[entry]] >= 0:
                        walk[row + place[scopes[entry]]] = strides[entry]
            elif f < n_given:
                if softs[f - len(nodes)] == mine:
                    own[at] = 1
                else:
                    walk[row + place[softs[f - len(nodes)]]] = 1
            else:
                stride = 1
                for entry in range(axis_bounds[f - n_given + 1] - 1, axis_bounds[f - n_given] - 1, -1):
                    if axes[entry] == mine:
                        own[at] = stride
                    else:
                        walk[row + place[axes[entry]]] = stride
                    stride *= sizes[axes[entry]]
        for k in range(width):
            place[axes[low + k]] = -1
    return walk, stride_bounds, own
