import math
from xml.etree import ElementTree

import numpy as np
import polars as pl
import pytest

import tanbark as tb
from fixtures_small import f500
from tanbark.estimators.reports.arc_report import MEASURES, ArcReport
from tanbark.scores import bdeu, log_likelihood
from tanbark.scores.mml import family_score

ROWS = f500()
X, Y = ROWS[:, 1:], ROWS[:, 0]


@pytest.fixture(scope="module")
def report():
    return tb.arc_report(tb.TAN(criterion="bic").fit(X, Y), X, Y, n_bootstrap=20, random_state=0)


def table(*columns):
    sizes = [int(ROWS[:, c].max()) + 1 for c in columns]
    out = np.zeros(sizes)
    np.add.at(out, tuple(ROWS[:, c] for c in columns), 1)
    return out


def test_every_pair_is_told_once(report):
    clf = tb.TAN(criterion="bic").fit(X, Y)
    pairs = [frozenset((arc.parent, arc.child)) for arc in report]
    assert len(report) == len(set(pairs)) == 15
    kept = {(arc.parent, arc.child) for arc in report if arc.kept}
    assert kept == set(clf.dag_.arcs())
    assert [arc.kept for arc in report] == sorted((arc.kept for arc in report), reverse=True)


def test_the_measures_are_differences_of_scores(report):
    for arc in report:
        child, parent = (0 if name == "class" else int(name[1:]) + 1 for name in (arc.child, arc.parent))
        known = [0] if arc.given else []
        n = table(child, parent, *known).reshape(int(ROWS[:, child].max()) + 1, int(ROWS[:, parent].max()) + 1, -1)
        helped, alone = n.transpose(2, 1, 0).reshape(-1, n.shape[0]), n.sum(axis=1).T
        gain = log_likelihood(helped) - log_likelihood(alone)
        assert arc.log_likelihood == pytest.approx(gain, abs=1e-8)
        assert arc.cmi == pytest.approx(gain / 500, abs=1e-10)
        assert arc.aic == pytest.approx(gain - arc.parameters, abs=1e-8)
        assert arc.bic == pytest.approx(gain - 0.5 * math.log(500) * arc.parameters, abs=1e-8)
        assert arc.bdeu == pytest.approx(bdeu(helped) - bdeu(alone), abs=1e-8)
        assert arc.mml == pytest.approx(family_score(helped) - family_score(alone), abs=1e-8)
        assert arc.parameters == helped.size - len(helped) - alone.size + len(alone)
        assert 0 <= arc.bootstrap <= 1


def test_bootstrap(report):
    shares = {(arc.parent, arc.child): arc.bootstrap for arc in report}
    assert all(share == 1 for (parent, _), share in shares.items() if parent == "class")
    strongest = max((arc for arc in report if arc.parent != "class" and arc.kept), key=lambda arc: arc.mml)
    assert strongest.bootstrap > 0.9
    clf = tb.TAN(criterion="bic").fit(X, Y)
    again = tb.arc_report(clf, X, Y, n_bootstrap=20, random_state=0)
    assert again == report
    without = tb.arc_report(clf, X, Y, n_bootstrap=0)
    assert all(math.isnan(arc.bootstrap) for arc in without)


def test_given_the_parents():
    clf = tb.KDB(max_parents=2).fit(X, Y)
    report = tb.arc_report(clf, X, Y, given="parents", n_bootstrap=0)
    families = clf.network_.families()
    for arc in report:
        assert set(arc.given) == set(families[arc.child]) - {arc.parent}


def test_any_network_weights_and_frames():
    weights = np.random.default_rng(0).integers(0, 3, 500)
    fixed = tb.FixedStructure([("x0", "class"), ("class", "x1")]).fit(X, Y)
    report = tb.arc_report(fixed, X, Y, weights, n_bootstrap=2, random_state=1)
    assert report.arcs[0].rows == weights.sum()
    assert {(arc.parent, arc.child) for arc in report if arc.kept} == {("x0", "class"), ("class", "x1")}
    assert all(arc.bootstrap == arc.kept for arc in report)
    searched = tb.SelectiveNaiveBayes(cv=2, random_state=0).fit(X, Y)
    assert len(tb.arc_report(searched, X, Y, n_bootstrap=2, random_state=0)) == 15


def test_frame_and_text(report):
    frame = report.to_frame("pandas")
    assert len(frame) == 15
    assert set(MEASURES) <= set(frame.columns)
    assert frame["given"].isin(["", "class"]).all()
    assert isinstance(report.to_frame("polars"), pl.DataFrame)
    text = str(report).splitlines()
    assert text[0].split() == ["CMI", "logL", "AIC", "BIC", "BDeu", "MML", "boot"]
    assert len(text) == 17
    assert text[1].startswith("* x2 -> x3 ")
    assert repr(report) == str(report)
    parsed = ElementTree.fromstring(report._repr_html_())
    lines = [[cell.text or "" for cell in line.iter("td")] for line in parsed.iter("tr")][1:]
    assert [line[1:3] for line in lines] == [[arc.parent, arc.child] for arc in report]
    assert [line[0] == "✓" for line in lines] == [arc.kept for arc in report]
    assert [float(line[-2]) for line in lines] == pytest.approx([arc.mml for arc in report], abs=0.006)
    many = ArcReport(report.arcs * 10)
    assert len(repr(many).splitlines()) == 43
    assert "… and 110 more" in repr(many)
    assert "… and 110 more" in many._repr_html_()
    assert len(str(many).splitlines()) == 152


class Axes:
    def __init__(self):
        self.calls = {}

    def __getattr__(self, name):
        return lambda *args, **kwargs: self.calls.setdefault(name, (args, kwargs))


def test_the_picture(report, monkeypatch):
    axes = Axes()
    assert report.plot(axes, measure="bic", most=4) is axes
    (_, values), options = axes.calls["barh"]
    assert values == [arc.bic for arc in report.arcs[:4]][::-1]
    assert len(options["color"]) == 4
    with pytest.raises(tb.errors.OptionError, match="measure"):
        report.plot(axes, measure="bits")
    monkeypatch.setitem(__import__("sys").modules, "matplotlib.pyplot", None)
    with pytest.raises(tb.errors.MissingPackageError, match=r"pip install .tanbark\[plot\]"):
        report.plot()


def test_what_is_refused():
    clf = tb.TAN().fit(X, Y)
    with pytest.raises(tb.errors.OptionError, match="AODE has none"):
        tb.arc_report(tb.AODE().fit(X, Y), X, Y)
    for options, told in (({"given": "all"}, "given"), ({"n_bootstrap": -1}, "n_bootstrap"), ({"ess": 0}, "ess")):
        with pytest.raises(tb.errors.OptionError, match=told):
            tb.arc_report(clf, X, Y, **options)
    small = tb.KDB(max_parents=2, max_cells=40).fit(X, Y)
    with pytest.raises(tb.errors.TableTooLargeError, match="given='class'"):
        tb.arc_report(small, X, Y, given="parents", n_bootstrap=0)
