"""The strength of a correction, its fading with missing values and the temperature, by cross-validation.

Structures, intervals and weights are learnt again without the rows of a fold.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from tanbark.arrays import Array, Codes, Floats
from tanbark.estimators.ensemble.dealing import NOTHING, fold_weights, sample_rows, single_rows
from tanbark.estimators.ensemble.pooled import BLANKS, FOLDS, Plan, Training, learn_pooled, n_corrected
from tanbark.estimators.ensemble.reading import learn_reading
from tanbark.params.correction import Families, add_corrections, run_rounds, without_corrections
from tanbark.params.pool import fit_temperature, log_loss, row_losses
from tanbark.structure.progress import Progress
from tanbark.table import CodedTable, missing_code

PENALTIES = (1.0, 4.0, 16.0, 64.0, 256.0)
FIRST_PENALTY = 2  # the position of the penalty that is tried first
CHECKPOINTS = (1, 2, 4, 8, 16, 32, 64)  # rounds
PATIENCE = 2  # checkpoints without improvement
FOLD_MEMBERS = 6
FEW_ROWS, MANY_ROWS = 1500, 3000
SMALL_FOLDS, MIDDLE_FOLDS, LARGE_FOLDS = 5, 3, 4  # of many rows, one of four folds is held out
FADES = (1.0, 0.9, 0.75, 0.5, 0.25, 0.1, 0.0)
BLANKED = (0.1, 0.3)  # fractions of the values that are taken away to find the fading
MOST_BLANKED = 500  # rows for it
LEAST_CHOSEN = 50  # rows; with fewer, nothing is chosen


@dataclass(frozen=True)
class Choice:
    """What cross-validation found.

    Attributes
    ----------
    penalty, rounds : the correction; no rounds where it gained less than one standard error
    fade : factor on the correction for every missing value beyond what is usual
    temperature : float
    plain_temperature : float
        That of the networks without the correction.
    log_losses : dict of (penalty, rounds) to the held-out log-loss; (0, 0) is the ensemble without a correction
    log_loss : float
        Held-out log-loss of the choice, with its temperature.
    network_log_loss : float
        Held-out log-loss of the network to read, as it is.
    held_out : (n_rows, n_classes) array
        Held-out log-posteriors, NaN for rows that were not held out.
    """

    penalty: float
    rounds: int
    fade: float
    temperature: float
    plain_temperature: float
    log_losses: dict[tuple[float, int], float]
    log_loss: float
    network_log_loss: float
    held_out: Floats

    def __str__(self) -> str:
        """Write what was chosen, and the held-out log-loss of the alternatives."""
        plain = self.log_losses[0.0, 0]
        best = min(self.log_losses.values())
        if not self.rounds:
            tried = f"The best one had {best:.4f}: no gain of one standard error."
            what = f"No correction: held-out log-loss {plain:.4f} without one.\n{tried}"
        else:
            rounds = "1 round" if self.rounds == 1 else f"{self.rounds} rounds"
            fading = f"is multiplied by {self.fade:g} for each missing value beyond the usual number"
            what = (
                f"A correction of {rounds} with penalty {self.penalty:g}: held-out log-loss {best:.4f}, "
                f"{plain:.4f} without it.\n"
                f"It {fading if self.fade < 1 else 'does not fade with missing values'}."
            )
        reading = f"The network to read, network_, has {self.network_log_loss:.4f}."
        return f"{what}\nTemperature {self.temperature:.3f}: held-out log-loss {self.log_loss:.4f}. {reading}"


@dataclass(frozen=True, eq=False)
class Fold:
    """A fold that was held out: the model without it, and its rows."""

    training: Training
    codes: Codes
    labels: Array
    weights: Floats
    rows: Array
    evidence: Floats
    reading: Floats

    @property
    def log_prior(self) -> Floats:
        """The log prior of the classes, for every row."""
        return np.tile(self.training.pooled.log_prior, (len(self.labels), 1))

    def sample(self, most: int, rng: np.random.Generator) -> tuple[Array, Floats]:
        """Choose about ``most`` rows, each as often as it counts; return them and their weights."""
        schema = self.training.pooled.schema
        codes = np.concatenate([self.codes, self.labels[None].astype(self.codes.dtype)])
        chosen, weights = sample_rows(CodedTable(schema, codes, self.weights), most, rng)
        rows, ones = single_rows(CodedTable(schema, np.ascontiguousarray(codes[:, chosen]), weights), rng)
        return chosen[rows], ones


def choose(table: CodedTable, plan: Plan, progress: Progress, *, time_budget: float | None = None) -> Choice:
    """Learn without each fold, and find what predicts its rows best.

    After ``time_budget`` seconds no further correction is tried.
    """
    deadline = math.inf if time_budget is None else time.monotonic() + float(time_budget)
    folds = list(_folds(table, plan, progress))
    labels, weights = (np.concatenate([getattr(fold, name) for fold in folds]) for name in ("labels", "weights"))
    prior = np.concatenate([fold.log_prior for fold in folds])
    evidence = np.concatenate([fold.evidence for fold in folds])
    found = {(0.0, 0): evidence, **_paths(folds, labels, weights, prior, progress, deadline)}
    losses = {key: row_losses(prior + part, labels) for key, part in found.items()}
    means = {key: float(np.average(part, weights=weights)) for key, part in losses.items()}
    best = min(means, key=lambda key: means[key])
    gain = losses[0.0, 0] - losses[best]
    mean = np.average(gain, weights=weights)
    error = np.sqrt(np.average((gain - mean) ** 2, weights=weights) / weights.sum())
    if mean < error:
        best = (0.0, 0)
    tau, plain = (fit_temperature(found[key], prior, labels, weights) for key in (best, (0.0, 0)))
    logits = prior + tau * found[best]
    fade = _choose_fade(folds, *best, (tau, plain), plan) if best[1] else 1.0
    rows = np.concatenate([fold.rows for fold in folds])
    held_out = np.full((table.n_rows, logits.shape[1]), np.nan)
    held_out[rows] = logits - np.logaddexp.reduce(logits, axis=1, keepdims=True)
    network = log_loss(prior + np.concatenate([fold.reading for fold in folds]), labels, weights)
    return Choice(*best, fade, tau, plain, means, log_loss(logits, labels, weights), network, held_out)


def n_folds(n_rows: float) -> int:
    """Return the number of folds; of :data:`LARGE_FOLDS` only the first is held out."""
    return SMALL_FOLDS if n_rows < FEW_ROWS else MIDDLE_FOLDS if n_rows < MANY_ROWS else LARGE_FOLDS


def _folds(table: CodedTable, plan: Plan, progress: Progress) -> Iterator[Fold]:
    total = table.n_rows if table.weights is None else table.weights.sum()
    count = n_folds(total)
    shares = fold_weights(table, count, plan.generator(FOLDS))
    weights = np.ones(table.n_rows) if table.weights is None else table.weights
    held = range(1) if count == LARGE_FOLDS else range(count)
    smaller = replace(plan, n_members=min(plan.n_members, max(FOLD_MEMBERS, n_corrected(table.schema.target))))
    for fold in held:
        rest, share = weights - shares[fold], shares[fold]
        inside, outside = np.flatnonzero(rest > NOTHING), np.flatnonzero(share > NOTHING)
        part = None if table.weights is None else rest[inside]
        rows = CodedTable(table.schema, np.ascontiguousarray(table.codes[:, inside]), part)
        training, network = learn_pooled(rows, smaller), learn_reading(rows, n_jobs=plan.n_jobs)
        codes = np.ascontiguousarray(table.codes[:-1, outside])
        labels = table.codes[-1, outside].astype(np.int64)
        evidence, _ = training.pooled.evidence(codes, n_jobs=plan.n_jobs)
        reading = network.log_likelihoods(network.coarsening.apply(codes), n_jobs=plan.n_jobs)
        yield Fold(training, codes, labels, share[outside], outside, evidence, reading)
        loss = log_loss(training.pooled.log_prior + evidence, labels, share[outside])
        progress.say(f"fold {fold + 1} of {len(held)}: log-loss {loss:.4f}")


def _paths(
    folds: list[Fold], labels: Array, weights: Floats, prior: Floats, progress: Progress, deadline: float
) -> dict[tuple[float, int], Floats]:
    """Boost with one penalty after another, downhill from the first, and keep the evidence at the checkpoints."""
    grown = [fold.training.grow() for fold in folds]
    found: dict[tuple[float, int], Floats] = {}
    best = {}

    def follow(place: int) -> float:
        if place not in best:
            path = _path(folds, grown, PENALTIES[place], labels, weights, prior)
            found.update({(PENALTIES[place], rounds): part for rounds, part in path.items()})
            best[place] = min(log_loss(prior + part, labels, weights) for part in path.values())
            progress.say(f"correction with penalty {PENALTIES[place]:g}: log-loss {best[place]:.4f}")
        return best[place]

    def follow_within_time(place: int) -> float:
        return follow(place) if time.monotonic() < deadline or place in best else math.inf

    place = FIRST_PENALTY
    step = 1 if follow_within_time(place + 1) < follow_within_time(place) else -1
    while 0 <= place + step < len(PENALTIES) and follow_within_time(place + step) < follow_within_time(place):
        place += step
    return found


def _path(
    folds: list[Fold], grown: list[tuple[list[Families], list[Array]]], penalty: float, labels: Array, weights: Floats,
    prior: Floats,
) -> dict[int, Floats]:  # fmt: skip
    """Boost all folds with one penalty until the held-out log-loss has risen twice; return the evidence by rounds."""
    fresh = [[without_corrections(part) for part in families] for families, _ in grown]
    runs = [
        run_rounds(
            families, contexts, fold.training.labels, fold.training.left_out.copy(), fold.training.row_weights,
            penalty=penalty,
        )
        for fold, families, (_, contexts) in zip(folds, fresh, grown, strict=True)
    ]  # fmt: skip
    found: dict[int, Floats] = {}
    least, worse = np.inf, 0
    for rounds in CHECKPOINTS:
        parts = []
        for fold, families, run in zip(folds, fresh, runs, strict=True):
            while next(run) < rounds:
                pass
            parts.append(fold.evidence + _correction(fold, families, fold.codes))
        found[rounds] = np.concatenate(parts)
        loss = log_loss(prior + found[rounds], labels, weights)
        worse = 0 if loss < least else worse + 1
        least = min(least, loss)
        if worse == PATIENCE:
            break
    return found


def _correction(fold: Fold, families: list[Families], codes: Codes) -> Floats:
    out = np.zeros((codes.shape[1], len(fold.training.pooled.log_prior)))
    merged: dict[int, Codes] = {}
    for member, part in zip(fold.training.pooled.members, families, strict=False):
        kind = member.coarsening
        if id(kind) not in merged:
            merged[id(kind)] = kind.apply(codes)
        add_corrections(part, member.chosen(merged[id(kind)]), out)
    return out


def _choose_fade(
    folds: list[Fold], penalty: float, rounds: int, temperatures: tuple[float, float], plan: Plan
) -> float:
    """Take values of held-out rows away, and find how strongly the correction must fade."""
    rng = plan.generator(BLANKS)
    parts = []
    for fold in folds:
        model = fold.training.corrected(penalty, rounds)
        model = replace(model, temperature=temperatures[0], plain_temperature=temperatures[1])
        rows, weights = fold.sample(max(1, MOST_BLANKED // len(folds)), rng)
        for rate in BLANKED:
            codes = fold.codes[:, rows]
            codes[rng.random(codes.shape) < rate] = missing_code(codes)
            evidence = model.evidence(codes, n_jobs=plan.n_jobs)
            parts.append((model, codes, evidence, fold.labels[rows], weights))

    def loss(fade: float) -> float:
        logits = [model.log_prior + model.faded(codes, *evidence, fade) for model, codes, evidence, _, _ in parts]
        labels, weights = (np.concatenate([part[k] for part in parts]) for k in (3, 4))
        return log_loss(np.concatenate(logits), labels, weights)

    return min(FADES, key=loss)
