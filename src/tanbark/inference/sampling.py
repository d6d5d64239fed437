"""Exact draws: parents before children, and where there is evidence, backwards through an elimination."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tanbark.arrays import Array
from tanbark.checks import check_count
from tanbark.graph import Network
from tanbark.inference import queries
from tanbark.inference.evidence import read_evidence, read_soft
from tanbark.inference.factors import elimination as engine
from tanbark.inference.factors import run_kernels
from tanbark.inference.layout import FlatNetwork
from tanbark.machine import blocks
from tanbark.table.frames import make_frame

ROWS_AT_ONCE = 1 << 14


def sample(
    network: Network, n: int, evidence: Any = None, *, soft: Any, random_state: Any, backend: str | None,
    limits: engine.Limits = engine.NO_LIMITS,
) -> Any:  # fmt: skip
    """Draw a frame of rows; see :meth:`Network.sample`."""
    check_count("n, the number of rows,", n)
    rng = np.random.default_rng(random_state)
    codes = sample_codes(network, int(n), evidence, soft=soft, rng=rng, limits=limits)
    data = {}
    for column, drawn in zip(network.schema.columns, codes, strict=True):
        states = column.states()
        plain = all(isinstance(state, bool) for state in states) or all(type(state) is int for state in states)
        listed = np.array(states) if plain else np.array(states, object)
        data[column.name] = listed[drawn] if plain else listed[drawn].tolist()
    return make_frame(data, backend)


def sample_codes(
    network: Network,
    n: int,
    evidence: Any,
    *,
    soft: Any,
    rng: np.random.Generator,
    limits: engine.Limits = engine.NO_LIMITS,
) -> NDArray[np.int64]:
    """Draw codes (columns, rows) from P(everything | evidence).

    The variables that the evidence reaches are summed out in some order; read backwards, every step is the
    distribution of its variable given those drawn before. The others are drawn from their own CPTs.
    """
    known = read_evidence(network, evidence)
    softly, _ = read_soft(network, soft, known)
    out = np.zeros((len(network.dag.names), n), np.int64)
    for column, code in known.items():
        out[column] = code
    flat = engine.normalised(network)
    back = _backwards(network, known, softly, limits) if known or softly else None
    done = set(known) | (set(back[0].order) if back else set())
    rest = np.array([node for node in network.dag.order if node not in done], np.int64)
    for low, high in blocks(n, ROWS_AT_ONCE):
        _draw(flat, back, rest, rng.random((high - low, len(out))).T, out[:, low:high])
    return out


Backwards = tuple[engine.Plan, Array, Array, bool]


def _backwards(network: Network, known: dict[int, int], softly: queries.Soft, limits: engine.Limits) -> Backwards:
    """Sum out what the evidence reaches and keep every step's result."""
    flat = engine.normalised(network)
    made = engine.plan(network, ((), (), tuple(known), tuple(softly), True), limits, looks_back=True)
    codes = np.array([known[column] for column in made.seen], np.int64)
    for logs in (False, True):
        given = engine.given_values(made, queries.flat_soft(made, softly), logs=logs)
        memory = run_kernels.fill_memory(made.program, flat.sizes, given, codes, logs)
        if logs or memory[-1] > engine.UNDERFLOW:
            break
    if logs and memory[-1] == -math.inf:
        raise queries.impossible(network, known, softly)
    return made, memory, codes, logs


def _draw(flat: FlatNetwork, back: Backwards | None, rest: Array, uniform: Array, out: Array) -> None:
    if back is not None:
        made, memory, codes, logs = back
        run_kernels.draw_back(made.program, flat.sizes, memory, codes, logs, uniform, out)
    run_kernels.draw_forward(flat, rest, uniform, out)
