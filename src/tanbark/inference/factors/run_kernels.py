"""The compiled running of an elimination program: sums, maxima and exact draws, for one row of evidence or many.

``memory`` holds the CPTs in use, the likelihoods of soft evidence, and room for every step's result; with ``logs`` all
of it is in logarithms. A step walks through the entries of its result like a counter, and every input moves along by
its strides; the cost is the number of entries looked at times the number of inputs.
"""

from __future__ import annotations

import numpy as np

from tanbark.arrays import Array
from tanbark.inference.factors.plan_kernels import (
    AXES,
    AXIS_BOUNDS,
    BASE,
    CHOICE_BOUNDS,
    INPUT_BOUNDS,
    INPUTS,
    MEMORY_SIZE,
    N_GIVEN,
    N_SUMS,
    ORDER,
    OWN,
    SEEN_BOUNDS,
    SEEN_SLOTS,
    SEEN_STRIDES,
    TOTALS,
    WALK,
    WALK_BOUNDS,
    section,
)
from tanbark.inference.layout import FlatNetwork
from tanbark.kernel import kernel
from tanbark.stopping import stopping

STRIDE = 1 << 16  # entries of a step, or runs of them, after which it asks whether to stop


@kernel
def _at(program: Array, number: int, k: int) -> int:
    """Read one number of a section; taking arrays out of a program costs more than many a step."""
    return int(program[program[number] + k])


@kernel
def run(
    program: Array, sizes: Array, given: Array, codes: Array, top: int, bottom: int, logs: bool, out: Array,
    states: Array,
) -> None:  # fmt: skip
    """Run a program for the rows of evidence from top to bottom.

    ``given`` starts the memory; ``codes[row, slot]`` are the observed states; ``out[row]`` receives the last product.
    The last steps may maximise, and ``states[row]`` receives the best state of each of their variables.
    A step whose factors are those of the row before is not run again, unless results share their places in the memory.
    """
    base, axes, axis_bounds = section(program, BASE), section(program, AXES), section(program, AXIS_BOUNDS)
    inputs, input_bounds = section(program, INPUTS), section(program, INPUT_BOUNDS)
    order, choice_bounds, n_steps = section(program, ORDER), section(program, CHOICE_BOUNDS), len(axis_bounds) - 1
    memory_size, n_given, n_sums, _, reused = section(program, TOTALS)
    memory = np.empty(memory_size)
    memory[: len(given)] = given
    choices = np.empty(choice_bounds[-1], np.int32)
    position, fresh = base.copy(), np.ones(len(base), np.bool_)
    at, index = np.empty(len(base), np.int64), np.empty(len(sizes), np.int64)
    best = np.zeros(len(sizes), np.int64)
    last = base[n_given + n_steps - 1]
    for row in range(top, bottom):
        _enter(program, codes, row, row > top, position, fresh)
        for step in range(n_steps):
            if stopping():
                return
            changed = row == top or reused > 0
            for k in range(input_bounds[step], input_bounds[step + 1]):
                changed |= fresh[inputs[k]]
            fresh[n_given + step] = changed
            if not changed:
                continue
            eliminated = sizes[order[step]] if step < len(order) else 1
            if n_sums <= step < len(order):
                _maximise(program, step, eliminated, sizes, position, at, index, logs, memory, choices)
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
            best[order[step]] = choices[choice_bounds[step - n_sums] + place]
            states[row, step - n_sums] = best[order[step]]


@kernel
def run_one(program: Array, sizes: Array, given: Array, codes: Array, n_out: int) -> tuple[Array, float, Array]:
    """Run a program for one row of evidence; return the last product, its sum and the best states."""
    out, states = np.empty((1, n_out)), np.empty((1, len(section(program, CHOICE_BOUNDS)) - 1), np.int64)
    run(program, sizes, given, codes.reshape(1, -1), 0, 1, False, out, states)
    return out[0], out.sum(), states[0]


@kernel
def _enter(program: Array, codes: Array, row: int, again: bool, position: Array, fresh: Array) -> None:
    """Read every given factor at the observed states; mark those that moved."""
    for f in range(_at(program, TOTALS, N_GIVEN)):
        place = _at(program, BASE, f)
        for k in range(_at(program, SEEN_BOUNDS, f), _at(program, SEEN_BOUNDS, f + 1)):
            place += codes[row, _at(program, SEEN_SLOTS, k)] * _at(program, SEEN_STRIDES, k)
        fresh[f] = not again or place != position[f]
        position[f] = place


@kernel
def _begin(
    program: Array, step: int, sizes: Array, position: Array, at: Array, index: Array
) -> tuple[int, int, int, int, int]:
    """Put the walk of a step at its first entry.

    Returns the number of its inputs, of its axes and of its entries, where its strides along the eliminated variable
    begin in the program, and where its result begins in the memory.
    """
    low, first = _at(program, AXIS_BOUNDS, step), _at(program, INPUT_BOUNDS, step)
    width, count = _at(program, AXIS_BOUNDS, step + 1) - low, _at(program, INPUT_BOUNDS, step + 1) - first
    for k in range(count):
        at[k] = position[_at(program, INPUTS, first + k)]
    entries = 1
    for axis in range(width):
        index[axis] = 0
        entries *= sizes[_at(program, AXES, low + axis)]
    return count, width, entries, program[OWN] + first, _at(program, BASE, _at(program, TOTALS, N_GIVEN) + step)


@kernel
def _advance(
    program: Array, step: int, count: int, width: int, fastest: int, sizes: Array, at: Array, index: Array
) -> None:  # fmt: skip
    """Move the walk of a step on along the fastest axis, and at its end along those before it."""
    axes = program[AXES] + _at(program, AXIS_BOUNDS, step)
    walk = program[WALK] + _at(program, WALK_BOUNDS, step)
    for axis in range(fastest, -1, -1):
        size = sizes[program[axes + axis]]
        index[axis] += 1
        if index[axis] < size:
            for k in range(count):
                at[k] += program[walk + k * width + axis]
            return
        index[axis] = 0
        for k in range(count):
            at[k] -= program[walk + k * width + axis] * (size - 1)


@kernel
def _sum(
    program: Array, step: int, states: int, sizes: Array, position: Array, at: Array, index: Array, memory: Array
) -> None:  # fmt: skip
    """Multiply a step's factors and sum over its variable, a run of entries along the last axis at a time."""
    count, width, entries, own, goal = _begin(program, step, sizes, position, at, index)
    walk = program[WALK] + _at(program, WALK_BOUNDS, step) + width - 1
    run_length = sizes[_at(program, AXES, _at(program, AXIS_BOUNDS, step + 1) - 1)] if width else 1
    # The innermost axis is unrolled into runs, so that the counter over the others moves once a run.
    for run in range(entries // run_length):
        if run % STRIDE == 0 and stopping():
            return
        into = goal + run * run_length
        if count == 2:
            _sum_two(program, at, own, walk, width, states, run_length, memory, into)
        else:
            for entry in range(run_length):
                total = 0.0
                for state in range(states):
                    product = 1.0
                    for k in range(count):
                        product *= memory[at[k] + state * program[own + k]]
                    total += product
                memory[into + entry] = total
                if width:
                    for k in range(count):
                        at[k] += program[walk + k * width]
            if width:
                for k in range(count):
                    at[k] -= program[walk + k * width] * run_length
        _advance(program, step, count, width, width - 2, sizes, at, index)


@kernel
def _sum_two(
    program: Array, at: Array, own: int, walk: int, width: int, states: int, run_length: int, memory: Array, into: int
) -> None:
    """Do a run of entries of two factors, as most steps have them."""
    one, two, own_one, own_two = at[0], at[1], program[own], program[own + 1]
    walk_one, walk_two = (program[walk], program[walk + width]) if width else (0, 0)
    for entry in range(run_length):
        total = 0.0
        for state in range(states):
            total += memory[one + state * own_one] * memory[two + state * own_two]
        memory[into + entry] = total
        one += walk_one
        two += walk_two


@kernel
def _sum_logs(
    program: Array, step: int, states: int, sizes: Array, position: Array, at: Array, index: Array, memory: Array
) -> None:  # fmt: skip
    """Do the same in logarithms: add the factors, and sum with the greatest term taken out."""
    count, width, entries, own, goal = _begin(program, step, sizes, position, at, index)
    terms = np.empty(states)
    for entry in range(entries):
        if entry % STRIDE == 0 and stopping():
            return
        top = -np.inf
        for state in range(states):
            terms[state] = 0.0
            for k in range(count):
                terms[state] += memory[at[k] + state * program[own + k]]
            top = max(top, terms[state])
        memory[goal + entry] = top
        if top > -np.inf:
            total = 0.0
            for state in range(states):
                total += np.exp(terms[state] - top)
            memory[goal + entry] = top + np.log(total)
        _advance(program, step, count, width, width - 1, sizes, at, index)


@kernel
def _maximise(
    program: Array, step: int, states: int, sizes: Array, position: Array, at: Array, index: Array, logs: bool,
    memory: Array, choices: Array,
) -> None:  # fmt: skip
    """Multiply a step's factors and keep the greatest entry and its state; ties go to the lowest state."""
    count, width, entries, own, goal = _begin(program, step, sizes, position, at, index)
    start = _at(program, CHOICE_BOUNDS, step - _at(program, TOTALS, N_SUMS))
    for entry in range(entries):
        if entry % STRIDE == 0 and stopping():
            return
        top, choice = -np.inf, 0
        for state in range(states):
            value = 0.0 if logs else 1.0
            for k in range(count):
                factor = memory[at[k] + state * program[own + k]]
                value = value + factor if logs else value * factor
            if value > top:
                top, choice = value, state
        memory[goal + entry] = top
        choices[start + entry] = choice
        _advance(program, step, count, width, width - 1, sizes, at, index)


@kernel
def fill_memory(program: Array, sizes: Array, given: Array, codes: Array, logs: bool) -> Array:
    """Run the sums of a program for one row of evidence and return its whole memory, which draws look back into."""
    base, n_steps, order = section(program, BASE), len(section(program, AXIS_BOUNDS)) - 1, section(program, ORDER)
    memory = np.empty(_at(program, TOTALS, MEMORY_SIZE))
    memory[: len(given)] = given
    position, fresh = base.copy(), np.ones(len(base), np.bool_)
    at, index = np.empty(len(base), np.int64), np.empty(len(sizes), np.int64)
    _enter(program, codes.reshape(1, -1), 0, False, position, fresh)
    for step in range(n_steps):
        states = sizes[order[step]] if step < len(order) else 1
        if logs:
            _sum_logs(program, step, states, sizes, position, at, index, memory)
        else:
            _sum(program, step, states, sizes, position, at, index, memory)
    return memory


@kernel
def draw_back(
    program: Array, sizes: Array, memory: Array, codes: Array, logs: bool, uniform: Array, out: Array
) -> None:  # fmt: skip
    """Draw the eliminated variables in reverse, each given those drawn before: exactly from the posterior.

    ``uniform`` is (columns, rows) and is read at the drawn column; ``out`` is (columns, rows) codes.
    """
    axes, axis_bounds, inputs = section(program, AXES), section(program, AXIS_BOUNDS), section(program, INPUTS)
    input_bounds, own, order = section(program, INPUT_BOUNDS), section(program, OWN), section(program, ORDER)
    walk, walk_bounds = section(program, WALK), section(program, WALK_BOUNDS)
    position = section(program, BASE).copy()
    _enter(program, codes.reshape(1, -1), 0, False, position, np.ones(len(position), np.bool_))
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
def draw_forward(flat: FlatNetwork, nodes: Array, uniform: Array, out: Array) -> None:
    """Draw the listed variables, parents first, each from its own CPT."""
    sizes = flat.sizes
    values, starts, columns, strides, bounds, _ = flat.cpts
    weights = np.empty(max(1, sizes.max()))
    for node in nodes:
        low, high = bounds[node], bounds[node + 1]
        step = 1
        for k in range(low, high):
            if columns[k] == node:
                step = strides[k]
        for row in range(out.shape[1]):
            place = starts[node]
            for k in range(low, high):
                if columns[k] != node:
                    place += strides[k] * out[columns[k], row]
            for state in range(sizes[node]):
                weights[state] = values[place + state * step]
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
