"""The scores of the note of June 2017: the numbers that it printed, and why they are not message lengths."""

import math

import numpy as np
import pytest
from pytest import approx

import fixtures_mml as known
import naive_mml
from tanbark.errors import InputError
from tanbark.scores import mml
from tanbark.structure.blanket.scores import Rows
from tanbark.structure.blanket.search import search

note = pytest.importorskip("benchmarks.studies.mml_note", reason="a source package holds no studies")

SIX = 6e-7  # the note has six decimals


def test_the_note():
    found = note.note_nb(known.NOTE_CONFIGS, known.NOTE_COUNTS, legacy_strict=True)
    assert found.total == approx(435.426335, abs=SIX)
    assert found.nll == approx(403.187751, abs=SIX)
    assert -found.neg_log_prior == approx(-11.396532, abs=SIX)
    assert found.half_logdet == approx(26.527608, abs=SIX)
    assert found.lattice == approx(-5.685556, abs=SIX)
    assert found.first_part == approx(32.23858, abs=1e-5)
    eigenvalues = [-2398.82, -1482.76, 1046.51, 1211.62, 1307.81, 2180.01, 8558.64]
    assert found.eigenvalues == approx(eigenvalues, abs=0.006)
    assert not found.valid
    nll, log_prior, matrix = naive_mml.note_nb(known.NOTE_ROWS, known.NOTE_LABELS)
    assert (nll, log_prior) == approx((403.187751, -11.396532), abs=SIX)
    assert 0.5 * math.log(np.linalg.det(matrix)) == approx(26.527608, abs=SIX)
    entries = [matrix[0, 0], matrix[0, 1], matrix[1, 1], matrix[1, 2], matrix[1, 3]]
    assert entries == approx([5498.5985, -2300.0528, 1683.1661, -798.8991, -840.8908], abs=6e-5)


def test_the_notes_logistic_model():
    """The printed 409.3018 has half a log determinant and one coefficient in its prior; 413.2949 has all of them."""
    nll, beta, eigenvalues, scale = naive_mml.note_logit(known.NOTE_ROWS, known.NOTE_LABELS)
    assert beta == approx([-1.17168233, -1.29683228, 1.74068091, -0.70408587], abs=6e-9)
    assert nll == approx(403.029159, abs=SIX)
    logdet = np.log(eigenvalues).sum()
    assert logdet == approx(14.815301, abs=SIX)
    lattice = 2 * (1 + math.log(0.07609))
    printed = nll + beta[0] ** 2 / 18 + scale + 0.5 * (0.5 * logdet) + lattice
    assert printed == approx(409.301764, abs=SIX)
    assert nll + (beta @ beta) / 18 + scale + 0.5 * logdet + lattice == approx(413.2949, abs=6e-5)
    found = note.note_logit(known.NOTE_CONFIGS, known.NOTE_COUNTS, legacy_strict=True)
    assert found.total == approx(409.301764, abs=SIX)
    assert found.nll == approx(403.029159, abs=SIX)
    assert 2 * found.half_logdet == approx(7.407651, abs=SIX)
    assert found.eigenvalues == approx(eigenvalues)
    assert not found.valid
    mended = note.note_logit(known.NOTE_CONFIGS, known.NOTE_COUNTS, legacy_strict=True, mended=True)
    assert mended.total == approx(413.2949, abs=6e-5)
    assert 2 * mended.half_logdet == approx(14.815301, abs=SIX)


def test_the_notes_logistic_model_depends_on_names():
    """It is no message length: call the first states the second, and even the mended one changes."""
    found = note.note_logit(known.NOTE_CONFIGS, known.NOTE_COUNTS, legacy_strict=True, mended=True).total
    turned = note.note_logit(1 - known.NOTE_CONFIGS, known.NOTE_COUNTS, legacy_strict=True, mended=True).total
    assert abs(turned - found) > 0.03
    assert math.isnan(note.note_logit(known.NOTE_CONFIGS, known.NOTE_COUNTS).total)


@pytest.mark.parametrize("counts", [[[3, 0], [0, 3]], [[3, 3], [0, 3]], [[0, 0], [3, 3]], [[0, 0], [0, 0]]])
def test_the_notes_logistic_model_without_a_maximum(counts):
    assert math.isnan(note.note_logit([[0], [1]], counts, legacy_strict=True).total)


def test_the_note_gives_no_number_by_default():
    found = note.note_nb(known.NOTE_CONFIGS, known.NOTE_COUNTS)
    assert math.isnan(found.total)
    assert found.determinant_sign == 1


@pytest.mark.parametrize(
    ("chosen", "nll", "log_prior"),
    [((0,), 7.715690730, -4.771845421), ((1,), 9.050411229, -4.520530993), ((0, 1), 5.884596522, -7.893659533)],
)
def test_the_note_on_sixteen_rows(chosen, nll, log_prior):
    columns, _, labels, _ = known.F16
    found = note.note_nb(*known.cells(columns, chosen, labels, 2), legacy_strict=True)
    assert (found.nll, -found.neg_log_prior) == approx((nll, log_prior), abs=1e-9)
    assert naive_mml.note_nb(columns[list(chosen)], labels)[:2] == approx((nll, log_prior), abs=1e-9)
    assert not found.valid
    if len(chosen) == 2:
        assert found.half_logdet == approx(8.859698848, abs=1e-8)
        assert found.lattice == approx(2.5 * (1 + math.log(0.07465)), abs=1e-9)
        assert found.total == approx(18.650593, abs=SIX)
        eigenvalues = [-26.6922, -14.7202, 32.0720, 41.3422, 95.1960]
        assert found.eigenvalues == approx(eigenvalues, abs=6e-5)
        matrix = naive_mml.note_nb(columns[:2], labels)[2]
        assert np.linalg.eigvalsh(matrix) == approx(eigenvalues, abs=6e-5)
        assert 0.5 * math.log(np.linalg.det(matrix)) == approx(8.859698848, abs=1e-8)
        assert found.lattice == approx(-3.987361889, abs=2e-9)


def test_what_the_note_cannot_read():
    with pytest.raises(InputError, match="two states"):
        note.note_nb([[2]], [[1, 1]])
    with pytest.raises(InputError, match="two states"):
        note.note_nb([[1]], [[1, 1, 3]])


@pytest.mark.parametrize("m", [1, 2, 3, 4, 5])
def test_the_notes_matrix_is_singular_or_indefinite(m):
    rng = np.random.default_rng(m)
    for _ in range(40):
        labels = rng.integers(0, 2, 200)
        chances = rng.uniform(size=(m, 2))
        columns = (rng.random((m, 200)) < chances[:, labels]).astype(int)
        found = note.note_nb(*known.cells(columns, range(m), labels, 2), legacy_strict=True)
        values = np.array(found.eigenvalues)
        assert not found.valid
        if m == 1:
            assert values[0] > -1e-9 * values[-1]
            assert (values > 1e-9 * values[-1]).sum() <= 2
        else:
            assert values[0] < -1e-6 * values[-1]


def test_the_notes_lattice_beyond_its_table():
    columns = np.random.default_rng(0).integers(0, 2, (4, 50))
    found = note.note_nb(*known.cells(columns, range(4), columns[0], 2))
    assert found.d == 9
    assert found.lattice == approx(4.5 * (1 + math.log(0.07163)))


def test_the_note_selects_nothing():
    rows = Rows(known.NOTE_ROWS, known.NOTE_LABELS, None, (2, 2, 2), 2)
    chosen, trace = search(note.NoteScorer(rows, strict=False), range(3), ("X1", "X2", "X3"))
    assert chosen == []
    assert trace.reason == "no candidate has a valid length"
    assert all(math.isnan(length) for _, length in trace[-1].tried)


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
