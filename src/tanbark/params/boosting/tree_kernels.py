"""Compiled kernels of boosted regression trees over coded columns."""

from __future__ import annotations

from math import exp

import numpy as np

from tanbark.arrays import Array
from tanbark.kernel import kernel
from tanbark.params.boosting.trees import (
    BOTH,
    COLUMN,
    FRACTION,
    GAIN,
    LEAF,
    LEFT,
    MISSING,
    THRESHOLD,
    Forest,
    Growing,
    Grown,
    Scratch,
    TreeOptions,
)  # fmt: skip

LARGEST_STEP = 4.0  # of Newton: where all posteriors are nearly certain, curvature vanishes
RARE = 10.0  # curvature that pulls a state's place in the order of a categorical column towards the middle
TIE = 1.0 + 1e-9  # of equal gains the first counts
NOTHING = 1e-9  # weights up to this are what rounding leaves


@kernel
def grow_tree(
    growing: Growing, options: TreeOptions, sums: Array, order: Array, grown: Grown, histograms: Array, out: Array
) -> int:
    """Grow one tree and add its values to ``out``, (rows, outputs); return the number of its nodes.

    ``sums`` has the gradients, curvatures and weight of every row; ``order`` the rows, which are moved.
    """
    # Idea: sums over the states of a column say the gain of every split; those of the larger child are those of its
    # parent less those of the smaller one.
    # Layout: the rows of node v are order[begins[v]:ends[v]]; histograms[slots[v]] has its sums by state.
    # Cost: O(rows x columns x outputs) for each level of a balanced tree.
    splits, begins, ends, lefts = grown.splits, grown.begins, grown.ends, grown.lefts
    slots = np.zeros(len(begins), np.int64)
    begins[0], ends[0], lefts[0] = 0, len(order), 0
    add_histogram(growing, sums, order, histograms[0])
    search(growing, options, histograms[0], splits[0], grown.goes_left[0])
    n_nodes, n_leaves = 1, 1
    while n_leaves < options.most_leaves:
        node = -1
        for v in range(n_nodes):
            if lefts[v] == 0 and splits[v, GAIN] > 0.0 and (node < 0 or splits[v, GAIN] > splits[node, GAIN]):
                node = v
        if node < 0:
            break
        left, right = n_nodes, n_nodes + 1
        middle = part_rows(growing, order, begins[node], ends[node], splits[node], grown.goes_left[node])
        begins[left], ends[left], begins[right], ends[right] = begins[node], middle, middle, ends[node]
        lefts[node], lefts[left], lefts[right] = left, 0, 0
        smaller, larger = (left, right) if ends[left] - begins[left] <= ends[right] - begins[right] else (right, left)
        slots[larger], slots[smaller] = slots[node], n_leaves
        add_histogram(growing, sums, order[begins[smaller] : ends[smaller]], histograms[n_leaves])
        subtract(histograms[slots[larger]], histograms[n_leaves])
        n_nodes, n_leaves = n_nodes + 2, n_leaves + 1
        for child in range(left, left + 2):
            search(growing, options, histograms[slots[child]], splits[child], grown.goes_left[child])
    for node in range(n_nodes):
        if lefts[node] == 0:
            set_value(options, sums, order[begins[node] : ends[node]], grown.values[node], out)
    return n_nodes


@kernel
def add_histogram(growing: Growing, sums: Array, rows: Array, histogram: Array) -> None:
    """Set a histogram to the sums over rows by column and state."""
    for b in range(histogram.shape[0]):
        for c in range(histogram.shape[1]):
            histogram[b, c] = 0.0
    for place in range(len(growing.columns)):
        column, first = growing.columns[place], growing.bins[place]
        n_states = growing.states[column]
        for i in range(len(rows)):
            row = rows[i]
            b = first + min(np.int64(growing.codes[column, row]), n_states)
            for c in range(histogram.shape[1]):
                histogram[b, c] += sums[row, c]


@kernel
def subtract(histogram: Array, part: Array) -> None:
    """Take a part away from a histogram."""
    for b in range(histogram.shape[0]):
        for c in range(histogram.shape[1]):
            histogram[b, c] -= part[b, c]


@kernel
def search(growing: Growing, options: TreeOptions, histogram: Array, split: Array, goes_left: Array) -> None:
    """Find the split of a node that gains most; its gain is zero where there is none."""
    # Cost: O(bins x outputs); a categorical column is sorted before.
    width = histogram.shape[1]
    scratch = Scratch(np.zeros(width), np.zeros(width), np.zeros(len(goes_left), np.int64))
    total, left, order = scratch
    split[GAIN] = 0.0
    if len(growing.columns) == 0:
        return
    for b in range(growing.bins[0], growing.bins[1]):
        for c in range(width):
            total[c] += histogram[b, c]
    if total[width - 1] < 2.0 * options.least_rows:
        return
    for place in range(len(growing.columns)):
        column, first = growing.columns[place], growing.bins[place]
        n_states = growing.states[column]
        penalty = options.penalty
        if growing.ordered[column]:
            for s in range(n_states):
                order[s] = s
        else:
            order_states(histogram, first, n_states, order)
            penalty += options.category_penalty
        absent = first + n_states
        seen = histogram[absent, width - 1] > NOTHING
        for side in range(2 if seen else 1):
            for c in range(width):
                left[c] = histogram[absent, c] if side == LEFT else 0.0
            scan(growing, options, histogram, place, scratch, penalty, split, goes_left, side if seen else BOTH)


@kernel
def scan(
    growing: Growing, options: TreeOptions, histogram: Array, place: int, scratch: Scratch, penalty: float,
    split: Array, goes_left: Array, missing: int,
) -> None:  # fmt: skip
    """Move the states of a column to the left in turn, and keep the split that gains most.

    Missing values that go left may be there alone.
    """
    total, left, order = scratch
    column, first, width = growing.columns[place], growing.bins[place], len(total)
    n_outputs, n_states = width // 2, growing.states[column]
    for s in range(-1 if missing == LEFT else 0, n_states - 1):
        if s >= 0:
            b = first + order[s]
            if histogram[b, width - 1] <= NOTHING:
                continue
            for c in range(width):
                left[c] += histogram[b, c]
        if left[width - 1] < options.least_rows:
            continue
        if total[width - 1] - left[width - 1] < options.least_rows:
            break
        gain = 0.0
        for c in range(n_outputs):
            g, h = left[c], left[n_outputs + c]
            whole, curvature = total[c], total[n_outputs + c]
            gain += g * g / (h + penalty) + (whole - g) ** 2 / (curvature - h + penalty)
            gain -= whole * whole / (curvature + penalty)
        if gain > split[GAIN] * TIE + NOTHING:
            split[GAIN], split[FRACTION] = gain, left[width - 1] / total[width - 1]
            split[COLUMN], split[THRESHOLD], split[MISSING] = column, s, missing
            for t in range(n_states):
                goes_left[order[t]] = t <= s


@kernel
def order_states(histogram: Array, first: int, n_states: int, order: Array) -> None:
    """Order the states of a categorical column by the slope of the output that varies most between them."""
    # Shell's sort; equal keys keep the order of the states.
    n_outputs = histogram.shape[1] // 2
    most, chosen = -1.0, 0
    for c in range(n_outputs):
        spread = 0.0
        for b in range(first, first + n_states):
            spread += histogram[b, c] ** 2 / (histogram[b, n_outputs + c] + RARE)
        if spread > most * TIE:
            most, chosen = spread, c
    keys = np.empty(n_states)
    for s in range(n_states):
        keys[s] = histogram[first + s, chosen] / (histogram[first + s, n_outputs + chosen] + RARE)
        order[s] = s
    gap = n_states // 2
    while gap > 0:
        for i in range(gap, n_states):
            state, j = order[i], i
            while j >= gap and (
                keys[order[j - gap]] > keys[state] or (keys[order[j - gap]] == keys[state] and order[j - gap] > state)
            ):
                order[j] = order[j - gap]
                j -= gap
            order[j] = state
        gap //= 2


@kernel
def part_rows(growing: Growing, order: Array, begin: int, end: int, split: Array, goes_left: Array) -> int:
    """Move the rows that go left before the others, each part in its order; return where the right ones begin."""
    column = int(split[COLUMN])
    n_states, missing_left = growing.states[column], split[MISSING] == LEFT
    others = np.empty(end - begin, np.int32)
    place, n_others = begin, 0
    for i in range(begin, end):
        row = order[i]
        state = np.int64(growing.codes[column, row])
        if (state < n_states and goes_left[state]) or (state >= n_states and missing_left):
            order[place] = row
            place += 1
        else:
            others[n_others] = row
            n_others += 1
    for i in range(n_others):
        order[place + i] = others[i]
    return place


@kernel
def set_value(options: TreeOptions, sums: Array, rows: Array, value: Array, out: Array) -> None:
    """Compute the value of a leaf and add it to its rows."""
    n_outputs = out.shape[1]
    for c in range(n_outputs):
        gradient, curvature = 0.0, options.penalty
        for i in range(len(rows)):
            gradient += sums[rows[i], c]
            curvature += sums[rows[i], n_outputs + c]
        value[c] = options.rate * min(max(gradient / curvature, -LARGEST_STEP), LARGEST_STEP)
        for i in range(len(rows)):
            out[rows[i], c] += value[c]


@kernel
def fill_sums(logits: Array, labels: Array, weights: Array, sums: Array) -> None:
    """Fill in gradients, curvatures and weight of every row; with two classes those of the second alone."""
    n_rows, n_classes = logits.shape
    n_outputs = sums.shape[1] // 2
    lowest = n_classes - n_outputs
    for row in range(n_rows):
        w = weights[row] if len(weights) else 1.0
        largest, mass = logits[row, 0], 0.0
        for c in range(1, n_classes):
            largest = max(largest, logits[row, c])
        for c in range(n_classes):
            mass += exp(logits[row, c] - largest)
        for c in range(n_outputs):
            p = exp(logits[row, lowest + c] - largest) / mass
            sums[row, c] = w * ((1.0 if labels[row] == lowest + c else 0.0) - p)
            sums[row, n_outputs + c] = w * p * (1.0 - p)
        sums[row, 2 * n_outputs] = w


@kernel
def add_values(forest: Forest, codes: Array, top: int, bottom: int, logits: Array) -> None:
    """Add the values of all trees to the logits of rows from top to bottom."""
    # Idea: where a missing value goes both ways, the right child waits on a stack with its fraction of the rows.
    # Cost: O(depth x outputs) per row and tree; with such values, up to the number of leaves.
    nodes = forest.nodes
    lowest = logits.shape[1] - nodes.values.shape[1]
    stack, waiting = np.zeros(len(nodes.features) + 1, np.int64), np.zeros(len(nodes.features) + 1)
    for tree in range(len(forest.roots)):
        for row in range(top, bottom):
            stack[0], waiting[0], height = forest.roots[tree], 1.0, 1
            while height:
                height -= 1
                node, fraction = stack[height], waiting[height]
                while nodes.features[node] != LEAF:
                    column, left = nodes.features[node], np.int64(nodes.lefts[node])
                    state, threshold = np.int64(codes[column, row]), nodes.thresholds[node]
                    missing = nodes.missing[node]
                    if state < forest.states[column]:
                        goes = state <= threshold if forest.ordered[column] else nodes.masks[threshold, state]
                        node = left if goes else left + 1
                    elif missing == BOTH:
                        stack[height], waiting[height] = left + 1, fraction * (1.0 - nodes.fractions[node])
                        height += 1
                        fraction *= nodes.fractions[node]
                        node = left
                    else:
                        node = left if missing == LEFT else left + 1
                for c in range(nodes.values.shape[1]):
                    logits[row, lowest + c] += fraction * nodes.values[node, c]
