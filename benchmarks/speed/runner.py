"""Timing both sides in turns, and the lines and table that come of it."""

from __future__ import annotations

import gc
import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

Work = Callable[[], float]  # does the work once and gives the seconds it took

WARM_UP_UNDER = 10.0  # seconds: a first run as short as this is a warm-up, a longer one is counted
FASTEST = "fastest peer"  # in the note of its line
HEADINGS = ("#", "work", "size", "against", "tanbark", "the other", "ratio", "target", "met", "note")


def timed(call: Callable[[], Any], clock: Callable[[], float] = perf_counter) -> Work:
    """Make a work of a call whose time is taken from outside."""

    def work() -> float:
        gc.collect()
        start = clock()
        call()
        return clock() - start

    return work


@dataclass(frozen=True)
class Stat:
    """The spread of one measure over its repeats."""

    median: float
    low: float  # first quartile
    high: float  # third quartile
    runs: int
    unit: str = "s"

    @classmethod
    def of(cls, samples: Sequence[float], unit: str = "s") -> Stat:
        low, median, high = np.percentile(samples, [25, 50, 75])
        return cls(float(median), float(low), float(high), len(samples), unit)

    @classmethod
    def published(cls, seconds: float) -> Stat:
        """A time that somebody else measured somewhere else."""
        return cls(seconds, seconds, seconds, 0)

    def times(self, factor: float) -> Stat:
        """Scale up the time of a part to that of the whole."""
        return Stat(factor * self.median, factor * self.low, factor * self.high, self.runs, self.unit)

    def per_second(self, count: int) -> Stat:
        """Turn the seconds for `count` things into things a second."""
        return Stat(count / self.median, count / self.high, count / self.low, self.runs, "rows/s")

    def __str__(self) -> str:
        if self.runs == 0:
            return f"{self.median:g} {self.unit} (published)"
        return f"{plain(self.median)} {self.unit} [{plain(self.low)}, {plain(self.high)}]"


@dataclass(frozen=True)
class Target:
    """A bound that a line's ratio is held against."""

    bound: float
    at_most: bool = False
    unit: str = "x"

    def met(self, value: float) -> bool:
        return value <= self.bound if self.at_most else value >= self.bound

    def __str__(self) -> str:
        return f"{'at most' if self.at_most else 'at least'} {plain(self.bound)}{self.unit}"


@dataclass(frozen=True)
class Line:
    """One line of the table: a work of ours against one other, or a measure that stands alone."""

    item: int
    work: str
    size: str
    against: str
    ours: Stat | None = None
    theirs: Stat | None = None
    value: float | None = None
    unit: str = "x"
    target: Target | None = None
    note: str = ""

    @property
    def met(self) -> bool | None:
        if self.target is None or self.value is None:
            return None
        return self.target.met(self.value)

    def cells(self) -> list[str]:
        value = "" if self.value is None else f"{plain(self.value)}{self.unit}"
        met = {None: "not measured" if self.target else "", True: "yes", False: "**no**"}[self.met]
        parts = (self.ours, self.theirs, value, self.target, met, self.note)
        return [str(self.item), self.work, self.size, self.against, *("" if p is None else str(p) for p in parts)]


def plain(number: float) -> str:
    """Write a number with three significant digits and no exponent."""
    if number == 0 or not math.isfinite(number):
        return str(number)
    digits = 2 - math.floor(math.log10(abs(number)))
    return f"{number:,.{max(digits, 0)}f}"


def interleave(works: Mapping[str, Work], rounds: int, budget: float = 60.0) -> tuple[dict[str, Stat], dict[str, str]]:
    """Run the works in turns, A B A B; give the spread of each, and what went wrong with those that failed.

    A work that has used up its seconds sits out the rounds that are left.
    """
    samples: dict[str, list[float]] = {}
    failures: dict[str, str] = {}
    for name, work in works.items():
        try:
            first = work()
        except Exception as error:
            failures[name] = f"failed: {type(error).__name__}: {error}".replace("\n", " ").replace("|", "/")[:200]
            continue
        samples[name] = [first] if first >= WARM_UP_UNDER else []
    for _ in range(rounds):
        for name, taken in samples.items():
            if not taken or sum(taken) < budget:
                taken.append(works[name]())
    return {name: Stat.of(taken) for name, taken in samples.items()}, failures


def times_faster(ours: Stat, theirs: Stat) -> float:
    """How many times faster ours is: of seconds or of things a second, whichever both are in."""
    return theirs.median / ours.median if ours.unit == "s" else ours.median / theirs.median


def table(lines: Sequence[Line]) -> str:
    """Lay the lines out as a Markdown table."""
    rows = [HEADINGS, tuple("---" for _ in HEADINGS), *(line.cells() for line in lines)]
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)


def best_peers(lines: Sequence[Line]) -> str:
    """Lay out one line per work: ours, its fastest peer, and the percentage of the machine's limit."""
    rows: list[tuple[str, ...]] = [("work", "size", "tanbark", "best peer", "times faster", "of the limit")]
    rows.append(tuple("---" for _ in rows[0]))
    limits = {(line.item, line.work): line.value for line in lines if line.unit == " %"}
    for line in lines:
        if FASTEST in line.note and line.value is not None:
            limit = limits.get((line.item, line.work))
            share = "" if limit is None else f"{limit:.0f} %"
            peer = f"{line.against} {line.theirs}"
            rows.append((line.work, line.size, str(line.ours), peer, plain(line.value), share))
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)


def write_json(path: Path, lines: Sequence[Line], about: Mapping[str, Any]) -> None:
    records = [asdict(line) | {"met": line.met, "target": line.target and str(line.target)} for line in lines]
    path.write_text(json.dumps({"about": dict(about), "lines": records}, indent=1) + "\n")
