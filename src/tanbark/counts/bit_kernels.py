"""The compiled loops that pack the bitsets of ``counts.bitsets``, and count their rows and those of pairs."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types

from tanbark.arrays import Array
from tanbark.counts.bitsets import COLUMNS_AT_ONCE, WORD_BITS, Bitsets
from tanbark.counts.kernels import popcount
from tanbark.kernel import instruction, kernel, tiered

NO_STATE = np.uint8(255)  # above the states of every packed column


def _equal_in_python(values: Array, start: int, state: int) -> int:
    equal = values[start : start + WORD_BITS] == state
    return int.from_bytes(np.packbits(equal, bitorder="little").tobytes(), "little")


@instruction(_equal_in_python)
def equal_bytes(typing: Any, values: Any, start: Any, state: Any) -> Any:
    """Compare the 64 bytes of a contiguous array from ``start`` on with a byte; bit k is 1 if the k-th is equal."""

    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        from llvmlite import ir
        from numba.np.arrayobj import make_array

        lanes, index = ir.VectorType(ir.IntType(8), WORD_BITS), ir.VectorType(ir.IntType(32), WORD_BITS)
        nothing, first = ir.Constant(lanes, ir.Undefined), ir.Constant(ir.IntType(32), 0)
        data = builder.gep(make_array(signature.args[0])(context, builder, args[0]).data, [args[1]])
        found = builder.load(builder.bitcast(data, lanes.as_pointer()), align=1)
        one = builder.insert_element(nothing, args[2], first)
        wanted = builder.shuffle_vector(one, nothing, ir.Constant(index, [0] * WORD_BITS))
        return builder.bitcast(builder.icmp_unsigned("==", found, wanted), ir.IntType(WORD_BITS))

    return types.uint64(values, types.intp, types.uint8), build


@tiered(lambda codes, columns, *others: 4 * codes.shape[1] * others[4][columns].sum())  # others[4]: n_states
def pack_bits(
    codes: Array, columns: Array, order: Array, segments: Array, sizes: Array, first: Array, n_states: Array,
    words: Array, complete: Array,
) -> None:  # fmt: skip
    """Set, for every state of some columns, the bits of the rows in that state; mark columns that are complete.

    ``words[first[column] + state]`` is the bitset of a state. The rows of label c are the next ``sizes[c]`` ones of
    ``order``, or of all rows where ``order`` is empty; their bits begin with word ``segments[c]``. A missing value sets
    no bit.
    """
    # The codes of four columns, for which ``order`` is read once, are put in the order of the bits, one to a byte,
    # padded with a code that is no state; then each state compares 64 of them at a time. One gather and n_states
    # linear sweeps per column.
    placed = np.full((COLUMNS_AT_ONCE, WORD_BITS * words.shape[1]), NO_STATE, np.uint8)
    for low in range(0, len(columns), COLUMNS_AT_ONCE):
        together = columns[low : low + COLUMNS_AT_ONCE]
        _place(codes, together, order, segments, sizes, placed)
        for k in range(len(together)):
            column, values, observed = together[k], placed[k], np.uint64(0)
            for state in range(n_states[column]):
                bitset = words[first[column] + state]
                for word in range(len(bitset)):
                    bitset[word] = equal_bytes(values, WORD_BITS * word, np.uint8(state))
                    observed += popcount(bitset[word])
            complete[column] = np.int64(observed) == codes.shape[1]


@kernel
def _place(codes: Array, columns: Array, order: Array, segments: Array, sizes: Array, placed: Array) -> None:
    """Write the codes of up to four columns to the rows of ``placed``, in the order of the bits."""
    if len(order) == 0:
        for k in range(len(columns)):
            values, target = codes[columns[k]], placed[k]
            for row in range(len(values)):
                target[row] = min(values[row], NO_STATE)
        return
    last = len(columns) - 1  # where there are fewer than four, it is repeated
    a, b, c, d = codes[columns[0]], codes[columns[min(1, last)]], codes[columns[min(2, last)]], codes[columns[last]]
    done = 0
    for label in range(len(sizes)):
        rows, low = order[done : done + sizes[label]], WORD_BITS * segments[label]
        high = low + len(rows)
        to_a, to_b, to_c, to_d = placed[0, low:high], placed[1, low:high], placed[2, low:high], placed[3, low:high]
        for k in range(len(rows)):
            row = rows[k]
            to_a[k], to_b[k] = min(a[row], NO_STATE), min(b[row], NO_STATE)
            to_c[k], to_d[k] = min(c[row], NO_STATE), min(d[row], NO_STATE)
        done += len(rows)


@tiered(lambda words, *_: 4 * words.size)
def count_bits(words: Array, segments: Array, out: Array) -> None:
    """Count the rows of every bitset, class by class."""
    for row in range(len(words)):
        for c in range(len(segments) - 1):
            segment = words[row, segments[c] : segments[c + 1]]
            total = np.uint64(0)
            for word in range(len(segment)):
                total += popcount(segment[word])
            out[row, c] = np.int64(total)


@tiered(
    lambda bitsets, margins, pairs, starts, out: (
        4 * len(pairs) * bitsets.words.shape[1] * bitsets.n_states.max(initial=1) ** 2
    )
)
def count_pairs_by_bits(bitsets: Bitsets, margins: Array, pairs: Array, starts: Array, out: Array) -> None:
    """Count (left, right, class) for pairs of columns by AND and popcount over the words of each class.

    ``margins[bitset, c]`` counts the rows of a bitset in class c.
    """
    # The last state of a complete column is what the other states leave of the margin, so it is not counted:
    # (n_left - 1) * (n_right - 1) sweeps over the words for two complete columns.
    words, first, n_states, complete, segments = bitsets
    n_classes = len(segments) - 1
    for pair in range(len(pairs)):
        left, right = pairs[pair, 0], pairs[pair, 1]
        n_left, n_right = n_states[left], n_states[right]
        counted_left, counted_right = n_left - complete[left], n_right - complete[right]
        start = starts[pair]
        for a in range(counted_left):
            row_a = words[first[left] + a]
            for b in range(counted_right):
                row_b = words[first[right] + b]
                for c in range(n_classes):
                    words_a = row_a[segments[c] : segments[c + 1]]  # indices from 0 let the compiler use wide registers
                    words_b = row_b[segments[c] : segments[c + 1]]
                    total = np.uint64(0)
                    for word in range(len(words_a)):
                        total += popcount(words_a[word] & words_b[word])
                    out[start + (a * n_right + b) * n_classes + c] = np.int64(total)
        if complete[right]:
            for a in range(counted_left):
                for c in range(n_classes):
                    rest = margins[first[left] + a, c]
                    for b in range(counted_right):
                        rest -= out[start + (a * n_right + b) * n_classes + c]
                    out[start + (a * n_right + counted_right) * n_classes + c] = rest
        if complete[left]:
            for b in range(n_right):
                for c in range(n_classes):
                    rest = margins[first[right] + b, c]
                    for a in range(counted_left):
                        rest -= out[start + (a * n_right + b) * n_classes + c]
                    out[start + (counted_left * n_right + b) * n_classes + c] = rest
