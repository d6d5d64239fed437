"""Losses of nested models in one pass against a slow twin that builds every model and leaves out row by row."""

import numpy as np
import pytest

import tanbark.evaluation.nested as nested
from strategies import make_table
from tanbark.counts import MemoryCounts
from tanbark.evaluation.leave_one_out import LeaveOneOut
from tanbark.evaluation.nested import NestedModels
from tanbark.graph import Dag
from tanbark.inference import class_log_prior, joint_log_proba
from tanbark.params import BDeu, Hierarchical, Laplace, MEstimate, family_counts, fit
from tanbark.table import CodedTable

STATES = (3, 2, 4, 1, 2, 3)
ORDER = [2, 0, 4, 1, 3]
PARENTS = [(2,), (4, 2, 0), (), (), (0, 2)]  # by column, the strongest first
HIGHEST, TARGET, MISSING = 3, 5, 255


def read(codes, k, n):
    """The graph of the model (k, n) for a row: a feature that it has takes the parents before the first it lacks."""
    families = []
    for x, parents in enumerate(PARENTS):
        seen = []
        for parent in parents[:k]:
            if codes[parent] == MISSING:
                break
            seen.append(parent)
        families.append((*seen, TARGET) if x in ORDER[:n] and codes[x] != MISSING else ())
    return Dag(("x0", "x1", "x2", "x3", "x4", "class"), (*families, ()))


def held(table, row, dag, smoothing, prior):
    """Take the row's counts out of the CPTs, with concentrations held."""
    counts = family_counts(dag, MemoryCounts(table), max_cells=1 << 20)
    network = fit(table.schema, dag, counts, smoothing, class_prior=prior)
    weights = None if table.weights is None else table.weights[[row]]
    model = LeaveOneOut(network, counts, smoothing, fixed_prior=prior is not None)
    joint, log_prior = model.log_joints(np.ascontiguousarray(table.codes[:, [row]]), weights)
    return joint[0], log_prior[0]


def refitted(table, row, dag, smoothing, prior):
    """Learn the CPTs again from all other rows."""
    weights = np.ones(table.n_rows) if table.weights is None else table.weights.copy()
    weights[row] -= 1.0
    rest = CodedTable(table.schema, table.codes, weights)
    counts = family_counts(dag, MemoryCounts(rest), max_cells=1 << 20)
    network = fit(table.schema, dag, counts, smoothing, class_prior=prior)
    codes = table.codes[:-1, [row]].copy()
    codes[[not dag.parents[x] for x in range(TARGET)]] = MISSING  # features without arcs say nothing
    return joint_log_proba(network, np.ascontiguousarray(codes))[0], class_log_prior(network)


def slow_losses(table, smoothing, left_out, *, tau=1.0, prior=None):
    log_loss, square = (np.zeros((HIGHEST + 1, len(ORDER) + 1)) for _ in range(2))
    weights = np.ones(table.n_rows) if table.weights is None else table.weights
    for k in range(HIGHEST + 1):
        for n in range(len(ORDER) + 1):
            for row in range(table.n_rows):
                joint, log_prior = left_out(table, row, read(table.codes[:, row], k, n), smoothing, prior)
                logs = log_prior + tau * (joint - log_prior)
                p = np.exp(logs - logs.max())
                right = (p / p.sum())[table.codes[-1, row]]
                log_loss[k, n] -= weights[row] * np.log(right)
                square[k, n] += weights[row] * (1 - right) ** 2
    return log_loss / weights.sum(), np.sqrt(square / weights.sum())


def measured(table, smoothing, **options):
    models = NestedModels(MemoryCounts(table), smoothing, max_cells=1 << 20, **options)
    return models(ORDER, PARENTS, HIGHEST)


def whole_weights(table, rng):
    return CodedTable(table.schema, table.codes, rng.integers(1, 4, table.n_rows).astype(float))


@pytest.mark.parametrize("weighted", [False, True], ids=["once", "weighted"])
@pytest.mark.parametrize("missing", [0.0, 0.2], ids=["complete", "missing"])
@pytest.mark.parametrize("smoothing", [Laplace(0.7), BDeu(2.0), MEstimate(1.5)], ids=repr)
def test_one_pass_adds_up_what_refits_without_each_row_lose(smoothing, missing, weighted):
    rng = np.random.default_rng(3)
    table = make_table(rng, STATES, 15, gaps=missing)
    table = whole_weights(table, rng) if weighted else table
    found = measured(table, smoothing)
    log_loss, rmse = slow_losses(table, smoothing, refitted)
    assert found.log_loss[0] == pytest.approx(log_loss, abs=1e-9)
    assert found.rmse[0] == pytest.approx(rmse, abs=1e-9)


@pytest.mark.parametrize("weighted", [False, True], ids=["once", "weighted"])
@pytest.mark.parametrize("missing", [0.0, 0.2], ids=["complete", "missing"])
def test_hierarchical_cpts_are_left_out_as_elsewhere(missing, weighted):
    rng = np.random.default_rng(4)
    table = make_table(rng, STATES, 30, gaps=missing)
    table = whole_weights(table, rng) if weighted else table
    found = measured(table, Hierarchical())
    log_loss, rmse = slow_losses(table, Hierarchical(), held)
    assert found.log_loss[0] == pytest.approx(log_loss, abs=1e-9)
    assert found.rmse[0] == pytest.approx(rmse, abs=1e-9)


def test_temperatures_and_given_priors_are_those_of_prediction():
    table, prior = make_table(np.random.default_rng(5), STATES, 20), np.array([0.2, 0.5, 0.3])
    found = measured(table, Laplace(), class_prior=prior, temperature=0.4)
    log_loss, rmse = slow_losses(table, Laplace(), refitted, tau=0.4, prior=prior)
    assert found.log_loss[0] == pytest.approx(log_loss, abs=1e-9)
    assert found.rmse[0] == pytest.approx(rmse, abs=1e-9)


def test_a_temperature_to_be_fitted_tries_several():
    table = make_table(np.random.default_rng(6), STATES, 40)
    found = measured(table, Laplace(), temperature=None)
    assert found.log_loss.shape[0] == found.rmse.shape[0] == 4
    for tau, losses, errors in zip((0.25, 0.5, 0.75, 1.0), found.log_loss, found.rmse, strict=True):
        expected = measured(table, Laplace(), temperature=tau)
        assert losses == pytest.approx(expected.log_loss[0], abs=1e-9)
        assert errors == pytest.approx(expected.rmse[0], abs=1e-9)


def test_impossible_labels_cost_much_and_impossible_rows_leave_the_prior():
    table = make_table(np.random.default_rng(7), STATES, 12)
    found = measured(table, Laplace(0.0))
    assert np.isfinite(found.log_loss).all()
    assert found.log_loss.max() > 50


def test_rows_without_weight_do_not_count():
    table = make_table(np.random.default_rng(8), STATES, 40, gaps=0.1)
    twice = CodedTable(
        table.schema, np.concatenate([table.codes, table.codes[:, ::-1]], axis=1), np.repeat([1.0, 0.0], 40)
    )
    twice.codes[0, 40:] = 2
    once = CodedTable(table.schema, table.codes, np.ones(40))
    assert np.array_equal(measured(twice, Laplace()).log_loss, measured(once, Laplace()).log_loss)


@pytest.mark.parametrize("most", [64, 100, 300])
def test_the_sample_takes_every_second_every_fourth_row(most, monkeypatch):
    monkeypatch.setattr(nested, "MOST_SAMPLED", most)
    rng = np.random.default_rng(9)
    table = make_table(rng, STATES, 300, weighted=True)
    models = NestedModels(MemoryCounts(table), Laplace(), temperature=None, max_cells=1 << 20)
    for low, high in ((0, 7), (7, 8), (8, 150), (150, 300)):
        models._sample.add(table.codes[:, low:high], table.weights[low:high])
    every = {64: 8, 100: 4, 300: 1}[most]
    found = models._sample.opened(MemoryCounts(table)).table
    assert np.array_equal(found.codes, table.codes[:, ::every])
    assert np.array_equal(found.weights, table.weights[::every])
