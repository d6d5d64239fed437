"""Plans of variable elimination: made once for a pattern of evidence, kept with the network, run over any rows."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from threading import Lock
from typing import NamedTuple

import numpy as np

from tanbark.arrays import Array, Bools, Floats, Integers
from tanbark.errors import InputError, TableTooLargeError
from tanbark.graph import Cost, Network
from tanbark.inference.factors import order_kernels, plan_kernels, run_kernels
from tanbark.inference.layout import FlatNetwork, flat_network, once_per_network
from tanbark.machine import for_work, row_blocks, run_here, run_threads, thread_count

MAX_ENTRIES = 1 << 27  # of the largest factor
LONG_ENTRIES = 1 << 20  # of factors from which on a run can be interrupted
PLANS_KEPT = 512
PLANNED, ENTRIES = 90_000, 20_000  # squares of variables, entries of factors: what Python does before Numba is there
UNDERFLOW = 1e-200  # a result below this is computed again in logarithms
ADVICE = "Observe some of them, ask for fewer, or raise max_entries; query has method='auto', which samples."

Pattern = tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...], tuple[int, ...], bool]


class Plan(NamedTuple):
    """A program for one pattern: which variables are asked for, maximised, observed, or softly observed."""

    seen: tuple[int, ...]
    softs: tuple[int, ...]
    n_best: int
    sizes: Array
    program: Array
    cpts: Floats
    out_shape: tuple[int, ...]
    n_out: int
    largest: float

    @property
    def order(self) -> list[int]:
        """The variables in the order of their elimination."""
        found: list[int] = _section(self.program, plan_kernels.ORDER).tolist()
        return found


@dataclass(frozen=True, eq=False)
class KeptPlans:
    """A network's layout, and the last plans that were made for it."""

    flat: FlatNetwork
    plans: dict[Pattern, Plan] = field(default_factory=dict)
    lock: Lock = field(default_factory=Lock)


def normalised(network: Network) -> FlatNetwork:
    """Lay out a network whose CPTs are distributions; raise an error for weighted ones."""
    if network.exponents is not None:
        msg = (
            "The CPTs of this network are weighted and not normalised, so that it defines no joint distribution. "
            "Use a network without weights."
        )
        raise InputError(msg)
    return flat_network(network)


@once_per_network
def kept_plans(network: Network) -> KeptPlans:
    """Return the plans of a network; none at first."""
    return KeptPlans(normalised(network))


def plan(network: Network, pattern: Pattern, max_entries: int | None = None) -> Plan:
    """Find the plan of a pattern, or make it: (kept, maximised, observed, soft, whether cut-off parts count too).

    Raises an error where the largest factor has more than ``max_entries`` entries.
    """
    kept = kept_plans(network)
    limit = MAX_ENTRIES if max_entries is None else max_entries
    found = kept.plans.get(pattern)
    if found is None or found.largest > limit:
        found = _make(network, kept.flat, pattern, limit, ADVICE)
        with kept.lock:
            if len(kept.plans) >= PLANS_KEPT:
                del kept.plans[next(iter(kept.plans))]
            kept.plans[pattern] = found
    return found


def make_plan(network: Network, pattern: Pattern, limit: int, advice: str) -> Plan:
    """Make the plan of a pattern; ``advice`` ends the message of the error where it would be too large."""
    return _make(network, normalised(network), pattern, limit, advice)


def _make(network: Network, flat: FlatNetwork, pattern: Pattern, limit: int, advice: str) -> Plan:
    kept, best, seen, soft, whole = pattern
    make = for_work(plan_kernels.make, len(flat.sizes) ** 2, PLANNED)
    largest, program, cpts = make(flat, *_members(pattern), whole, float(limit))
    if largest > limit:
        _raise_too_large(cost(network, pattern), limit, advice)
    out_shape = tuple([network.schema.cardinalities[column] for column in kept])
    softs = tuple(_section(program, plan_kernels.SOFTS).tolist()) if soft else ()
    return Plan(seen, softs, len(best), flat.sizes, program, cpts, out_shape, math.prod(out_shape), largest)


def _section(program: Array, number: int) -> Array:
    found: Array = for_work(plan_kernels.section, 1, ENTRIES)(program, number)
    return found


def _entries(made: Plan) -> int:
    """Return about how many entries a run reads and writes for a row."""
    return len(made.cpts) + int(min(made.largest, 2.0 * ENTRIES))


def cost(network: Network, pattern: Pattern) -> Cost:
    """Return the cost of a pattern's elimination, without running it."""
    flat, kept, names = normalised(network), pattern[0], network.dag.names
    order = plan_kernels.find_order(flat, *_members(pattern), pattern[4])
    if math.isinf(order.largest):
        msg = (
            f"More than {order_kernels.MAX_FREE:,} variables that matter are unknown at once, too many to plan for. "
            "Observe some."
        )
        raise TableTooLargeError(msg)
    joint = float(np.prod(flat.sizes[list(kept)].astype(np.float64)))
    widest: tuple[int, ...] = kept
    largest = joint
    if order.largest > joint and len(order.entries):
        step = int(order.entries.argmax())
        widest = (int(order.variables[step]), *order.around[order.bounds[step] : order.bounds[step + 1]].tolist())
        largest = float(order.entries[step])
    width = max([len(kept), *(np.diff(order.bounds) + 1).tolist()]) - 1
    eliminated = tuple(names[column] for column in order.variables)
    operations = float(order.entries.sum()) + joint
    return Cost(max(width, 0), largest, operations, eliminated, tuple(names[c] for c in widest))


def _members(pattern: Pattern) -> tuple[Array, tuple[int, int, int]]:
    """List the variables of a pattern one after another, and the ends of the first three groups."""
    kept, best, seen, soft, _ = pattern
    first, second = len(kept), len(kept) + len(best)
    return np.array((*kept, *best, *seen, *soft), np.int64), (first, second, second + len(seen))


def _raise_too_large(needed: Cost, limit: int, advice: str) -> None:
    shown = ", ".join(map(repr, needed.widest[:8])) + (", …" if len(needed.widest) > 8 else "")
    msg = (
        f"This needs a factor of {needed.largest:,.0f} entries over {len(needed.widest)} variables ({shown}; width "
        f"{needed.width}), more than {limit:,}. {advice}"
    )
    raise TableTooLargeError(msg)


def execute_one(made: Plan, codes: list[int], soft: Floats | None) -> tuple[Floats, float, float, Array]:
    """Run a plan for one row of evidence: the result, its sum, the logarithm of its scale, the best states."""
    row, given = np.array(codes, np.int64), made.cpts if soft is None else np.concatenate([made.cpts, soft])
    run_one = for_work(run_kernels.run_one, _entries(made), ENTRIES)
    call = (made.program, made.sizes, given, row, made.n_out)
    if made.largest > LONG_ENTRIES:
        ((values, total, states),) = run_threads(run_one, [call], 1, long=True)
    else:
        values, total, states = run_here(run_one, *call)
    if total > UNDERFLOW:
        return values, total, 0.0, states
    several, scale, choices = execute(made, row[None], np.zeros(0) if soft is None else soft)
    return several[0], float(several.sum()), float(scale[0]), choices[0]


def execute(made: Plan, codes: Array, soft: Floats, *, n_jobs: int | None = None) -> tuple[Floats, Floats, Array]:
    """Run a plan for every row of ``codes`` (rows, observed variables).

    Returns the results (rows, entries), each row scaled so that it may be summed; the logarithm of that scale; and the
    best states (rows, maximised variables).
    """
    values, states = _run(made, codes, soft, logs=False, n_jobs=n_jobs)
    scale = np.zeros(len(codes))
    low = np.flatnonzero(~(values.max(axis=1, initial=0.0) > UNDERFLOW))
    if len(low):
        logs, states[low] = _run(made, codes[low], soft, logs=True, n_jobs=n_jobs)
        scale[low] = logs.max(axis=1)
        values[low] = np.exp(logs - np.where(np.isfinite(scale[low]), scale[low], 0.0)[:, None])
    return values, scale, states


def execute_logarithms(made: Plan, codes: Array) -> Floats:
    """Run a plan for every row of ``codes``; return the logarithms of the results, each entry exact on its own."""
    none = np.zeros(0)
    values, _ = _run(made, codes, none, logs=False, n_jobs=1)
    low = np.flatnonzero((values <= UNDERFLOW).any(axis=1))
    with np.errstate(divide="ignore"):
        logs = np.log(values)
    if len(low):
        logs[low], _ = _run(made, codes[low], none, logs=True, n_jobs=1)
    return logs


def _run(made: Plan, codes: Array, soft: Floats, *, logs: bool, n_jobs: int | None) -> tuple[Floats, Integers]:
    given = given_values(made, soft, logs=logs)
    values, states = np.empty((len(codes), made.n_out)), np.zeros((len(codes), made.n_best), np.int64)
    rows = np.ascontiguousarray(codes)
    run = for_work(run_kernels.run, len(codes) * _entries(made), ENTRIES)

    def work(low: int, high: int) -> None:
        run(made.program, made.sizes, given, rows, low, high, logs, values, states)

    threads = thread_count(n_jobs)
    long = made.largest * len(codes) > LONG_ENTRIES
    run_threads(work, row_blocks(len(codes), threads, smallest=256), threads, long=long)
    return values, states


def given_values(made: Plan, soft: Floats, *, logs: bool) -> Floats:
    """Return the start of the memory: the CPTs that the plan uses and the likelihoods of its soft evidence."""
    values = np.concatenate([made.cpts, soft]) if len(soft) else made.cpts
    if not logs:
        return values
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(values))


def patterns(missing: Bools) -> Iterator[tuple[Integers, Integers]]:
    """Group the rows of (rows, columns) that have the same missing values: the rows, and their observed columns."""
    n_rows, n_columns = missing.shape
    if not missing.any():
        yield np.arange(n_rows), np.arange(n_columns)
        return
    _, first, kind = np.unique(np.packbits(missing, axis=1), axis=0, return_index=True, return_inverse=True)
    order = np.argsort(kind.ravel(), kind="stable")
    bounds = np.cumsum(np.bincount(kind.ravel()))[:-1]
    for row, rows in zip(first, np.split(order, bounds), strict=True):
        yield rows, np.flatnonzero(~missing[row])
