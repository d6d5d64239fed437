"""What a look at a column finds beside its states: identifiers, free text, row numbers, leaks, texts among numbers."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tanbark.arrays import Array, Floats
from tanbark.table.raw import CodedColumn, RawTable
from tanbark.table.schema import Level
from tanbark.table.written import is_number

IDENTIFIER, FREE_TEXT, ROW_NUMBER, INCREASING, LEAK = "identifier", "free text", "row number", "increasing", "leak"
MIXED = "numbers and text"
FINDINGS = (IDENTIFIER, FREE_TEXT, ROW_NUMBER, INCREASING, LEAK, MIXED)
LEFT_OUT = (IDENTIFIER, FREE_TEXT, ROW_NUMBER)  # columns that fit leaves out by default; the others are reported

LEAST_ROWS = 30  # rows with a value below which nothing is found
NEARLY_ALL = 0.9  # different values per row with a value of an identifier
MOSTLY = 0.5  # the same of free text
LEAST_WORDS, LEAST_LETTERS = 5.0, 25.0  # mean words and characters of free text
MOST_READ = 1000  # strings whose words are counted
LEAST_NUMBERS, MOST_OTHERS = 10, 0.1  # different numbers of a mixed column, and other values per number
MOST_SHOWN = 3  # of the other values
EXPECTED_REPEATS = 20.0  # equal pairs that chance would bring where there are none
LEAK_ROWS = 100  # the fewest rows with a value that can show a leak
LEAK_CHANCE = 1e-9  # the largest probability that each state has one class by chance
FIRST_ROWS = 4096  # rows among which most numbers repeat that repeat at all
MOST_CELLS = 1 << 16  # of the counts of columns and the class that are made together


@dataclass(frozen=True)
class Facts:
    """What is known of a column of the training rows.

    Parameters
    ----------
    missing : int
        Rows without a value.
    distinct : int, optional
        Different values; None where they were not counted.
    finding : str, optional
        One of ``FINDINGS``, or None.
    others : tuple of str
        Some of the texts of a column that otherwise holds numbers.
    """

    missing: int = 0
    distinct: int | None = None
    finding: str | None = None
    others: tuple[str, ...] = ()


def find_facts(table: RawTable, categorical: NDArray[np.bool_] | None = None) -> tuple[Facts, ...]:
    """Look at the columns of training rows; leaks are found later, in the codes.

    ``categorical`` marks numeric columns that are categories whatever their values.
    """
    found = [Facts()] * table.n_columns
    for block in table.blocks:
        real = block.values.dtype == np.float64
        missing = np.isnan(block.values).sum(axis=0).tolist() if real else [0] * len(block.columns)
        head = np.sort(block.values[:LEAST_ROWS], axis=0)
        repeats = (head[1:] == head[:-1]).any(axis=0).tolist()  # most columns, and those are neither of the suspects
        for place, column in enumerate(block.columns):
            if block.values.dtype == bool:
                truths = block.values[:, place]
                found[column] = Facts(0, int(truths.any()) + int(not truths.all()))
            else:
                forced = categorical is not None and bool(categorical[column])
                if forced or not repeats[place]:
                    found[column] = _number_facts(block.values[:, place], missing[place], forced=forced)
                else:
                    found[column] = Facts(missing[place])
    for item in table.coded:
        forced = (
            item.values != "number" or item.declared or (categorical is not None and bool(categorical[item.column]))
        )
        found[item.column] = _coded_facts(item, forced=forced)
    return tuple(found)


def _coded_facts(item: CodedColumn, *, forced: bool) -> Facts:
    rows = item.rows.tolist()
    levels = [level for level, n in zip(item.levels, rows, strict=True) if n]
    observed, distinct = sum(rows), len(levels)
    missing = len(item.codes) - observed
    if not forced:  # whole numbers beyond floats, sorted, so that their codes increase as they do
        whole = all(isinstance(level, int) for level in item.levels)
        alone = whole and distinct == observed >= LEAST_ROWS
        if alone and numbers_rows(expected_repeats(observed, item.levels[0], item.levels[-1]), observed):
            return Facts(missing, finding=ROW_NUMBER)
        return Facts(missing, finding=INCREASING if alone and not missing and is_increasing(item.codes) else None)
    return category_facts(missing, levels, observed, declared=item.declared)


def _number_facts(values: Array, missing: int, *, forced: bool = False) -> Facts:
    if not forced:
        return Facts(missing, finding=_suspect_numbers(values, missing))
    levels = np.unique(values[~np.isnan(values)] if missing else values)
    whole = bool((levels == np.floor(levels)).all())  # an identifier has no fractions
    finding = suspect_categories(levels.tolist(), len(values) - missing) if whole else None
    return Facts(missing, len(levels), finding)


def _suspect_numbers(values: Array, missing: int) -> str | None:
    """Return whether numbers of one column, NaN where missing, number the rows or increase with them."""
    if missing:
        values = values[~np.isnan(values)]
    head = values[:FIRST_ROWS]
    if len(values) < LEAST_ROWS or (head.dtype == np.float64 and (head != np.floor(head)).any()):
        return None
    if not _all_different(head[:LEAST_ROWS]) or not _all_different(head):
        return None
    if values.dtype == np.float64 and (values != np.floor(values)).any():
        return None
    repeats = expected_repeats(len(values), float(values.min()), float(values.max()))
    if numbers_rows(repeats, len(values)) and _all_different(values):
        return ROW_NUMBER
    return INCREASING if not missing and is_increasing(values) else None


def _all_different(values: Array) -> bool:
    return len(np.unique(values)) == len(values)


def category_facts(
    missing: int, levels: Sequence[Level], observed: int, *, distinct: int | None = None, declared: bool = False
) -> Facts:
    """Return what is found in a column of text; one that is declared a category is never a mixed one."""
    n = len(levels) if distinct is None else distinct
    finding = suspect_categories(levels, observed, distinct=distinct)
    others = () if declared or observed < LEAST_ROWS or finding == FREE_TEXT else other_texts(levels)
    if others and (finding is None or _have_fractions(levels)):  # an identifier has no fractions
        finding = MIXED
    return Facts(missing, n, finding, others)


def other_texts(levels: Sequence[Level]) -> tuple[str, ...]:
    """Return some of the few values of a column that are no numbers; none where all are, or many are not.

    >>> other_texts([*map(str, range(20)), "unknown"]), other_texts(["1", "2", "more"])
    (('unknown',), ())
    """
    most = MOST_OTHERS * len(levels) / (1.0 + MOST_OTHERS)
    found: list[str] = []
    for level in levels:
        if isinstance(level, str) and not is_number(level, ","):
            found.append(level)
            if len(found) > most:
                return ()
    return tuple(sorted(found)[:MOST_SHOWN]) if len(levels) - len(found) >= LEAST_NUMBERS else ()


def _have_fractions(levels: Sequence[Level]) -> bool:
    """Return whether a value is written as a number with a decimal mark."""
    return any("." in text or "," in text for text in map(str, levels) if is_number(text, ","))


def suspect_categories(levels: Sequence[Level], observed: int, *, distinct: int | None = None) -> str | None:
    """Return whether categories identify rows, or are free text.

    Parameters
    ----------
    levels : sequence
        The different values, or many of them.
    observed : int
        Rows with a value.
    distinct : int, optional
        The number of different values, where it is not that of ``levels``.

    Examples
    --------
    >>> suspect_categories([f"customer {k}" for k in range(100)], 100)
    'identifier'
    >>> suspect_categories(["red", "green", "blue"], 100) is None
    True
    """
    n = len(levels) if distinct is None else distinct
    if observed < LEAST_ROWS or n < MOSTLY * observed:
        return None
    if _are_sentences(levels):
        return FREE_TEXT
    return IDENTIFIER if n >= NEARLY_ALL * observed else None


def _are_sentences(levels: Sequence[Level]) -> bool:
    """Return whether strings have many words on average; of many strings, evenly spaced ones are read."""
    step = -(-len(levels) // MOST_READ)
    read = [level for level in islice(levels, 0, None, step) if isinstance(level, str)]
    if not read:
        return False
    letters, words = sum(map(len, read)), sum(len(text.split()) for text in read)
    return letters >= LEAST_LETTERS * len(read) and words >= LEAST_WORDS * len(read)


def expected_repeats(observed: int, low: Any, high: Any) -> float:
    r"""Return how many pairs of equal values chance brings: N (N - 1) / 2R for N draws of R whole numbers."""
    return float(observed * (observed - 1) / 2.0 / (high - low + 1))


def numbers_rows(repeats: float, observed: int) -> bool:
    """Return whether whole numbers without a repeat must have been dealt out one to a row.

    Parameters
    ----------
    repeats : float
        The equal pairs that chance would have brought, see :func:`expected_repeats`.
    observed : int
        Rows with a value.
    """
    return observed >= LEAST_ROWS and repeats >= EXPECTED_REPEATS


def is_increasing(values: Array) -> bool:
    """Return whether numbers, none of them missing, increase from each row to the next.

    >>> is_increasing(np.arange(50)), is_increasing(np.zeros(50))
    (True, False)
    """
    head = values[:LEAST_ROWS]
    return len(values) >= LEAST_ROWS and bool((head[1:] > head[:-1]).all()) and bool((values[1:] > values[:-1]).all())


def determines(counts: Floats | NDArray[Any]) -> bool:
    r"""Return whether each state has rows of one class only, and too many of them for chance.

    With class proportions p and n_s rows in state s, the probability that all states have one class each is, for
    labels drawn with replacement,

    .. math:: \prod_s \sum_c p_c^{n_s},

    which is 1 where every state has one row.

    Parameters
    ----------
    counts : (n_states, n_classes) array of rows

    Examples
    --------
    >>> determines(np.array([[60, 0], [0, 60]])), determines(np.array([[60, 1], [0, 60]])), determines(np.eye(200))
    (True, False, False)
    """
    rows = counts.sum(axis=1)
    total = rows.sum()
    if total < LEAK_ROWS or (np.count_nonzero(counts, axis=1) > 1).any():
        return False
    proportions = counts.sum(axis=0) / total
    sizes = rows[rows > 0][:, None]
    chance = np.log(np.power(proportions[proportions > 0], sizes).sum(axis=1).clip(1e-300)).sum()
    return bool(chance < math.log(LEAK_CHANCE))


def find_leaks(codes: Array, columns: Sequence[int], states: Sequence[int]) -> list[int]:
    """Return the columns of coded rows that determine the class, which is the last row of ``codes``.

    A few hundred rows refute most columns; only the others are counted. Rows without a value are left aside.
    """
    # Codes beyond the states of a column mark missing values.
    n_rows, n_classes = codes.shape[1], states[-1]
    if n_rows < LEAK_ROWS or n_classes < 2:
        return []
    left, found = list(columns), []
    for n_some in (64, 512):
        some = codes[:, :: max(1, n_rows // n_some)].astype(np.int64)
        parts = _in_turn([states[column] * n_classes for column in left])
        left = [column for low, high in parts for column in _not_refuted(some, left[low:high], states)]
    for column in left:
        counts = _one_class_each(codes[column].astype(np.int64), codes[-1].astype(np.int64), states[column], n_classes)
        if counts is not None and determines(counts):
            found.append(column)
    return found


def _in_turn(cells: list[int]) -> Iterator[tuple[int, int]]:
    """Cut tables of these sizes into runs of at most ``MOST_CELLS`` cells, or of one table."""
    low, held = 0, 0
    for high, size in enumerate(cells):
        if high > low and held + size > MOST_CELLS:
            yield low, high
            low, held = high, 0
        held += size
    if cells:
        yield low, len(cells)


def _not_refuted(some: NDArray[np.int64], columns: Sequence[int], states: Sequence[int]) -> list[int]:
    """Return the columns without a state that occurs with two classes in some of the rows."""
    n_classes, sizes = states[-1], np.array([states[column] for column in columns])
    starts = np.cumsum(sizes) - sizes
    values = some[list(columns)]
    places = ((values + starts[:, None]) * n_classes + some[-1])[values < sizes[:, None]]
    seen = np.bincount(places, minlength=int(sizes.sum()) * n_classes).reshape(-1, n_classes) > 0
    several = np.logical_or.reduceat(seen.sum(axis=1) > 1, starts)
    return [column for column, refuted in zip(columns, several.tolist(), strict=True) if not refuted]


def _one_class_each(
    values: NDArray[np.int64], labels: NDArray[np.int64], n_states: int, n_classes: int
) -> NDArray[np.int64] | None:
    """Count rows by state and class; None where a state has several classes."""
    observed = values < n_states
    flat = np.bincount(values[observed] * n_classes + labels[observed], minlength=n_states * n_classes)
    counts = flat.reshape(n_states, n_classes)
    return None if (np.count_nonzero(counts, axis=1) > 1).any() else counts
