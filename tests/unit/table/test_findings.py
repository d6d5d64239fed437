"""Identifiers, free text, numbers of rows and leaks: the rules, and the same findings from batches."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tanbark as tb
from tanbark.errors import InputError, SuspiciousColumnWarning
from tanbark.table import read_table
from tanbark.table.column_view import MOST_LEVELS, ColumnView
from tanbark.table.findings import (
    FREE_TEXT,
    IDENTIFIER,
    INCREASING,
    LEAK,
    MIXED,
    ROW_NUMBER,
    Facts,
    find_facts,
    find_leaks,
)
from tanbark.table.findings.rules import LEAK_ROWS, LEAST_ROWS, determines, expected_repeats
from tanbark.table.observe import Observed

N = 200


def columns(n=N, seed=0):
    """Columns by what is to be found in them."""
    rng = np.random.default_rng(seed)
    words = np.array(["the", "customer", "asked", "about", "late", "rates", "again"])
    return {
        "word": (rng.choice(["a", "b", "c"], n), None),
        "town": (np.array([f"town {k}" for k in rng.integers(0, n // 3, n)]), None),
        "id": (np.array([f"c-{k:05d}" for k in rng.permutation(n)]), IDENTIFIER),
        "nearly": (np.array([f"c-{k:05d}" for k in np.maximum(np.arange(n), n // 20)]), IDENTIFIER),
        "notes": (np.array([" ".join(rng.choice(words, 8)) for _ in range(n)]), FREE_TEXT),
        "row": (np.arange(n) + 1, ROW_NUMBER),
        "shuffled": (rng.permutation(n) + 5000, ROW_NUMBER),
        "gaps": (np.sort(rng.choice(2 * n, n, replace=False)).astype(float), ROW_NUMBER),
        "time": (np.cumsum(rng.integers(1, 10**6, n)), INCREASING),
        "amount": (rng.integers(0, 3 * n, n), None),
        "wide": (rng.integers(0, 10**9, n), None),
        "real": (np.sort(rng.normal(size=n)), None),
        "small": (rng.integers(0, 6, n), None),
        "truth": (rng.random(n) < 0.5, None),
        "age": (np.where(np.arange(n) == 3, "twelve", rng.integers(0, 40, n).astype(str)), MIXED),
        "length": (np.where(np.arange(n) == 3, "long", rng.random(n).astype(str)), MIXED),
        "code": (np.where(rng.random(n) < 0.5, "V", "") + rng.integers(10, 40, n).astype(str).astype(object), None),
    }


def frame_of(n=N, seed=0):
    return pd.DataFrame({name: values for name, (values, _) in columns(n, seed).items()})


def observe(frame, labels, sizes=(), **forced):
    """Look at a frame in parts, each of them in one batch."""
    levels = np.unique(labels)
    seen, low = None, 0
    for high in (*sizes, len(frame)):
        part = Observed([ColumnView(name, forced.get(name)) for name in frame.columns])
        found, codes = np.unique(labels[low:high], return_inverse=True)
        part.add(read_table(frame.iloc[low:high]), codes, found.tolist(), None)
        seen, low = part if seen is None else seen.merge(part), high
    assert seen.classes() == levels.tolist()
    return seen


@pytest.mark.parametrize("seed", range(3))
def test_columns_are_found_for_what_they_are(seed):
    found = find_facts(read_table(frame_of(seed=seed)))
    assert [facts.finding for facts in found] == [finding for _, finding in columns().values()]
    assert not any(facts.missing for facts in found)


def test_a_few_rows_show_nothing():
    assert not any(facts.finding for facts in find_facts(read_table(frame_of().iloc[: LEAST_ROWS - 1])))


def test_an_array_is_looked_at_like_a_frame():
    frame = frame_of()
    found = find_facts(read_table(frame.to_numpy(object)))
    assert [facts.finding for facts in found] == [facts.finding for facts in find_facts(read_table(frame))]
    (row,) = find_facts(read_table(np.arange(N)[:, None]))
    assert row.finding == ROW_NUMBER


@pytest.mark.parametrize("dtype", ["category", "string[pyarrow]", object])
def test_an_identifier_of_any_type_is_one(dtype):
    frame = frame_of()[["id"]].astype(dtype)
    frame.loc[::5, "id"] = None
    (found,) = find_facts(read_table(frame))
    assert found == Facts(N // 5, N - N // 5, IDENTIFIER)


def test_whole_numbers_taken_as_categories_are_identifiers_and_fractions_are_not():
    table = read_table(np.column_stack([np.arange(N) * 1000.0, np.arange(N) / 7]))
    found = find_facts(table, np.array([True, True]))
    assert [facts.finding for facts in found] == [IDENTIFIER, None]
    seen = observe(pd.DataFrame(table.blocks[0].values, columns=["a", "b"]), np.arange(N) % 2, a=True, b=True)
    assert [facts.finding for facts in seen.facts()] == [IDENTIFIER, None]


def test_numbers_beyond_floats_are_looked_at():
    frame = pd.DataFrame({"big": pd.Series([2**60 + k for k in range(N)], dtype=object)})
    assert find_facts(read_table(frame))[0].finding == ROW_NUMBER  # as floats, some of them are equal
    frame["big"] *= 2**40
    assert find_facts(read_table(frame))[0].finding == INCREASING


@pytest.mark.parametrize("sizes", [(), (50,), (3, 4, 120), tuple(range(9, N, 9))])
def test_batches_find_what_the_whole_table_shows(sizes):
    frame = frame_of()
    frame["leak"] = frame["word"].map({"a": "x", "b": "y", "c": "y"})
    frame.loc[::9, ["town", "wide", "real"]] = None
    labels = (frame["word"] == "a").to_numpy().astype(int)
    seen = observe(frame, labels, sizes)
    whole = list(find_facts(read_table(frame)))
    for place in (0, len(whole) - 1):  # the word and the leak determine the class; in a table, codes show it
        assert seen.facts()[place].finding == LEAK
        whole[place] = Facts(0, whole[place].distinct, LEAK)
    assert list(seen.facts()) == whole
    assert seen.class_rows() == tuple(np.bincount(labels).tolist())


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 2)), min_size=1, max_size=60), st.integers(1, 40))
@settings(max_examples=60)
def test_leaks_in_codes_counts_and_batches_agree(pairs, times):
    values, labels = (np.tile(column, times) for column in np.array(pairs).T)
    counts = np.zeros((6, 3))
    np.add.at(counts, (values, labels), 1)
    codes = np.vstack([values, labels]).astype(np.uint8)
    found = find_leaks(codes, [0], (6, 3)) == [0]
    assert found == determines(counts)
    frame = pd.DataFrame({"x": [f"v{v}" for v in values]})
    seen = observe(frame, labels, (len(values) // 2,) if len(values) > 1 else ())
    assert (seen.facts()[0].finding == LEAK) == found


def test_chance_is_that_of_labels_drawn_anew():
    """The product over states of the sum over classes is the fraction of all labellings, each by its probability."""
    sizes, p = (1, 2, 3), (0.25, 0.75)
    chance = 0.0
    for labels in product((0, 1), repeat=sum(sizes)):
        states = np.repeat(np.arange(3), sizes)
        if all(len(set(np.array(labels)[states == s])) == 1 for s in range(3)):
            chance += np.prod([p[c] for c in labels])
    assert chance == pytest.approx(np.prod([sum(q**n for q in p) for n in sizes]))


@pytest.mark.parametrize(
    ("counts", "leak"),
    [
        (np.diag([50, 50]), True),
        (np.diag([49, 50]), False),  # too few rows
        (np.diag([999, 1]), False),  # one row of a rare class
        (np.diag([950, 50]), True),
        (np.kron(np.eye(2), np.ones((300, 1))), False),  # every value once
        (np.kron(np.eye(2), 4 * np.ones((100, 1))), True),  # a hundred values of each class, four rows each
        (np.array([[500, 0], [1, 400]]), False),  # one row disagrees
        (np.array([[500, 0]]), False),  # one class
    ],
)
def test_what_is_a_leak(counts, leak):
    assert determines(counts) == leak
    assert counts.sum() >= LEAK_ROWS - 1


def test_missing_values_say_nothing_of_leaks():
    codes = np.vstack([np.arange(400) % 2, np.arange(400) % 2]).astype(np.uint8)
    codes[0, ::3] = 255
    assert find_leaks(codes, [0], (2, 2)) == [0]
    codes[0, 3::2] = 255
    codes[0, 1] = 0
    assert find_leaks(codes, [0], (2, 2)) == []


def test_repeats_are_expected_as_often_as_they_come():
    rng = np.random.default_rng(0)
    found = [60 - len(np.unique(rng.integers(0, 1000, 60))) for _ in range(3000)]
    assert np.mean(found) == pytest.approx(expected_repeats(60, 0, 999), rel=0.1)


def test_more_categories_than_are_kept_are_left_out_or_refused():
    n = MOST_LEVELS + 50_000
    ids = pd.DataFrame({"id": [f"{k:06d}" for k in range(n)]})
    seen = observe(ids, np.arange(n) % 2, (n // 2,))
    assert seen.facts()[0] == Facts(0, n, IDENTIFIER)
    with pytest.raises(InputError, match="'id' has more than 65,536 different categories"):
        seen.columns(lambda *_: np.zeros(0))
    with pytest.raises(InputError, match="more than 65,536"):
        observe(pd.concat([ids, ids], ignore_index=True), np.arange(2 * n) % 2)


def test_numbers_with_a_few_texts_are_named_and_kept():
    ages = np.array([20 + k % 40 for k in range(120)], object)
    labels = np.random.default_rng(0).integers(0, 2, 120)
    X = pd.DataFrame({"age": ages, "x": np.arange(120) % 3})
    tb.NaiveBayes().fit(X, labels)
    X.loc[5, "age"] = "twelve"
    with pytest.warns(SuspiciousColumnWarning, match="'age' holds numbers and a few texts.*such as 'twelve'"):
        clf = tb.NaiveBayes().fit(X, labels)
    assert clf.data_report_.suspicious["age"] == MIXED
    with pytest.raises(InputError, match="few texts"):
        tb.NaiveBayes(suspicious="error").fit(X, labels)
    tb.NaiveBayes(categorical_features=["age"]).fit(X, labels)
    tb.NaiveBayes().fit(X.assign(age=pd.Categorical(X["age"].astype(str))), labels)
