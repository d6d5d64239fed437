"""Layouts of families: every candidate and every parent once, in tables that do not overlap."""

import itertools

import numpy as np

from tanbark.counts.column_sets import ColumnSets
from tanbark.structure.greedy.kernels import layout as fields
from tanbark.structure.greedy.kernels.gain_kernels import lay_out_families, list_n_log_n

STATES = np.array([2, 3, 4, 2])


def lay_out(families, most=1000, most_base=1000, enough=1 << 20):
    parents = ColumnSets.of([parents for _, parents in families])
    children = np.array([child for child, _ in families])
    allowed = ~np.eye(4, dtype=bool)
    return lay_out_families(children, parents.members, parents.ends, allowed, STATES, most, most_base, enough)


def test_every_candidate_and_parent_once():
    done, (members, ends), layout, place = lay_out([(0, (1,)), (3, (0, 2))])
    assert done == 2
    assert place.tolist() == [[0, 2, 1], [0, 3, 1], [0, 1, -1], [1, 1, 1], [1, 0, -1], [1, 2, -1]]
    sets = [members[a:b].tolist() for a, b in itertools.pairwise(ends)]
    assert sets == [[1, 0, 2], [1, 0, 3], [1, 0], [0, 2, 3, 1], [0, 2, 3]]
    sizes = [int(np.prod(STATES[columns])) for columns in sets]
    starts = np.cumsum([0, *sizes])[:-1].tolist()
    assert layout[:, fields.START].tolist() == [*starts[:4], starts[4], starts[4]]
    cells = layout[:, [fields.OUTER, fields.INNER, fields.STATES, fields.LEVELS]].prod(axis=1)
    assert cells.tolist() == [*sizes, sizes[4]]


def test_large_tables_are_left_out_and_enough_cells_end_a_batch():
    families = [(0, (1,)), (3, (0, 2))]
    assert lay_out(families, most=12, most_base=1000)[3].tolist() == [[0, 3, 1], [0, 1, -1], [1, 0, -1], [1, 2, -1]]
    assert len(lay_out(families, most=12, most_base=5)[3]) == 1
    assert lay_out(families, enough=0)[0] == 1


def test_n_log_n():
    n = np.arange(2, 50)
    assert np.allclose(list_n_log_n(50)[2:], n * np.log(n))
    assert list_n_log_n(50)[:2].tolist() == [0.0, 0.0]
