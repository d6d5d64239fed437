"""Every number of the worked fixtures by the library and by an independent twin."""

import math

import numpy as np
import pytest
from pytest import approx

import fixtures_mml as known
import naive_mml
from tanbark.errors import InputError, OptionError
from tanbark.scores import mml

fixtures = pytest.mark.parametrize(("data", "chosen", "lengths"), known.LENGTHS)
SIX = 6e-7  # the fixtures have six decimals


@fixtures
def test_tables(data, chosen, lengths):
    columns, states, labels, n_classes = data
    counts = known.cells(columns, chosen, labels, n_classes)[1]
    every = math.prod(states[j] for j in chosen)
    assert mml.cpt(counts).total == approx(lengths["cpt none"], abs=SIX)
    assert mml.cpt(counts, stated="observed").total == approx(lengths["cpt observed"], abs=SIX)
    assert mml.cpt(counts, stated="all", n_configs=every).total == approx(lengths["cpt all"], abs=SIX)
    plain = naive_mml.cpt(columns[list(chosen)], labels, n_classes)
    assert plain == approx(lengths["cpt none"], abs=SIX)
    stated = 0.5 * math.log(math.pi * math.e / 6) * (n_classes - 1)
    assert plain + stated * len(counts) == approx(lengths["cpt observed"], abs=SIX)
    assert plain + stated * every == approx(lengths["cpt all"], abs=SIX)


@fixtures
def test_naive_bayes_told_jointly(data, chosen, lengths):
    columns, states, labels, n_classes = data
    tables = [known.cells(columns, (j,), labels, n_classes)[1] for j in range(len(states))]
    found = mml.nb_joint(np.bincount(labels, minlength=n_classes), tables, chosen)
    assert found.total == approx(lengths["nb_joint"], abs=SIX)
    assert naive_mml.nb_joint(columns, states, labels, n_classes, chosen) == approx(lengths["nb_joint"], abs=SIX)


@fixtures
def test_adaptive_codes(data, chosen, lengths):
    columns, states, labels, n_classes = data
    part, sizes = columns[list(chosen)], [states[j] for j in chosen]
    assert mml.nb_adaptive(part, labels, sizes, n_classes).total == approx(lengths["nb_adaptive"], abs=SIX)
    assert naive_mml.nb_adaptive(part, sizes, labels, n_classes) == approx(lengths["nb_adaptive"], abs=SIX)
    averaged = mml.mbp(part, labels, sizes, n_classes).total
    assert averaged == approx(lengths["mbp"], abs=SIX)
    slow, members = naive_mml.mbp(part, sizes, labels, n_classes)
    assert slow == approx(lengths["mbp"], abs=SIX)
    assert len(members) == mml.polytrees(len(chosen))
    assert min(members) - 1e-12 <= averaged <= max(members) + 1e-12


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


def test_pieces_of_the_joint_message():
    for data, pieces in (
        (known.F16, [(12.295868, 9.911456), (12.178085, 11.010068), (19.211591, 17.774242)]),
        (known.F12, [(9.393661, 8.881836), (14.963913, 9.664596)]),
    ):
        columns, states, labels, n_classes = data
        for j, (alone, helped) in enumerate(pieces):
            column = [int(x) for x in columns[j]]
            told = [[x for x, y in zip(column, labels, strict=True) if y == k] for k in range(n_classes)]
            slow = [-naive_mml.log_fraction(naive_mml.multistate(part, states[j])) for part in (column, *told)]
            assert (slow[0], sum(slow[1:])) == approx((alone, helped), abs=SIX)
            table = known.cells(columns, (j,), labels, n_classes)[1]
            assert mml.adaptive(table.sum(axis=1)) == approx(alone, abs=SIX)
            assert mml.adaptive(table.T) == approx(helped, abs=SIX)
            assert mml.nb_gain(table) == approx(alone - helped, abs=2e-6)


@pytest.mark.parametrize(
    ("counts", "length", "stated"),
    [([3, 7], 7.185387016, 7.289244179), ([5, 2, 0, 4], 14.740768960, 14.744650875), ([1, 0], math.log(2), None),
     ([9, 0], math.log(10), None)],
)  # fmt: skip
def test_multistates(counts, length, stated):
    assert mml.adaptive(counts) == approx(length, abs=1e-9)
    values = np.repeat(range(len(counts)), counts).tolist()
    for told in (values, values[::-1]):
        assert -naive_mml.log_fraction(naive_mml.multistate(told, len(counts))) == approx(length, abs=1e-9)
    if stated is not None:
        assert mml.mml87(counts).total == approx(stated, abs=1e-9)


@pytest.mark.parametrize(("counts", "more"), [([3, 7], 0.1039), ([30, 70], 0.1687), ([1, 0], -0.311)])
def test_what_stating_a_multistate_adds(counts, more):
    """With one row the stated length is shorter than any code can be."""
    assert mml.mml87(counts).total - mml.adaptive(counts) == approx(more, abs=6e-5 if more > 0 else 6e-4)


def test_what_stating_adds_in_the_end():
    assert approx(0.17648520831, abs=1e-11) == mml.STATED
    assert mml.mml87([0, 0]).total == 0.0
    assert mml.mml87([10**6, 10**6]).total - mml.adaptive([10**6, 10**6]) == approx(mml.STATED, abs=1e-5)


def test_the_lattice_constants_go_on_smoothly():
    steps = np.diff([mml.lattice(d) for d in range(30)])
    assert (steps < 0).all()
    assert abs(steps[9] - steps[10]) < 0.05
    assert mml.lattice(4) == approx(-3.138238, abs=SIX)
    smooth = -4.5 * math.log(2 * math.pi) + 0.5 * math.log(9 * math.pi) - 0.764
    assert mml.lattice(9) == approx(smooth, abs=2e-4)
    for d, moment in ((10, 0.070813), (12, 0.070100), (24, 0.065771)):  # the lattices P10c, K12 and Leech's
        assert mml.lattice(d) == approx(d / 2 * (1 + math.log(moment)), abs=0.04)


def test_the_notes_other_columns():
    """Counts of one state in class B and in class A, and the lengths that the note prints for the two full tables."""
    classes = known.NOTE_COUNTS.sum(axis=0)
    assert classes.tolist() == [813, 187]
    assert (known.NOTE_CONFIGS.T @ known.NOTE_COUNTS).tolist() == [[686, 114], [270, 136], [372, 57]]
    for in_b, in_a, printed in ((55, 88, 469.5881), (36, 571, 405.2573)):
        table = np.array([[in_a, in_b], classes - [in_a, in_b]])
        assert mml.cpt(table, stated="all").total == approx(printed, abs=6e-5)
        values = [np.repeat([0, 1], row).tolist() for row in table]
        slow = -sum(naive_mml.log_fraction(naive_mml.multistate(told, 2)) for told in values)
        assert slow + 2 * 0.17648520831 == approx(printed, abs=6e-5)


def test_the_check_that_the_note_makes():
    """Its nll 403.1599 is that of tables with one row's weight of prior in all, half for each class."""
    rows, labels = known.NOTE_ROWS, known.NOTE_LABELS
    classes = np.bincount(labels)
    told = 0.0
    for config, counts in zip(known.NOTE_CONFIGS, known.NOTE_COUNTS, strict=True):
        joint = (classes + 0.5) / 1001
        for j, x in enumerate(config):
            seen = np.array([(rows[j, labels == y] == x).sum() for y in (0, 1)])
            joint = joint * (seen + 0.25) / (classes + 0.5)
        told -= counts @ np.log(joint / joint.sum())
    assert told == approx(403.159870, abs=SIX)


def test_the_notes_data_by_every_length():
    configs, counts = known.NOTE_CONFIGS, known.NOTE_COUNTS
    for chosen, length in (((), 485.497370), ((0,), 465.121614), ((1,), 439.573952), ((2,), 481.064555)):
        table = known.cells(known.NOTE_ROWS, chosen, known.NOTE_LABELS, 2)[1]
        assert mml.cpt(table, stated="all").total == approx(length, abs=SIX)
        slow = naive_mml.cpt(known.NOTE_ROWS[list(chosen)], known.NOTE_LABELS, 2)
        assert slow + 0.17648520831 * 2 ** len(chosen) == approx(length, abs=SIX)
    assert naive_mml.cpt(known.NOTE_ROWS, known.NOTE_LABELS, 2) == approx(421.248847, abs=SIX)
    assert naive_mml.cpt(known.NOTE_ROWS[[1, 0]], known.NOTE_LABELS, 2) == approx(421.0414, abs=6e-5)
    assert mml.cpt(counts, stated="all").total == approx(422.660728, abs=SIX)
    assert mml.cpt(counts).total == approx(421.248847, abs=SIX)
    assert mml.logit(configs, counts, (2, 2, 2)).total == approx(417.917470, abs=SIX)
    found = mml.nb_logit(configs, counts, (2, 2, 2))
    parts = (found.total, found.nll, found.neg_log_prior, found.half_logdet, found.lattice)
    assert parts == approx((415.140370, 403.032226, 5.395526, 9.850856, -3.138238), abs=SIX)
    assert mml.unstated(found).total == approx(414.6029, abs=6e-5)
    adaptive = mml.nb_adaptive(known.NOTE_ROWS, known.NOTE_LABELS, (2, 2, 2), 2)
    assert adaptive.total == approx(414.199023, abs=SIX)
    slow = naive_mml.nb_adaptive_floats(known.NOTE_ROWS, (2, 2, 2), known.NOTE_LABELS, 2)
    assert slow == approx(414.199023, abs=SIX)
    for sigma, stated in ((None, 415.140370), (3, 417.917470)):
        nll, prior, fisher, d = naive_mml.logit(known.NOTE_ROWS, (2, 2, 2), known.NOTE_LABELS, 2, sigma=sigma)
        assert nll + prior + fisher + mml.lattice(d) == approx(stated, abs=SIX)
        if sigma is None:
            assert (nll, prior, fisher) == approx((403.032226, 5.395526, 9.850856), abs=SIX)
            assert nll + prior + fisher - 2 * math.log(2 * math.pi) == approx(414.6029, abs=6e-5)
    for chosen, length in (((1,), 439.4526), ((1, 0), 419.7199)):
        rows = known.NOTE_ROWS[list(chosen)]
        nll, prior, fisher, d = naive_mml.logit(rows, (2,) * len(chosen), known.NOTE_LABELS, 2)
        assert nll + prior + fisher + mml.lattice(d) == approx(length, abs=6e-5)


def test_the_order_of_rows_in_the_adaptive_code():
    """Over orders it is 413.6, give or take 1.0; the mean by the library, single orders by both."""
    rng, lengths = np.random.default_rng(0), []
    for k in range(300):
        order = rng.permutation(1000)
        rows, labels = known.NOTE_ROWS[:, order], known.NOTE_LABELS[order]
        lengths.append(mml.nb_adaptive(rows, labels, (2, 2, 2), 2).total)
        if k < 5:
            assert naive_mml.nb_adaptive_floats(rows, (2, 2, 2), labels, 2) == approx(lengths[-1], abs=1e-8)
    assert np.mean(lengths) == approx(413.6, abs=0.2)
    assert np.std(lengths) == approx(1.03, abs=0.15)


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


def test_wrong_options():
    with pytest.raises(OptionError, match="stated"):
        mml.cpt([[1, 1]], stated="some")
    with pytest.raises(OptionError, match="sigma"):
        mml.logit([[0]], [[1, 1]], [2], sigma=0)
    with pytest.raises(OptionError, match="alpha"):
        mml.nb_logit([[0]], [[1, 1]], [2], alpha=-1.0)
    with pytest.raises(InputError, match="2 features"):
        mml.nb_logit([[0]], [[1, 1]], [2, 2])


@pytest.mark.parametrize("counts", [[3, 7], [5, 2, 0, 4], [1, 1], [9, 0, 2]])
def test_a_stated_multinomial_by_its_fisher_matrix(counts):
    """The same length from the determinant of the whole matrix instead of its closed form."""
    n = np.array(counts, float)
    size, d = n.sum(), len(n) - 1
    theta = (n + 0.5) / (size + len(n) / 2)
    fisher = size * (np.diag(1 / theta[:-1]) + 1 / theta[-1])
    length = -(n * np.log(theta)).sum() - math.lgamma(len(n)) + 0.5 * np.linalg.slogdet(fisher)[1] + mml.lattice(d)
    assert mml.mml87(counts).total == approx(length, abs=1e-9)


@pytest.mark.parametrize(
    ("d", "moment"),
    [(1, 1 / 12), (2, 5 / (36 * math.sqrt(3))), (3, 19 / (192 * 2 ** (1 / 3))), (4, 13 / (120 * math.sqrt(2)))],
)
def test_lattices_by_their_second_moments(d, moment):
    """Conway and Sloane (1999), table 2.3: the integers, and the lattices A2, A3* and D4."""
    assert mml.lattice(d) == approx(d / 2 * (1 + math.log(moment)), abs=1e-5)
