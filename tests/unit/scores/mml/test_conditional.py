"""Logistic lengths against worked fixtures, an independent twin, exact evidence, and theory."""

import math

import numpy as np
import pytest
from pytest import approx
from scipy.integrate import quad

import fixtures_mml as known
import naive_evidence
import naive_mml
from tanbark.errors import InputError, OptionError
from tanbark.scores import mml
from tanbark.scores.mml import conditional

fixtures = pytest.mark.parametrize(("data", "chosen", "lengths"), known.LENGTHS)
SIX = 6e-7  # the fixtures have six decimals

# Exact lengths of the class under naive Bayes, known to about 0.04.
EVIDENCE = [
    (known.F16, (0,), 10.076), (known.F16, (1,), 11.313), (known.F16, (0, 1), 9.018), (known.F16, (0, 1, 2), 9.68),
    (known.F12, (0,), 14.684), (known.F12, (1,), 10.120), (known.F12, (0, 1), 10.43),
]  # fmt: skip


@fixtures
def test_logistic_lengths(data, chosen, lengths):
    columns, states, labels, n_classes = data
    sizes = [states[j] for j in chosen]
    configs, counts = known.cells(columns, chosen, labels, n_classes)
    assert mml.nb_logit(configs, counts, sizes).total == approx(lengths["nb_logit"], abs=SIX)
    assert mml.logit(configs, counts, sizes).total == approx(lengths["logit"], abs=SIX)
    plain = mml.logit(configs, counts, sizes, curved_prior=False)
    assert plain.total == approx(lengths["logit plain"], abs=SIX)
    part = columns[list(chosen)]
    zero_sum, d = naive_mml.zero_sum_logit(part, sizes, labels, n_classes)
    assert zero_sum + mml.lattice(d) == approx(lengths["logit plain"], abs=SIX)
    for name, options in (("nb_logit", {}), ("logit", {"sigma": 3}), ("logit plain", {"sigma": 3, "curved": False})):
        nll, prior, fisher, d = naive_mml.logit(part, sizes, labels, n_classes, **options)
        assert nll + prior + fisher + mml.lattice(d) == approx(lengths[name], abs=SIX)


def test_parts_of_logistic_lengths():
    for data, d, parts in (
        (known.F16, 5, (5.381235, 6.782316, 2.381325, -3.954921)),
        (known.F12, 8, (4.007230, 11.649936, 2.042839, -6.542062)),
    ):
        columns, states, labels, n_classes = data
        found = mml.nb_logit(*known.cells(columns, range(len(states)), labels, n_classes), states)
        assert (found.nll, found.neg_log_prior, found.half_logdet, found.lattice) == approx(parts, abs=SIX)
        assert found.d == d
        assert naive_mml.logit(columns, states, labels, n_classes) == approx((*parts[:3], d), abs=SIX)
        assert found.second_part == found.nll
        assert found.first_part + found.second_part == approx(found.total)
        assert found.to_dict()["valid"] is True


def test_the_true_conditional_information_is_singular():
    """In the coordinates of the tables it has rank m + 1 of 2 m + 1, so that its determinant is zero."""
    counts, configs = known.NOTE_COUNTS, known.NOTE_CONFIGS
    classes = counts.sum(axis=0)
    q = (classes + 1) / (classes.sum() + 2)
    ones = configs.T @ counts
    tables = (np.stack([classes - ones, ones], axis=2) + 1) / (classes[:, None] + 2)
    matrix = np.zeros((7, 7))
    for config, n in zip(configs, counts.sum(axis=1), strict=True):
        chosen = np.array([tables[j, :, x] for j, x in enumerate(config)])
        joint = q * chosen.prod(axis=0)
        p = joint[0] / joint.sum()
        sign = np.where(config == 0, 1.0, -1.0)
        slope = np.concatenate(
            [[1 / (q[0] * q[1])], np.column_stack([sign / chosen[:, 0], -sign / chosen[:, 1]]).ravel()]
        )
        matrix += n * p * (1 - p) * np.outer(slope, slope)
    values = np.linalg.eigvalsh(matrix)
    assert (values > 1e-9 * values[-1]).sum() == 4
    assert values[0] > -1e-9 * values[-1]


@pytest.mark.parametrize(("data", "chosen", "exact"), EVIDENCE)
def test_the_exact_evidence(data, chosen, exact):
    columns, states, labels, n_classes = data
    cells, sizes = known.cells(columns, chosen, labels, n_classes), [states[j] for j in chosen]
    assert naive_evidence.sobol(*cells, sizes, n_classes, power=16) == approx(exact, abs=0.12)
    assert naive_evidence.swarm(*cells, sizes, n_classes, particles=400) == approx(exact, abs=0.25)
    if n_classes == max(sizes) == 2:
        assert naive_evidence.around_the_best(*cells) == approx(exact, abs=0.02)
    assert mml.unstated(mml.nb_logit(*cells, sizes)).total == approx(exact, abs=0.36 + 0.04)


def test_the_exact_evidence_of_the_notes_rows():
    cells = known.NOTE_CONFIGS, known.NOTE_COUNTS
    for seed in (0, 1):
        assert naive_evidence.around_the_best(*cells, seed=seed) == approx(414.44, abs=0.01)
    assert naive_evidence.swarm(*cells, (2, 2, 2), 2, particles=400) == approx(414.44, abs=0.6)
    assert mml.unstated(mml.nb_logit(*cells, (2, 2, 2))).total == approx(414.444, abs=0.165)


def test_the_prior_of_a_slope():
    """Two uniform tables give a slope whose density is known; the normal one is within 0.15 nits of it up to 5."""
    log = naive_evidence.log_logistic
    variance = 4 * conditional.nb_variances((2,), 1.0, 1.0)[1]
    assert variance == approx(2 * math.pi**2 / 3)
    for b in (0.5, 2.0, 5.0):
        grown = math.exp(b)
        exact = grown * ((b - 2) * grown + b + 2) / (grown - 1) ** 3
        summed = quad(lambda v, b=b: math.exp(log(v) + log(v + b)), -40, 40)[0]
        assert exact == approx(summed, rel=1e-8)
        normal = math.exp(-0.5 * b**2 / variance) / math.sqrt(2 * math.pi * variance)
        assert abs(math.log(exact / normal)) < 0.15


def _tables(theta, config):
    """P(class, features) for a binary class from the class's chance and two chances for every feature."""
    q, chances = theta[0], theta[1:].reshape(-1, 2)
    joint = np.array([q, 1 - q])
    for x, chance in zip(config, chances, strict=True):
        joint = joint * (chance if x == 0 else 1 - chance)
    return joint


@pytest.mark.parametrize("m", [1, 2, 3])
def test_the_true_information_of_the_tables_is_singular(m):
    """By the outer products of the log-odds' gradients, and by complex steps of the posterior."""
    rng = np.random.default_rng(m)
    theta, configs = rng.uniform(0.1, 0.9, 2 * m + 1), rng.integers(0, 2, (60, m))
    by_gradient, by_steps = np.zeros((2, 2 * m + 1, 2 * m + 1))
    for config in configs:
        joint = _tables(theta, config)
        p = joint[0] / joint.sum()
        sign = np.where(config == 0, 1.0, -1.0)
        seen = np.where(config[:, None] == 0, theta[1:].reshape(-1, 2), 1 - theta[1:].reshape(-1, 2))
        slope = np.concatenate(
            [[1 / (theta[0] * (1 - theta[0]))], (sign[:, None] * [1, -1] / seen).ravel()]
        )  # fmt: skip
        by_gradient += p * (1 - p) * np.outer(slope, slope)
        stepped = [_tables(theta + 1e-30j * unit, config) for unit in np.eye(2 * m + 1)]
        moved = np.array([(new / new.sum()).imag / 1e-30 for new in stepped])
        by_steps += (moved / (joint / joint.sum())) @ moved.T
    assert by_steps == approx(by_gradient, rel=1e-9, abs=1e-9 * by_gradient.max())
    values = np.linalg.eigvalsh(by_gradient)
    assert values[0] > -1e-9 * values[-1]
    assert (values > 1e-9 * values[-1]).sum() <= m + 1


def test_a_feature_with_one_state_seen_of_two():
    """It ties for a full table, and is longer by all other lengths."""
    columns, states, labels, n_classes = known.F16
    for chosen in ((), (0,), (0, 1)):
        sizes = [states[j] for j in chosen]
        configs, counts = known.cells(columns, chosen, labels, n_classes)
        more = np.hstack([configs, np.zeros((len(configs), 1), int)])
        assert mml.cpt(counts).total == approx(mml.cpt(known.cells(columns, chosen, labels, 2)[1]).total)
        longer = mml.nb_logit(more, counts, [*sizes, 2]).total - mml.nb_logit(configs, counts, sizes).total
        assert 0.2 < longer < 0.5
        rows = np.vstack([columns[list(chosen)], np.zeros((1, 16), int)])
        adaptive = mml.nb_adaptive(rows, labels, [*sizes, 2], 2).total
        assert 0.1 < adaptive - mml.nb_adaptive(rows[:-1], labels, sizes, 2).total < 0.5
    assert mml.nb_gain([[9, 7], [0, 0]]) < 0


def test_a_class_that_never_comes():
    columns, states, labels, _ = known.F16
    configs, counts = known.cells(columns, range(3), labels, 3)
    for length in (
        mml.cpt(counts), mml.nb_logit(configs, counts, states), mml.logit(configs, counts, states),
        mml.nb_adaptive(columns, labels, states, 3), mml.mbp(columns, labels, states, 3),
    ):  # fmt: skip
        assert math.isfinite(length.total)


def test_wrong_options_raise():
    with pytest.raises(OptionError, match="sigma"):
        mml.logit([[0]], [[1, 1]], [2], sigma=0)
    with pytest.raises(OptionError, match="alpha"):
        mml.nb_logit([[0]], [[1, 1]], [2], alpha=-1.0)
    with pytest.raises(InputError, match="2 features"):
        mml.nb_logit([[0]], [[1, 1]], [2, 2])
