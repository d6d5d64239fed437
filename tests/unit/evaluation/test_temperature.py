"""The temperature: where the tempered log-loss is least, and that data from the model itself need none."""

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.special import log_softmax

from strategies import make_table
from tanbark.evaluation import temperature
from tanbark.evaluation.temperature import best_temperature


def random_rows(seed, n=400, classes=3, power=2.0):
    """Log-joints that are ``power`` times as extreme as the posterior that the labels are drawn from."""
    rng = np.random.default_rng(seed)
    prior = np.log(rng.dirichlet(np.ones(classes)))
    likelihood = rng.normal(0, 2, (n, classes))
    true = np.exp(log_softmax(prior + likelihood, axis=1))
    labels = np.array([rng.choice(classes, p=row) for row in true])
    return prior + power * likelihood, np.broadcast_to(prior, (n, classes)), labels, rng.random(n) + 0.5


@pytest.mark.parametrize("seed", range(4))
def test_no_other_temperature_has_a_lower_loss(seed):
    joint, prior, labels, weights = random_rows(seed)

    def loss(u):
        logs = log_softmax(prior + np.exp(u) * (joint - prior), axis=1)
        return -(weights * logs[np.arange(len(labels)), labels]).sum() + u * u / 2

    found = minimize_scalar(loss, bounds=(-3, 3), method="bounded", options={"xatol": 1e-10})
    assert best_temperature(joint, prior, labels, weights) == pytest.approx(np.exp(found.x), rel=2e-5)


def test_it_undoes_a_power():
    joint, prior, labels, _ = random_rows(9, 40_000, power=2.0)
    assert best_temperature(joint, prior, labels, np.ones(len(labels))) == pytest.approx(0.5, abs=0.02)


def test_it_stays_finite_where_no_row_is_wrong():
    joint = np.log([[0.4, 0.1], [0.1, 0.4]] * 50)
    prior = np.log(np.full((100, 2), 0.5))
    assert 1 < best_temperature(joint, prior, np.array([0, 1] * 50), np.ones(100)) < temperature.MOST


def test_labels_and_classes_that_are_impossible_count_nothing():
    joint, prior, labels, weights = random_rows(2)
    wanted = best_temperature(joint, prior, labels, weights)
    impossible = np.vstack([joint, np.full((5, 3), -np.inf)]), np.vstack([prior, prior[:5]])
    found = best_temperature(*impossible, np.append(labels, labels[:5]), np.append(weights, weights[:5]))
    assert found == pytest.approx(wanted)
    further = np.hstack([joint, np.full((400, 1), -np.inf)]), np.hstack([prior, np.full((400, 1), -np.inf)])
    assert best_temperature(*further, labels, weights) == pytest.approx(wanted)


def test_a_part_of_many_rows_suffices(monkeypatch):
    from tanbark.counts import MemoryCounts
    from tanbark.evaluation.leave_one_out import LeaveOneOut
    from tanbark.graph import Dag
    from tanbark.params import Laplace, family_counts, fit

    table = make_table(np.random.default_rng(1), (3, 3, 2, 2), 20_000)
    rows = MemoryCounts(table)
    dag = Dag.augmented(table.schema.names, [(), (0,), (1,)])
    counts = family_counts(dag, rows, max_cells=1 << 20)
    left_out = LeaveOneOut(fit(table.schema, dag, counts, Laplace()), counts, Laplace())
    whole = temperature.fit_temperature(left_out, rows)
    monkeypatch.setattr(temperature, "KEPT", 20_000)
    assert temperature.fit_temperature(left_out, rows) == pytest.approx(whole, rel=0.5)


def test_newton_steps_settle_without_a_bisection(monkeypatch):
    from tanbark.evaluation import leave_one_out_kernels as kernels

    calls, loss = [], kernels.tempered_loss
    monkeypatch.setattr(kernels, "tempered_loss", lambda *arguments: calls.append(1) or loss(*arguments))
    for seed in range(40):
        rng = np.random.default_rng(seed)
        joint, labels = rng.normal(size=(300, 4)) * 3.0, rng.integers(0, 4, 300)
        joint[np.arange(300), labels] += 3.0
        calls.clear()
        best_temperature(joint, np.full((300, 4), -np.log(4.0)), labels, np.ones(300))
        assert len(calls) <= 12
