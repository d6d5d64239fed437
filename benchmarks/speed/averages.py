"""Averaged estimators and weighted or averaged naive Bayes on tables of a known network."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path

from benchmarks.speed import probes
from benchmarks.speed.contest import Contest, Setting, all_of, run_contest
from benchmarks.speed.data import Table, from_disk, tree_table
from benchmarks.speed.runner import Line, Stat, Target, timed

STATES, CLASSES = 4, 2


def _shape(quick: bool) -> tuple[int, int]:
    return (5_000, 20) if quick else (100_000, 50)


def _small_shape(quick: bool) -> tuple[int, int]:
    return (2_000, 8) if quick else (20_000, 20)


@cache
def _table(rows: int, features: int) -> Table:
    return tree_table(rows, features, STATES, CLASSES)


def aode(setting: Setting) -> list[Line]:
    import tanbark as tb

    shape = _shape(setting.quick)
    table = _table(*shape)
    what, note = "AODE fit + predict_proba", "above what was resident before, the answer included"
    contest = Contest(
        16, what, "aode", table, lambda: tb.AODE().fit(table.X, table.y).predict_proba(table.X),
        rows=table.X, targets={"Weka AODE": Target(20.0)},
    )  # fmt: skip
    peak = Stat.of([probes.memory_of_average("AODE", *shape, STATES, CLASSES)["peak"] / 2**20], "MiB")
    memory = Line(16, f"peak memory of {what}", table.shape_text, "", peak, note=note)
    return [*run_contest(contest, setting)[0], memory]


def a2de(setting: Setting) -> list[Line]:
    import tanbark as tb

    shape = _small_shape(setting.quick)
    table = _table(*shape)
    model = tb.A2DE().fit(table.X, table.y)
    stats = all_of({
        "A2DE fit": timed(lambda: tb.A2DE().fit(table.X, table.y)),
        "A2DE predict_proba": timed(lambda: model.predict_proba(table.X)),
    }, setting)  # fmt: skip
    peak = Stat.of([probes.memory_of_average("A2DE", *shape, STATES, CLASSES)["peak"] / 2**20], "MiB")
    measures = {**stats, "peak memory of A2DE fit + predict_proba": peak}
    return [Line(17, what, table.shape_text, "", ours) for what, ours in measures.items()]


def wanbia(setting: Setting) -> list[Line]:
    import tanbark as tb

    table = _table(*_shape(setting.quick))
    fit = lambda: tb.NaiveBayes(parameters=tb.WANBIA()).fit(table.X, table.y)  # noqa: E731
    ours = all_of({"ours": timed(fit)}, setting)["ours"]
    note = f"{fit().parameters_.n_iter_} iterations"
    target = Target(10.0, at_most=True, unit=" s")
    return [Line(18, "WANBIA fit", table.shape_text, "", ours, None, ours.median, " s", target, note)]


def manb(setting: Setting) -> list[Line]:
    tables = {"kr-vs-kp": from_disk(Path(setting.data), "kr-vs-kp")[0], "4 states": _table(*_shape(setting.quick))}
    return [_manb_line(name, table, setting) for name, table in tables.items()]


def _manb_line(name: str, table: Table, setting: Setting) -> Line:
    import tanbark as tb

    stats = all_of({
        "MANB": timed(lambda: tb.NaiveBayes(parameters=tb.MANB()).fit(table.X, table.y)),
        "plain": timed(lambda: tb.NaiveBayes().fit(table.X, table.y)),
    }, setting)  # fmt: skip
    ours, plain = stats["MANB"], stats["plain"]
    note = "the time of ours with MANB over that without"
    return Line(19, f"MANB fit, {name}", table.shape_text, "our naive Bayes fit", ours, plain,
                ours.median / plain.median, target=Target(2.0, at_most=True), note=note)  # fmt: skip


ITEMS: dict[int, Callable[[Setting], list[Line]]] = {16: aode, 17: a2de, 18: wanbia, 19: manb}
