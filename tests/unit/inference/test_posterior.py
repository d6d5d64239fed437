"""Log-joints of the class: which method serves which rows, and what cannot be summed out."""

import numpy as np
import pytest
from pytest import approx

import naive
from strategies import make_network
from tanbark.errors import InputError
from tanbark.graph import Network
from tanbark.inference import joint_log_proba, normalize, posterior


def some_rows(network, rng, n_rows, fraction):
    codes = np.stack([rng.integers(0, r, n_rows) for r in network.schema.cardinalities[:-1]]).astype(np.uint8)
    codes[rng.random(codes.shape) < fraction] = 255
    return codes


def test_complete_and_incomplete_rows_together():
    rng = np.random.default_rng(0)
    network = make_network(rng, n_features=5, augmented=True)
    codes = some_rows(network, rng, 30, 0.1)
    complete = (codes < 255).all(axis=0)
    assert 0 < complete.sum() < 30
    expected = np.log([naive.class_joint(network, row, 255) for row in codes.T])
    assert joint_log_proba(network, codes) == approx(expected, abs=1e-10)
    assert joint_log_proba(network, codes[:, complete]) == approx(expected[complete], abs=1e-10)


@pytest.mark.parametrize("threads", [1, 3])
def test_rows_of_one_pattern_are_planned_once(monkeypatch, threads):
    from tanbark.inference.factors import elimination

    rng = np.random.default_rng(1)
    network = make_network(rng, n_features=6)
    codes = np.tile(some_rows(network, rng, 4, 0.5), 5)
    planned, make = [], elimination.make_plan
    monkeypatch.setattr(elimination, "make_plan", lambda *a: planned.append(a[1]) or make(*a))
    out = np.zeros((20, network.schema.cardinalities[-1]))
    posterior._add_eliminated(network, codes, np.arange(20), out, threads)
    assert len(planned) == len(set(planned)) <= 4
    assert out == approx(np.log([naive.class_joint(network, row, 255) for row in codes.T]), abs=1e-10)


def test_weighted_cpts_only_drop_barren_values():
    rng = np.random.default_rng(2)
    plain = next(
        n for n in (make_network(rng, n_features=3, augmented=True) for _ in range(50)) if n.dag.parents[0] == (2, 3)
    )
    network = Network(plain.schema, plain.dag, plain.tables, exponents=(0.5, 1.0, 2.0, 1.0))
    row = np.zeros((3, 1), np.uint8)
    row[0] = 255
    tables = network.log_tables
    zeros = {node: (0,) * (tables[node].ndim - 1) for node in (1, 2)}
    assert joint_log_proba(network, row)[0] == approx(tables[1][zeros[1]] + tables[2][zeros[2]] + tables[3])
    row[:] = [[0], [0], [255]]
    with pytest.raises(InputError, match="weighted"):
        joint_log_proba(network, row)


def test_posteriors_and_their_logarithms():
    joint = np.log(np.array([[0.1, 0.3], [0.2, 1e-320]]))
    proba, impossible = normalize(joint.copy(), logs=False)
    assert proba == approx(np.array([[0.25, 0.75], [1.0, 0.0]]))
    assert normalize(joint.copy())[0][0] == approx(np.log([0.25, 0.75]))
    assert not impossible.any()
