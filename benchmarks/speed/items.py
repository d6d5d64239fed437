"""The work items, by number: each gives its lines of the table."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.speed import averages, limits, probes, searches
from benchmarks.speed.contest import LIMIT, OURS, Contest, Setting, all_of, run_contest
from benchmarks.speed.data import Table, as_strings, from_disk, tree_table, with_gaps
from benchmarks.speed.runner import Line, Stat, Target, Work, timed, times_faster

CODED = "codes"
MISSING_SHARE = 0.1
HALF = Target(50.0, unit=" %")  # of the machine's limit: within twice the time of the bare loop


def _popcount_limit(table: Table) -> dict[str, Any]:
    """The bound of counting all pairs of columns."""
    rows, features = table.X.shape
    bare = limits.popcounting(rows, features, int(np.median(table.states)))
    return {"bare": bare, "bare_note": "AND and popcount of as many words as all pairs of columns have"}


def _gather_limit(X: np.ndarray, table: Table, parents: np.ndarray) -> dict[str, Any]:
    """The bound of reading an entry for every value and class."""
    bare = limits.gathering(X, parents, max(table.states), table.n_classes)
    return {"bare": bare, "bare_note": "one entry read and added per value and class"}


def _tan() -> Any:
    import tanbark as tb

    return tb.TAN(criterion="loglik")


def _graph_from_codes(table: Table) -> dict[str, Work]:
    """Counting and learning the graph of rows that are coded, which is what bnlearn is timed for."""
    from tanbark.counts import MemoryCounts
    from tanbark.estimators.training import encode_training
    from tanbark.structure.trees.tan import learn

    coded = encode_training(_tan(), table.X, table.y, None)
    return {CODED: timed(lambda: learn(MemoryCounts(coded).stored(2), criterion="loglik"))}


def _coded_lines(contest: Contest, stats: dict[str, Stat]) -> list[Line]:
    """The graph from codes against bnlearn, where it is there, and as a percentage of the limit."""
    ours, what, size = stats[CODED], f"{contest.what}: graph from codes", contest.size
    bare = 100 * stats[LIMIT].median / ours.median
    lines = [Line(contest.item, what, size, LIMIT, ours, stats[LIMIT], bare, " %", note=f"of: {contest.bare_note}")]
    if "R bnlearn" in stats:
        theirs = stats["R bnlearn"]
        lines.append(Line(contest.item, what, size, "R bnlearn", ours, theirs, times_faster(ours, theirs)))
    return lines


def _naive() -> Any:
    import tanbark as tb

    return tb.NaiveBayes()


@cache
def _tall(quick: bool) -> Table:
    return tree_table(5_000 if quick else 100_000, 20 if quick else 100, 4, 2)


@cache
def _naive_table(quick: bool) -> Table:
    return tree_table(50_000 if quick else 1_000_000, 20 if quick else 50, 4, 5)


def fit_kr_vs_kp(setting: Setting) -> list[Line]:
    table, frame, label = from_disk(Path(setting.data), "kr-vs-kp")
    strings = timed(lambda: _tan().fit(frame, label))
    contest = Contest(
        1, "TAN fit, kr-vs-kp", "tan_fit", table, lambda: _tan().fit(table.X, table.y),
        fastest=Target(1.0), extra={"strings": strings, **_graph_from_codes(table)}, **_popcount_limit(table),
    )  # fmt: skip
    lines, stats = run_contest(contest, setting)
    lines += _coded_lines(contest, stats)
    peers = {name: stat for name, stat in stats.items() if name not in (OURS, LIMIT, CODED, "strings")}
    if peers and "strings" in stats:
        name, theirs = min(peers.items(), key=lambda pair: pair[1].median)
        ours = stats["strings"]
        what, note = "TAN fit, kr-vs-kp from strings", "ours encodes, the peer has codes"
        lines.append(Line(1, what, table.shape_text, name, ours, theirs, times_faster(ours, theirs), note=note))
    return lines


def fit_tall(setting: Setting) -> list[Line]:
    table = _tall(setting.quick)
    targets = {"R bnlearn": Target(8.0)}
    contest = Contest(
        2, "TAN fit, 4 states", "tan_fit", table, lambda: _tan().fit(table.X, table.y), targets=targets,
        extra=_graph_from_codes(table), **_popcount_limit(table), share=HALF,
    )  # fmt: skip
    lines, stats = run_contest(contest, setting)
    return lines + _coded_lines(contest, stats)


def fit_wide(setting: Setting) -> list[Line]:
    table = tree_table(2_000 if setting.quick else 10_000, 30 if setting.quick else 500, 2, 2)
    targets = {"R bnlearn": Target(30.0)}
    contest = Contest(
        3, "TAN fit, binary", "tan_fit", table, lambda: _tan().fit(table.X, table.y), targets=targets,
        extra=_graph_from_codes(table), **_popcount_limit(table), share=HALF,
    )  # fmt: skip
    lines, stats = run_contest(contest, setting)
    return lines + _coded_lines(contest, stats)


def fit_naive(setting: Setting) -> list[Line]:
    table = _naive_table(setting.quick)
    targets = {"scikit-learn CategoricalNB": Target(10.0)}
    X, y = table.X.astype(np.int8), table.y.astype(np.int8)
    contest = Contest(
        4, "naive Bayes fit, bytes", "nb_fit", table, lambda: _naive().fit(X, y), targets=targets,
        bare=limits.counting(X, y, max(table.states), table.n_classes), share=HALF,
        bare_note="one counter raised per value",
    )  # fmt: skip
    return run_contest(contest, setting)[0]


def predict_naive(setting: Setting) -> list[Line]:
    table = _naive_table(setting.quick)
    X = table.X.astype(np.int8)
    model = _naive().fit(X, table.y)
    targets = {"scikit-learn CategoricalNB": Target(5.0)}
    contest = Contest(
        5, "naive Bayes predict_proba, bytes", "nb_predict", table, lambda: model.predict_proba(X),
        rows=table.X, targets=targets, share=HALF, **_gather_limit(X, table, np.full(X.shape[1], -1)),
    )  # fmt: skip
    return run_contest(contest, setting)[0]


def predict_complete(setting: Setting) -> list[Line]:
    table = _tall(setting.quick)
    model = _tan().fit(table.X, table.y)
    contest = Contest(
        6, "TAN predict_proba, complete rows", "tan_predict", table, lambda: model.predict_proba(table.X),
        rows=table.X, limit="MAX_ROWS", targets={"R bnclassify": Target(3.0)},
        **_gather_limit(table.X, table, limits.tree_parents(table.model, table.X.shape[1])),
    )  # fmt: skip
    return run_contest(contest, setting)[0]


def predict_gaps(setting: Setting) -> list[Line]:
    table = _tall(setting.quick)
    model = _tan().fit(table.X, table.y)
    holed = with_gaps(table.X, MISSING_SHARE)
    complete = timed(lambda: model.predict_proba(table.X))
    what = "TAN predict_proba, 10 % missing"
    contest = Contest(
        7, what, "tan_predict_gaps", table, lambda: model.predict_proba(holed),
        rows=holed, limit="MAX_ROWS_GAPS", fastest=Target(500.0), extra={"complete": complete},
        **_gather_limit(table.X, table, limits.tree_parents(table.model, table.X.shape[1])),
    )  # fmt: skip
    lines, stats = run_contest(contest, setting)
    ours, own = stats[OURS], stats["complete"]
    target, note = Target(3.0, at_most=True), "the time of ours with gaps over that without"
    slower = ours.median / own.median
    return [*lines, Line(7, what, table.shape_text, "our complete rows", ours, own, slower, target=target, note=note)]


def fit_strings(setting: Setting) -> list[Line]:
    table = _tall(setting.quick)
    frame = as_strings(table.X)
    label = np.array(["no", "yes"], dtype=object)[table.y]
    works = {"strings": timed(lambda: _tan().fit(frame, label)), "codes": timed(lambda: _tan().fit(table.X, table.y))}
    stats = all_of(works, setting)
    ours, codes = stats["strings"], stats["codes"]
    note = "the time of ours from strings over that from codes"
    return [
        Line(8, "TAN fit from a DataFrame of strings", table.shape_text, "our integer codes", ours, codes,
             ours.median / codes.median, note=note)
    ]  # fmt: skip


def import_time(setting: Setting) -> list[Line]:
    other = "sklearn.naive_bayes"
    works = {name: lambda name=name: probes.import_seconds(name) for name in ("tanbark", other)}
    stats = all_of(works, setting)
    slower = stats["tanbark"].median / stats[other].median
    target = Target(1.5, at_most=True)
    note = "our time over theirs, fresh processes"
    return [Line(9, "import", "", other, stats["tanbark"], stats[other], slower, target=target, note=note)]


def cold_fit(setting: Setting) -> list[Line]:
    found = [probes.cold_fit() for _ in range(1 if setting.quick else 3)]
    fit, predict = (Stat.of([probe[key] for probe in found]) for key in ("fit", "predict"))
    note = "" if all(probe["cached_files"] for probe in found) else "no file was written to the empty cache folder"
    target = Target(10.0, at_most=True, unit=" s")
    return [
        Line(10, "first TAN fit, nothing compiled", "3,196 x 36", "", fit, None, fit.median, " s", target, note),
        Line(10, "first predict_proba after it", "3,196 x 36", "", predict, None, predict.median, " s"),
    ]


def peak_memory(setting: Setting) -> list[Line]:
    shapes = [(5_000, 20, 4, 2)] if setting.quick else [(100_000, 100, 4, 2), (10_000, 500, 2, 2)]
    return [_memory_line(shape) for shape in shapes]


def _memory_line(shape: tuple[int, int, int, int]) -> Line:
    found = probes.memory_of_fit(*shape)
    base = found["table"] + found["pair_tables"]
    peak, needed = (Stat.of([number / 2**20], "MiB") for number in (found["peak"], base))
    target = Target(3.0, at_most=True)
    note = "over the codes (1 byte) and the pair tables (8 bytes a cell)"
    size = f"{shape[0]:,} x {shape[1]}"
    return Line(11, "peak memory of a TAN fit", size, "table + pair tables", peak, needed, found["peak"] / base,
                target=target, note=note)  # fmt: skip


def growth(setting: Setting) -> list[Line]:
    """On one thread, and on sizes at which what a fit costs anyway does not hide what it costs by the row or pair."""
    if setting.quick:
        rows, features = [5_000, 10_000, 20_000], [20, 40, 80]
        return [_growth_in_rows(setting, rows, 20), _growth_in_features(setting, features, 1_000)]
    rows, features = [200_000, 400_000, 800_000, 1_600_000], [500, 1_000, 2_000, 3_000]
    return [_growth_in_rows(setting, rows, 40), _growth_in_features(setting, features, 4_000)]


def _growth_in_rows(setting: Setting, rows: Sequence[int], features: int) -> Line:
    full = tree_table(max(rows), features, 4, 2)
    tables = {n: Table(full.X[:n], full.y[:n], full.states, 2) for n in rows}
    return _growth_line("rows", tables, setting, f"{features} features, 4 states", "about 1")


def _growth_in_features(setting: Setting, features: Sequence[int], rows: int) -> Line:
    tables = {d: tree_table(rows, d, 2, 2) for d in features}
    return _growth_line("features", tables, setting, f"{rows:,} rows, binary", "about 2")


def _growth_line(axis: str, tables: dict[int, Table], setting: Setting, size: str, expected: str) -> Line:
    import tanbark as tb

    works = {str(n): timed(lambda t=t: tb.TAN(criterion="loglik", n_jobs=1).fit(t.X, t.y)) for n, t in tables.items()}
    stats = all_of(works, setting)
    times = np.array([stats[str(n)].median for n in tables])
    steps = np.diff(np.log(times)) / np.diff(np.log(list(tables)))
    exponent = float(np.polyfit(np.log(list(tables)), np.log(times), 1)[0])
    taken = ", ".join(f"{n:,}: {1000 * seconds:.0f} ms" for n, seconds in zip(tables, times, strict=True))
    note = f"{expected} expected, {steps[-1]:.2f} over the last step; one thread; {taken}"
    return Line(12, f"TAN fit, growth with {axis}", size, "", value=exponent, unit=" (exponent)", note=note)


ITEMS: dict[int, Callable[[Setting], list[Line]]] = {
    1: fit_kr_vs_kp,
    2: fit_tall,
    3: fit_wide,
    4: fit_naive,
    5: predict_naive,
    6: predict_complete,
    7: predict_gaps,
    8: fit_strings,
    9: import_time,
    10: cold_fit,
    11: peak_memory,
    12: growth,
    **searches.ITEMS,
    **averages.ITEMS,
}
