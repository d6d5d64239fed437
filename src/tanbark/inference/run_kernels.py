"""The compiled running of an elimination program: sums, maxima and exact draws, for one row of evidence or many.

A program is what ``plan_kernels.assemble`` returns, packed into one array: its part p begins at ``packed[p]``,
and the kernels read it there, since taking arrays out of it costs more than many a step. ``memory`` holds the families'
tables, the likelihoods of soft evidence, and room for every step's result; with ``logs`` all of it is in logarithms.
"""

from __future__ import annotations

import numpy as np

from tanbark.arrays import Array
from tanbark.machine import kernel


@kernel
def _part(packed: Array, number: int) -> Array:
    return packed[packed[number] : packed[number + 1]]


@kernel
def run(
    packed: Array, sizes: Array, given: Array, codes: Array, top: int, bottom: int, logs: bool, out: Array,
    states: Array,
) -> None:  # fmt: skip
    """Run a program for the rows of evidence from top to bottom.

    ``given`` starts the memory; ``codes[row, slot]`` are the observed states; ``out[row]`` receives the last product.
    The last steps may maximise, and ``states[row]`` receives the best state of each of their variables.
    A step whose factors are those of the row before is not run again.
    """
    base, axes, axis_bounds, inputs, input_bounds = (
        _part(packed, 0), _part(packed, 4), _part(packed, 5), _part(packed, 6), _part(packed, 7)
    )  # fmt: skip
    room, n_given, n_sums = _part(packed, 11)
    order, arg_bounds, n_steps = _part(packed, 12), _part(packed, 13), len(axis_bounds) - 1
    memory = np.empty(room)
    memory[: len(given)] = given
    choices = np.empty(arg_bounds[-1], np.int64)
    position, fresh = base.copy(), np.ones(len(base), np.bool_)
    at, index = np.empty(len(base), np.int64), np.empty(len(sizes), np.int64)
    best = np.zeros(len(sizes), np.int64)
    last = base[n_given + n_steps - 1]
    for row in range(top, bottom):
        _enter(packed, codes, row, row > top, position, fresh)
        for step in range(n_steps):
            changed = row == top
            for k in range(input_bounds[step], input_bounds[step + 1]):
                changed |= fresh[inputs[k]]
            fresh[n_given + step] = changed
            if not changed:
                continue
            eliminated = sizes[order[step]] if step < len(order) else 1
            if n_sums <= step < len(order):
                start = arg_bounds[step - n_sums]
                _maximise(packed, step, eliminated, sizes, position, at, index, logs, memory, choices, start)
            elif logs:
                _sum_logs(packed, step, eliminated, sizes, position, at, index, memory)
            else:
                _sum(packed, step, eliminated, sizes, position, at, index, memory)
        for k in range(out.shape[1]):
            out[row, k] = memory[last + k]
        for step in range(len(order) - 1, n_sums - 1, -1):
            place = 0
            for axis in range(axis_bounds[step], axis_bounds[step + 1]):
                place = place * sizes[axes[axis]] + best[axes[axis]]
            best[order[step]] = choices[arg_bounds[step - n_sums] + place]
            states[row, step - n_sums] = best[order[step]]


@kernel
def run_one(packed: Array, sizes: Array, given: Array, codes: Array, n_out: int) -> tuple[Array, float, Array]:
    """Run a program for one row of evidence; give the answer, its sum and the best states."""
    out, states = np.empty((1, n_out)), np.empty((1, len(_part(packed, 13)) - 1), np.int64)
    run(packed, sizes, given, codes.reshape(1, -1), 0, 1, False, out, states)
    return out[0], out.sum(), states[0]


@kernel
def _enter(packed: Array, codes: Array, row: int, again: bool, position: Array, fresh: Array) -> None:
    """Read every given factor at the observed states; mark those that moved."""
    base, bounds, slots, strides, n_given = packed[0], packed[1], packed[2], packed[3], packed[packed[11] + 1]
    for f in range(n_given):
        place = packed[base + f]
        for k in range(packed[bounds + f], packed[bounds + f + 1]):
            place += codes[row, packed[slots + k]] * packed[strides + k]
        fresh[f] = not again or place != position[f]
        position[f] = place


@kernel
def _begin(
    packed: Array, step: int, sizes: Array, position: Array, at: Array, index: Array
) -> tuple[int, int, int, int, int]:
    """Put the walk of a step at its first entry.

    Gives the number of its factors, of its axes and of its entries, where its strides along the eliminated variable
    begin in the program, and where its result begins in the memory.
    """
    low, first = packed[packed[5] + step], packed[packed[7] + step]
    width, count = packed[packed[5] + step + 1] - low, packed[packed[7] + step + 1] - first
    for k in range(count):
        at[k] = position[packed[packed[6] + first + k]]
    entries = 1
    for axis in range(width):
        index[axis] = 0
        entries *= sizes[packed[packed[4] + low + axis]]
    return count, width, entries, packed[10] + first, packed[packed[0] + packed[packed[11] + 1] + step]


@kernel
def _advance(
    packed: Array, step: int, count: int, width: int, fastest: int, sizes: Array, at: Array, index: Array
) -> None:  # fmt: skip
    """Move the walk of a step on along the fastest axis, and at its end along those before it."""
    axes, walk = packed[4] + packed[packed[5] + step], packed[8] + packed[packed[9] + step]
    for axis in range(fastest, -1, -1):
        size = sizes[packed[axes + axis]]
        index[axis] += 1
        if index[axis] < size:
            for k in range(count):
                at[k] += packed[walk + k * width + axis]
            return
        index[axis] = 0
        for k in range(count):
            at[k] -= packed[walk + k * width + axis] * (size - 1)


@kernel
def _sum(
    packed: Array, step: int, states: int, sizes: Array, position: Array, at: Array, index: Array, memory: Array
) -> None:  # fmt: skip
    """Multiply a step's factors and sum over its variable, a run of entries along the last axis at a time."""
    count, width, entries, own, goal = _begin(packed, step, sizes, position, at, index)
    walk = packed[8] + packed[packed[9] + step] + width - 1
    run_length = sizes[packed[packed[4] + packed[packed[5] + step + 1] - 1]] if width else 1
    for run in range(entries // run_length):
        into = goal + run * run_length
        if count == 2:
            _sum_two(packed, at, own, walk, width, states, run_length, memory, into)
        else:
            for entry in range(run_length):
                total = 0.0
                for state in range(states):
                    product = 1.0
                    for k in range(count):
                        product *= memory[at[k] + state * packed[own + k]]
                    total += product
                memory[into + entry] = total
                if width:
                    for k in range(count):
                        at[k] += packed[walk + k * width]
            if width:
                for k in range(count):
                    at[k] -= packed[walk + k * width] * run_length
        _advance(packed, step, count, width, width - 2, sizes, at, index)


@kernel
def _sum_two(
    packed: Array, at: Array, own: int, walk: int, width: int, states: int, run_length: int, memory: Array, into: int
) -> None:
    """Do a run of entries of two factors, as most steps have them."""
    one, two, own_one, own_two = at[0], at[1], packed[own], packed[own + 1]
    walk_one, walk_two = (packed[walk], packed[walk + width]) if width else (0, 0)
    for entry in range(run_length):
        total = 0.0
        for state in range(states):
            total += memory[one + state * own_one] * memory[two + state * own_two]
        memory[into + entry] = total
        one += walk_one
        two += walk_two


@kernel
def _sum_logs(
    packed: Array, step: int, states: int, sizes: Array, position: Array, at: Array, index: Array, memory: Array
) -> None:  # fmt: skip
    """Do the same in logarithms: add the factors, and sum with the greatest term taken out."""
    count, width, entries, own, goal = _begin(packed, step, sizes, position, at, index)
    terms = np.empty(states)
    for entry in range(entries):
        top = -np.inf
        for state in range(states):
            terms[state] = 0.0
            for k in range(count):
                terms[state] += memory[at[k] + state * packed[own + k]]
            top = max(top, terms[state])
        memory[goal + entry] = top
        if top > -np.inf:
            total = 0.0
            for state in range(states):
                total += np.exp(terms[state] - top)
            memory[goal + entry] = top + np.log(total)
        _advance(packed, step, count, width, width - 1, sizes, at, index)


@kernel
def _maximise(
    packed: Array, step: int, states: int, sizes: Array, position: Array, at: Array, index: Array, logs: bool,
    memory: Array, choices: Array, start: int,
) -> None:  # fmt: skip
    """Multiply a step's factors and keep the greatest entry and its state; ties go to the lowest state."""
    count, width, entries, own, goal = _begin(packed, step, sizes, position, at, index)
    for entry in range(entries):
        top, choice = -np.inf, 0
        for state in range(states):
            value = 0.0 if logs else 1.0
            for k in range(count):
                factor = memory[at[k] + state * packed[own + k]]
                value = value + factor if logs else value * factor
            if value > top:
                top, choice = value, state
        memory[goal + entry] = top
        choices[start + entry] = choice
        _advance(packed, step, count, width, width - 1, sizes, at, index)


@kernel
def fill_memory(packed: Array, sizes: Array, given: Array, codes: Array, logs: bool) -> Array:
    """Run the sums of a program for one row of evidence and give its whole memory, which draws look back into."""
    base, n_steps, order = _part(packed, 0), len(_part(packed, 5)) - 1, _part(packed, 12)
    memory = np.empty(packed[packed[11]])
    memory[: len(given)] = given
    position, fresh = base.copy(), np.ones(len(base), np.bool_)
    at, index = np.empty(len(base), np.int64), np.empty(len(sizes), np.int64)
    _enter(packed, codes.reshape(1, -1), 0, False, position, fresh)
    for step in range(n_steps):
        states = sizes[order[step]] if step < len(order) else 1
        if logs:
            _sum_logs(packed, step, states, sizes, position, at, index, memory)
        else:
            _sum(packed, step, states, sizes, position, at, index, memory)
    return memory


@kernel
def draw_back(
    packed: Array, sizes: Array, memory: Array, codes: Array, logs: bool, uniform: Array, out: Array
) -> None:  # fmt: skip
    """Draw the eliminated variables in reverse, each given those drawn before: exactly from the posterior.

    ``uniform`` is (columns, rows) and is read at the drawn column; ``out`` is (columns, rows) codes.
    """
    axes, axis_bounds, inputs, input_bounds = _part(packed, 4), _part(packed, 5), _part(packed, 6), _part(packed, 7)
    walk, walk_bounds, own, order = _part(packed, 8), _part(packed, 9), _part(packed, 10), _part(packed, 12)
    position = _part(packed, 0).copy()
    _enter(packed, codes.reshape(1, -1), 0, False, position, np.ones(len(position), np.bool_))
    weights = np.empty(max(1, sizes.max()))
    for row in range(out.shape[1]):
        for step in range(len(order) - 1, -1, -1):
            node, width = order[step], axis_bounds[step + 1] - axis_bounds[step]
            states = sizes[node]
            weights[:states] = 0.0 if logs else 1.0
            for k in range(input_bounds[step], input_bounds[step + 1]):
                place = position[inputs[k]]
                start = walk_bounds[step] + (k - input_bounds[step]) * width
                for axis in range(width):
                    place += walk[start + axis] * out[axes[axis_bounds[step] + axis], row]
                for state in range(states):
                    factor = memory[place + state * own[k]]
                    weights[state] = weights[state] + factor if logs else weights[state] * factor
            if logs:
                top = weights[:states].max()
                for state in range(states):
                    weights[state] = np.exp(weights[state] - top)
            out[node, row] = _choose(weights, states, uniform[node, row])


@kernel
def draw_forward(
    sizes: Array, tables: Array, scopes: Array, strides: Array, bounds: Array, starts: Array, nodes: Array,
    uniform: Array, out: Array,
) -> None:  # fmt: skip
    """Draw the listed variables, parents first, each from its own table."""
    weights = np.empty(max(1, sizes.max()))
    for node in nodes:
        step = 1
        for k in range(bounds[node], bounds[node + 1]):
            if scopes[k] == node:
                step = strides[k]
        for row in range(out.shape[1]):
            place = starts[node]
            for k in range(bounds[node], bounds[node + 1]):
                if scopes[k] != node:
                    place += strides[k] * out[scopes[k], row]
            for state in range(sizes[node]):
                weights[state] = tables[place + state * step]
            out[node, row] = _choose(weights, sizes[node], uniform[node, row])


@kernel
def _choose(weights: Array, states: int, uniform: float) -> int:
    """Pick a state with probability proportional to its weight; one of weight zero never."""
    total = 0.0
    for state in range(states):
        total += weights[state]
    goal, reached, last = uniform * total, 0.0, 0
    for state in range(states):
        if weights[state] > 0.0:
            reached += weights[state]
            last = state
            if goal < reached:
                return state
    return last
