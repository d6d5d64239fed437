"""Posteriors by loopy belief propagation: exact on trees, an approximation whose error is only indicated elsewhere."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from tanbark.arrays import Floats
from tanbark.errors import ImpossibleEvidenceError
from tanbark.graph import Network
from tanbark.graph.separation import ancestors

TOLERANCE = 1e-10  # the largest change of a message in the last sweep
DAMPING = ((60, 0.0), (200, 0.5), (400, 0.8))  # up to a sweep, the part of the old message that is kept


class Propagated(NamedTuple):
    """A joint posterior as a flat array, how far a cut loop moves each entry, and how the propagation ended.

    ``errors`` are zero where the factor graph is a forest; then the posterior is exact. ``change`` is the largest
    change of a message in the last sweep, above ``TOLERANCE`` where it did not converge.
    """

    values: Floats
    errors: Floats
    change: float
    sweeps: int

    @property
    def converged(self) -> bool:
        """Whether the messages stayed as they were in the last sweep."""
        return self.change <= TOLERANCE


def propagate(
    network: Network, wanted: tuple[int, ...], known: Mapping[int, int], soft: Mapping[int, Floats]
) -> Propagated:
    """Estimate the joint posterior of some columns by loopy belief propagation, and indicate its error.

    The indication is how far the posterior moves when one unobserved variable of most CPTs is conditioned on, its
    states averaged by their own posterior: conditioning cuts the loops through it. It is no bound. Several columns are
    asked one after another, each given the states of those before it.

    Notes
    -----
    Pearl (1988), section 4.4; Murphy, Weiss and Jordan (1999), Loopy belief propagation for approximate inference: an
    empirical study; Koller and Friedman (2009), section 11.3. Messages go through the CPTs parents first and back
    again, in sweeps; where they have not settled after 60, they are damped.
    """
    plain = _joint(network, wanted, dict(known), soft)
    graph = _Factors(network, wanted, known, soft)
    cut = graph.cut(wanted)
    if graph.is_forest or cut is None:
        return plain
    states = _joint(network, (cut,), dict(known), soft)
    errors = np.zeros(len(plain.values))
    for state, weight in enumerate(states.values.tolist()):
        if weight > 0:
            errors += weight * (_joint(network, wanted, {**known, cut: state}, soft).values - plain.values)
    return plain._replace(errors=np.abs(errors))


def _joint(network: Network, wanted: tuple[int, ...], known: dict[int, int], soft: Mapping[int, Floats]) -> Propagated:
    """Return the posterior of several columns by the chain rule, without an indication of its error."""
    first, *rest = wanted
    graph = _Factors(network, (first,), known, soft)
    change, sweeps = graph.run()
    values = graph.belief(first)
    if not rest:
        return Propagated(values, np.zeros(len(values)), change, sweeps)
    size = math.prod(network.schema.cardinalities[column] for column in rest)
    parts = np.zeros((len(values), size))
    for state, weight in enumerate(values.tolist()):
        if weight > 0:
            found = _joint(network, tuple(rest), {**known, first: state}, soft)
            parts[state] = weight * found.values
            change, sweeps = max(change, found.change), max(sweeps, found.sweeps)
    return Propagated(parts.ravel(), np.zeros(parts.size), change, sweeps)


class _Factors:
    """The CPTs that a posterior needs, what is observed taken out, and the messages from each to its variables."""

    def __init__(
        self, network: Network, wanted: tuple[int, ...], known: Mapping[int, int], soft: Mapping[int, Floats]
    ) -> None:
        self._sizes = network.schema.cardinalities
        needed = ancestors(network.dag, {*wanted, *known, *soft})
        self._scopes: list[tuple[int, ...]] = []
        self._tables: list[Floats] = []
        for node in network.dag.order:
            if node in needed:
                axes = network.axes(node)
                self._add(network.tables[node], axes, known)
                if node in soft:
                    self._add(soft[node], (node,), known)
        self._messages = [[np.full(self._sizes[v], 1.0 / self._sizes[v]) for v in scope] for scope in self._scopes]
        self._places: dict[int, list[tuple[int, int]]] = {}
        for factor, scope in enumerate(self._scopes):
            for axis, variable in enumerate(scope):
                self._places.setdefault(variable, []).append((factor, axis))
        self._logs: dict[int, Floats] = {}  # of the messages to a variable: the sum of what is finite
        self._zeros: dict[int, Floats] = {}  # and the number of zeros, by state

    def _add(self, table: Floats, axes: tuple[int, ...], known: Mapping[int, int]) -> None:
        part = np.asarray(table[tuple(known.get(column, slice(None)) for column in axes)], np.float64)
        if part.sum() <= 0:
            _raise_impossible()
        if part.ndim:
            self._scopes.append(tuple(column for column in axes if column not in known))
            self._tables.append(part)

    @property
    def is_forest(self) -> bool:
        """Whether no loop leads through factors and variables."""
        group = {("v", variable): ("v", variable) for variable in self._places}

        def top(node: tuple[str, int]) -> tuple[str, int]:
            while group[node] != node:
                node = group[node]
            return node

        for factor, scope in enumerate(self._scopes):
            group["f", factor] = ("f", factor)
            for variable in scope:
                one, other = top(("f", factor)), top(("v", variable))
                if one == other:
                    return False
                group[one] = other
        return True

    def cut(self, wanted: tuple[int, ...]) -> int | None:
        """Choose the variable on loops in most factors, one that is not asked for; ties go to the first.

        Factors and variables that only end a branch are taken away until loops, and what is between them, are left.
        """
        scopes = {factor: set(scope) for factor, scope in enumerate(self._scopes)}
        while True:
            times = Counter(variable for scope in scopes.values() for variable in scope)
            kept = {factor: {v for v in scope if times[v] > 1} for factor, scope in scopes.items()}
            kept = {factor: scope for factor, scope in kept.items() if len(scope) > 1}
            if kept == scopes:
                break
            scopes = kept
        others = [variable for variable in sorted(times) if variable not in wanted]
        return max(others, key=lambda variable: times[variable], default=None)

    def run(self) -> tuple[float, int]:
        """Send messages forth and back until they stay; return the last change and the number of sweeps."""
        order = [*range(len(self._tables)), *reversed(range(len(self._tables)))]
        change, sweep = math.inf, 0
        for last, damping in DAMPING:
            while sweep < last:
                sweep += 1
                self._add_up()
                change = max((self._send(factor, damping) for factor in order), default=0.0)
                if change <= TOLERANCE:
                    return change, sweep
        return change, sweep

    def _send(self, factor: int, damping: float) -> float:
        """Renew the messages of a factor; return the largest change."""
        scope, table = self._scopes[factor], self._tables[factor]
        incoming = [self._product(v, old) for v, old in zip(scope, self._messages[factor], strict=True)]
        change = 0.0
        for axis in range(len(scope)):
            found = table
            for other in reversed(range(len(scope))):  # the last axis first, so that the earlier keep their places
                if other != axis:
                    shape = [-1 if k == other else 1 for k in range(found.ndim)]
                    found = (found * incoming[other].reshape(shape)).sum(axis=other)
            total = found.sum()
            if not total > 0:
                _raise_impossible()
            old = self._messages[factor][axis]
            new = (1.0 - damping) * found / total + damping * old
            change = max(change, float(np.abs(new - old).max()))
            self._messages[factor][axis] = new
            for message, sign in ((old, -1.0), (new, 1.0)):
                self._count(scope[axis], message, sign)
        return change

    def _add_up(self) -> None:
        """Multiply all messages to each variable anew, so that rounding does not add up over sweeps."""
        for variable, places in self._places.items():
            self._logs[variable], self._zeros[variable] = (np.zeros(self._sizes[variable]) for _ in range(2))
            for factor, axis in places:
                self._count(variable, self._messages[factor][axis], 1.0)

    def _count(self, variable: int, message: Floats, sign: float) -> None:
        """Multiply a message into the product of a variable, or divide by it."""
        possible = message > 0
        self._logs[variable] += sign * np.log(np.where(possible, message, 1.0))
        self._zeros[variable] += sign * ~possible

    def _product(self, variable: int, without: Floats | None = None) -> Floats:
        """Multiply the messages to a variable, all but one."""
        logs, zeros = self._logs[variable], self._zeros[variable]
        if without is not None:
            possible = without > 0
            logs, zeros = logs - np.log(np.where(possible, without, 1.0)), zeros - ~possible
        logs = np.where(zeros > 0.5, -math.inf, logs)
        top = logs.max()
        if top == -math.inf:
            _raise_impossible()
        found = np.exp(logs - top)
        return np.asarray(found / found.sum())

    def belief(self, variable: int) -> Floats:
        """Return the posterior of a variable."""
        self._add_up()
        return self._product(variable)


def _raise_impossible() -> None:
    msg = "The evidence has probability zero in this network, so that no posterior is defined. Check it."
    raise ImpossibleEvidenceError(msg)
