"""The tables of a walk over the parent sets of one child: groups, cells, and how deciding on a column changes them.

At depth d the set P of the columns that are in splits the rows into *groups*, one per configuration of P and the label;
P and the columns not decided yet, d and later, split them into *cells*. A cell of the table is a group, a key (the
number of the rest of the row, and the child's state) and a count, sorted in this order. Taking a column in splits
groups and leaves the cells; leaving it out merges cells. A group that has become a single cell stays one in all larger
sets, whatever their columns: it leaves the table, and is only counted by its count.

As long as the columns not decided yet tell most rows apart, there are few cells of several rows to speak of. At these
depths, below ``Plain.depth``, a table holds the numbers of the rows in place of keys, in the order of the keys at that
depth, and leaving a column out changes nothing.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tanbark.arrays import Array
from tanbark.kernel import kernel

PAST = np.int64(1 << 60)  # above every key: the end of a run


class Columns(NamedTuple):
    """The columns by depth, and the rows by what they hold from a depth on.

    What rows hold in the columns d, d + 1, ... is numbered in lexicographic order: number s has the state
    ``states[d, s]`` in column d, and the number ``rests[d, s]`` from d + 1 on. ``words[d]`` is column d as a set.
    """

    states: Array
    rests: Array
    n_states: Array
    words: Array


class Plain(NamedTuple):
    """The different rows: their codes in the columns before ``depth``, by depth, their keys there, counts and states.

    Rows are numbered in the order of label and key. ``child`` has the states of the child.
    """

    depth: int
    codes: Array
    keys: Array
    counts: Array
    child: Array


class Walk(NamedTuple):
    """The nodes from the root to the current one, by depth, and three numbers: depth, nodes so far, sets listed.

    ``alone[d, n]`` groups of count n have left the table of depth d. That table is at the place ``tables[d]``.
    """

    tables: Array
    groups: Array
    keys: Array
    counts: Array
    sizes: Array
    alone: Array
    stages: Array
    members: Array
    parents: Array
    qs: Array
    best: Array
    bounds: Array
    numbers: Array


@kernel
def drop_alone(groups: Array, keys: Array, counts: Array, size: int, alone: Array) -> int:
    """Take groups of one cell of few rows out of a table, and count them by their count; return the new size."""
    out = 0
    for i in range(size):
        single = (i == 0 or groups[i - 1] != groups[i]) and (i + 1 == size or groups[i + 1] != groups[i])
        if single and counts[i] < len(alone):
            alone[np.int64(counts[i])] += 1
        else:
            groups[out], keys[out], counts[out] = groups[i], keys[i], counts[i]
            out += 1
    return out


@kernel
def _split_plain(walk: Walk, d: int, plain: Plain, n_states: int) -> None:
    """Make the table of depth d + 1 of row numbers where column d is in: groups are split, rows keep their order."""
    # Two looks at each row: how many of the group have which state, and to where. Rows of their own leave the table.
    source, out, group = walk.tables[d], 0, -1
    groups, rows, size = walk.groups[source], walk.keys[source], walk.sizes[source]
    groups_out, rows_out, alone = walk.groups[d + 1], walk.keys[d + 1], walk.alone[d + 1]
    codes, counts = plain.codes[d], plain.counts
    held, places, numbers = np.zeros(n_states, np.int64), np.empty(n_states, np.int64), np.empty(n_states, np.int64)
    start = 0
    while start < size:
        stop = start
        while stop < size and groups[stop] == groups[start]:
            held[codes[rows[stop]]] += 1
            stop += 1
        for state in range(n_states):
            places[state] = out
            if held[state]:
                group += 1
                numbers[state] = group
                out += held[state] if held[state] > 1 else 0
        for i in range(start, stop):
            row, state = rows[i], codes[rows[i]]
            if held[state] == 1 and counts[row] < len(alone):
                alone[np.int64(counts[row])] += 1
                continue
            if held[state] == 1:  # too many rows in one cell to be counted apart
                places[state], out = out, out + 1
            groups_out[places[state]], rows_out[places[state]] = numbers[state], row
            places[state] += 1
        held[:] = 0
        start = stop
    walk.sizes[d + 1] = out
    walk.tables[d + 1] = d + 1


@kernel
def _give_keys(walk: Walk, d: int, plain: Plain) -> None:
    """Make the table of depth d, with keys, from one of row numbers; rows that have become one cell are added up."""
    source, out = walk.tables[d], 0
    groups, rows = walk.groups[source], walk.keys[source]
    groups_out, keys_out, counts_out = walk.groups[d], walk.keys[d], walk.counts[d]
    for i in range(walk.sizes[source]):
        group, key, count = groups[i], plain.keys[rows[i]], plain.counts[rows[i]]
        if out and groups_out[out - 1] == group and keys_out[out - 1] == key:
            counts_out[out - 1] += count
        else:
            groups_out[out], keys_out[out], counts_out[out] = group, key, count
            out += 1
    walk.sizes[d] = drop_alone(groups_out, keys_out, counts_out, out, walk.alone[d])
    walk.tables[d] = d


@kernel
def _leave_out(walk: Walk, d: int, columns: Columns, bits: int) -> None:
    """Make the table of depth d + 1 where column d is out: within a group merge the runs of its states."""
    # Each state of the column is a run of the group, sorted by the rest. Linear in the cells times the runs.
    states, rests, low = columns.states[d], columns.rests[d], (1 << bits) - 1
    groups, keys, counts, size = walk.groups[d], walk.keys[d], walk.counts[d], walk.sizes[d]
    groups_out, keys_out, counts_out = walk.groups[d + 1], walk.keys[d + 1], walk.counts[d + 1]
    n_states = columns.n_states[d]
    heads, tails, fronts = np.empty(n_states, np.int64), np.empty(n_states, np.int64), np.empty(n_states, np.int64)
    out, start = 0, 0
    while start < size:
        group, runs, stop, state = groups[start], 0, start, -1
        while stop < size and groups[stop] == group:
            key = keys[stop]
            here, rest = states[key >> bits], np.int64(rests[key >> bits]) << bits | key & low
            if here != state:
                heads[runs], fronts[runs], state = stop, rest, here
                runs += 1
            tails[runs - 1] = stop + 1
            if runs == 1:  # kept as it is if there is no other run
                groups_out[out], keys_out[out], counts_out[out] = group, rest, counts[stop]
                out += 1
            stop += 1
        if runs > 1:
            out -= tails[0] - start
        left, last = runs if runs > 1 else 0, np.int64(-1)
        while left:
            best, least = 0, fronts[0]
            for run in range(1, runs):
                if fronts[run] < least:
                    best, least = run, fronts[run]
            i = heads[best]
            if least == last:
                counts_out[out - 1] += counts[i]
            else:
                groups_out[out], keys_out[out], counts_out[out], last = group, least, counts[i], least
                out += 1
            i += 1
            heads[best] = i
            if i == tails[best]:
                fronts[best], left = PAST, left - 1
            else:
                fronts[best] = np.int64(rests[keys[i] >> bits]) << bits | keys[i] & low
        start = stop
    walk.sizes[d + 1] = out


@kernel
def _take_in(walk: Walk, d: int, columns: Columns, bits: int) -> None:
    """Make the table of depth d + 1 where column d is in: its states split the groups."""
    states, rests, low = columns.states[d], columns.rests[d], (1 << bits) - 1
    groups, keys = walk.groups[d], walk.keys[d]
    groups_out, keys_out, counts_out = walk.groups[d + 1], walk.keys[d + 1], walk.counts[d + 1]
    group, last_group, last_state = -1, -1, -1
    for i in range(walk.sizes[d]):
        rest = keys[i] >> bits
        if groups[i] != last_group or states[rest] != last_state:
            group, last_group, last_state = group + 1, groups[i], states[rest]
        groups_out[i], keys_out[i] = group, rests[rest] << bits | keys[i] & low
        counts_out[i] = walk.counts[d, i]
    walk.sizes[d + 1] = walk.sizes[d]


@kernel
def decide(walk: Walk, d: int, taken: bool, columns: Columns, plain: Plain, bits: int) -> None:
    """Make the table of depth d + 1, where column d is taken in or left out."""
    walk.alone[d + 1] = walk.alone[d]
    if d >= plain.depth:
        if taken:
            _take_in(walk, d, columns, bits)
        else:
            _leave_out(walk, d, columns, bits)
        walk.sizes[d + 1] = drop_alone(
            walk.groups[d + 1], walk.keys[d + 1], walk.counts[d + 1], walk.sizes[d + 1], walk.alone[d + 1]
        )
        walk.tables[d + 1] = d + 1
        return
    if taken:
        _split_plain(walk, d, plain, columns.n_states[d])
    else:
        walk.tables[d + 1] = walk.tables[d]
    if d + 1 == plain.depth:
        _give_keys(walk, d + 1, plain)
