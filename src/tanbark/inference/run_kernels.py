"""The compiled running of an elimination program: sums, maxima and exact draws, for one row of evidence or many.

A program is what ``plan_kernels.assemble`` returns, packed into one array. ``memory`` holds the families' tables, the
likelihoods of soft evidence, and room for every step's result; with ``logs`` all of it is in logarithms.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tanbark.machine import kernel

Array = NDArray[Any]
Program = tuple[Array, ...]


@kernel
def _part(packed: Array, number: int) -> Array:
    return packed[packed[number] : packed[number + 1]]


@kernel
def _unpack(packed: Array) -> Program:
    """Take a program apart again."""
    return (
        _part(packed, 0), _part(packed, 1), _part(packed, 2), _part(packed, 3), _part(packed, 4), _part(packed, 5),
        _part(packed, 6), _part(packed, 7), _part(packed, 8), _part(packed, 9), _part(packed, 10), _part(packed, 11),
        _part(packed, 12), _part(packed, 13), _part(packed, 14),
    )  # fmt: skip


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
    program = _unpack(packed)
    base, axes, axis_bounds, inputs, input_bounds = program[0], program[4], program[5], program[6], program[7]
    n_given, n_sums, n_steps = program[11][1], program[11][2], len(axis_bounds) - 1
    order, arg_bounds = program[12], program[13]
    memory = np.empty(program[11][0])
    memory[: len(given)] = given
    choices = np.empty(arg_bounds[-1], np.int64)
    position, fresh = base.copy(), np.ones(len(base), np.bool_)
    at, index = np.empty(len(base), np.int64), np.empty(len(sizes), np.int64)
    best = np.zeros(len(sizes), np.int64)
    last = base[n_given + n_steps - 1]
    for row in range(top, bottom):
        _enter(program, codes[row], row > top, position, fresh)
        for step in range(n_steps):
            changed = row == top
            for k in range(input_bounds[step], input_bounds[step + 1]):
                changed |= fresh[inputs[k]]
            fresh[n_given + step] = changed
            if not changed:
                continue
            eliminated = sizes[order[step]] if step < len(order) else 1
            if n_sums <= step < len(order):
                room = choices[arg_bounds[step - n_sums] : arg_bounds[step - n_sums + 1]]
                _maximise(program, step, eliminated, sizes, position, at, index, logs, memory, room)
            elif logs:
                _sum_logs(program, step, eliminated, sizes, position, at, index, memory)
            else:
                _sum(program, step, eliminated, sizes, position, at, index, memory)
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
def _enter(program: Program, codes: Array, again: bool, position: Array, fresh: Array) -> None:
    """Read every given factor at the observed states; mark those that moved."""
    base, bounds, slots, strides, n_given = program[0], program[1], program[2], program[3], program[11][1]
    for f in range(n_given):
        place = base[f]
        for k in range(bounds[f], bounds[f + 1]):
            place += codes[slots[k]] * strides[k]
        fresh[f] = not again or place != position[f]
        position[f] = place


@kernel
def _begin(program: Program, step: int, position: Array, at: Array, index: Array) -> tuple[int, int, int]:
    """Put the walk of a step at its first entry; give the first factor, their number and the number of axes."""
    axis_bounds, inputs, input_bounds = program[5], program[6], program[7]
    first, width = input_bounds[step], axis_bounds[step + 1] - axis_bounds[step]
    count = input_bounds[step + 1] - first
    for k in range(count):
        at[k] = position[inputs[first + k]]
    for axis in range(width):
        index[axis] = 0
    return first, count, width


@kernel
def _advance(program: Program, step: int, count: int, width: int, sizes: Array, at: Array, index: Array) -> None:
    """Move the walk of a step to the next entry, the last axis fastest."""
    axes, low, walk, start = program[4], program[5][step], program[8], program[9][step]
    for axis in range(width - 1, -1, -1):
        size = sizes[axes[low + axis]]
        index[axis] += 1
        if index[axis] < size:
            for k in range(count):
                at[k] += walk[start + k * width + axis]
            return
        index[axis] = 0
        for k in range(count):
            at[k] -= walk[start + k * width + axis] * (size - 1)


@kernel
def _entries(program: Program, step: int, sizes: Array) -> int:
    total = 1
    for axis in range(program[5][step], program[5][step + 1]):
        total *= sizes[program[4][axis]]
    return total


@kernel
def _sum(
    program: Program, step: int, states: int, sizes: Array, position: Array, at: Array, index: Array, memory: Array
) -> None:  # fmt: skip
    """Multiply a step's factors and sum over its variable."""
    first, count, width = _begin(program, step, position, at, index)
    own, goal = program[10], program[0][program[11][1] + step]
    for entry in range(_entries(program, step, sizes)):
        total = 0.0
        if count == 2:
            for state in range(states):
                total += memory[at[0] + state * own[first]] * memory[at[1] + state * own[first + 1]]
        else:
            for state in range(states):
                product = 1.0
                for k in range(count):
                    product *= memory[at[k] + state * own[first + k]]
                total += product
        memory[goal + entry] = total
        _advance(program, step, count, width, sizes, at, index)


@kernel
def _sum_logs(
    program: Program, step: int, states: int, sizes: Array, position: Array, at: Array, index: Array, memory: Array
) -> None:  # fmt: skip
    """Do the same in logarithms: add the factors, and sum with the greatest term taken out."""
    first, count, width = _begin(program, step, position, at, index)
    own, goal = program[10], program[0][program[11][1] + step]
    terms = np.empty(states)
    for entry in range(_entries(program, step, sizes)):
        top = -np.inf
        for state in range(states):
            terms[state] = 0.0
            for k in range(count):
                terms[state] += memory[at[k] + state * own[first + k]]
            top = max(top, terms[state])
        memory[goal + entry] = top
        if top > -np.inf:
            total = 0.0
            for state in range(states):
                total += np.exp(terms[state] - top)
            memory[goal + entry] = top + np.log(total)
        _advance(program, step, count, width, sizes, at, index)


@kernel
def _maximise(
    program: Program, step: int, states: int, sizes: Array, position: Array, at: Array, index: Array, logs: bool,
    memory: Array, choices: Array,
) -> None:  # fmt: skip
    """Multiply a step's factors and keep the greatest entry and its state; ties go to the lowest state."""
    first, count, width = _begin(program, step, position, at, index)
    own, goal = program[10], program[0][program[11][1] + step]
    for entry in range(_entries(program, step, sizes)):
        top, choice = -np.inf, 0
        for state in range(states):
            value = 0.0 if logs else 1.0
            for k in range(count):
                factor = memory[at[k] + state * own[first + k]]
                value = value + factor if logs else value * factor
            if value > top:
                top, choice = value, state
        memory[goal + entry] = top
        choices[entry] = choice
        _advance(program, step, count, width, sizes, at, index)


@kernel
def fill_memory(packed: Array, sizes: Array, given: Array, codes: Array, logs: bool) -> Array:
    """Run the sums of a program for one row of evidence and give its whole memory, which draws look back into."""
    program = _unpack(packed)
    base, n_steps, order = program[0], len(program[5]) - 1, program[12]
    memory = np.empty(program[11][0])
    memory[: len(given)] = given
    position, fresh = base.copy(), np.ones(len(base), np.bool_)
    at, index = np.empty(len(base), np.int64), np.empty(len(sizes), np.int64)
    _enter(program, codes, False, position, fresh)
    for step in range(n_steps):
        states = sizes[order[step]] if step < len(order) else 1
        if logs:
            _sum_logs(program, step, states, sizes, position, at, index, memory)
        else:
            _sum(program, step, states, sizes, position, at, index, memory)
    return memory


@kernel
def draw_back(
    packed: Array, sizes: Array, memory: Array, codes: Array, logs: bool, uniform: Array, out: Array
) -> None:  # fmt: skip
    """Draw the eliminated variables in reverse, each given those drawn before: exactly from the posterior.

    ``uniform`` is (columns, rows) and is read at the drawn column; ``out`` is (columns, rows) codes.
    """
    program = _unpack(packed)
    base, axes, axis_bounds, inputs, input_bounds = program[0], program[4], program[5], program[6], program[7]
    walk, walk_bounds, own, order = program[8], program[9], program[10], program[12]
    position, fresh = base.copy(), np.ones(len(base), np.bool_)
    _enter(program, codes, False, position, fresh)
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
