import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive
from strategies import coded_tables, make_table, seeds
from tanbark.counts import MemoryCounts
from tanbark.scores import conditional_mutual_information


def slow(table, columns):
    return naive.table(table.codes, table.schema.cardinalities, columns, table.weights)


@given(coded_tables(), st.data())
@settings(max_examples=60)
def test_any_set_of_columns_is_counted_like_the_slow_twin(table, data):
    n = len(table.schema.columns)
    sets = data.draw(
        st.lists(st.permutations(range(n)).flatmap(lambda p: st.integers(0, n).map(lambda k: tuple(p[:k]))))
    )
    for columns, found in zip(sets, MemoryCounts(table).tables(sets), strict=True):
        assert np.array_equal(found, slow(table, columns))


@given(coded_tables())
@settings(max_examples=60)
def test_pair_tables_are_counted_like_the_slow_twin(table):
    target = table.schema.target
    pairs = itertools.combinations(range(target), 2)
    expected = [slow(table, (i, j, target)).ravel() for i, j in pairs]
    found = MemoryCounts(table).pair_tables()
    assert np.array_equal(found, np.concatenate([np.zeros(0), *expected]))
    assert found.dtype == (np.int64 if table.weights is None else np.float64)


@given(coded_tables())
@settings(max_examples=40)
def test_observed_cells_are_the_nonzero_cells(table):
    columns = tuple(range(len(table.schema.columns)))
    ((states, counts),) = MemoryCounts(table).cells([columns])
    dense = slow(table, columns)
    assert np.array_equal(states, np.argwhere(dense))
    assert np.array_equal(counts, dense[tuple(states.T)])


@given(coded_tables())
@settings(max_examples=40)
def test_pair_information_is_the_score_of_the_pair_table(table):
    target = table.schema.target
    found = MemoryCounts(table).pair_information()
    for k, (i, j) in enumerate(itertools.combinations(range(target), 2)):
        counts = slow(table, (i, j, target))
        assert found.rows[k] == counts.sum()
        assert found.gain[k] == pytest.approx(counts.sum() * conditional_mutual_information(counts), abs=1e-9)
        assert found.gain[k] == pytest.approx(counts.sum() * naive.cmi(counts), abs=1e-9)


@given(coded_tables(), st.integers(1, 4))
@settings(max_examples=20)
def test_threads_change_nothing(table, n_jobs):
    one, many = MemoryCounts(table, n_jobs=1), MemoryCounts(table, n_jobs=n_jobs)
    many._threads = n_jobs
    assert np.array_equal(one.pair_tables(), many.pair_tables())
    assert np.array_equal(one.pair_information().gain, many.pair_information().gain)


@given(seeds, st.booleans(), st.sampled_from([1, 2]))
@settings(max_examples=30)
def test_stored_counts_add_subtract_and_answer_like_rows(seed, weighted, order):
    rng = np.random.default_rng(seed)
    whole = make_table(rng, (3, 2, 4, 2), 60, gaps=0.1, weighted=weighted)
    parts = [
        type(whole)(
            whole.schema, np.ascontiguousarray(whole.codes[:, rows]), None if not weighted else whole.weights[rows]
        )
        for rows in (slice(0, 25), slice(25, None))
    ]
    stored = [MemoryCounts(part).stored(order) for part in parts]
    both = stored[0] + stored[1]
    rows = MemoryCounts(whole)
    sets = [(3,), (0, 3), (3, 1), *([(2, 0, 3), (3, 0, 1)] if order == 2 else [])]
    for found, expected in zip(both.tables(sets), rows.tables(sets), strict=True):
        assert np.array_equal(found, expected)
    assert np.array_equal((both - stored[1]).flat, stored[0].flat)
    assert both.total == rows.total
    if order == 2:
        assert np.array_equal(both.pair_information().gain, rows.pair_information().gain)


@given(coded_tables())
@settings(max_examples=20)
def test_batches_give_every_row_once(table):
    batches = list(MemoryCounts(table).batches(size=7))
    assert np.array_equal(np.concatenate([codes for codes, _ in batches], axis=1), table.codes)


@given(coded_tables(max_features=5, max_states=4, max_rows=300))
@settings(max_examples=30)
def test_many_sets_are_counted_by_bitsets_like_the_slow_twin(table):
    n = len(table.schema.columns)
    sets = [tuple(p) for k in range(4) for p in itertools.permutations(range(n), k)] + [(0,)] * (n + 1)
    counts = MemoryCounts(table)
    for columns, found in zip(sets, counts.tables(sets), strict=True):
        assert np.array_equal(found, slow(table, columns))
        assert found.dtype == (np.int64 if table.weights is None else np.float64)
    assert ("_plain_bitsets" in vars(counts)) == (table.weights is None)


@given(coded_tables(max_features=4, max_states=3, max_rows=60))
@settings(max_examples=20)
def test_flat_tables_are_tables_one_after_another(table):
    target = table.schema.target
    sets = [(target,), *((i, target) for i in range(target)), (), (0,)]
    counts = MemoryCounts(table)
    for engine, asked in ((counts, sets), (counts.stored(1), sets[:-2])):
        expected = np.concatenate([found.ravel() for found in engine.tables(asked)])
        assert np.array_equal(engine.flat_tables(asked), expected)


@given(coded_tables(max_features=4, max_states=3, max_rows=60))
@settings(max_examples=20)
def test_stored_counts_sum_the_class_out(table):
    stored = MemoryCounts(table).stored(2)
    n = table.schema.target
    sets = [(0,), *itertools.permutations(range(n), 2)]
    for columns, found in zip(sets, stored.tables(sets), strict=True):
        assert np.array_equal(found, slow(table, columns))
