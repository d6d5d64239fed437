"""Leave-one-out from counts against as many refits as there are rows."""

import numpy as np
import pytest

from strategies import make_table
from tanbark.counts import MemoryCounts
from tanbark.errors import InputError
from tanbark.evaluation.leave_one_out import LeaveOneOut
from tanbark.graph import Dag, Network
from tanbark.inference import class_log_prior, joint_log_proba
from tanbark.params import K2, BDeu, Hierarchical, Laplace, MEstimate, family_counts, fit
from tanbark.params.hierarchical import context_kernels
from tanbark.params.hierarchical.context_tree import NO_WEIGHTS, fit_tree
from tanbark.params.hierarchical.family import context_tree
from tanbark.table import CodedTable

STATES = (3, 2, 4, 1, 3)
GRAPHS = {
    "naive": ((4,), (4,), (4,), (4,), ()),
    "two parents": ((4,), (0, 4), (0, 1, 4), (2, 4), ()),
    "class below": ((), (0,), (0, 4), (), (0, 1)),
    "no arcs": ((), (), (), (), ()),
}
SMOOTHINGS = [Laplace(0.7), Laplace(0.0), BDeu(2.0), K2(), MEstimate(1.5)]


def estimated(dag, table, smoothing, **options):
    counts = family_counts(dag, MemoryCounts(table), max_cells=1 << 20)
    return fit(table.schema, dag, counts, smoothing, **options), counts


def refits(dag, table, smoothing, **options):
    """The log-joint and the log-prior of every row from CPTs that are estimated without it."""
    joints, priors = [], []
    weights = np.ones(table.n_rows) if table.weights is None else table.weights
    for row in range(table.n_rows):
        rest = weights.copy()
        rest[row] = max(rest[row] - 1.0, 0.0)
        network, _ = estimated(dag, CodedTable(table.schema, table.codes, rest), smoothing, **options)
        joints.append(joint_log_proba(network, np.ascontiguousarray(table.codes[:-1, row : row + 1]))[0])
        priors.append(class_log_prior(network))
    return np.array(joints), np.array(priors)


@pytest.mark.parametrize("weighted", [False, True], ids=["once", "weighted"])
@pytest.mark.parametrize("missing", [0.0, 0.25], ids=["complete", "missing"])
@pytest.mark.parametrize("smoothing", SMOOTHINGS, ids=repr)
@pytest.mark.parametrize("graph", GRAPHS)
def test_counts_alone_give_what_refits_give(graph, smoothing, missing, weighted):
    table = make_table(np.random.default_rng(3), STATES, 30, gaps=missing, weighted=weighted)
    dag = Dag(table.schema.names, GRAPHS[graph])
    network, counts = estimated(dag, table, smoothing)
    joint, prior = LeaveOneOut(network, counts, smoothing).log_joints(table.codes, table.weights)
    joints, priors = refits(dag, table, smoothing)
    assert np.exp(joint) == pytest.approx(np.exp(joints), rel=1e-10, abs=1e-14)
    if not dag.parents[-1]:
        assert np.exp(prior) == pytest.approx(np.exp(priors), rel=1e-10, abs=1e-14)


@pytest.mark.parametrize("missing", [0.0, 0.2], ids=["complete", "missing"])
@pytest.mark.parametrize("graph", GRAPHS)
def test_hierarchical_smoothing_is_close_to_refits(graph, missing):
    table = make_table(np.random.default_rng(3), STATES, 200, gaps=missing)
    dag = Dag(table.schema.names, GRAPHS[graph])
    network, counts = estimated(dag, table, Hierarchical())
    joint, _ = LeaveOneOut(network, counts, Hierarchical()).log_joints(table.codes, None)
    joints, _ = refits(dag, table, Hierarchical())
    whole = joint_log_proba(network, np.ascontiguousarray(table.codes[:-1]))
    held, refitted, labels = joint - whole, joints - whole, table.codes[-1].astype(int)
    own = np.arange(200), labels
    assert held[own].mean() == pytest.approx(refitted[own].mean(), rel=0.15)
    assert np.corrcoef(held.ravel(), refitted.ravel())[0, 1] > 0.97  # refits may also order the parents anew


@pytest.mark.parametrize("weighted", [False, True], ids=["once", "weighted"])
def test_hierarchical_smoothing_takes_out_what_context_trees_take_out(weighted):
    table = make_table(np.random.default_rng(8), STATES, 300, weighted=weighted)
    dag = Dag(table.schema.names, GRAPHS["two parents"])
    network, counts = estimated(dag, table, Hierarchical())
    found, prior = LeaveOneOut(network, counts, Hierarchical()).log_joints(table.codes, table.weights)
    expected, weights = prior.copy(), NO_WEIGHTS if table.weights is None else table.weights
    for node in range(4):
        _, order = context_tree(counts[node], network.axes(node).index(node))
        parents = np.array([network.axes(node)[axis] for axis in order])
        same, contexts = fit_tree(table.codes, node, parents, STATES, table.weights, least_rows=0.0)
        context_kernels.add_left_out(table.codes, node, parents, weights, same, contexts, expected)
    assert found == pytest.approx(expected, rel=1e-9)


def test_a_prior_that_was_given_is_held():
    table = make_table(np.random.default_rng(4), STATES, 25)
    dag = Dag(table.schema.names, GRAPHS["two parents"])
    given = {"class_prior": np.array([0.2, 0.5, 0.3])}
    network, counts = estimated(dag, table, Laplace(), **given)
    joint, prior = LeaveOneOut(network, counts, Laplace(), fixed_prior=True).log_joints(table.codes, None)
    assert joint == pytest.approx(refits(dag, table, Laplace(), **given)[0], rel=1e-10)
    assert np.exp(prior) == pytest.approx(np.tile(given["class_prior"], (25, 1)))


def test_exponents_are_held():
    table = make_table(np.random.default_rng(5), STATES, 25, gaps=0.1)
    dag = Dag(table.schema.names, GRAPHS["naive"])
    network, counts = estimated(dag, table, Laplace())
    powers = (0.5, 0.0, 1.0, 2.0, 1.0)
    weighted = Network(network.schema, dag, network.tables, powers)
    joint, _ = LeaveOneOut(weighted, counts, Laplace()).log_joints(table.codes, None)
    for row in range(25):
        rest = np.arange(25) != row
        alone, _ = estimated(dag, CodedTable(table.schema, np.ascontiguousarray(table.codes[:, rest])), Laplace())
        alone = Network(alone.schema, dag, alone.tables, powers)
        assert joint[row] == pytest.approx(joint_log_proba(alone, np.ascontiguousarray(table.codes[:-1, [row]]))[0])


def test_the_number_of_threads_changes_nothing():
    table = make_table(np.random.default_rng(6), STATES, 30_000, gaps=0.1)
    dag = Dag(table.schema.names, GRAPHS["two parents"])
    network, counts = estimated(dag, table, Laplace())
    found = [LeaveOneOut(network, counts, Laplace()).log_joints(table.codes, None, n_jobs=n)[0] for n in (1, 2)]
    assert np.array_equal(*found)


def test_rows_that_were_not_learnt_are_reported():
    table = make_table(np.random.default_rng(7), STATES, 30)
    dag = Dag(table.schema.names, GRAPHS["two parents"])
    network, counts = estimated(dag, CodedTable(table.schema, np.ascontiguousarray(table.codes[:, :5])), Laplace())
    with pytest.raises(InputError, match="not among the rows that the model was learnt from"):
        LeaveOneOut(network, counts, Laplace()).log_joints(table.codes, None)
