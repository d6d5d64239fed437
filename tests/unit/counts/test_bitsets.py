"""Bitsets: one bit per row and state, sorted by label, each label on words of its own."""

import numpy as np
import pytest

from strategies import make_table
from tanbark.counts import bit_kernels
from tanbark.counts.bitsets import ALL_ROWS, MAX_BIT_STATES, NO_BITSETS, WORD_BITS, pack
from tanbark.kernel import interpreted


def members(words):
    """List the places of the bits that are set."""
    return np.flatnonzero(np.unpackbits(words.view(np.uint8), bitorder="little")).tolist()


@pytest.mark.parametrize("n_rows", [0, 1, 64, 65, 300])
@pytest.mark.parametrize("sort", [False, True])
@pytest.mark.parametrize("threads", [1, 3])
def test_every_state_is_the_set_of_its_rows(n_rows, sort, threads):
    table = make_table(np.random.default_rng(n_rows), (3, MAX_BIT_STATES, MAX_BIT_STATES + 1, 2, 3), n_rows, gaps=0.05)
    codes, states = table.codes[:-1], np.array(table.schema.cardinalities[:-1])
    labels = table.codes[-1] if sort else None
    packed = pack(codes, states, labels=labels, n_labels=3 if sort else 1, threads=threads)
    sizes = np.bincount(labels, minlength=3) if sort else np.array([n_rows])
    assert np.diff(packed.segments).tolist() == (-(-sizes // WORD_BITS)).tolist()
    place = np.empty(n_rows, np.int64)
    for label in range(len(sizes)):
        mine = np.flatnonzero(labels == label) if sort else np.arange(n_rows)
        place[mine] = WORD_BITS * packed.segments[label] + np.arange(len(mine))
    assert members(packed.words[ALL_ROWS]) == sorted(place)
    for column, n_states in enumerate(states):
        if n_states > MAX_BIT_STATES:
            assert packed.first[column] == NO_BITSETS
            continue
        assert packed.complete[column] == (codes[column] < n_states).all()
        for state in range(n_states):
            expected = sorted(place[codes[column] == state])
            assert members(packed.words[packed.first[column] + state]) == expected


def test_without_states_only_the_rows_are_packed():
    table = make_table(np.random.default_rng(0), (3, 2, 2), 70)
    packed = pack(table.codes, np.array(table.schema.cardinalities), max_states=0)
    assert packed.words.shape == (1, 2)
    assert (packed.first == NO_BITSETS).all()


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16])
@pytest.mark.parametrize("n_columns", [1, 2, 5, 7])
@pytest.mark.parametrize("sort", [False, True])
def test_any_number_of_columns_is_packed_in_python_as_compiled(n_columns, sort, dtype, monkeypatch):
    draw = np.random.default_rng(n_columns)
    codes = draw.integers(0, 3, (n_columns, 150)).astype(dtype)
    codes[-1, draw.random(150) < 0.1] = np.iinfo(dtype).max
    codes[-1, 0] = min(258, np.iinfo(dtype).max)  # no state, though the lowest byte of 258 is one
    states, labels = np.full(n_columns, 3), draw.integers(0, 2, 150) if sort else None
    compiled = pack(codes, states, labels=labels, n_labels=2 if sort else 1)
    order = np.arange(150) if labels is None else np.argsort(labels, kind="stable")
    label = np.zeros(150, int) if labels is None else np.sort(labels)
    for column in range(n_columns):
        for state in range(3):
            bits = np.unpackbits(compiled.words[compiled.first[column] + state].view(np.uint8), bitorder="little")
            places = WORD_BITS * compiled.segments[label] + np.arange(150) - np.searchsorted(label, label)
            assert bits[places].tolist() == (codes[column, order] == state).tolist()
            assert bits.sum() == (codes[column] == state).sum()
    monkeypatch.setattr(bit_kernels, "pack_bits", interpreted(bit_kernels.pack_bits))
    plain = pack(codes, states, labels=labels, n_labels=2 if sort else 1)
    assert plain.words.tolist() == compiled.words.tolist()
    assert plain.complete.tolist() == compiled.complete.tolist() == [1] * (n_columns - 1) + [0]
