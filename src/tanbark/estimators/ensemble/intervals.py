"""How sure the posterior of pooled networks is: networks drawn by their weights, with CPTs from their posteriors."""

from __future__ import annotations

from typing import Any

import numpy as np

from tanbark.arrays import Codes, Floats, Integers
from tanbark.estimators.ensemble.member import Member
from tanbark.estimators.ensemble.pooled import CLASS_PRIOR, Pooled
from tanbark.estimators.reports.uncertainty import KEPT, read_drawing
from tanbark.inference import normalize
from tanbark.machine import blocks, row_blocks, run_threads, thread_count


def pooled_interval(
    pooled: Pooled, codes: Codes, *, level: Any, n_draws: Any, random_state: Any, fixed_prior: bool, n_jobs: int | None
) -> tuple[Floats, Floats]:
    """Return the lower and upper ends of the credible intervals; see ``predict_proba_interval`` of the ensembles."""
    tails, rng = read_drawing(level, n_draws, random_state)
    n_rows, n_classes, n_draws = codes.shape[1], len(pooled.log_prior), int(n_draws)
    total = pooled.weights.sum()
    even = np.full(len(pooled.members), 1.0 / len(pooled.members))
    places = rng.choice(len(pooled.members), n_draws, p=pooled.weights / total if total > 0.0 else even)
    seeds = [rng.integers(2**63, size=len(member.trees)) for member in pooled.members]
    prior = np.tile(pooled.log_prior, (n_draws, 1))
    if not fixed_prior:
        prior = np.log(rng.dirichlet(pooled.class_counts + CLASS_PRIOR, n_draws))
    low, high = np.empty((n_rows, n_classes)), np.empty((n_rows, n_classes))
    for first, last in blocks(n_rows, max(1, KEPT // (n_draws * n_classes))):
        part = np.ascontiguousarray(codes[:, first:last])
        plain, correction = pooled.evidence(part, n_jobs=n_jobs)
        proba = normalize(pooled.log_prior + pooled.tempered(part, plain, correction), logs=False)[0]
        evidence = total * draw_likelihoods(pooled, part, places, seeds, n_jobs=n_jobs)
        logits = prior + pooled.tempered(part, evidence, correction[:, None, :])
        drawn = normalize(logits.reshape(-1, n_classes), logs=False, n_jobs=n_jobs)[0].reshape(logits.shape)
        ends = np.quantile(drawn, tails, axis=1)
        low[first:last], high[first:last] = np.minimum(ends[0], proba), np.maximum(ends[1], proba)
    return low, high


def draw_likelihoods(
    pooled: Pooled, codes: Codes, places: Integers, seeds: list[Integers], *, n_jobs: int | None
) -> Floats:
    """Return log P(observed | class) in drawn networks, (n_rows, n_draws, n_classes).

    Parameters
    ----------
    places : (n_draws,) array
        The network of every draw.
    seeds : for every network, one seed for each feature
    """
    out = np.empty((codes.shape[1], len(places), len(pooled.log_prior)))
    for place in np.unique(places).tolist():
        chosen = np.flatnonzero(places == place)
        out[:, chosen] = _draw_member(pooled.members[place], codes, len(chosen), seeds[place], n_jobs)
    return out


def _draw_member(member: Member, codes: Codes, n_draws: int, seeds: Integers, n_jobs: int | None) -> Floats:
    from tanbark.params.hierarchical import drawing_kernels

    threads = thread_count(n_jobs)
    merged = member.coarsening.apply(codes)
    expected = member.log_likelihoods(merged, n_jobs=n_jobs)
    found, columns = np.repeat(expected[:, None, :], n_draws, axis=1), member.chosen(merged)

    def work(low: int, high: int) -> None:
        for feature, (parents, tree) in enumerate(zip(member.parents, member.trees, strict=True)):
            family, seed = np.array(parents), int(seeds[feature])
            drawing_kernels.add_drawn(columns[feature], columns, family, tree, seed, low, high, found)

    run_threads(work, row_blocks(len(found), threads, smallest=16), threads)
    return found
