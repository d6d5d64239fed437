"""Programs of an elimination: their sections, and what a pattern makes of every variable."""

import numpy as np

from networks import five_nodes
from tanbark.inference.factors import plan_kernels
from tanbark.inference.factors.order_kernels import KEPT, MAX, SEEN, SUM
from tanbark.inference.layout import flat_network


def plan(members, ends, *, whole=False, limit=1e9):
    return plan_kernels.make(flat_network(five_nodes()), np.array(members, np.int64), ends, whole, 0, limit)


def test_roles_of_a_pattern():
    roles = plan_kernels.assign_roles(5, np.array([1, 3, 0, 4, 2]), (1, 2, 4))
    assert roles.phase.tolist() == [SEEN, KEPT, SUM, MAX, SEEN]
    assert roles.soft.tolist() == [False, False, True, False, False]
    assert roles.slots.tolist() == [0, -1, -1, -1, 1]
    assert (roles.kept.tolist(), roles.n_best) == ([1], 1)


def test_the_sections_of_a_program():
    """P(B | D): A and C are summed out, E is barren."""
    largest, program, cpts = plan([1, 3], (1, 1, 2))
    sections = [plan_kernels.section(program, number) for number in range(plan_kernels.N_SECTIONS)]
    assert sorted(sections[plan_kernels.ORDER].tolist()) == [0, 2]
    memory_size, n_given, n_sums, _, _ = sections[plan_kernels.TOTALS]
    assert (n_given, n_sums) == (4, 2)
    assert len(cpts) == 2 + 4 + 4 + 8
    assert memory_size == sections[plan_kernels.BASE][-1] + 2  # the last result is over B
    assert sum(map(len, sections)) + plan_kernels.N_SECTIONS + 1 == len(program)
    assert sections[plan_kernels.SEEN_SLOTS].tolist() == [0]
    assert largest == 8.0
    assert np.array_equal(np.sort(sections[plan_kernels.INPUTS]), np.arange(4 + 2 + 2))


def test_no_program_past_the_limit():
    largest, _, cpts = plan([1, 3], (1, 1, 2), limit=7.0)
    assert largest == 8.0
    assert len(cpts) == 0


def test_maxima_keep_their_choices():
    _, program, _ = plan([0, 1, 2, 4, 3], (0, 4, 5), whole=True)
    bounds = plan_kernels.section(program, plan_kernels.CHOICE_BOUNDS)
    assert len(bounds) == 5
    assert plan_kernels.section(program, plan_kernels.TOTALS)[plan_kernels.N_SUMS] == 0
