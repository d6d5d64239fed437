"""Plans of variable elimination: made once for a pattern of evidence, kept with the network, run over any rows.

The memory of a run is known before it starts. Where it is more than allowed, the elimination is sliced: some variables
are observed in one state after another, which are the same sums in less memory and mostly more time.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from threading import Lock
from typing import NamedTuple

import numpy as np

from tanbark.arrays import Array, Bools, Floats, Integers
from tanbark.checks import GIB, allowed_memory
from tanbark.errors import InputError, TableTooLargeError
from tanbark.graph import Cost, Network
from tanbark.inference.factors import memory_kernels, order_kernels, plan_kernels, run_kernels
from tanbark.inference.layout import FlatNetwork, flat_network, once_per_network
from tanbark.kernel import for_work
from tanbark.machine import row_blocks, run_here, run_threads, thread_count

MAX_ENTRIES = 1 << 45  # of the largest factor: beyond, sizes of programs are not exact
MAX_OPERATIONS = 1 << 36  # entries that a query looks at in all, unless max_entries is given: minutes
MAX_SLICES = 1 << 16
SMALL_BYTES = 1 << 26  # of memory: taken without asking how much is free
LEAN_BYTES = 1 << 23  # of memory from which on results are put in places of earlier ones
LONG_ENTRIES = 1 << 20  # of factors from which on a run can be interrupted
PLANS_KEPT = 512
PLANNED, ENTRIES = 90_000, 20_000  # squares of variables, entries of factors: what Python does before Numba is there
UNDERFLOW = 1e-200  # a result below this is computed again in logarithms
ADVICE = "Observe some of them, ask for fewer, or raise max_entries; query has method='auto', which samples."


class Limits(NamedTuple):
    """What a query may take: entries of its largest factor, and bytes of memory (half of the free ones, if None)."""

    max_entries: int | None = None
    max_memory: float | None = None


NO_LIMITS = Limits()
Pattern = tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...], tuple[int, ...], bool]


class Plan(NamedTuple):
    """A program for one pattern: which variables are asked for, maximised, observed, or softly observed.

    ``sliced`` variables are observed in one state after another. ``lean`` is the program whose results lie in places of
    earlier ones, where that saves much; ``memory`` are the bytes that a run of it takes, of which ``threads`` may run
    at once.
    """

    seen: tuple[int, ...]
    sliced: tuple[int, ...]
    softs: tuple[int, ...]
    n_best: int
    maximises: bool
    sizes: Array
    program: Array
    lean: Array
    cpts: Floats
    out_shape: tuple[int, ...]
    n_out: int
    largest: float
    operations: float
    memory: int
    threads: int = 1 << 30

    @property
    def order(self) -> list[int]:
        """The variables in the order of their elimination."""
        found: list[int] = _section(self.program, plan_kernels.ORDER).tolist()
        return found

    @property
    def best(self) -> list[int]:
        """The maximised variables, in the order of the states that a run returns."""
        order = self.order
        return [*order[len(order) - self.n_best :], *(self.sliced if self.maximises else ())]


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


def plan(
    network: Network, pattern: Pattern, limits: Limits = NO_LIMITS, *, looks_back: bool = False
) -> Plan:  # fmt: skip
    """Find the plan of a pattern, or make it: (kept, maximised, observed, soft, whether cut-off parts count too).

    Raises an error where it is past the limits. One that takes too much memory is sliced; but not where draws are to
    look back into the results, all of which are in memory then.
    """
    kept = kept_plans(network)
    most = MAX_ENTRIES if limits.max_entries is None else min(limits.max_entries, MAX_ENTRIES)
    found = kept.plans.get(pattern)
    if found is None or found.largest > most:
        found = _make(network, kept.flat, pattern, (), most, ADVICE)
        with kept.lock:
            if len(kept.plans) >= PLANS_KEPT:
                del kept.plans[next(iter(kept.plans))]
            kept.plans[pattern] = found
    if limits.max_entries is None and found.operations > MAX_OPERATIONS:
        _raise_too_long(cost(network, pattern), found.operations)
    memory = 8 * _total(found.program, plan_kernels.MEMORY_SIZE) if looks_back else found.memory
    if limits.max_memory is None and memory <= SMALL_BYTES:
        return found
    allowed = allowed_memory(limits.max_memory)
    if looks_back and memory > allowed:
        _raise_too_much(cost(network, pattern), memory, allowed)
    if memory > allowed:
        found = _slice(network, kept.flat, pattern, found, allowed, limits)
    return found._replace(threads=max(1, int(allowed // max(found.memory, 1))))


def make_plan(network: Network, pattern: Pattern, limit: int, advice: str) -> Plan:
    """Make the plan of a pattern; ``advice`` ends the message of the error where it would be too large."""
    return _make(network, normalised(network), pattern, (), limit, advice)


def _make(
    network: Network, flat: FlatNetwork, pattern: Pattern, sliced: tuple[int, ...], limit: int, advice: str
) -> Plan:
    kept, best, seen, soft, whole = pattern
    make = for_work(plan_kernels.make, len(flat.sizes) ** 2, PLANNED)
    largest, program, cpts = make(flat, *_members(pattern, sliced), whole, len(sliced), float(limit))
    if largest > limit:
        _raise_too_large(cost(network, pattern), limit, advice)
    out_shape = tuple([network.schema.cardinalities[column] for column in kept])
    softs = tuple(_section(program, plan_kernels.SOFTS).tolist()) if soft else ()
    n_best = len([column for column in best if column not in sliced])
    entries, lean = _total(program, plan_kernels.MEMORY_SIZE), program
    if 8 * entries > LEAN_BYTES:
        lean = memory_kernels.reuse_places(program, flat.sizes)
        entries = _total(lean, plan_kernels.MEMORY_SIZE)
    memory = 8 * entries + 4 * int(_section(program, plan_kernels.CHOICE_BOUNDS)[-1])
    operations = float(_total(program, plan_kernels.OPERATIONS)) * math.prod([int(flat.sizes[c]) for c in sliced])
    return Plan(
        seen, sliced, softs, n_best, bool(best), flat.sizes, program, lean, cpts, out_shape, math.prod(out_shape),
        largest, operations, memory,
    )  # fmt: skip


def _slice(
    network: Network, flat: FlatNetwork, pattern: Pattern, found: Plan, allowed: float, limits: Limits
) -> Plan:  # fmt: skip
    """Slice one variable after another, each time the one that costs least, until the memory is as allowed."""
    needed, sliced = found.memory, found.sliced
    while found.memory > allowed:
        column = _next_slice(flat, pattern, sliced)
        if column < 0:
            _raise_too_much(cost(network, pattern), needed, allowed)
        sliced = (*sliced, column)
        if math.prod([int(flat.sizes[c]) for c in sliced]) > MAX_SLICES:
            _raise_too_much(cost(network, pattern), needed, allowed)
        found = _make(network, flat, pattern, sliced, MAX_ENTRIES, ADVICE)
        if limits.max_entries is None and found.operations > MAX_OPERATIONS:
            _raise_too_much(cost(network, pattern), needed, allowed)
    return found


def _next_slice(flat: FlatNetwork, pattern: Pattern, sliced: tuple[int, ...]) -> int:
    """Return the variable of the largest factor whose slices look at the fewest entries in all; -1 if there is none.

    Sums are sliced over summed variables, maxima over maximised ones.
    """
    roles, _, order = plan_kernels.find_order(flat, *_members(pattern, sliced), pattern[4], len(sliced))
    if not len(order.entries):
        return -1
    scopes = np.split(order.around, order.bounds[1:-1])
    members = [{int(v), *near.tolist()} for v, near in zip(order.variables, scopes, strict=True)]
    phase = order_kernels.MAX if pattern[1] else order_kernels.SUM
    least, best = math.inf, -1
    for column in sorted(members[int(order.entries.argmax())]):
        if roles.phase[column] != phase or roles.soft[column] or flat.sizes[column] == 1:
            continue
        within = np.array([column in scope for scope in members])
        size = float(flat.sizes[column])
        after = float(order.entries[within].sum() + order.entries[~within].sum() * size)
        if after < least:
            least, best = after, column
    return best


def _section(program: Array, number: int) -> Array:
    found: Array = for_work(plan_kernels.section, 1, ENTRIES)(program, number)
    return found


def _total(program: Array, number: int) -> int:
    return int(_section(program, plan_kernels.TOTALS)[number])


def _entries(made: Plan) -> int:
    """Return about how many entries a run reads and writes for a row."""
    return len(made.cpts) + int(min(made.largest, 2.0 * ENTRIES))


def cost(network: Network, pattern: Pattern, *, with_memory: bool = False) -> Cost:
    """Return the cost of a pattern's elimination, without running it."""
    flat, kept, names = normalised(network), pattern[0], network.dag.names
    _, _, order = plan_kernels.find_order(flat, *_members(pattern), pattern[4], 0)
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
    memory = math.nan
    if with_memory and largest <= MAX_ENTRIES:
        memory = float(_make(network, flat, pattern, (), MAX_ENTRIES, ADVICE).memory)
    return Cost(max(width, 0), largest, operations, eliminated, tuple(names[c] for c in widest), memory)


def _members(pattern: Pattern, sliced: tuple[int, ...] = ()) -> tuple[Array, tuple[int, int, int]]:
    """List the variables of a pattern one after another, and the ends of the first three groups."""
    kept, best, seen, soft, _ = pattern
    rest = [column for column in best if column not in sliced]
    first, second = len(kept), len(kept) + len(rest)
    return np.array((*kept, *rest, *seen, *sliced, *soft), np.int64), (first, second, second + len(seen) + len(sliced))


def _widest(needed: Cost) -> str:
    shown = ", ".join(map(repr, needed.widest[:8])) + (", …" if len(needed.widest) > 8 else "")
    return (
        f"a factor of {needed.largest:,.0f} entries over {len(needed.widest)} variables ({shown}; width {needed.width})"
    )


def _raise_too_large(needed: Cost, limit: int, advice: str) -> None:
    msg = f"This needs {_widest(needed)}, more than {limit:,}. {advice}"
    raise TableTooLargeError(msg)


def _raise_too_long(needed: Cost, operations: float) -> None:
    msg = (
        f"This needs {_widest(needed)} and {operations:,.0f} multiplications in all, more than {MAX_OPERATIONS:,}, "
        f"which take minutes; give max_entries={needed.largest:.0f} to compute it all the same. {ADVICE}"
    )
    raise TableTooLargeError(msg)


def _raise_too_much(needed: Cost, memory: float, allowed: float) -> None:
    msg = (
        f"This needs {_widest(needed)} and {memory / GIB:,.3f} GiB of memory, above the {allowed / GIB:,.3f} GiB that "
        "it may take (max_memory; by default half of the free memory), and cannot be divided so that it takes less. "
        "Observe some of them, ask for fewer, or raise max_memory; query has method='auto', which samples."
    )
    raise TableTooLargeError(msg)


def execute_one(made: Plan, codes: list[int], soft: Floats | None) -> tuple[Floats, float, float, Array]:
    """Run a plan for one row of evidence: the result, its sum, the logarithm of its scale, the best states."""
    row, given = np.array(codes, np.int64), made.cpts if soft is None else np.concatenate([made.cpts, soft])
    if not made.sliced:
        run_one = for_work(run_kernels.run_one, _entries(made), ENTRIES)
        call = (made.lean, made.sizes, given, row, made.n_out)
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
    if made.sliced:
        parts = [_run_slices(made, row, soft, n_jobs) for row in codes]
        values, states = (np.array([part[k] for part in parts]) for k in (0, 2))
        return values, np.array([part[1] for part in parts]), states
    values, states = _run(made, codes, soft, logs=False, n_jobs=n_jobs)
    scale = np.zeros(len(codes))
    low = np.flatnonzero(~(values.max(axis=1, initial=0.0) > UNDERFLOW))
    if len(low):
        logs, states[low] = _run(made, codes[low], soft, logs=True, n_jobs=n_jobs)
        values[low], scale[low] = _scaled(logs)
    return values, scale, states


def _scaled(logs: Floats) -> tuple[Floats, Floats]:
    """Return what logarithms (rows, entries) stand for, divided by the greatest of each row, and its logarithm."""
    scale = logs.max(axis=1)
    return np.exp(logs - np.where(np.isfinite(scale), scale, 0.0)[:, None]), scale


def _run_slices(made: Plan, row: Array, soft: Floats, n_jobs: int | None) -> tuple[Floats, float, Array]:
    """Run a plan for one row of evidence and every state of its sliced variables; sum, or take the best.

    Equally good ones go to the lowest states of the sliced variables. Returns the result, the logarithm of its scale
    and the best states.
    """
    slices = np.indices([int(made.sizes[column]) for column in made.sliced]).reshape(len(made.sliced), -1).T
    rows = np.concatenate([np.tile(row, (len(slices), 1)), slices], axis=1)
    values, states = _run(made, rows, soft, logs=False, n_jobs=n_jobs)
    scale = 0.0
    if not values.sum() > UNDERFLOW:
        logs, states = _run(made, rows, soft, logs=True, n_jobs=n_jobs)
        flat, scales = _scaled(logs.reshape(1, -1))
        values, scale = flat.reshape(values.shape), float(scales[0])
    if not made.maximises:
        return values.sum(axis=0), scale, states[0]
    best = int(values[:, 0].argmax())
    return values[best], scale, np.concatenate([states[best], slices[best]])


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
        run(made.lean, made.sizes, given, rows, low, high, logs, values, states)

    threads = min(thread_count(n_jobs), made.threads)
    long = made.largest * len(codes) > LONG_ENTRIES
    smallest = 1 if made.operations > LONG_ENTRIES else 256
    run_threads(work, row_blocks(len(codes), threads, smallest=smallest), threads, long=long)
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
