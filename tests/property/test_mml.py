"""What must hold of message lengths whatever the rows."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pytest import approx

import naive_mml
from fixtures_mml import cells
from strategies import seeds
from tanbark.scores import mml
from tanbark.scores.mml import conditional, sequential
from tanbark.structure.blanket.scores import SCORERS, Options, Rows

CONDITIONAL = ["cpt", "nb_logit", "logit", "nb_adaptive", "mbp"]


@st.composite
def row_sets(draw, *, max_rows=40, classes=(1, 2, 3), gaps=False):
    rng = np.random.default_rng(draw(seeds))
    states = tuple(draw(st.lists(st.integers(1, 4), min_size=1, max_size=3)))
    n, n_classes = draw(st.integers(0, max_rows)), draw(st.sampled_from(classes))
    labels = rng.integers(0, n_classes, n)
    codes = np.array([(labels * rng.integers(0, 2, n) + rng.integers(0, r, n)) % r for r in states])
    if gaps:
        codes = np.where(rng.random(codes.shape) < 0.2, np.array(states)[:, None], codes)
    return Rows(codes.reshape(len(states), n), labels, None, states, n_classes)


def every(rows):
    return tuple(range(len(rows.states)))


def length(name, rows, chosen=None, **options):
    return SCORERS[name](rows, Options(**options)).length(every(rows) if chosen is None else chosen).total


@given(row_sets(gaps=True), seeds)
def test_names_of_states_and_order_of_features_do_not_matter(rows, seed):
    rng = np.random.default_rng(seed)
    turned = rng.permutation(len(rows.states))
    codes = []
    for j in turned:
        names = np.append(rng.permutation(rows.states[j]), rows.states[j])
        codes.append(names[rows.codes[j]])
    labels = rng.permutation(rows.n_classes)[rows.labels]
    states = tuple(rows.states[j] for j in turned)
    other = Rows(np.array(codes).reshape(len(states), -1), labels, None, states, rows.n_classes)
    for name in [*CONDITIONAL, "nb_joint"]:
        assert length(name, other) == approx(length(name, rows), abs=1e-9)


@given(row_sets(gaps=True), seeds)
def test_the_order_of_rows_matters_to_adaptive_codes_only(rows, seed):
    order = np.random.default_rng(seed).permutation(rows.n_rows)
    other = Rows(rows.codes[:, order], rows.labels[order], None, rows.states, rows.n_classes)
    for name in ("cpt", "nb_logit", "logit", "nb_joint"):
        assert length(name, other) == approx(length(name, rows), abs=1e-9)


@given(row_sets())
def test_a_constant_column_changes_nothing(rows):
    codes = np.vstack([rows.codes, np.zeros((1, rows.n_rows), np.int64)])
    wider = Rows(codes, rows.labels, None, (*rows.states, 1), rows.n_classes)
    for name in ("cpt", "nb_logit", "logit", "nb_adaptive", "nb_joint"):
        assert length(name, wider) == approx(length(name, rows), abs=1e-9)


@given(row_sets(gaps=True))
def test_codes_have_no_negative_length_and_start_from_the_class_alone(rows):
    alone = length("cpt", rows, ())
    for name in ("nb_adaptive", "mbp"):
        assert length(name, rows, ()) == approx(alone, abs=1e-9)
    for name in ("cpt", "nb_joint", "nb_adaptive", "mbp"):
        assert length(name, rows) >= -1e-9
    for name in [*CONDITIONAL, "nb_joint"]:
        assert math.isfinite(length(name, rows))


@given(row_sets(gaps=True))
def test_a_step_is_the_difference_of_two_lengths(rows):
    for name in [*CONDITIONAL, "nb_joint"]:
        scorer = SCORERS[name](rows, Options())
        for chosen in ((), (0,)):
            outside = [j for j in every(rows) if j not in chosen]
            whole = [SCORERS[name](rows, Options()).length((*chosen, j)).total for j in outside]
            assert scorer.extended(chosen, outside) == approx(whole, abs=1e-6)


@settings(max_examples=30)
@given(row_sets(max_rows=25, classes=(2, 3)))
def test_fast_codes_agree_with_fractions(rows):
    part = rows.states, rows.labels, rows.n_classes
    assert length("cpt", rows) == approx(naive_mml.cpt(rows.codes, rows.labels, rows.n_classes), abs=1e-9)
    assert length("nb_adaptive", rows) == approx(naive_mml.nb_adaptive(rows.codes, *part), abs=1e-9)
    joint = naive_mml.nb_joint(rows.codes, *part, set(every(rows)))
    assert length("nb_joint", rows) == approx(joint, abs=1e-9)


@given(row_sets(classes=(2, 3)))
def test_stating_more_costs_more(rows):
    none, observed, all_of_them = (length("cpt", rows, stated=word) for word in ("none", "observed", "all"))
    assert none <= observed <= all_of_them + 1e-12
    free = (rows.n_classes - 1) * math.prod(rows.states)
    assert all_of_them - none == approx(mml.STATED * free)


@given(row_sets(classes=(2,)))
def test_two_classes_are_a_case_of_many(rows):
    """Told by its log-odds alone, with a scalar for every row."""
    chosen = every(rows)
    configs, counts = cells(rows.codes, chosen, rows.labels, 2)
    found = mml.nb_logit(configs, counts, rows.states)
    parts = [conditional.feature_contrasts(configs[:, j], rows.states[j]) for j in chosen]
    design = np.hstack([np.ones((len(configs), 1)), *parts])
    variances = conditional.nb_variances(rows.states, 1.0, 1.0)
    at, n = np.zeros(design.shape[1]), counts.sum(axis=1)
    for _ in range(80):
        p = 1 / (1 + np.exp(-math.sqrt(2) * design @ at))
        slope = design.T @ (n * p - counts[:, 0]) * math.sqrt(2) + at / variances
        bend = 2 * (design.T * (n * p * (1 - p))) @ design + np.diag(1 / variances)
        step = np.linalg.solve(bend, slope)
        at = at - step * min(1.0, 3 / (1e-12 + np.abs(step).max()))
    nll = -(counts * np.log(np.column_stack([p, 1 - p]))).sum()
    prior = 0.5 * (at**2 / variances).sum() + 0.5 * np.log(2 * math.pi * variances).sum()
    total = nll + prior + 0.5 * np.linalg.slogdet(bend)[1] + mml.lattice(len(at))
    assert found.total == approx(total, abs=1e-7)


@given(row_sets(gaps=True))
def test_the_search_ends_at_the_minimum(rows):
    configs, counts = cells(rows.codes, every(rows), rows.labels, rows.n_classes)
    parts = [conditional.feature_contrasts(configs[:, j], r) for j, r in enumerate(rows.states)]
    design = np.hstack([np.ones((len(configs), 1)), *parts])
    variances = conditional.nb_variances(rows.states, 1.0, 1.0)
    at = conditional.message(design, counts, variances)[1]
    problem = conditional.PenalisedLikelihood(design, counts.T, variances)
    assert np.abs(problem.gradient(problem.state(at))).max(initial=0.0) < 1e-6


def test_nothing_to_tell():
    empty = np.zeros((0, 3))
    found = mml.nb_logit(empty, np.zeros((0, 2)), (2, 2, 2))
    assert found.total == approx(0.537516, abs=1e-6)
    assert mml.unstated(found).total == approx(0.0, abs=1e-12)
    assert mml.cpt(np.zeros((4, 2))).total == 0.0
    assert mml.cpt(np.zeros((4, 2)), stated="all").total == approx(4 * mml.STATED)
    assert mml.nb_adaptive(np.zeros((1, 0)), [], [2], 2).total == 0.0
    assert mml.mbp(np.zeros((1, 0)), [], [2], 2).total == approx(0.0, abs=1e-12)
    assert mml.nb_joint([0, 0], [np.zeros((3, 2))]).total == 0.0


def test_a_class_that_a_feature_tells_apart():
    labels = np.repeat([0, 1], 5000)
    rows = Rows(labels[None], labels, None, (2,), 2)
    for name in CONDITIONAL:
        assert 0 < length(name, rows) < 40
    assert length("nb_logit", rows) < length("nb_logit", rows, ()) - 6000


def test_an_unused_state_is_paid_for_by_the_full_table_only():
    rng = np.random.default_rng(0)
    codes, labels = rng.integers(0, 2, (2, 60)), rng.integers(0, 3, 60)
    tight, wide = Rows(codes, labels, None, (2, 2), 3), Rows(codes, labels, None, (3, 2), 3)
    for word in ("none", "observed"):
        assert length("cpt", wide, stated=word) == approx(length("cpt", tight, stated=word))
    grown = length("cpt", wide, stated="all") - length("cpt", tight, stated="all")
    assert grown == approx(mml.STATED * 2 * 2)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_prior_of_the_log_odds_has_the_moments_of_the_tables(n_classes):
    rng, states = np.random.default_rng(1), (2, 3)
    draws = 200_000
    prior = np.log(rng.dirichlet(np.ones(n_classes), draws))
    basis = conditional.contrasts(n_classes)
    intercept, slopes = prior.copy(), []
    for r in states:
        table = np.log(rng.dirichlet(np.ones(r), (draws, n_classes)))
        intercept += table.mean(axis=2)
        slopes.append(np.einsum("dyk,kc,ya->dca", table, conditional.contrasts(r), basis).reshape(draws, -1))
    found = [(intercept @ basis).var(axis=0), *(part.var(axis=0) for part in slopes)]
    variances = conditional.nb_variances(states, 1.0, 1.0)
    assert found[0] == approx(np.full(n_classes - 1, variances[0]), rel=0.03)
    for part in found[1:]:
        assert part == approx(np.full(len(part), variances[1]), rel=0.03)


def test_polytrees_are_drawn_evenly():
    rng = np.random.default_rng(3)
    all_of_them = list(sequential.every_polytree(3))
    drawn = [sequential.draw_polytree(3, rng) for _ in range(23_000)]
    counts = np.array([drawn.count(roles) for roles in all_of_them])
    assert counts.sum() == 23_000
    assert ((counts - 1000) ** 2 / 1000).sum() < 60


def test_more_polytrees_than_can_be_tried_are_sampled():
    rng = np.random.default_rng(5)
    codes, labels = rng.integers(0, 2, (5, 80)), rng.integers(0, 2, 80)
    first = mml.mbp(codes, labels, (2,) * 5, 2)
    assert first.total == mml.mbp(codes, labels, (2,) * 5, 2).total
    whole = mml.mbp(codes, labels, (2,) * 5, 2, most=1000).total
    assert first.total == approx(whole, abs=2.0)


def test_family_scores_add_up_to_arc_gains():
    rng = np.random.default_rng(7)
    n = rng.integers(0, 9, (3, 4, 2))
    forth, back = mml.arc_gains(n)
    alone = mml.family_score(n.sum(axis=0).T)
    helped = mml.family_score(n.transpose(0, 2, 1).reshape(-1, 4))
    assert float(forth) == approx(helped - alone)
    assert float(back) == approx(
        mml.family_score(n.transpose(1, 2, 0).reshape(-1, 3)) - mml.family_score(n.sum(axis=1).T)
    )
    sparse = mml.sparse_arc_gains(n[n > 0], n.sum(axis=1), n.sum(axis=0))
    assert sparse == approx((float(forth), float(back)))
