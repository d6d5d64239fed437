"""One work of ours against every peer that can do it, in turns."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, field, replace
from types import ModuleType
from typing import Any

from benchmarks.speed.data import Table
from benchmarks.speed.peers import peers_for
from benchmarks.speed.runner import FASTEST, Line, Stat, Target, Work, interleave, timed, times_faster

OURS, LIMIT = "tanbark", "a bare loop"


@dataclass(frozen=True)
class Setting:
    """What the command line asks for."""

    data: Any  # the folder of the tables on disk
    quick: bool = False

    @property
    def rounds(self) -> int:
        return 2 if self.quick else 7

    @property
    def budget(self) -> float:
        """Seconds after which a work is not repeated."""
        return 1.0 if self.quick else 60.0


@dataclass(frozen=True)
class Contest:
    """What is compared, and the targets for it."""

    item: int
    what: str
    work: str  # the function of the peers' modules
    table: Table
    ours: Callable[[], Any]
    rows: Any = None  # the rows to predict; None where the work is a fit
    limit: str = ""  # the name of the peers' constant that says how many rows they are given
    targets: dict[str, Target] = field(default_factory=dict)  # by the peer's name
    fastest: Target | None = None  # against whichever peer is the fastest
    extra: dict[str, Work] = field(default_factory=dict)  # other works of ours, run in the same turns
    bare: Callable[[], Any] | None = None  # the loop that is the limit of the machine
    bare_note: str = ""  # what it does
    share: Target | None = None  # for the percentage of the limit

    @property
    def size(self) -> str:
        return self.table.shape_text

    def line(self, against: str, **others: Any) -> Line:
        return Line(self.item, self.what, self.size, against, target=self.targets.get(against), **others)

    def rows_for(self, peer: ModuleType) -> Any:
        return self.rows[: getattr(peer, self.limit, len(self.rows))]


def all_of(works: dict[str, Work], setting: Setting) -> dict[str, Stat]:
    """Time works of ours in turns; none of them may fail."""
    stats, failures = interleave(works, setting.rounds, setting.budget)
    if failures:
        raise RuntimeError(str(failures))
    return stats


def run_contest(contest: Contest, setting: Setting) -> tuple[list[Line], dict[str, Stat]]:
    """Time ours and the peers in turns; give a line for each peer, also for those left out, and all the spreads."""
    works = {OURS: timed(contest.ours), **contest.extra}
    if contest.bare is not None:
        works[LIMIT] = timed(contest.bare)
    out: list[Line] = []
    with ExitStack() as stack:
        entered: list[ModuleType] = []
        for peer in peers_for(contest.work):
            reason = peer.available() or _too_long(peer, contest, setting)
            if reason:
                out.append(contest.line(peer.NAME, note=f"left out: {reason}"))
                continue
            works[peer.NAME] = stack.enter_context(_native(peer, contest))
            entered.append(peer)
        stats, failures = interleave(works, setting.rounds, setting.budget)
    if OURS in failures:
        raise RuntimeError(f"{OURS} {failures[OURS]}")
    lines = [_line(contest, peer, stats, failures) for peer in entered]
    return _with_fastest(lines, contest.fastest) + _limit_lines(contest, stats) + out, stats


def _limit_lines(contest: Contest, stats: dict[str, Stat]) -> list[Line]:
    """What percentage of the machine's limit ours reaches."""
    if LIMIT not in stats:
        return []
    ours, bare = stats[OURS], stats[LIMIT]
    line = contest.line(LIMIT, ours=ours, theirs=bare, value=100 * bare.median / ours.median, unit=" %")
    return [replace(line, target=contest.share, note=f"of the limit: {contest.bare_note}")]


def _native(peer: ModuleType, contest: Contest) -> AbstractContextManager[Work]:
    make = getattr(peer, contest.work)
    return make(contest.table) if contest.rows is None else make(contest.table, contest.rows_for(peer))


def _too_long(peer: ModuleType, contest: Contest, setting: Setting) -> str | None:
    """The reason to spare a peer a fit that would take it minutes, or a quick run one that would take it seconds."""
    rows, features = contest.table.X.shape
    size = rows * features * (features - 1) // 2
    if contest.work != "tan_fit" or size <= getattr(peer, "MAX_PAIR_ROWS", size) / (100 if setting.quick else 1):
        return None
    return "too long for a quick run" if setting.quick else "would take more than two or three minutes"


def _line(contest: Contest, peer: ModuleType, stats: dict[str, Stat], failures: dict[str, str]) -> Line:
    if peer.NAME in failures:
        return contest.line(peer.NAME, note=failures[peer.NAME])
    ours, theirs, note = stats[OURS], stats[peer.NAME], ""
    if contest.limit:
        given = len(contest.rows_for(peer))
        ours, theirs = ours.per_second(len(contest.rows)), theirs.per_second(given)
        note = f"the peer on {given:,} rows" if given < len(contest.rows) else ""
    return contest.line(peer.NAME, ours=ours, theirs=theirs, value=times_faster(ours, theirs), note=note)


def _with_fastest(lines: list[Line], target: Target | None) -> list[Line]:
    """Note which peer is the fastest, and hang the target on its line."""
    measured = [line for line in lines if line.value is not None]
    if not measured:
        return lines
    fastest = min(measured, key=lambda line: line.value or 0.0)
    marked = replace(fastest, target=target or fastest.target, note=f"{fastest.note}; {FASTEST}".removeprefix("; "))
    return [marked if line is fastest else line for line in lines]
