"""The compiled planning of variable elimination: the program that eliminates one variable after another.

A plan depends on which variables are observed, not on their states. Bucket elimination: a factor goes to the step that
eliminates the first of its variables, and every step's product is summed or maximised into one new factor. Planning
costs about as much as the order of elimination; a program is linear in the sizes of the scopes.

A program is one array of integers, since one array crosses quickly between Python and the kernels: first where each of
its sections begins, then the sections. Factors stand one after another in one array, the memory: the CPTs in use, the
likelihoods of soft evidence, together the given ones, and the results of the steps. Factor f begins at ``BASE[f]``; an
observed variable in slot ``SEEN_SLOTS[k]`` moves it by its state times ``SEEN_STRIDES[k]``, for k in
``SEEN_BOUNDS[f] : SEEN_BOUNDS[f + 1]``.

Step s eliminates ``ORDER[s]``; two more multiply the factors without free variables, and then what is left over the
kept variables. The result of step s has the axes ``AXES[AXIS_BOUNDS[s] : AXIS_BOUNDS[s + 1]]``. Its inputs are the
factors ``INPUTS[INPUT_BOUNDS[s] : INPUT_BOUNDS[s + 1]]``, with strides ``OWN`` along the eliminated variable, and along
the axes ``WALK``, one row of axes per input, from ``WALK_BOUNDS[s]``. The last steps of the order may maximise; the
states that they take are kept from ``CHOICE_BOUNDS[s - number of sums]``. ``SOFTS`` are the variables with soft
evidence in use. ``TOTALS`` are the size of the memory, the number of given factors, the number of sums, the entries
looked at in all, and whether results lie where earlier ones were that are no longer needed.

The axes of a result stand in the reverse order of their elimination, so that the step that uses it sums over
neighbouring entries and, like the steps after it, reads it from end to end.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tanbark.arrays import Array, Integers
from tanbark.inference.factors.order_kernels import KEPT, MAX, MAX_FREE, SEEN, Order, best_order, relevant
from tanbark.inference.layout import Factors, FlatNetwork
from tanbark.kernel import kernel

BASE, SEEN_BOUNDS, SEEN_SLOTS, SEEN_STRIDES, AXES, AXIS_BOUNDS, INPUTS, INPUT_BOUNDS = range(8)
WALK, WALK_BOUNDS, OWN, ORDER, CHOICE_BOUNDS, SOFTS, TOTALS, N_SECTIONS = range(8, 16)
MEMORY_SIZE, N_GIVEN, N_SUMS, OPERATIONS, REUSED = range(5)  # within the totals


@kernel
def section(program: Array, number: int) -> Array:
    """Return a section of a program."""
    return program[program[number] : program[number + 1]]


class Roles(NamedTuple):
    """What a pattern of evidence makes of every variable: its phase, soft evidence, and its place among the observed.

    ``kept`` are the variables of the result, in order; ``n_best`` is the number of those to maximise.
    """

    phase: Array
    soft: Array
    slots: Integers
    kept: Integers
    n_best: int


@kernel
def assign_roles(n: int, members: Array, ends: tuple[int, int, int]) -> Roles:
    """Assign each variable its phase, soft evidence and slot.

    ``members`` are those to keep, up to the first end, to maximise, up to the second, observed, and softly observed.
    """
    phase, soft, slots = np.zeros(n, np.int8), np.zeros(n, np.bool_), np.full(n, -1, np.int64)
    phase[members[: ends[0]]] = KEPT
    phase[members[ends[0] : ends[1]]] = MAX
    phase[members[ends[1] : ends[2]]] = SEEN
    soft[members[ends[2] :]] = True
    for k in range(ends[1], ends[2]):
        slots[members[k]] = k - ends[1]
    return Roles(phase, soft, slots, members[: ends[0]], ends[1] - ends[0])


@kernel
def find_order(
    flat: FlatNetwork, members: Array, ends: tuple[int, int, int], whole: bool, n_sliced: int
) -> tuple[Roles, Array, Order]:
    """Return the roles of a pattern's variables, the families in use, and the order of elimination.

    The last ``n_sliced`` observed variables are observed in one state after another, to sum over them at the end.
    What is relevant is what would be if they were asked for.
    """
    roles = assign_roles(len(flat.sizes), members, ends)
    sliced = members[ends[2] - n_sliced : ends[2]]
    roles.phase[sliced] = KEPT
    used = relevant(flat, roles.phase, roles.soft, np.ones_like(flat.zeros) if whole else flat.zeros)
    roles.phase[sliced] = SEEN
    return roles, used, best_order(flat.sizes, flat.cpts, used, roles.phase, MAX_FREE)


@kernel
def make(
    flat: FlatNetwork, members: Array, ends: tuple[int, int, int], whole: bool, n_sliced: int, limit: float
) -> tuple[float, Array, Array]:
    """Plan from end to end: the families in use, their order, and the program.

    Returns the entries of the largest factor, the program, and the CPTs that it starts from. There is none where the
    largest factor is past the limit.
    """
    roles, used, order = find_order(flat, members, ends, whole, n_sliced)
    joint = 1.0
    for node in roles.kept:
        joint *= flat.sizes[node]
    largest = max(order.largest, joint)
    if largest > limit:
        return largest, members, np.empty(0)
    return largest, _pack(assemble(flat, roles, used, order)), _gather(flat.cpts, used)


@kernel
def _pack(sections: tuple[Array, ...]) -> Array:
    """Put the sections of a program into one array, after the places where they begin and the last one ends."""
    total = N_SECTIONS + 1
    for k in range(N_SECTIONS):
        total += len(sections[k])
    program, filled = np.empty(total, np.int64), N_SECTIONS + 1
    for k in range(N_SECTIONS):
        program[k] = filled
        program[filled : filled + len(sections[k])] = sections[k]
        filled += len(sections[k])
    program[N_SECTIONS] = filled
    return program


@kernel
def _gather(cpts: Factors, used: Array) -> Array:
    """Put the CPTs in use one after another."""
    values, starts, total = cpts.values, cpts.starts, 0
    for node in range(len(used)):
        total += (starts[node + 1] - starts[node]) * used[node]
    given, filled = np.empty(total), 0
    for node in range(len(used)):
        if used[node]:
            size = starts[node + 1] - starts[node]
            given[filled : filled + size] = values[starts[node] : starts[node + 1]]
            filled += size
    return given


@kernel
def assemble(flat: FlatNetwork, roles: Roles, used: Array, order: Order) -> tuple[Array, ...]:
    """Write the program: for every step its factors, how to walk through them, and where the result goes."""
    sizes, kept, n_order = flat.sizes, roles.kept, len(order.variables)
    n_steps = n_order + 2
    nodes, softs = np.flatnonzero(used), np.flatnonzero(roles.soft & used)
    n_given = len(nodes) + len(softs)
    # A factor goes to the bucket of the step that comes first among its variables; one without free variables to the
    # last step but one, and what has kept variables only to the last.
    turn = np.full(len(sizes), n_steps - 1, np.int64)
    for step in range(n_order):
        turn[order.variables[step]] = step
    base = np.zeros(n_given + n_steps, np.int64)
    filled = _place_given(nodes, softs, sizes, flat.cpts.starts, base)
    bucket = np.empty(n_given + n_steps, np.int64)
    seen_bounds, seen_slots, seen_strides = _observe(flat.cpts, roles, nodes, softs, turn, n_steps, bucket)
    axes, axis_bounds = np.empty(len(order.around) + len(kept), np.int64), np.zeros(n_steps + 1, np.int64)
    operations = 0.0
    for step in range(n_steps):
        low, f = axis_bounds[step], n_given + step
        bucket[f] = n_steps - 1 if step < n_steps - 1 else n_steps
        members = kept[: len(kept) * (step == n_steps - 1)]
        if step < n_order:
            members = order.around[order.bounds[step] : order.bounds[step + 1]]
        size = 1
        for k in range(len(members)):
            axes[low + k] = members[k]
            size *= sizes[members[k]]
            if step < n_order:
                bucket[f] = min(bucket[f], turn[members[k]])
        axis_bounds[step + 1] = low + len(members)
        if step < n_order:
            _sort_axes(axes, low, low + len(members), turn)
        operations += size * (sizes[order.variables[step]] if step < n_order else 1)
        base[f] = filled
        filled += size
    inputs, input_bounds = _inputs(bucket, n_steps)
    walk, walk_bounds, own = _walks(flat, nodes, softs, order.variables, axes, axis_bounds, inputs, input_bounds)
    n_sums = n_order - roles.n_best
    return (
        base, seen_bounds, seen_slots, seen_strides, axes[: axis_bounds[n_steps]], axis_bounds, inputs, input_bounds,
        walk, walk_bounds, own, order.variables, _choices(sizes, axes, axis_bounds, n_sums, roles.n_best), softs,
        np.array([filled, n_given, n_sums, np.int64(operations), 0]),
    )  # fmt: skip


@kernel
def _sort_axes(axes: Array, low: int, high: int, turn: Array) -> None:
    """Put the axes that are eliminated first last, by insertion; kept ones stay in front, as they are."""
    for k in range(low + 1, high):
        axis, place = axes[k], k
        while place > low and turn[axes[place - 1]] < turn[axis]:
            axes[place] = axes[place - 1]
            place -= 1
        axes[place] = axis


@kernel
def _choices(sizes: Array, axes: Array, axis_bounds: Array, n_sums: int, n_best: int) -> Array:
    """Bound the room in which each maximum keeps its choices, one for every entry of its result."""
    bounds = np.zeros(n_best + 1, np.int64)
    for k in range(n_best):
        entries = 1
        for axis in range(axis_bounds[n_sums + k], axis_bounds[n_sums + k + 1]):
            entries *= sizes[axes[axis]]
        bounds[k + 1] = bounds[k] + entries
    return bounds


@kernel
def _observe(
    cpts: Factors, roles: Roles, nodes: Array, softs: Array, turn: Array, n_steps: int, bucket: Array
) -> tuple[Array, Array, Array]:
    """Find the step that uses each given factor, and where its observed variables move it to."""
    columns, strides, bounds, phase, slots = cpts.columns, cpts.strides, cpts.bounds, roles.phase, roles.slots
    n_given, n_seen = len(nodes) + len(softs), 0
    seen_bounds = np.zeros(n_given + n_steps + 1, np.int64)
    seen_slots, seen_strides = np.empty(len(columns), np.int64), np.empty(len(columns), np.int64)
    for f in range(n_given):
        bucket[f] = n_steps - 2
        if f >= len(nodes):
            bucket[f] = turn[softs[f - len(nodes)]]
        else:
            for at in range(bounds[nodes[f]], bounds[nodes[f] + 1]):
                column = columns[at]
                if phase[column] == SEEN:
                    seen_slots[n_seen], seen_strides[n_seen] = slots[column], strides[at]
                    n_seen += 1
                elif bucket[f] == n_steps - 2 or turn[column] < bucket[f]:
                    bucket[f] = turn[column]
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
    flat: FlatNetwork, nodes: Array, softs: Array, order: Array, axes: Array, axis_bounds: Array, inputs: Array,
    input_bounds: Array,
) -> tuple[Array, Array, Array]:  # fmt: skip
    """Find the strides of each step's factors along the step's axes, and along the variable that it eliminates."""
    sizes, columns, strides, bounds = flat.sizes, flat.cpts.columns, flat.cpts.strides, flat.cpts.bounds
    n_steps, n_given = len(axis_bounds) - 1, len(nodes) + len(softs)
    walk_bounds = np.zeros(n_steps + 1, np.int64)
    for step in range(n_steps):
        cells = (axis_bounds[step + 1] - axis_bounds[step]) * (input_bounds[step + 1] - input_bounds[step])
        walk_bounds[step + 1] = walk_bounds[step] + cells
    walk, own = np.zeros(walk_bounds[n_steps], np.int64), np.zeros(len(inputs), np.int64)
    place = np.full(len(sizes), -1, np.int64)
    for step in range(n_steps):
        low, width = axis_bounds[step], axis_bounds[step + 1] - axis_bounds[step]
        eliminated = order[step] if step < len(order) else -1
        for k in range(width):
            place[axes[low + k]] = k
        for at in range(input_bounds[step], input_bounds[step + 1]):
            f, row = inputs[at], walk_bounds[step] + (at - input_bounds[step]) * width
            if f < len(nodes):
                for entry in range(bounds[nodes[f]], bounds[nodes[f] + 1]):
                    if columns[entry] == eliminated:
                        own[at] = strides[entry]
                    elif place[columns[entry]] >= 0:
                        walk[row + place[columns[entry]]] = strides[entry]
            elif f < n_given:
                if softs[f - len(nodes)] == eliminated:
                    own[at] = 1
                else:
                    walk[row + place[softs[f - len(nodes)]]] = 1
            else:
                stride = 1
                for entry in range(axis_bounds[f - n_given + 1] - 1, axis_bounds[f - n_given] - 1, -1):
                    if axes[entry] == eliminated:
                        own[at] = stride
                    else:
                        walk[row + place[axes[entry]]] = stride
                    stride *= sizes[axes[entry]]
        for k in range(width):
            place[axes[low + k]] = -1
    return walk, walk_bounds, own
