"""Posteriors by sampling, for networks whose tree-width forbids exact ones, with their Monte-Carlo standard errors."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tanbark.arrays import Floats, Integers
from tanbark.errors import InputError, NotConvergedWarning, warn
from tanbark.graph import Network
from tanbark.inference.factors import elimination, run_kernels
from tanbark.inference.loopy import propagate
from tanbark.machine import blocks

ROWS_AT_ONCE = 1 << 14
FEW = 400.0  # effective samples below which an estimate is doubtful
CHAINS = 256  # of Gibbs sampling, side by side
BURN_IN = 100  # sweeps that are left out


class Estimate(NamedTuple):
    """A joint posterior as a flat array, the standard error of every entry, and the effective number of samples."""

    values: Floats
    errors: Floats
    effective: float


class Asked(NamedTuple):
    """What is asked: the wanted columns, the codes of observed ones, likelihoods of softly observed ones."""

    wanted: tuple[int, ...]
    known: dict[int, int]
    soft: dict[int, Floats]


def likelihood_weighting(network: Network, asked: Asked, n_samples: int, rng: np.random.Generator) -> Estimate:
    r"""Draw every unobserved variable from its CPT, parents first, and weigh the rows by what was observed.

    .. math:: \hat p = \frac{\sum_i w_i 1_i}{\sum_i w_i}, \qquad
              se = \frac{\sqrt{\sum_i w_i^2 (1_i - \hat p)^2}}{\sum_i w_i}, \qquad w_i = \prod_e P(e | pa(e)_i)

    Fung and Chang (1990); Koller and Friedman (2009), section 12.2, with the standard error of a ratio.
    """
    size = math.prod(network.schema.cardinalities[column] for column in asked.wanted)
    sums, squares = np.zeros(size), np.zeros(size)  # of the weights of rows with each joint state, and their squares
    shift = -math.inf
    for low, high in blocks(n_samples, ROWS_AT_ONCE):
        codes = _draw(network, asked, high - low, rng)
        logs = _log_weights(network, asked, codes)
        top = max(shift, float(logs.max()))
        if top == -math.inf:
            continue
        rescale = math.exp(shift - top)
        weights, cells = np.exp(logs - top), _cells(network, asked.wanted, codes)
        sums = sums * rescale + np.bincount(cells, weights, size)
        squares = squares * rescale**2 + np.bincount(cells, weights**2, size)
        shift = top
    total = float(sums.sum())
    if total <= 0:
        msg = (
            f"None of {n_samples:,} samples agrees with the evidence: it is impossible or very improbable. Raise "
            "n_samples, observe less, or use method='gibbs'."
        )
        raise InputError(msg)
    values = sums / total
    errors = np.sqrt((1 - 2 * values) * squares + values**2 * squares.sum()) / total
    return Estimate(values, errors, total**2 / float(squares.sum()))


def gibbs(network: Network, asked: Asked, n_samples: int, rng: np.random.Generator) -> Estimate:
    """Draw every unobserved variable again and again given all others, in independent chains.

    The standard error is that of the mean over the chains, so it allows for the correlation within them, but not for
    parts of the space that no chain came to. Chains begin with a draw given the observed variables. Geman and Geman
    (1984); Koller and Friedman (2009), section 12.3.
    """
    size = math.prod(network.schema.cardinalities[column] for column in asked.wanted)
    chains = min(CHAINS, max(8, n_samples // 8))
    codes = _draw(network, asked, chains, rng)
    free = [node for node in network.dag.order if node not in asked.known]
    sums = np.zeros((chains, size))
    sweeps = max(1, -(-n_samples // chains))
    rows = np.arange(chains)
    for sweep in range(BURN_IN + sweeps):
        for node in free:
            _renew(network, asked, node, codes, rng)
        if sweep >= BURN_IN:
            sums[rows, _cells(network, asked.wanted, codes)] += 1.0
    possible = _log_joint(network, asked, codes) > -math.inf
    if possible.sum() < 2:
        msg = "No chain came to a state that agrees with the evidence: it may be impossible. Use likelihood weighting."
        raise InputError(msg)
    means = sums[possible] / sweeps
    values = means.mean(axis=0)
    errors = means.std(axis=0, ddof=1) / math.sqrt(len(means))
    spread = float((errors**2).sum())
    plain = float((values * (1 - values)).sum())
    return Estimate(values, errors, plain / spread if spread > 0 else float(n_samples))


def estimate(
    network: Network, asked: Asked, method: str, n_samples: int, rng: np.random.Generator
) -> tuple[str, Estimate]:
    """Estimate by a method, or with "auto" by likelihood weighting, and by Gibbs where its samples are worth few.

    Gibbs sampling is not tried by itself where a CPT has zeros, which may part the space; then, or where its samples
    are worth few as well, loopy propagation is, if it converges. An estimate with few effective samples, or by messages
    that do not settle, is a NotConvergedWarning.
    """
    elimination.normalised(network)
    if method == "loopy":
        return method, _loopy(network, asked)
    if method == "auto":
        return _automatic(network, asked, n_samples, rng)
    found = (gibbs if method == "gibbs" else likelihood_weighting)(network, asked, n_samples, rng)
    _warn_if_few(method, found, n_samples)
    return method, found


def _automatic(network: Network, asked: Asked, n_samples: int, rng: np.random.Generator) -> tuple[str, Estimate]:
    used, found = "likelihood-weighting", None
    try:
        found = likelihood_weighting(network, asked, n_samples, rng)
    except InputError as error:  # no sample agrees with the evidence
        reason = error
    if found is not None and found.effective >= FEW:
        return used, found
    if all((table > 0).all() for table in network.tables):
        used, found = "gibbs", gibbs(network, asked, n_samples, rng)
        if found.effective >= FEW:
            return used, found
    propagated = propagate(network, *asked)
    if propagated.converged:
        return "loopy", Estimate(propagated.values, propagated.errors, math.inf)
    if found is None:
        raise reason
    _warn_if_few(used, found, n_samples)
    return used, found


def _loopy(network: Network, asked: Asked) -> Estimate:
    found = propagate(network, *asked)
    if not found.converged:
        msg = (
            f"Loopy propagation has not converged: after {found.sweeps} sweeps messages still change by up to "
            f"{found.change:.2g}. Use method='gibbs' or 'likelihood-weighting', or observe more."
        )
        warn(msg, NotConvergedWarning)
    return Estimate(found.values, found.errors, math.inf)


def _warn_if_few(used: str, found: Estimate, n_samples: int) -> None:
    if found.effective < FEW:
        msg = (
            f"The posterior by {used} rests on {found.effective:,.0f} effective samples of {n_samples:,}; its standard "
            f"error is up to {found.errors.max():.2g}. Raise n_samples, or observe less."
        )
        warn(msg, NotConvergedWarning)


def _draw(network: Network, asked: Asked, n: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Draw codes (columns, rows), parents first, the observed variables held."""
    codes = np.zeros((len(network.dag.names), n), np.int64)
    for column, code in asked.known.items():
        codes[column] = code
    rest = np.array([node for node in network.dag.order if node not in asked.known], np.int64)
    run_kernels.draw_forward(elimination.normalised(network), rest, rng.random(codes.shape), codes)
    return codes


def _entries(network: Network, node: int, codes: Integers) -> Floats:
    return np.asarray(network.log_tables[node][tuple(codes[column] for column in network.axes(node))])


def _log_weights(network: Network, asked: Asked, codes: Integers) -> Floats:
    """Return the logarithm of the probability of what was observed, given its parents as they were drawn."""
    logs = np.zeros(codes.shape[1])
    for node in asked.known:
        logs += _entries(network, node, codes)
    with np.errstate(divide="ignore"):
        for node, likelihood in asked.soft.items():
            logs += np.log(likelihood)[codes[node]]
    return logs


def _log_joint(network: Network, asked: Asked, codes: Integers) -> Floats:
    logs = np.zeros(codes.shape[1])
    for node in range(len(codes)):
        logs += _entries(network, node, codes)
    with np.errstate(divide="ignore"):
        for node, likelihood in asked.soft.items():
            logs += np.log(likelihood)[codes[node]]
    return logs


def _renew(network: Network, asked: Asked, node: int, codes: NDArray[np.int64], rng: np.random.Generator) -> None:
    """Draw a variable given its Markov blanket, in every chain; one without a possible state stays as it is."""
    states = network.schema.cardinalities[node]
    held = codes[node].copy()
    logs = np.zeros((states, codes.shape[1]))
    for state in range(states):
        codes[node] = state
        for family in (node, *network.dag.children[node]):
            logs[state] += _entries(network, family, codes)
    if node in asked.soft:
        with np.errstate(divide="ignore"):
            logs += np.log(asked.soft[node])[:, None]
    top = logs.max(axis=0)
    weights = np.exp(logs - np.where(np.isneginf(top), 0.0, top)).cumsum(axis=0)
    drawn = (weights < rng.random(codes.shape[1]) * weights[-1]).sum(axis=0)
    codes[node] = np.where(np.isneginf(top), held, np.minimum(drawn, states - 1))


def _cells(network: Network, wanted: tuple[int, ...], codes: Integers) -> NDArray[np.int64]:
    """Number the joint states of the wanted columns, the last the fastest."""
    cells = np.zeros(codes.shape[1], np.int64)
    for column in wanted:
        cells = cells * network.schema.cardinalities[column] + codes[column]
    return cells
