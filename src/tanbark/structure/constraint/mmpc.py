"""Max-min parents and children: the columns that no set of other such columns separates from a column."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import combinations

import numpy as np

from tanbark.arrays import TIE, Floats
from tanbark.counts.column_sets import ColumnSet
from tanbark.counts.engine import Test
from tanbark.structure.constraint.streamed_tests import StreamedTests


class Candidates:
    """The candidates of one target in the making: members in the order in which they came in, and who may still.

    ``support`` holds, of every column, the most that any set of members favours its independence of the target.
    """

    def __init__(self, target: int, others: list[int], support: Floats) -> None:
        self.target, self.members = target, list[int]()
        self.open = [x for x in others if x != target and support[x] <= TIE]
        self.support = support.copy()

    def admit(self) -> None:
        """Take in the column whose independence of the target is least favoured; ties go to the earlier column."""
        best = min(self.open, key=lambda x: (self.support[x], x))
        self.open.remove(best)
        self.members.append(best)

    def new_sets(self, size: int) -> Iterator[ColumnSet]:
        """List the sets of ``size`` members that the last one is in."""
        *earlier, last = self.members
        for chosen in combinations(earlier, size - 1):
            yield tuple(sorted((*chosen, last)))

    def note(self, x: int, support: float) -> None:
        """Keep the highest support, and close the door on a column that is independent of the target."""
        self.support[x] = max(self.support[x], support)
        if support > TIE and x in self.open:
            self.open.remove(x)


def find_candidates(
    tests: StreamedTests, nodes: list[int], n: int, max_order: int | None, n_tests: Counter[int]
) -> list[list[int]]:
    """Return the parents and children of every one of n columns, as far as tests of ``nodes`` show.

    The forward phase takes in, one after another, the column with the highest of the lowest associations with the
    target given sets of members; the backward phase takes out members that others separate from it. All targets go
    side by side. A pair stays only if each is a candidate of the other. Tsamardinos, Brown and Aliferis (2006),
    algorithms 1 and 2.
    """
    support = np.full((n, n), np.inf)
    pairs = list(combinations(nodes, 2))
    for (x, y), value in zip(pairs, ask(tests, [(x, y, ()) for x, y in pairs], n_tests), strict=True):
        support[x, y] = support[y, x] = value
    states = [Candidates(target, nodes, support[target]) for target in nodes]
    most = n if max_order is None else max_order
    while any(state.open for state in states):
        _grow([state for state in states if state.open], tests, most, n_tests)
    _shrink(states, tests, most, n_tests)
    found: list[list[int]] = [[] for _ in range(n)]
    members = {state.target: set(state.members) for state in states}
    for target in nodes:
        found[target] = sorted(x for x in members[target] if target in members[x])
    return found


def _grow(states: list[Candidates], tests: StreamedTests, most: int, n_tests: Counter[int]) -> None:
    """Admit one member to each, and test those who are still open given every set with the new member."""
    for state in states:
        state.admit()
    for size in range(1, min(most, max(len(state.members) for state in states)) + 1):
        asked = [(state, x, chosen) for state in states for x in state.open for chosen in state.new_sets(size)]
        values = ask(tests, [(state.target, x, chosen) for state, x, chosen in asked], n_tests)
        for (state, x, _), value in zip(asked, values, strict=True):
            state.note(x, value)


def _shrink(states: list[Candidates], tests: StreamedTests, most: int, n_tests: Counter[int]) -> None:
    """Take out members that later ones separate from the target, the first member first."""
    entered = {state.target: list(state.members) for state in states}
    for place in range(max((len(order) for order in entered.values()), default=0)):
        doubtful = [state for state in states if place < len(entered[state.target]) - 1]
        for size in range(1, most + 1):
            asked = []
            for state in doubtful:
                x, order = entered[state.target][place], entered[state.target]
                left = [z for z in state.members if z != x]
                later = {z for z in order[place + 1 :] if z in left}
                sets = (c for c in combinations(left, size) if later.intersection(c)) if x in state.members else ()
                asked += [(state, x, tuple(sorted(chosen))) for chosen in sets]
            if not asked:
                break
            values = ask(tests, [(state.target, x, chosen) for state, x, chosen in asked], n_tests)
            for (state, x, _), value in zip(asked, values, strict=True):
                if value > TIE and x in state.members:
                    state.members.remove(x)


def ask(tests: StreamedTests, asked: list[Test], n_tests: Counter[int]) -> list[float]:
    """Return the support of tests, each different one measured once, the earlier column first."""
    keys = [(min(x, y), max(x, y), chosen) for x, y, chosen in asked]
    different = list(dict.fromkeys(keys))
    for _, _, chosen in different:
        n_tests[len(chosen)] += 1
    values = dict(zip(different, tests.supports(different).tolist(), strict=True))
    return [values[key] for key in keys]
