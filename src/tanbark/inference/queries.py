"""Questions to a network: posteriors, explanations and probabilities, exactly; posteriors also approximately."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from tanbark.arrays import Array, Floats
from tanbark.checks import check_count
from tanbark.errors import ImpossibleEvidenceError, InputError, TableTooLargeError, find
from tanbark.graph import Assignment, Cost, Network, Posterior, Posteriors
from tanbark.inference import approximate
from tanbark.inference.evidence import (
    column_index,
    is_batch,
    names,
    read_evidence,
    read_rows,
    read_soft,
    target_indices,
)
from tanbark.inference.factors import elimination as engine
from tanbark.table import Level

Limits = engine.Limits
Soft = dict[int, Floats]


METHODS = ("exact", "auto", "likelihood-weighting", "gibbs", "loopy")
N_SAMPLES = 100_000


def query(
    network: Network, targets: Any, evidence: Any = None, *, soft: Any = None, limits: Limits = engine.NO_LIMITS,
    method: str = "exact", n_samples: int = N_SAMPLES, random_state: Any = 0,
) -> Posterior | Posteriors:  # fmt: skip
    """Return the joint posterior of the targets; see :meth:`Network.query`."""
    find("method", method, dict.fromkeys(METHODS))
    wanted = target_indices(network, targets)
    levels = names(network).levels
    called = tuple([network.dag.names[column] for column in wanted])
    states = tuple([levels[column] for column in wanted])
    if is_batch(evidence):
        if method not in ("exact", "auto"):
            msg = f"method={method!r} takes one row of evidence at a time, as a dict; a frame is answered exactly."
            raise InputError(msg)
        return Posteriors(called, states, _query_rows(network, wanted, evidence, soft, limits))
    known = read_evidence(network, evidence)
    softly, _ = read_soft(network, soft, known)
    _refuse_known(network, wanted, known)
    pattern = (wanted, (), tuple(known), tuple(softly), False)
    if method not in ("exact", "auto") or (method == "auto" and not _fits(network, pattern, limits)):
        check_count("n_samples", n_samples, least=2)
        rng = np.random.default_rng(random_state)
        asked = approximate.Asked(wanted, known, softly)
        used, found = approximate.estimate(network, asked, method, int(n_samples), rng)
        shape = [network.schema.cardinalities[column] for column in wanted]
        return Posterior(called, states, found.values.reshape(shape), used, found.errors.reshape(shape))
    made = engine.plan(network, pattern, limits)
    values, total, scale, _ = _run_one(made, known, softly)
    if scale == -math.inf:
        raise impossible(network, known, softly)
    return Posterior(called, states, (values / total).reshape(made.out_shape))


def _fits(network: Network, pattern: engine.Pattern, limits: Limits) -> bool:
    """Return whether an exact posterior needs no factor that is too large."""
    try:
        engine.plan(network, pattern, limits)
    except TableTooLargeError:
        return False
    return True


def _refuse_known(network: Network, wanted: Iterable[int], known: Iterable[int]) -> None:
    for column in wanted:
        if column in known:
            msg = f"{network.dag.names[column]!r} is asked for and observed. Leave it out of one of them."
            raise InputError(msg)


def _run_one(made: engine.Plan, known: dict[int, int], softly: Soft) -> tuple[Floats, float, float, Array]:
    soft = flat_soft(made, softly) if softly else None
    return engine.execute_one(made, [known[column] for column in made.seen], soft)


def flat_soft(made: engine.Plan, softly: Soft) -> Floats:
    """Put the likelihoods that a plan uses one after another."""
    return np.concatenate([np.zeros(0), *(softly[column] for column in made.softs)]) if made.softs else np.zeros(0)


def impossible(network: Network, known: dict[int, int], softly: Soft) -> ImpossibleEvidenceError:
    """Make the error for evidence of probability zero."""
    columns = network.schema.columns
    shown = {columns[column].name: columns[column].states()[code] for column, code in known.items()}
    extra = f" with soft evidence on {[columns[column].name for column in softly]}" if softly else ""
    msg = (
        f"The evidence {shown}{extra} has probability zero in this network, so that no posterior is defined. Check it."
    )
    return ImpossibleEvidenceError(msg)


def query_cost(network: Network, targets: Any, evidence: Iterable[str], soft: Iterable[str]) -> Cost:
    """Tell what a query would take; see :meth:`Network.query_cost`."""
    wanted = target_indices(network, targets)
    known, softly = (tuple(column_index(network, name) for name in _listed(group)) for group in (evidence, soft))
    _refuse_known(network, wanted, known)
    return engine.cost(network, (wanted, (), known, softly, False), with_memory=True)


def _listed(group: Iterable[str]) -> Iterable[str]:
    return [group] if isinstance(group, str) else group


def mpe(network: Network, evidence: Any, *, soft: Any, limits: Limits) -> Assignment:
    """Find the most probable explanation; see :meth:`Network.mpe`."""
    known = read_evidence(network, evidence)
    rest = tuple(column for column in range(len(network.dag.names)) if column not in known)
    return _best(network, rest, known, soft, limits)


def map_states(network: Network, targets: Any, evidence: Any, *, soft: Any, limits: Limits) -> Assignment:
    """Find the most probable states of the targets; see :meth:`Network.map`."""
    known = read_evidence(network, evidence)
    wanted = target_indices(network, targets)
    _refuse_known(network, wanted, known)
    return _best(network, wanted, known, soft, limits)


def _best(network: Network, wanted: tuple[int, ...], known: dict[int, int], soft: Any, limits: Limits) -> Assignment:
    softly, soft_scale = read_soft(network, soft, known)
    evidence = _log_evidence(network, known, softly, limits)
    if evidence == -math.inf:
        raise impossible(network, known, softly)
    made = engine.plan(network, ((), wanted, tuple(known), tuple(softly), True), limits)
    values, _, scale, states = _run_one(made, known, softly)
    code = dict(zip(made.best, states.tolist(), strict=True))
    columns = network.schema.columns
    found: dict[str, Level] = {columns[c].name: columns[c].states()[code[c]] for c in wanted}
    return Assignment(found, math.log(float(values[0])) + scale + soft_scale, evidence + soft_scale)


def _log_evidence(network: Network, known: dict[int, int], softly: Soft, limits: Limits) -> float:
    made = engine.plan(network, ((), (), tuple(known), tuple(softly), True), limits)
    values, _, scale, _ = _run_one(made, known, softly)
    return scale if scale == -math.inf else math.log(float(values[0])) + scale


def probability_of_evidence(
    network: Network, evidence: Any, *, soft: Any, log: bool, limits: Limits = engine.NO_LIMITS
) -> Any:
    """Return P(evidence) or its logarithm; see :meth:`Network.probability_of_evidence`."""
    if is_batch(evidence):
        logs = _log_rows(network, evidence, soft, limits)
        return logs if log else np.exp(logs)
    known = read_evidence(network, evidence)
    softly, soft_scale = read_soft(network, soft, known)
    total = _log_evidence(network, known, softly, limits) + soft_scale
    return total if log else math.exp(total)


# ---------------------------------------------------------------------- many rows


def _query_rows(network: Network, wanted: tuple[int, ...], frame: Any, soft: Any, limits: Limits) -> Floats:
    shape = tuple(network.schema.cardinalities[column] for column in wanted)

    def make(seen: tuple[int, ...], softly: tuple[int, ...]) -> engine.Plan:
        _refuse_known(network, wanted, seen)
        return engine.plan(network, (wanted, (), seen, softly, False), limits)

    values, scale, _ = _rows(network, frame, soft, make, math.prod(shape))
    impossible = np.flatnonzero(np.isneginf(scale))
    if len(impossible):
        shown = f"{impossible[:10].tolist()}{' …' if len(impossible) > 10 else ''}"
        msg = (
            f"The evidence of {len(impossible):,} rows has probability zero in this network, so that no posterior is "
            f"defined: rows {shown} (counted from 0). Leave them out."
        )
        raise ImpossibleEvidenceError(msg)
    values /= values.sum(axis=1, keepdims=True)
    return values.reshape(-1, *shape)


def _log_rows(network: Network, frame: Any, soft: Any, limits: Limits) -> Floats:
    def make(seen: tuple[int, ...], softly: tuple[int, ...]) -> engine.Plan:
        return engine.plan(network, ((), (), seen, softly, True), limits)

    values, scale, soft_scale = _rows(network, frame, soft, make, 1)
    with np.errstate(divide="ignore"):
        return np.log(values[:, 0]) + scale + soft_scale


def _rows(
    network: Network, frame: Any, soft: Any, make: Callable[[tuple[int, ...], tuple[int, ...]], engine.Plan], n_out: int
) -> tuple[Floats, Floats, float]:
    """Run rows of evidence, grouped by which of their columns are observed; equal rows are run once."""
    columns, codes, missing = read_rows(network, frame)
    softly, soft_scale = read_soft(network, soft, columns)
    values, scale = np.empty((len(codes), n_out)), np.empty(len(codes))
    for rows, observed in engine.patterns(missing):
        made = make(tuple(columns[k] for k in observed), tuple(softly))
        part = codes[np.ix_(rows, observed)]
        distinct, back = _distinct(part, [network.schema.cardinalities[columns[k]] for k in observed])
        found, its_scale, _ = engine.execute(made, distinct, flat_soft(made, softly))
        values[rows], scale[rows] = found[back], its_scale[back]
    return values, scale, soft_scale


def _distinct(codes: Array, sizes: list[int]) -> tuple[Array, Array]:
    """Find the different rows, sorted so that neighbours differ in few of their last columns."""
    if math.prod(sizes) >= 1 << 62:
        return codes, np.arange(len(codes))
    keys = np.zeros(len(codes), np.int64)
    for k, size in enumerate(sizes):
        keys = keys * size + codes[:, k]
    _, first, back = np.unique(keys, return_index=True, return_inverse=True)
    return np.ascontiguousarray(codes[first]), back.ravel()
