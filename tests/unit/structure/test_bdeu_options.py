"""Options, limits and odd tables of RAI and exact search."""

import re

import numpy as np
import pandas as pd
import pytest

import tanbark as tb
from strategies import make_table
from tanbark.counts import MemoryCounts
from tanbark.structure.constraint import rai
from tanbark.structure.exact import learn as exact
from tanbark.structure.progress import Progress

ALL = [tb.RAIANB, tb.RAIGBN, tb.ExactANB, tb.ExactGBN]
everyone = pytest.mark.parametrize("cls", ALL)


def rows(seed=0, n=300, gaps=0.0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    a = np.where(rng.random(n) < 0.8, y, 1 - y)
    b = np.where(rng.random(n) < 0.8, a, rng.integers(0, 3, n))
    X = pd.DataFrame({"a": a, "b": b, "c": rng.integers(0, 2, n), "same": 0}).astype(float)
    return X.mask(rng.random(X.shape) < gaps), y


@everyone
def test_a_constant_column_takes_no_part(cls):
    X, y = rows()
    with_it, without = cls().fit(X, y), cls().fit(X.drop(columns="same"), y)
    assert with_it.structure_score_ == pytest.approx(without.structure_score_)
    arcs = [arc for arc in with_it.dag_.arcs() if "same" not in arc]
    assert arcs == without.dag_.arcs()


@everyone
def test_gaps_are_allowed(cls):
    X, y = rows(gaps=0.1)
    clf = cls().fit(X, y)
    assert clf.score(X, y) > 0.7
    assert ("class", "a") in clf.dag_.arcs() or ("a", "class") in clf.dag_.arcs()


@pytest.mark.parametrize("cls", [tb.ExactANB, tb.ExactGBN])
def test_gaps_in_every_row_are_refused(cls):
    X, y = rows()
    X = X.assign(a=np.where(np.arange(len(X)) % 2, X.a, np.nan), b=np.where(np.arange(len(X)) % 2, np.nan, X.b))
    with pytest.raises(tb.errors.InputError, match="Every row has a missing value"):
        cls().fit(X, y)


@everyone
@pytest.mark.parametrize("ess", [0, -1, "one", True, float("nan"), None])
def test_a_wrong_sample_size_is_refused(cls, ess):
    with pytest.raises(tb.errors.OptionError, match="ess, the equivalent sample size"):
        cls(ess=ess).fit(*rows())


def test_other_wrong_options_are_refused():
    for options in ({"max_order": -1}, {"max_order": 1.5}, {"start_order": None}, {"strict": "yes"}):
        with pytest.raises(tb.errors.OptionError, match=next(iter(options))):
            tb.RAIANB(**options).fit(*rows())
    wrong = ({"max_parents": -1}, {"max_memory": "8 GB"}, {"max_memory": 0}, {"time_limit": 0}, {"time_limit": "1 h"},
             {"method": "fast"})  # fmt: skip
    for options in wrong:
        with pytest.raises(tb.errors.OptionError, match=next(iter(options))):
            tb.ExactANB(**options).fit(*rows())


def test_too_much_memory_is_refused_before_it_is_taken():
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 2, (50, 40)), rng.integers(0, 2, 50)
    with pytest.raises(tb.errors.TableTooLargeError, match=re.escape("40 columns takes") + r".*max_memory.*RAIANB"):
        tb.ExactANB(method="dp").fit(X, y)
    with pytest.raises(tb.errors.TableTooLargeError, match="max_memory"):
        tb.ExactGBN(max_memory=100, method="dp").fit(*rows())


def test_past_the_memory_an_integer_programme_takes_over():
    X, y = rows()
    small, plain = tb.ExactGBN(max_memory=500, max_parents=2).fit(X, y), tb.ExactGBN(max_parents=2).fit(X, y)
    assert (small.report_.method, plain.report_.method) == ("ip", "dp")
    assert small.structure_score_ == pytest.approx(plain.structure_score_, abs=1e-8)
    assert small.report_.proved_optimal
    assert small.report_.gap == 0.0


def test_a_search_that_is_cut_off_tells_its_gap():
    rng = np.random.default_rng(1)
    X, y = rng.integers(0, 2, (400, 30)), rng.integers(0, 2, 400)
    X[:, 1:] = np.where(rng.random((400, 29)) < 0.5, X[:, :-1], X[:, 1:])
    with pytest.raises(tb.errors.TableTooLargeError, match="Listing the parent sets of 30 columns"):
        tb.ExactANB(max_memory=50_000).fit(X, y)
    with pytest.warns(tb.errors.NotProvedWarning, match=r"not all parent sets.*none more than.*max_parents"):
        clf = tb.ExactANB(max_memory=200_000_000, time_limit=0.5).fit(X, y)
    assert clf.report_.gap > 0
    assert not clf.report_.proved_optimal
    assert clf.report_.bound == pytest.approx(clf.structure_score_ + clf.report_.gap)
    whole = tb.ExactANB(max_memory=50_000_000, max_parents=2).fit(X, y)
    assert whole.structure_score_ <= clf.report_.bound
    with pytest.warns(tb.errors.NotProvedWarning, match="time was up"):
        hurried = tb.ExactANB(max_parents=2, method="ip", time_limit=1e-9).fit(X, y)
    assert hurried.structure_score_ <= whole.structure_score_ <= hurried.report_.bound + 1e-8


def test_the_order_is_limited():
    counts = MemoryCounts(make_table(np.random.default_rng(4), (*[3] * 8, 2), 600))
    whole = rai.learn_augmented(counts)
    assert set(whole.report.tests) >= {0, 1}
    assert set(rai.learn_augmented(counts, max_order=0).report.tests) == {0}
    left = list(whole.report.edges.values())
    assert left == sorted(left, reverse=True)
    assert left[-1] == whole.dag.n_arcs - 8


def test_stages_are_told(capsys):
    tb.ExactANB(verbose=True).fit(*rows())
    told = capsys.readouterr().err
    assert "8 sets of 3 columns" in told
    assert "the optimum is" in told
    tb.ExactANB().fit(*rows())
    assert not capsys.readouterr().err
    tb.ExactANB(verbose=True, method="ip").fit(*rows())
    told = capsys.readouterr().err
    assert "candidate sets of 1 parents" in told
    assert "gap 0.000000" in told


def test_a_bar_shows_what_is_done(capsys):
    progress = Progress("work", shown=True)
    progress.start()
    progress._begun -= 10
    for share in (0.25, 0.26, 0.9, 1.0):
        progress.advance(share)
    told = capsys.readouterr().err.splitlines()
    assert [line.split("%")[0][-4:].strip() for line in told] == ["25", "90", "100"]
    Progress("work", shown=False).advance(0.5)
    assert not capsys.readouterr().err


def test_nothing_to_learn():
    X, y = pd.DataFrame({"same": [0, 0, 0]}), [0, 1, 1]
    for cls in ALL:
        clf = cls().fit(X, y)
        assert clf.predict(X).tolist() == [1, 1, 1]
    assert exact.needed_memory(25) < 4.1 * 2**30


@everyone
def test_model_files_keep_predictions(cls, tmp_path):
    X, y = rows(gaps=0.05)
    clf = cls(ess=2.0).fit(X, y)
    clf.save(tmp_path / "model.json")
    back = tb.load(tmp_path / "model.json")
    assert type(back) is cls
    assert back.ess == 2.0
    assert np.array_equal(back.predict_proba(X), clf.predict_proba(X))


@everyone
def test_the_learners_have_names(cls):
    name = {"RAIANB": "rai-anb", "RAIGBN": "rai-gbn", "ExactANB": "exact-anb", "ExactGBN": "exact-gbn"}[cls.__name__]
    X, y = rows()
    named = tb.BayesNetClassifier(name, options={"ess": 2.0}, parameters="bdeu").fit(X, y)
    assert named.dag_ == cls(ess=2.0).fit(X, y).dag_
