import math

import numpy as np
import pytest

import fixtures_mml as known
from strategies import make_table
from tanbark.counts import MemoryCounts
from tanbark.errors import OptionError
from tanbark.scores.mml import MessageLength
from tanbark.structure.blanket.scores import SCORERS, Options, Rows, make_scorer
from tanbark.structure.blanket.search import learn, search, shortest


def rows_of(data):
    columns, states, labels, n_classes = data
    return Rows(columns, labels, None, states, n_classes)


NOTE = (known.NOTE_ROWS, (2, 2, 2), known.NOTE_LABELS, 2)


def forward(data, score, **options):
    names = [f"X{j + 1}" for j in range(len(data[1]))]
    return search(SCORERS[score](rows_of(data), Options(**options)), range(len(names)), names)


@pytest.mark.parametrize(
    ("data", "score", "chosen"),
    [
        *((known.F16, score, {0, 1}) for score in ("cpt", "nb_logit", "logit", "nb_adaptive", "mbp")),
        (known.F16, "nb_joint", {0, 1, 2}),
        *((known.F12, score, {1}) for score in ("cpt", "nb_logit", "logit", "mbp")),
        (known.F12, "nb_adaptive", {0, 1}),
        (known.F12, "nb_joint", {0, 1}),
    ],
)
def test_what_forward_steps_select(data, score, chosen):
    assert set(forward(data, score)[0]) == chosen


def test_the_notes_data():
    chosen, trace = forward(NOTE, "cpt")
    assert chosen == [1, 0]
    assert trace[-1].length == pytest.approx(421.0414, abs=6e-5)
    chosen, trace = forward(NOTE, "nb_logit")
    assert chosen == [1, 0, 2]
    assert [step.length for step in trace[1:4]] == pytest.approx([439.4526, 419.7199, 415.1404], abs=6e-5)
    assert trace.reason == "every feature is in"
    lengths = dict(forward(NOTE, "cpt", stated="all")[1][1].tried)
    printed = {"+ X1": 465.1216, "+ X2": 439.574, "+ X3": 481.0646}
    assert lengths == pytest.approx(printed, abs=6e-5)


def test_noise_is_left_out():
    rng = np.random.default_rng(4)
    rows = (rng.integers(0, 2, (5, 4000)), (2,) * 5, rng.integers(0, 2, 4000), 2)
    for score in ("cpt", "nb_logit", "logit", "nb_joint"):
        chosen, trace = forward(rows, score)
        assert chosen == []
        assert trace.reason == "no candidate shortens the message"


class Fixed:
    """Lengths from a list, to look at the search alone."""

    def __init__(self, lengths):
        self.lengths = lengths

    def length(self, chosen):
        return MessageLength(self.lengths[frozenset(chosen)])

    def extended(self, chosen, candidates):
        return [self.length((*chosen, feature)).total for feature in candidates]


def test_a_feature_that_others_make_superfluous_is_dropped():
    lengths = {
        "": 10.0, "a": 6.0, "b": 7.0, "c": 8.0, "ab": 5.0, "ac": 5.5, "bc": 3.0, "abc": 4.0,
    }  # fmt: skip
    scorer = Fixed({frozenset("abc".index(letter) for letter in name): value for name, value in lengths.items()})
    assert search(scorer, range(3), "abc")[0] == [0, 1, 2]
    chosen, trace = search(scorer, range(3), "abc", direction="both")
    assert chosen == [1, 2]
    assert [step.move for step in trace] == ["start", "+ a", "+ b", "+ c", "- a", "stop"]
    assert trace[-1].length == 3.0


def test_ties_and_what_is_no_number():
    assert shortest([math.nan, 2.0, 1.0, 1.0 - 1e-12]) == 2
    assert shortest([math.nan, math.inf]) is None
    scorer = Fixed({frozenset(): 1.0, frozenset([0]): 1.0 - 1e-12, frozenset([1]): 1.0 - 1e-12})
    assert search(scorer, range(2), "ab")[0] == []


def test_wrong_options_are_refused():
    counts = MemoryCounts(make_table(np.random.default_rng(0), (2, 3, 2), 30))
    with pytest.raises(OptionError, match="nb_logit"):
        learn(counts, criterion="nb_logits")
    with pytest.raises(OptionError, match="direction"):
        learn(counts, direction="back")
    for options in (Options(alpha=0.0), Options(sigma=math.inf), Options(alpha=True), Options(stated="few")):
        with pytest.raises(OptionError):
            make_scorer("cpt", counts, options)
