"""Plans of variable elimination: made once for a pattern of evidence, kept with the network, run over any rows."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from threading import Lock
from weakref import WeakKeyDictionary

import numpy as np

from tanbark.arrays import Array, Floats
from tanbark.errors import InputError, TableTooLargeError
from tanbark.graph import Cost, Network
from tanbark.inference import plan_kernels, run_kernels
from tanbark.machine import row_blocks, run_threads, thread_count

MAX_ENTRIES = 1 << 27  # of the largest factor
MAX_UNKNOWN = 1 << 14  # variables to eliminate: planning keeps a square array of their links
PLANS_KEPT = 512
UNDERFLOW = 1e-200  # a result below this is computed again in logarithms

Pattern = tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...], tuple[int, ...], bool]


@dataclass(frozen=True, eq=False)
class Plan:
    """A program for one pattern: which variables are asked for, maximised, observed, or softly observed."""

    seen: tuple[int, ...]
    softs: tuple[int, ...]
    n_best: int
    program: Array
    tables: Floats
    out_shape: tuple[int, ...]
    n_out: int
    largest: float

    @property
    def order(self) -> list[int]:
        """The variables in the order of their elimination."""
        return _part(self.program, 12)


def _part(program: Array, number: int) -> list[int]:
    found: list[int] = program[program[number] : program[number + 1]].tolist()
    return found


@dataclass(frozen=True, eq=False)
class Engine:
    """A network's tables and families laid out flat for the kernels, and the plans made so far."""

    names: tuple[str, ...]
    sizes: Array
    tables: Floats
    starts: Array
    scopes: Array
    strides: Array
    bounds: Array
    zeros: Array
    cardinalities: tuple[int, ...]
    plans: dict[Pattern, Plan] = field(default_factory=dict)
    lock: Lock = field(default_factory=Lock)

    @property
    def arguments(self) -> tuple[Array, ...]:
        """Return the arrays in the order in which the planning kernel takes them."""
        return self.sizes, self.scopes, self.strides, self.bounds, self.starts, self.tables, self.zeros


_engines: WeakKeyDictionary[Network, Engine] = WeakKeyDictionary()


def engine(network: Network) -> Engine:
    """Lay a network out, once."""
    found = _engines.get(network)
    if found is None:
        found = _engines[network] = _lay_out(network)
    return found


def _lay_out(network: Network) -> Engine:
    if network.exponents is not None:
        msg = (
            "The tables of this network are weighted, so that they are no distribution to ask. Use one without weights."
        )
        raise InputError(msg)
    scopes: list[int] = []
    strides: list[int] = []
    bounds = [0]
    for node, table in enumerate(network.tables):
        step = table.size
        for axis, size in zip(network.axes(node), table.shape, strict=True):
            step //= size
            scopes.append(axis)
            strides.append(step)
        bounds.append(len(scopes))
    starts = np.cumsum([0, *(table.size for table in network.tables)])
    flat = np.concatenate([np.zeros(0), *(np.asarray(table, np.float64).ravel() for table in network.tables)])
    zeros = np.array([bool((table <= 0).any()) for table in network.tables], np.bool_)
    sizes = np.array(network.schema.cardinalities, np.int64)
    first, columns, steps, ends = (np.array(part, np.int64) for part in (starts, scopes, strides, bounds))
    return Engine(network.dag.names, sizes, flat, first, columns, steps, ends, zeros, network.schema.cardinalities)


def plan(network: Network, pattern: Pattern, max_entries: int | None = None) -> Plan:
    """Find the plan of a pattern, or make it: (kept, maximised, observed, soft, whether cut-off parts count too).

    Refuses a plan whose largest factor has more than ``max_entries`` entries.
    """
    flat = engine(network)
    limit = MAX_ENTRIES if max_entries is None else max_entries
    found = flat.plans.get(pattern)
    if found is None or found.largest > limit:
        found = _make(network, flat, pattern, limit)
        with flat.lock:
            if len(flat.plans) >= PLANS_KEPT:
                del flat.plans[next(iter(flat.plans))]
            flat.plans[pattern] = found
    return found


def cost(network: Network, pattern: Pattern) -> Cost:
    """Tell what a pattern's elimination takes, without running it."""
    flat = engine(network)
    shape = (flat.sizes, flat.scopes, flat.bounds, flat.zeros)
    order, around, ends, entries, _ = plan_kernels.price(*shape, *_groups(flat, pattern), pattern[4])
    return _cost(flat, pattern, order, around, ends, entries)


def _groups(flat: Engine, pattern: Pattern) -> tuple[Array, tuple[int, int, int]]:
    unknown = len(flat.sizes) - len(pattern[2])
    if unknown > MAX_UNKNOWN:
        msg = f"{unknown:,} variables are unknown at once; at most {MAX_UNKNOWN:,} can be planned for. Observe some."
        raise TableTooLargeError(msg)
    kept, best, seen, soft, _ = pattern
    first, second = len(kept), len(kept) + len(best)
    return np.array((*kept, *best, *seen, *soft), np.int64), (first, second, second + len(seen))


def _cost(flat: Engine, pattern: Pattern, order: Array, around: Array, ends: Array, entries: Array) -> Cost:
    kept = pattern[0]
    joint = float(np.prod(flat.sizes[list(kept)].astype(np.float64)))
    widest: tuple[int, ...] = kept
    largest = joint
    if len(entries) and entries.max() > joint:
        step = int(entries.argmax())
        widest = (int(order[step]), *around[ends[step] : ends[step + 1]].tolist())
        largest = float(entries[step])
    width = max([len(kept), *(np.diff(ends) + 1).tolist()]) - 1
    names = flat.names
    eliminated = tuple(names[column] for column in order)
    return Cost(max(width, 0), largest, float(entries.sum()) + joint, eliminated, tuple(names[c] for c in widest))


def _make(network: Network, flat: Engine, pattern: Pattern, limit: int) -> Plan:
    kept, best, seen, soft, whole = pattern
    largest, program, given = plan_kernels.make(*flat.arguments, *_groups(flat, pattern), whole, float(limit))
    if largest > limit:
        _refuse(cost(network, pattern), limit)
    softs = tuple(_part(program, 14)) if soft else ()
    out_shape = tuple([flat.cardinalities[column] for column in kept])
    return Plan(seen, softs, len(best), program, given, out_shape, math.prod(out_shape), largest)


def _refuse(price: Cost, limit: int) -> None:
    shown = ", ".join(map(repr, price.widest[:8])) + (", …" if len(price.widest) > 8 else "")
    msg = (
        f"This needs a table of {price.largest:,.0f} entries over {len(price.widest)} variables ({shown}; width "
        f"{price.width}), more than {limit:,}. Observe some of them, ask for fewer, or raise max_entries."
    )
    raise TableTooLargeError(msg)


def execute_one(
    network: Network, made: Plan, codes: list[int], soft: Floats | None
) -> tuple[Floats, float, float, Array]:
    """Run a plan for one row of evidence: the answer, its sum, the logarithm of its scale, the best states."""
    row, given = np.array(codes, np.int64), made.tables if soft is None else np.concatenate([made.tables, soft])
    values, total, states = run_kernels.run_one(made.program, engine(network).sizes, given, row, made.n_out)
    if total > UNDERFLOW:
        return values, total, 0.0, states
    several, scale, choices = execute(network, made, row[None], np.zeros(0) if soft is None else soft)
    return several[0], float(several.sum()), float(scale[0]), choices[0]


def execute(
    network: Network, made: Plan, codes: Array, soft: Floats, *, n_jobs: int | None = None
) -> tuple[Floats, Floats, Array]:
    """Run a plan for every row of ``codes`` (rows, observed variables).

    Returns the answers (rows, entries), each row scaled so that it may be summed; the logarithm of that scale; and the
    best states (rows, maximised variables).
    """
    n_rows = len(codes)
    values, states = np.empty((n_rows, made.n_out)), np.zeros((n_rows, made.n_best), np.int64)
    _run(network, made, codes, soft, values, states, logs=False, n_jobs=n_jobs)
    scale = np.zeros(n_rows)
    low = np.flatnonzero(~(values.max(axis=1, initial=0.0) > UNDERFLOW))
    if len(low):
        again, their = np.empty((len(low), made.n_out)), np.zeros((len(low), states.shape[1]), np.int64)
        _run(network, made, np.ascontiguousarray(codes[low]), soft, again, their, logs=True, n_jobs=n_jobs)
        top = again.max(axis=1)
        scale[low] = top
        values[low] = np.exp(again - np.where(np.isfinite(top), top, 0.0)[:, None])
        states[low] = their
    return values, scale, states


def _run(
    network: Network, made: Plan, codes: Array, soft: Floats, values: Floats, states: Array, *, logs: bool,
    n_jobs: int | None,
) -> None:  # fmt: skip
    flat, given = engine(network), given_values(made, soft, logs=logs)
    arguments = (made.program, flat.sizes, given, codes)

    def work(low: int, high: int) -> None:
        run_kernels.run(*arguments, low, high, logs, values, states)

    threads = thread_count(n_jobs)
    run_threads(work, row_blocks(len(codes), threads, smallest=256), threads)


def given_values(made: Plan, soft: Floats, *, logs: bool) -> Floats:
    """Return the start of the memory: the tables that the plan uses and the likelihoods of its soft evidence."""
    values = np.concatenate([made.tables, soft]) if len(soft) else made.tables
    if not logs:
        return values
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(values))
