"""Search over orders: moves of one column, and the lists of parent sets, against brute force."""

import itertools

import numpy as np
import pytest
from pytest import approx

from tanbark.structure.greedy.kernels import order_kernels as kernels
from tanbark.structure.greedy.kernels import set_kernels
from tanbark.structure.greedy.kernels.set_kernels import SetList


def random_lists(seed, n=5, most=8):
    """Draw parent sets with scores for every column, the empty set last, as rows (child, members, score)."""
    rng = np.random.default_rng(seed)
    rows = []
    for y in range(n):
        others = [x for x in range(n) if x != y]
        sets = {tuple(sorted(rng.choice(others, rng.integers(1, 4), replace=False).tolist())) for _ in range(most)}
        rows += [(y, members, float(-rng.integers(0, 50))) for members in sorted(sets)] + [(y, (), -60.0)]
    return rows


def make_list(rows, n, words=1, fixed=None):
    """Insert the sets of each column one by one; the last one given has the required parents."""
    made = SetList(
        np.zeros(n, np.int64), np.zeros((n, len(rows) + 1, words), np.uint64), np.zeros((n, len(rows) + 1)),
        np.zeros((n, len(rows) + 1), bool), np.zeros((n, n), bool) if fixed is None else fixed,
    )  # fmt: skip
    for child, members, score in reversed(rows):
        mask = np.zeros(words, np.uint64)
        for x in members:
            mask[x // 64] |= np.uint64(1) << np.uint64(x % 64)
        if made.size[child]:
            set_kernels.insert_set(made, child, mask, score, False)
        else:
            made.bits[child, 0], made.score[child, 0], made.size[child] = mask, score, 1
    return made


def best_of_order(rows, order):
    total = 0.0
    for place, y in enumerate(order):
        before = set(order[:place])
        total += max(score for child, members, score in rows if child == y and set(members) <= before)
    return total


def make_order(columns):
    return kernels.begin_order(np.array(columns), 1)


def settle(sets, order, low=0, high=4):
    kernels.settle(sets, order, low, high)
    return sets.score[np.arange(len(order.chosen)), order.chosen].sum()


@pytest.mark.parametrize("seed", range(5))
def test_every_column_takes_its_best_parent_set_among_those_before_it(seed):
    rows = random_lists(seed)
    sets = make_list(rows, 5)
    for columns in itertools.permutations(range(5)):
        order = make_order(columns)
        assert settle(sets, order) == approx(best_of_order(rows, columns))
        order.columns[1:4] = order.columns[[2, 3, 1]]  # what is between two places is all that a move changes
        assert settle(sets, order, 1, 3) == approx(best_of_order(rows, order.columns.tolist()))


@pytest.mark.parametrize("seed", range(5))
def test_the_best_place_is_the_best_of_all(seed):
    rows = random_lists(seed)
    sets = make_list(rows, 5)
    for columns in itertools.permutations(range(5)):
        order = make_order(columns)
        here = settle(sets, order)
        for v in range(5):
            _, gain, target = kernels.next_move(sets, order, np.array([v]), 0, 1, 1e-9)
            rest = [u for u in columns if u != v]
            gains = [best_of_order(rows, (*rest[:at], v, *rest[at:])) - here for at in range(5)]
            assert gains[target] == approx(max(0.0, *gains))
            assert gain == approx(max(1e-9, *gains))


@pytest.mark.parametrize("seed", range(5))
def test_perturbed_orders_lead_to_the_best_one(seed):
    rows = random_lists(seed)
    state = np.array([seed + 1], np.uint64)
    total, columns, chosen = kernels.search_orders(make_list(rows, 5), np.arange(5), 60, 3, 1e-9, state)
    assert total == approx(max(best_of_order(rows, order) for order in itertools.permutations(range(5))))
    assert total == approx(best_of_order(rows, columns.tolist()))
    assert make_list(rows, 5).score[np.arange(5), chosen].sum() == approx(total)


def test_the_same_state_gives_the_same_order():
    sets = make_list(random_lists(3, n=6), 6)
    found = [kernels.search_orders(sets, np.arange(6), 5, 3, 1e-9, np.array([7], np.uint64)) for _ in range(2)]
    assert found[0][0] == found[1][0]
    assert found[0][1].tolist() == found[1][1].tolist()


def test_sets_with_a_better_subset_and_copies_are_dropped():
    rows = [(0, (1, 2), -1.0), (0, (1,), -2.0), (0, (1, 3), -3.0), (0, (1, 2), -1.0), (0, (), -9.0)]
    rows += [(y, (), -1.0) for y in (1, 2, 3)]
    sets = make_list(rows, 4)
    assert sets.size.tolist() == [3, 1, 1, 1]
    assert sets.bits[0, :3, 0].tolist() == [0b110, 0b010, 0]


def test_ties_are_listed_by_their_members_whatever_the_last_digits():
    for noise in (1e-13, -1e-13):
        rows = [(0, (2,), -1.0 + noise), (0, (1,), -1.0), (0, (), -9.0), (1, (), -1.0), (2, (), -1.0)]
        assert make_list(rows, 3).bits[0, :2, 0].tolist() == [0b010, 0b100]


def test_columns_past_the_first_word():
    rows = [(0, (65,), -1.0), *((y, (), -2.0) for y in range(70))]
    sets = make_list(rows, 70, words=2)
    total, columns, _ = kernels.search_orders(sets, np.arange(70), 0, 1, 1e-9, np.array([1], np.uint64))
    assert total == approx(-1.0 - 69 * 2.0)
    assert columns.tolist().index(65) < columns.tolist().index(0)


@pytest.mark.parametrize("seed", range(20))
def test_lists_do_not_depend_on_the_order_of_insertion(seed):
    rows = random_lists(seed)
    expected = make_list(rows, 5)
    others = [row for row in rows if row[1]]
    np.random.default_rng(seed).shuffle(others)
    found = make_list([*others, *(row for row in rows if not row[1])], 5)
    assert found.size.tolist() == expected.size.tolist()
    for y, size in enumerate(expected.size):
        assert found.bits[y, :size].tolist() == expected.bits[y, :size].tolist()


@pytest.mark.parametrize("seed", range(5))
def test_required_arcs_keep_their_direction(seed):
    """Columns with required parents have no smaller set; the order never lets them come before these."""
    rows = [(y, (*members, 4), score) for y, members, score in random_lists(seed, n=4)] + [(4, (), -1.0)]
    fixed = np.zeros((5, 5), bool)
    fixed[4, :4] = True
    total, columns, _ = kernels.search_orders(
        make_list(rows, 5, fixed=fixed), np.array([4, 0, 1, 2, 3]), 30, 3, 1e-9, np.array([9], np.uint64)
    )
    assert columns[0] == 4
    assert total == approx(max(best_of_order(rows, (4, *order)) for order in itertools.permutations(range(4))))
