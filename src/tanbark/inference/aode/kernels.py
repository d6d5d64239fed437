"""The compiled averages over super-parent models, in logarithms and by products.

A model's joint of a row is a product of one entry per child. In logarithms the children are read one by one, and cost
one entry per model, child and class. By products, children are joined a few at a time beforehand, so that one entry
serves all children of a group; with two classes, two models are multiplied side by side, rows with the same states of
their super-parents together.
"""

from __future__ import annotations

from math import exp, log
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils

from tanbark.arrays import Array
from tanbark.inference.aode.joint_tables import Joined, Models
from tanbark.kernel import instruction, kernel, tiered
from tanbark.stopping import stopping

ROWS_AT_ONCE = 8192
LOG_ROWS = 64  # rows whose joints are added up in logarithms, model by model
JOINED_ROWS = 64  # whose places are found while they are in the nearest cache
ABREAST = 6  # rows, and numbers of each, that are multiplied at once
MOST_TOGETHER = 64  # joint states of two models, at most, by which rows are sorted


def _add_rows(count: int) -> Any:
    """Make the instruction that does the work of ``_add_two`` for ``count`` rows, four numbers each, at once."""

    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        four, two = (ir.VectorType(ir.DoubleType(), lanes) for lanes in (4, 2))
        wide, lane = context.get_value_type(types.intp), ir.IntType(32)
        arrays = [context.make_array(t)(context, builder, a) for t, a in zip(signature.args, args[:5], strict=False)]
        begin, entries, places, chosen, sums = (array.data for array in arrays)
        begin = builder.bitcast(begin, four.as_pointer())
        sums = builder.bitcast(sums, two.as_pointer())
        n_groups = cgutils.unpack_tuple(builder, arrays[2].shape)[1]
        start = builder.load(begin, align=8)
        found = [cgutils.alloca_once_value(builder, start) for _ in range(count)]
        rows = [builder.load(builder.gep(chosen, [builder.add(args[5], wide(k))])) for k in range(count)]
        rows = [builder.zext(row, wide) for row in rows]
        first = [builder.gep(places, [builder.mul(row, n_groups)]) for row in rows]
        word, short = ir.IntType(64), ir.IntType(16)

        def multiply(k: int, place: Any) -> None:
            place = builder.zext(place, wide)
            entry = builder.load(builder.bitcast(builder.gep(entries, [place]), four.as_pointer()), align=8)
            builder.store(builder.fmul(builder.load(found[k]), entry), found[k])

        whole = builder.and_(n_groups, wide(-4))
        with cgutils.for_range_slice(builder, wide(0), whole, wide(4)) as (group, _):
            for k in range(count):
                at = builder.bitcast(builder.gep(first[k], [group]), word.as_pointer())
                packed = builder.load(at, align=2)
                for part in range(4):
                    multiply(k, builder.trunc(builder.lshr(packed, word(16 * part)), short))
        with cgutils.for_range_slice(builder, whole, n_groups, wide(1)) as (group, _):
            for k in range(count):
                multiply(k, builder.load(builder.gep(first[k], [group])))
        for k in range(count):
            product, at = builder.load(found[k]), builder.gep(sums, [rows[k]])
            total = builder.load(at, align=8)
            for half in ((0, 1), (2, 3)):
                mask = ir.Constant(ir.VectorType(lane, 2), [lane(c) for c in half])
                total = builder.fadd(total, builder.shuffle_vector(product, ir.Constant(four, ir.Undefined), mask))
            builder.store(total, at, align=8)
        return context.get_dummy_value()

    def add_rows(typing: Any, begin: Any, entries: Any, joined: Any, order: Any, total: Any, low: Any) -> Any:
        return types.void(begin, entries, joined, order, total, types.intp), build

    def in_python(begin: Array, entries: Array, joined: Array, order: Array, total: Array, low: int) -> None:
        for row in order[low : low + count]:
            product = begin * entries[joined[row] // 4].prod(axis=0)
            total[row] += product[:2] + product[2:]

    return instruction(in_python)(add_rows)


add_one_row, add_many_rows = _add_rows(1), _add_rows(ABREAST)


def _steps(models: Models, rows: int) -> float:
    """Estimate the work of ``average_models``: an entry of every class for each row, model and value."""
    return float(rows * len(models.members) * (20 + len(models.n_states) * models.prior.shape[1]))


@tiered(lambda codes, models, places, logs, counts, enough, top, bottom, *_: _steps(models, bottom - top))
def average_models(
    codes: Array, models: Models, places: Array, logs: Array, counts: Array, enough: float, top: int, bottom: int,
    out: Array, empty: Array,
) -> None:  # fmt: skip
    """Average the joints of the super-parent models of every row, in logarithms; mark rows without any.

    ``models.prior`` is in logarithms, too; ``logs[state]`` holds log P(value | state, class), the classes of a value
    together, and the values of feature i begin at ``places[i]`` among all values. A model with a missing super-parent
    is summed over the states that it may have, if these occur in ``enough`` rows by ``counts[state]``.
    """
    # A few rows at a time, model by model, so that a model's CPTs stay in cache for these rows; observed[row] holds the
    # places of the row's values in logs[state]; best and total hold log-sum-exps by row and class. Cost per row and
    # class: one addition per model, joint state that is possible, and observed value.
    n_states, members, n_classes = models.n_states, models.members, models.prior.shape[1]
    observed, found = np.empty((LOG_ROWS, len(n_states)), np.uint64), np.empty(LOG_ROWS, np.int64)
    best, total = np.empty((LOG_ROWS, n_classes)), np.empty((LOG_ROWS, n_classes))
    used, joint = np.empty(LOG_ROWS, np.int64), np.empty(n_classes)
    for low in range(top, bottom, LOG_ROWS):
        if stopping():
            return
        size = min(LOG_ROWS, bottom - low)
        _find_observed(codes, n_states, places * n_classes, n_classes, low, observed, found[:size])
        best[:] = -np.inf
        total[:] = 0.0
        used[:] = 0
        for model in range(len(members)):
            first, second = members[model, 0], members[model, 1]
            radix = n_states[second] if second >= 0 else 1
            for row in range(size):
                code = np.int64(codes[first, low + row])
                other = np.int64(codes[second, low + row]) if second >= 0 else 0
                above = _possible(code, n_states[first])
                beside = _possible(other, radix)
                if code < n_states[first] and other < radix:
                    if not models.usable[models.starts[model] + code * radix + other]:
                        continue
                elif not _rows_with(counts, models.starts[model], radix, above, beside) >= enough:
                    continue
                used[row] += 1
                values = observed[row, : found[row]]
                for one in range(above[0], above[1]):
                    for two in range(beside[0], beside[1]):
                        state = models.starts[model] + one * radix + two
                        for c in range(n_classes):  # an assignment of arrays takes seconds to compile
                            joint[c] = models.prior[state, c]
                        _add_joint(logs[state], values, joint, best[row], total[row])
        for row in range(size):
            empty[low + row] = used[row] == 0
            if used[row]:
                for c in range(n_classes):
                    positive = total[row, c] > 0.0
                    out[low + row, c] = best[row, c] + log(total[row, c] / used[row]) if positive else -np.inf


@kernel
def _find_observed(
    codes: Array, n_states: Array, places: Array, step: int, low: int, observed: Array, found: Array
) -> None:
    """List the places of the observed values of rows from ``low`` on, ``step`` apart, and count them."""
    for row in range(len(found)):
        count = 0
        for i in range(len(n_states)):
            code = np.int64(codes[i, low + row])
            if code < n_states[i]:
                observed[row, count] = places[i] + code * step
                count += 1
        found[row] = count


@kernel
def _possible(code: int, n_states: int) -> tuple[int, int]:
    """Return the first state that a super-parent may have, and the one after the last."""
    return (code, code + 1) if code < n_states else (0, n_states)


@kernel
def _rows_with(counts: Array, start: int, radix: int, above: tuple[int, int], beside: tuple[int, int]) -> float:
    """Sum the counts of the joint states that a model's super-parents may have."""
    rows = 0.0
    for one in range(above[0], above[1]):
        for two in range(beside[0], beside[1]):
            rows += counts[start + one * radix + two]
    return rows


@kernel
def _add_joint(entries: Array, values: Array, joint: Array, best: Array, total: Array) -> None:
    """Add the observed values to ``joint``, and its exponential to the log-sum-exp that ``best`` and ``total`` hold."""
    n_classes = len(joint)
    for c in range(0, n_classes - 1, 2):  # two sums at a time stay in registers
        one, two = joint[c], joint[c + 1]
        for k in range(len(values)):
            one += entries[values[k] + np.uint64(c)]
            two += entries[values[k] + np.uint64(c + 1)]
        joint[c], joint[c + 1] = one, two
    if n_classes % 2:
        last = joint[n_classes - 1]
        for k in range(len(values)):
            last += entries[values[k] + np.uint64(n_classes - 1)]
        joint[n_classes - 1] = last
    for c in range(n_classes):
        if joint[c] > best[c]:
            total[c] = total[c] * exp(best[c] - joint[c]) + 1.0
            best[c] = joint[c]
        elif joint[c] > -np.inf:
            total[c] += exp(joint[c] - best[c])


@tiered(lambda found, *_: 4 * found.size)
def place_probabilities(found: Array, states: Array, values: Array, probabilities: Array) -> None:
    """Copy CPTs (super-parents, feature, class) of one shape to where their states and values begin."""
    n_cpts, n_states, n_values, n_classes = found.shape
    for cpt in range(n_cpts):
        for state in range(n_states):
            for value in range(n_values):
                for c in range(n_classes):
                    probabilities[states[cpt] + state, values[cpt] + value, c] = found[cpt, state, value, c]


@kernel
def join_probabilities(
    probabilities: Array,
    sizes: Array,
    groups: Array,
    strides: Array,
    places: Array,
    out: Array,
    lows: Array,
    highs: Array,
) -> None:
    """Multiply the probabilities of the children of each group for all their joint values; note each group's range."""
    starts = np.cumsum(sizes) - sizes
    at = np.empty((len(groups), out.shape[1]), np.int64)  # where a child's entry for a joint value stands
    for i in range(len(groups)):
        group = groups[i]
        last = places[group + 1] if group + 1 < len(places) else out.shape[1]
        for place in range(places[group], last):
            at[i, place] = starts[i] + (place - places[group]) // strides[i] % sizes[i]
    for state in range(len(probabilities)):
        entries, products = probabilities[state], out[state]
        products[:] = 1.0
        for i in range(len(groups)):
            group = groups[i]
            last = places[group + 1] if group + 1 < len(places) else out.shape[1]
            for place in range(places[group], last):
                for c in range(probabilities.shape[2]):
                    products[place, c] *= entries[at[i, place], c]
        for group in range(len(places)):
            last = places[group + 1] if group + 1 < len(places) else out.shape[1]
            low, high = lows[group], highs[group]
            for place in range(places[group], last):
                for c in range(probabilities.shape[2]):
                    value = products[place, c]
                    low, high = value if value < low else low, value if value > high else high
            lows[group], highs[group] = low, high


@kernel
def average_joined(
    codes: Array, models: Models, children: Joined, top: int, bottom: int, out: Array, empty: Array
) -> None:
    """Average the joints of super-parent models of complete rows by products of joined entries, model by model."""
    n_states, members, starts, n_joint, prior, usable = models
    group, strides, places, entries, _, shift = children
    n_classes = prior.shape[1]
    joined = np.empty((ROWS_AT_ONCE, len(places)), np.uint16)
    state = np.empty(ROWS_AT_ONCE, np.uint16)
    total, used = np.empty((ROWS_AT_ONCE, n_classes)), np.empty(ROWS_AT_ONCE)
    both = np.empty((entries.shape[1] // n_classes, 4))
    order, ends = np.empty(ROWS_AT_ONCE, np.uint16), np.empty(MOST_TOGETHER + 1, np.int64)
    for low in range(top, bottom, ROWS_AT_ONCE):
        if stopping():
            return
        size = min(ROWS_AT_ONCE, bottom - low)
        _join(codes[:, low : low + size], group, strides, places, joined[:size])
        total[:] = 0.0
        used[:] = len(members)
        model = 0
        while model < len(members):
            state[:] = 0
            _add_states(codes, n_states, members[model], low, state[:size])
            together = n_classes == 2 and model + 1 < len(members)
            if together and n_joint[model] * n_joint[model + 1] <= MOST_TOGETHER:
                _add_states(codes, n_states, members[model + 1], low, state[:size])
                bounds = ends[: n_joint[model] * n_joint[model + 1] + 1]
                _sort(state[:size], order, bounds)
                _add_two(models, model, entries, order, bounds, joined, both, total, used)
                model += 2
            else:
                _add_products(entries, prior, usable, starts[model], state[:size], joined, total, used)
                model += 1
        for row in range(size):
            if used[row] == 0.0:
                empty[low + row] = True
            else:
                for c in range(n_classes):
                    out[low + row, c] = log(total[row, c] / used[row]) + shift


@kernel
def _join(codes: Array, groups: Array, strides: Array, places: Array, joined: Array) -> None:
    """Find four times the place of every row's joint value in each group, a few rows at a time."""
    n_rows = codes.shape[1]
    for low in range(0, n_rows, JOINED_ROWS):
        size = min(JOINED_ROWS, n_rows - low)
        part = joined[low : low + size]
        part[:] = 4 * places
        for i in range(len(groups)):
            values, group, step = codes[i, low : low + size], groups[i], np.uint16(4 * strides[i])
            for row in range(size):
                part[row, group] += np.uint16(values[row]) * step


@kernel
def _add_products(
    entries: Array, prior: Array, usable: Array, start: int, state: Array, joined: Array, total: Array, used: Array
) -> None:
    """Add one model's joint of every row to ``total`` where its states are usable; else take 1 from ``used``."""
    n_classes = prior.shape[1]
    product = np.empty(n_classes)
    for row in range(len(state)):
        place = start + np.int64(state[row])
        if not usable[place]:
            used[row] -= 1.0
            continue
        own = entries[place]
        product[:] = prior[place]
        for group in range(joined.shape[1]):
            at = np.uint64(joined[row, group] // 4) * np.uint64(n_classes)
            for c in range(np.uint64(n_classes)):
                product[c] *= own[at + c]
        for c in range(n_classes):
            total[row, c] += product[c]


@kernel
def _add_states(codes: Array, n_states: Array, model: Array, low: int, state: Array) -> None:
    """Go on from states of rows to their joint states with a model's super-parents."""
    for member in model:
        if member >= 0:
            values, radix = codes[member, low : low + len(state)], np.uint16(n_states[member])
            for row in range(len(state)):
                state[row] = state[row] * radix + values[row]


@kernel
def _sort(state: Array, order: Array, ends: Array) -> None:
    """Put rows in the same state together: those in state k are ``order[ends[k]:ends[k + 1]]``."""
    ends[:] = 0
    for row in range(len(state)):
        ends[np.uint64(state[row]) + np.uint64(1)] += 1
    for k in range(1, len(ends)):
        ends[k] += ends[k - 1]
    for row in range(len(state)):
        own = np.uint64(state[row])
        order[np.uint64(ends[own])] = row
        ends[own] += 1
    for k in range(len(ends) - 1, 0, -1):
        ends[k] = ends[k - 1]
    ends[0] = 0


@kernel
def _add_two(
    models: Models, model: int, entries: Array, order: Array, ends: Array, joined: Array, both: Array, total: Array,
    used: Array,
) -> None:  # fmt: skip
    """Add the joints of a model and the next with two classes, rows with the same states of all super-parents together.

    For these rows the entries of the two models are laid side by side; so they stay in the nearest cache, and the four
    numbers of a row are multiplied at once.
    """
    prior, usable, n_other = models.prior, models.usable, models.n_joint[model + 1]
    start, other = models.starts[model], models.starts[model + 1]
    begin = np.empty(4)
    for k in range(len(ends) - 1):
        i, j = start + k // n_other, other + k % n_other
        lost = 2 - usable[i] - usable[j]
        if lost:
            for at in range(ends[k], ends[k + 1]):
                used[order[at]] -= lost
        if ends[k] == ends[k + 1] or lost == 2:
            continue
        for place in range(len(both)):
            for c in range(2):
                both[place, c], both[place, 2 + c] = entries[i, 2 * place + c], entries[j, 2 * place + c]
        for c in range(2):
            begin[c], begin[2 + c] = prior[i, c] * usable[i], prior[j, c] * usable[j]
        low = ends[k]
        while low + ABREAST <= ends[k + 1]:
            add_many_rows(begin, both, joined, order, total, low)
            low += ABREAST
        while low < ends[k + 1]:
            add_one_row(begin, both, joined, order, total, low)
            low += 1
