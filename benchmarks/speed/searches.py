"""Wrapper searches, WANBIA and cross-validated TAN: beside times measured elsewhere, and against a slow twin."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.speed.contest import Setting, all_of
from benchmarks.speed.data import Table, from_disk
from benchmarks.speed.runner import Line, Stat, Target, timed, times_faster
from benchmarks.speed.twin import FastSearch, RefittingEvaluator, spread

SETS = ("car", "congressional", "kr-vs-kp")  # congressional is what R calls voting, with its gaps
PUBLISHED = "R bnclassify 0.4.8, measured elsewhere on 2 loaded cores"
TWIN = "our twin that refits from rows, extrapolated"
PUBLISHED_NOTE = "the other's time and the ratio are not of this run"
FOLDS, EPSILON, SEED = 5, 0.01, 0
SAMPLED = 12  # candidates that the twin is timed on


@dataclass(frozen=True)
class Wrapper:
    """A wrapper search: our class, our learner's name, and for the three sets the seconds and the targets."""

    estimator: str
    learner: str
    seconds: tuple[float, float, float]
    targets: tuple[float, float, float]


WRAPPERS = (
    Wrapper("HillClimbTAN", "tan-hc", (0.13, 74, 17), (1, 100, 20)),
    Wrapper("SuperParentTAN", "tan-hcsp", (0.15, 19, 2.5), (1, 100, 5)),
    Wrapper("FSSJ", "fssj", (0.03, 15, 1.1), (1, 100, 5)),
    Wrapper("BSEJ", "bsej", (0.24, 82, 20), (1, 100, 20)),
    Wrapper("WrapperKDB", "kdb-hc", (0.28, 136, 37), (1, 100, 20)),
)
WANBIA_SECONDS, WANBIA_TARGETS = (0.17, 58, 46), (None, 50, 50)
CV_SECONDS, CV_TARGETS = (0.30, 3.2, 4.6), (None, None, 20)


def _sets(setting: Setting) -> list[tuple[int, str, Table, Any, Any]]:
    names = SETS[:1] if setting.quick else SETS
    return [(place, name, *from_disk(Path(setting.data), name)) for place, name in enumerate(names)]


def _beside_published(item: int, what: str, table: Table, ours: Stat, seconds: float, bound: float | None) -> Line:
    theirs, target = Stat.published(seconds), None if bound is None else Target(bound)
    value, unit = times_faster(ours, theirs), "x of a published time"
    return Line(item, what, table.shape_text, PUBLISHED, ours, theirs, value, unit, target, PUBLISHED_NOTE)


def wrappers(setting: Setting) -> list[Line]:
    lines = []
    for place, name, table, _, _ in _sets(setting):
        for wrapper in WRAPPERS:
            lines += _wrapper_lines(wrapper, place, name, table, setting)
    return lines


def _wrapper_lines(wrapper: Wrapper, place: int, name: str, table: Table, setting: Setting) -> list[Line]:
    """Ours as users run it and the search alone, in turns with the twin on a sample of the search's candidates."""
    import tanbark as tb

    folds = _folds(table)
    make = getattr(tb, wrapper.estimator)
    search, twin = FastSearch(wrapper.learner, table, folds, EPSILON), RefittingEvaluator(table, folds)
    asked = search.candidates()
    sample = spread(asked, 3 if setting.quick else SAMPLED)
    gap = max(abs(twin.score(structure) - value) for structure, value in sample)
    stats = all_of({
        "ours": timed(lambda: make(cv=FOLDS, tol=EPSILON, random_state=SEED).fit(table.X, table.y)),
        "search": timed(search.run),
        "twin": timed(lambda: [twin.score(structure) for structure, _ in sample]),
    }, setting)  # fmt: skip
    ours, alone, refits = stats["ours"], stats["search"].times(1 / len(asked)), stats["twin"].times(1 / len(sample))
    what, size, target = f"{wrapper.estimator} fit, {name}", table.shape_text, Target(20.0)
    same = "the same scores" if gap < 1e-9 else f"scores differ by up to {gap:.2g}"
    each = f"the search alone; the twin on {len(sample)} of {len(asked):,} candidates, spread evenly; {same} on those"
    whole, note = refits.times(len(asked)), f"the twin's time for a candidate times {len(asked):,} candidates"
    return [
        _beside_published(13, what, table, ours, wrapper.seconds[place], wrapper.targets[place]),
        Line(13, what, size, TWIN, ours, whole, times_faster(ours, whole), target=target, note=note),
        Line(13, f"{what}: a candidate", size, TWIN, alone, refits, times_faster(alone, refits), "x", target, each),
    ]


def _folds(table: Table) -> np.ndarray:
    """The folds that the estimators make of the same number and seed."""
    from tanbark.evaluation.folds import make_folds

    return make_folds(FOLDS, table.y, SEED)


def wanbia(setting: Setting) -> list[Line]:
    import tanbark as tb

    lines = []
    for place, name, table, _, _ in _sets(setting):
        fit = lambda t=table: tb.NaiveBayes(parameters=tb.WANBIA()).fit(t.X, t.y)  # noqa: E731
        ours = all_of({"ours": timed(fit)}, setting)["ours"]
        line = _beside_published(14, f"WANBIA fit, {name}", table, ours, WANBIA_SECONDS[place], WANBIA_TARGETS[place])
        lines.append(line)
    return lines


def tan_cross_validated(setting: Setting) -> list[Line]:
    """From codes, and from a frame of categories, which is what the published times are from."""
    lines = []
    for place, name, table, frame, label in _sets(setting):
        categories = frame.astype("category")
        stats = all_of({
            "codes": timed(lambda t=table: _cross_validate(t.X, t.y)),
            "a frame of categories": timed(lambda X=categories, y=label: _cross_validate(X, y)),
        }, setting)  # fmt: skip
        for form, ours in stats.items():
            what = f"10-fold cross_val_score of TAN, relearnt, {name} from {form}"
            lines.append(_beside_published(15, what, table, ours, CV_SECONDS[place], CV_TARGETS[place]))
    return lines


def _cross_validate(X: Any, y: Any) -> Any:
    from sklearn.model_selection import cross_val_score

    import tanbark as tb

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a category that only the held-out rows have
        return cross_val_score(tb.TAN(criterion="loglik"), X, y, cv=10)


ITEMS: dict[int, Callable[[Setting], list[Line]]] = {13: wrappers, 14: wanbia, 15: tan_cross_validated}
