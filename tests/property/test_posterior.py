"""The posterior is the enumeration of the joint, whatever the graph and whatever is missing."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive
from strategies import make_network, make_schema, seeds
from tanbark.errors import TableTooLargeError
from tanbark.graph import Dag, Network
from tanbark.inference import joint_log_proba, normalize, posterior
from tanbark.inference.layout import forest


def rows_with_missing(rng, network, n_rows, fraction):
    sizes = network.schema.cardinalities[:-1]
    codes = np.stack([rng.integers(0, r, n_rows) for r in sizes]).astype(np.uint8)
    codes[rng.random(codes.shape) < fraction] = 255
    return codes


def brute(network, codes):
    with np.errstate(divide="ignore"):
        return np.log([naive.class_joint(network, row, 255) for row in codes.T])


@given(
    seeds, st.integers(1, 7), st.booleans(), st.sampled_from([0.0, 0.3, 0.7, 1.0]), st.booleans(),
    st.sampled_from([0, 6, posterior.MOST_STATES]),
)  # fmt: skip
@settings(max_examples=100)
def test_any_graph_any_missing_values(seed, n_features, augmented, fraction, zeros, most_states):
    rng = np.random.default_rng(seed)
    network = make_network(rng, n_features=n_features, augmented=augmented, zeros=zeros)
    codes = rows_with_missing(rng, network, 6, fraction)
    with pytest.MonkeyPatch.context() as patch:  # none, some or all of the sums row by row
        patch.setattr(posterior, "MOST_STATES", most_states)
        found = joint_log_proba(network, codes)
    assert found == pytest.approx(brute(network, codes), abs=1e-10)


def test_sums_row_by_row_leave_only_what_is_wide_or_tiny():
    rng = np.random.default_rng(8)
    network = make_network(rng, n_features=12, max_parents=3, augmented=True)
    codes = rows_with_missing(rng, network, 500, 0.4)
    expected = np.zeros((500, network.schema.cardinalities[-1]))
    posterior._add_eliminated(network, codes, np.arange(500), expected, 1)
    for threads in (1, 2):
        out = np.ones_like(expected)
        assert not len(posterior._add_enumerated(network, codes, out, threads))
        assert out - 1.0 == pytest.approx(expected, abs=1e-10)
    tiny = star(150)
    tables = (np.full((2, 2, 2), 0.5), *tiny.tables[1:])
    parents = ((1, 150), *tiny.dag.parents[1:])
    tables, parents = (tables[0], np.full((2, 2), 0.5), *tables[2:]), (parents[0], (150,), *parents[2:])
    general = Network(tiny.schema, Dag(tiny.dag.names, parents), tables)
    rows = np.zeros((150, 2), np.uint8)
    rows[0, 0] = 255
    assert posterior._add_enumerated(general, rows, np.zeros((2, 2)), 1).tolist() == [0]
    assert np.isfinite(joint_log_proba(general, rows)).all()


@given(seeds, st.sampled_from([0.2, 0.6]), st.booleans())
@settings(max_examples=60)
def test_the_tree_pass_agrees_with_elimination(seed, fraction, zeros):
    rng = np.random.default_rng(seed)
    network = make_network(rng, n_features=7, max_parents=1, augmented=True, zeros=zeros)
    assert forest(network) is not None
    codes = rows_with_missing(rng, network, 10, fraction)
    general = np.zeros((10, network.schema.cardinalities[-1]))
    posterior.add_with_missing(network, codes, general)
    assert joint_log_proba(network, codes) == pytest.approx(general, abs=1e-10)
    assert general == pytest.approx(brute(network, codes), abs=1e-10)


@given(seeds, st.integers(1, 3))
@settings(max_examples=30)
def test_rows_together_are_rows_alone_whatever_the_threads(seed, n_jobs):
    rng = np.random.default_rng(seed)
    network = make_network(rng, n_features=6)
    codes = rows_with_missing(rng, network, 12, 0.4)
    together = joint_log_proba(network, codes, n_jobs=n_jobs)
    alone = np.vstack([joint_log_proba(network, codes[:, [row]]) for row in range(12)])
    assert together == pytest.approx(alone, abs=1e-12)


@given(seeds)
@settings(max_examples=30)
def test_a_missing_value_is_the_sum_over_its_states(seed):
    rng = np.random.default_rng(seed)
    network = make_network(rng, n_features=5)
    codes = rows_with_missing(rng, network, 1, 0.3)
    column = int(rng.integers(5))
    states = np.repeat(codes, network.schema.cardinalities[column], axis=1)
    states[column] = np.arange(network.schema.cardinalities[column])
    codes[column] = 255
    summed = np.exp(joint_log_proba(network, states)).sum(axis=0)
    assert np.exp(joint_log_proba(network, codes))[0] == pytest.approx(summed, rel=1e-10)


def star(n, *, rng=None, p=0.001):
    """A root feature with n - 1 children, all of tiny probabilities."""
    schema = make_schema([2] * n + [2])
    parents = [(n,), *[(0, n)] * (n - 1), ()]
    tables = [np.full((2, 2), 0.5)]
    for k in range(1, n):
        rare = p * (1 + (k % 7)) * np.array([[1.0, 1.5], [2.0, 1.0]])  # [root state, class]
        tables.append(np.stack([rare, 1 - rare], axis=1))
    return Network(schema, Dag(schema.names, tuple(parents)), (*tables, np.array([0.3, 0.7])))


@pytest.mark.parametrize("root", ["observed", "missing"])
def test_five_thousand_features_do_not_underflow(root):
    network = star(5000)
    codes = np.zeros((5000, 3), np.uint8)
    if root == "missing":
        codes[0] = 255
    joint = joint_log_proba(network, codes)
    logs = np.stack([np.log(table[:, 0]) for table in network.tables[1:-1]]).sum(axis=0)  # [root state, class]
    terms = np.log(0.5) + logs + np.log([0.3, 0.7])
    expected = np.logaddexp(terms[0], terms[1]) if root == "missing" else terms[0]
    assert joint[0] == pytest.approx(expected, rel=1e-12)
    assert np.isfinite(joint).all()
    found, impossible = normalize(joint, logs=False)
    assert not impossible.any()
    assert found.sum(axis=1) == pytest.approx(1.0)


def test_a_state_that_left_the_range_of_floats_is_found_again():
    """The likelier root state is impossible, so the answer rests on one that is 1e-2000 times as likely."""
    network = star(3000)
    tables = list(network.tables)
    tables[0] = np.array([[1.0, 1.0], [0.0, 0.0]])
    network = Network(network.schema, network.dag, tuple(tables))
    codes = np.zeros((3000, 1), np.uint8)
    codes[0] = 255
    logs = np.stack([np.log(table[0, 0]) for table in tables[1:-1]]).sum(axis=0)
    assert joint_log_proba(network, codes)[0] == pytest.approx(logs + np.log([0.3, 0.7]), rel=1e-12)


def test_too_wide_a_sum_raises_an_error_with_its_width(monkeypatch):
    monkeypatch.setattr(posterior, "MAX_ENTRIES", 100)
    monkeypatch.setattr(posterior, "MOST_STATES", 100)
    network = make_network(np.random.default_rng(5), n_features=9, max_parents=8, max_states=3)
    codes = np.full((9, 1), 255, np.uint8)
    last = next(node for node in reversed(network.dag.order) if node != 9)
    codes[last] = 0
    with pytest.raises(TableTooLargeError, match=r"entries over .* more than 100\. Fill some"):
        joint_log_proba(network, codes)


def test_all_missing_is_the_class_prior_exactly():
    network = make_network(np.random.default_rng(1), n_features=6, augmented=True)
    nothing = np.full((6, 1), 255, np.uint8)
    assert np.array_equal(joint_log_proba(network, nothing)[0], np.log(network.tables[-1]))


def test_impossible_rows_are_marked():
    joint = np.array([[-np.inf, -np.inf], [0.0, -np.inf]])
    found, impossible = normalize(joint, logs=False)
    assert impossible.tolist() == [True, False]
    assert found[1].tolist() == [1.0, 0.0]
