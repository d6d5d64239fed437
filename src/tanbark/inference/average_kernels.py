"""The compiled loops of averages over super-parent models."""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic
from numpy.typing import NDArray

from tanbark.machine import kernel

Array = NDArray[Any]

ROWS_AT_ONCE = 512


@intrinsic
def multiply_two(typing: Any, pair: Any, entries: Any, place: Any) -> Any:
    """Multiply two numbers by two neighbouring entries of an array in one instruction."""

    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        two, index = ir.VectorType(ir.DoubleType(), 2), ir.IntType(32)
        data = context.make_array(signature.args[1])(context, builder, args[1]).data
        address = builder.bitcast(builder.gep(data, [args[2]]), two.as_pointer())
        held = ir.Constant(two, ir.Undefined)
        for k in range(2):
            held = builder.insert_element(held, builder.extract_value(args[0], k), index(k))
        product = builder.fmul(held, builder.load(address, align=8))
        parts = [builder.extract_element(product, index(k)) for k in range(2)]
        return context.make_tuple(builder, signature.return_type, parts)

    return types.UniTuple(types.float64, 2)(pair, entries, types.uint64), build


@kernel
def average_models(
    codes: Array, n_states: Array, places: Array, members: Array, starts: Array, prior: Array, usable: Array,
    given: Array, top: int, bottom: int, out: Array, empty: Array,
) -> None:  # fmt: skip
    """Average the joints of the usable super-parent models of every row, in logarithms; mark rows without any."""
    n, n_classes = len(n_states), prior.shape[1]
    observed, joint = np.empty(n, np.int64), np.empty(n_classes)
    best, total = np.empty(n_classes), np.empty(n_classes)
    for row in range(top, bottom):
        found = 0
        for i in range(n):
            code = np.int64(codes[i, row])
            if code < n_states[i]:
                observed[found] = places[i] + code
                found += 1
        best[:] = -np.inf
        total[:] = 0.0
        used = 0
        for model in range(len(members)):
            first, second = members[model, 0], members[model, 1]
            state = np.int64(codes[first, row])
            if state >= n_states[first]:
                continue
            if second >= 0:
                code = np.int64(codes[second, row])
                if code >= n_states[second]:
                    continue
                state = state * n_states[second] + code
            state += starts[model]
            if not usable[state]:
                continue
            used += 1
            joint[:] = prior[state]
            table = given[state]
            for k in range(found):
                for c in range(n_classes):
                    joint[c] += table[observed[k], c]
            for c in range(n_classes):
                if joint[c] > best[c]:
                    total[c] = total[c] * np.exp(best[c] - joint[c]) + 1.0
                    best[c] = joint[c]
                elif joint[c] > -np.inf:
                    total[c] += np.exp(joint[c] - best[c])
        if used == 0:
            empty[row] = True
            continue
        for c in range(n_classes):
            out[row, c] = best[c] + np.log(total[c] / used) if total[c] > 0.0 else -np.inf


@kernel
def average_joined(
    codes: Array, n_states: Array, groups: Array, strides: Array, places: Array, members: Array, starts: Array,
    prior: Array, usable: Array, tables: Array, shift: float, top: int, bottom: int, out: Array, empty: Array,
) -> None:  # fmt: skip
    """Average the joints of super-parent models of rows without gaps by products of joined tables, model by model.

    ``tables[state]`` holds the entries of all groups' joint values one after another, the classes of each together.
    """
    n_classes = prior.shape[1]
    joined = np.empty((ROWS_AT_ONCE, len(places)), np.uint32)
    states, used = np.empty((2, ROWS_AT_ONCE), np.uint64), np.empty(ROWS_AT_ONCE)
    total = np.empty((ROWS_AT_ONCE, n_classes))
    for low in range(top, bottom, ROWS_AT_ONCE):
        size = min(ROWS_AT_ONCE, bottom - low)
        joined[:] = places * n_classes
        for i in range(len(n_states)):
            values, stride = codes[i, low : low + size], strides[i] * n_classes
            for row in range(size):
                joined[row, groups[i]] += np.uint32(values[row] * stride)
        total[:] = 0.0
        used[:] = 0.0
        abreast = len(members) // 2 * 2 if n_classes == 2 else 0
        for model in range(len(members)):
            now = model % 2
            first, second = members[model, 0], members[model, 1]
            _find_states(codes, n_states, first, second, starts[model], low, states[now, :size])
            states[now, size:] = states[now, 0]
            if model >= abreast:
                _add_products(tables, prior, usable, states[now, :size], joined, total, used)
            elif now == 1:
                even = (size + 1) // 2 * 2
                _add_two_products(tables, prior, usable, states[0, :even], states[1, :even], joined, total, used)
        for row in range(size):
            if used[row] == 0.0:
                empty[low + row] = True
            else:
                for c in range(n_classes):
                    out[low + row, c] = np.log(total[row, c] / used[row]) + shift


@kernel
def _add_products(
    tables: Array, prior: Array, usable: Array, state: Array, joined: Array, total: Array, used: Array
) -> None:
    """Add one model's joint of every row to ``total``, and 1 to ``used``, where its super-parents' state is usable."""
    n_classes = prior.shape[1]
    product = np.empty(n_classes)
    for row in range(len(state)):
        if not usable[state[row]]:
            continue
        entries = tables[state[row]]
        product[:] = prior[state[row]]
        for group in range(joined.shape[1]):
            place = np.uint64(joined[row, group])
            for c in range(np.uint64(n_classes)):
                product[c] *= entries[place + c]
        used[row] += 1.0
        for c in range(n_classes):
            total[row, c] += product[c]


@kernel
def _add_two_products(
    tables: Array, prior: Array, usable: Array, state: Array, other: Array, joined: Array, total: Array, used: Array
) -> None:
    """Do the same for two classes, the commonest number, and for two models and two rows abreast.

    ``state``, ``joined``, ``total`` and ``used`` may be read and written up to the next even row.
    """
    for row in range(0, len(state), 2):
        i, j, k, m = state[row], other[row], state[row + 1], other[row + 1]
        first, second = (prior[i, 0], prior[i, 1]), (prior[j, 0], prior[j, 1])
        third, fourth = (prior[k, 0], prior[k, 1]), (prior[m, 0], prior[m, 1])
        of_i, of_j, of_k, of_m = tables[i], tables[j], tables[k], tables[m]
        upper, lower = joined[row], joined[row + 1]
        for group in range(len(upper)):
            place, below = np.uint64(upper[group]), np.uint64(lower[group])
            first = multiply_two(first, of_i, place)
            second = multiply_two(second, of_j, place)
            third = multiply_two(third, of_k, below)
            fourth = multiply_two(fourth, of_m, below)
        if usable[i]:
            used[row] += 1.0
            total[row, 0] += first[0]
            total[row, 1] += first[1]
        if usable[j]:
            used[row] += 1.0
            total[row, 0] += second[0]
            total[row, 1] += second[1]
        if usable[k]:
            used[row + 1] += 1.0
            total[row + 1, 0] += third[0]
            total[row + 1, 1] += third[1]
        if usable[m]:
            used[row + 1] += 1.0
            total[row + 1, 0] += fourth[0]
            total[row + 1, 1] += fourth[1]


@kernel
def _find_states(codes: Array, n_states: Array, first: int, second: int, start: int, low: int, state: Array) -> None:
    """Find the joint state of a model's super-parents in each of some rows."""
    for row in range(len(state)):
        found = np.int64(codes[first, low + row])
        if second >= 0:
            found = found * n_states[second] + np.int64(codes[second, low + row])
        state[row] = np.uint64(start + found)
