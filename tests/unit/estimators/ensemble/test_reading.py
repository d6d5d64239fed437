"""The network to read."""

import numpy as np
import pytest

from strategies import make_table
from tanbark.counts import MemoryCounts
from tanbark.estimators.ensemble import reading
from tanbark.estimators.ensemble.coarsening import merge_to
from tanbark.estimators.ensemble.member import learn_member, measure
from tanbark.estimators.ensemble.reading import learn_reading, shorten_member
from tanbark.inference.sparse_network import log_likelihoods
from tanbark.params.hierarchical.context_tree import dense


@pytest.fixture(scope="module")
def member():
    table = make_table(np.random.default_rng(1), (3, 2, 4, 3, 2), 400, gaps=0.05)
    return learn_member(merge_to(table.schema, table.schema), table, measure(MemoryCounts(table)), 3, None)[0], table


def test_a_shortened_member_keeps_the_first_parent_and_its_estimates(member):
    whole, table = member
    short = shorten_member(whole)
    assert max(map(len, whole.parents)) == 4
    assert [len(parents) for parents in short.parents] == [min(2, len(parents)) for parents in whole.parents]
    for few, many, family in zip(short.trees, whole.trees, whole.parents, strict=True):
        if len(family) <= 2:
            np.testing.assert_array_equal(dense(few), dense(many))
        v = many.children[: many.states[0]]
        np.testing.assert_array_equal(dense(few).shape[0], len(v))
    network = short.dense_network(np.log(np.full(2, 0.5)))
    assert max(len(parents) for parents in network.dag.parents) == 2
    codes = np.ascontiguousarray(table.codes[:, :50])
    joint = log_likelihoods(short.network, codes)
    assert np.isfinite(joint).all()
    for row in range(5):
        complete = codes[:-1, row] != 255
        if not complete.all():
            continue
        for label in range(2):
            entries = [
                network.tables[f][tuple({**dict(enumerate(codes[:-1, row])), 4: label}[a] for a in network.axes(f))]
                for f in range(4)
            ]
            assert joint[row, label] == pytest.approx(np.log(entries).sum())


def test_parents_with_too_many_cells_are_left_out(member, monkeypatch):
    monkeypatch.setattr(reading, "MOST_CELLS", 1)
    short = shorten_member(member[0])
    assert all(len(parents) == 1 for parents in short.parents)
    learnt = learn_reading(member[1], n_jobs=1)
    assert all(len(parents) == 1 for parents in learnt.parents)
