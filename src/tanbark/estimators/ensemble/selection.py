"""The order of the networks by leave-one-out; one network or many, the correction and its fading by cross-validation.

In cross-validation, structures, intervals and weights are learnt again without the rows of a fold.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice
from typing import NamedTuple

import numpy as np

from tanbark.arrays import Array, Codes, Floats
from tanbark.estimators.ensemble.dealing import NOTHING, fold_weights, sample_rows, single_rows
from tanbark.estimators.ensemble.pooled import BLANKS, FOLDS, HALVES, ORDER, Plan, Pooled, Training, learn_pooled
from tanbark.estimators.ensemble.reading import learn_reading
from tanbark.machine import run_threads, thread_count
from tanbark.params.boosting.trees import Tree, add_trees
from tanbark.params.pool import fit_temperature, log_loss, row_losses
from tanbark.structure.progress import Progress
from tanbark.table import CodedTable, missing_code

ORDERS = (1, 2, 3)  # feature parents that are tried
ORDER_MEMBERS, MOST_ORDERED = 4, 20_000  # networks and rows that the order is chosen with
LEAVES = (31, 8)  # of the trees that are tried
CHECKPOINTS = (1, 2, 3, 4, 6, 8, 11, 16, 23, 32, 45, 64, 90, 128, 181, 256, 362, 512)  # trees
LEAST_ROUNDS, PATIENCE = 16, 3  # checkpoints without improvement after so many trees end the search
NEGLIGIBLE = 1e-4  # nats per row; a gain up to this is not worth more trees
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
    orders : dict of int to float
        The leave-one-out log-loss of a few networks by the number of feature parents; empty where that was given.
    single : bool
        Whether the network to read predicts alone: where its tempered log-loss was the least.
    leaves, rounds : the trees of the correction; none where they gained less than one standard error, or 0.0001
    fade : factor on the correction for every missing value beyond what is usual
    temperature : float
    plain_temperature : float
        That of the networks without the correction.
    log_losses : dict of (leaves, rounds) to the held-out log-loss, each with its temperature; (0, 0) has no correction
    log_loss : float
        Held-out log-loss of the choice, with its temperature.
    network_log_loss : float
        Held-out log-loss of the network to read, as it is.
    held_out : (n_rows, n_classes) array
        Held-out log-posteriors, NaN for rows that were not held out.
    """

    orders: dict[int, float]
    single: bool
    leaves: int
    rounds: int
    fade: float
    temperature: float
    plain_temperature: float
    log_losses: dict[tuple[int, int], float]
    log_loss: float
    network_log_loss: float
    held_out: Floats

    def __str__(self) -> str:
        """Write what was chosen, and the held-out log-loss of the alternatives."""
        tried = ", ".join(f"{loss:.4f} with {order}" for order, loss in self.orders.items())
        orders = f"Feature parents by leave-one-out log-loss: {tried}.\n" if tried else ""
        alone = f"One network predicts, network_, with a temperature: held-out log-loss {self.log_loss:.4f}."
        what = alone if self.single else self._correction()
        network = f"The network to read, network_, has {self.network_log_loss:.4f} as it is."
        return f"{orders}{what}\nThe temperature is {self.temperature:.3f}. {network}"

    def _correction(self) -> str:
        plain = self.log_losses[0, 0]
        if not self.rounds:
            best = min(self.log_losses.values())
            why = "one standard error" if plain > best + NEGLIGIBLE else f"more than {NEGLIGIBLE}"
            return (
                f"Many networks without a correction: held-out log-loss {plain:.4f}.\n"
                f"The best correction had {best:.4f}: no gain of {why}."
            )
        trees = "1 tree" if self.rounds == 1 else f"{self.rounds} trees"
        fading = f"is multiplied by {self.fade:g} for each missing value beyond the usual number"
        return (
            f"Many networks and a correction by {trees} of up to {self.leaves} leaves: held-out log-loss "
            f"{self.log_loss:.4f}, {plain:.4f} without it.\n"
            f"It {fading if self.fade < 1 else 'does not fade with missing values'}."
        )


class Selection(NamedTuple):
    """A choice, and the held-out log-posteriors of models of the same kind that were learnt from half as many rows.

    These are None where the time budget was used up. What the second half of the rows has changed shows what the rows
    of a fold, which the final model has learnt from as well, will change. Of ``n_folds`` parts of the rows one was held
    out at a time.
    """

    choice: Choice
    half_held_out: Floats | None
    n_folds: int


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


def choose_order(table: CodedTable, plan: Plan) -> dict[int, float]:
    """Return the log-loss of rows left out of the counts for every number of feature parents that is tried."""
    rows, weights = sample_rows(table, MOST_ORDERED, plan.generator(ORDER))
    if len(rows) < table.n_rows:
        table = CodedTable(table.schema, np.ascontiguousarray(table.codes[:, rows]), weights)
    found = {}
    for order in ORDERS:
        training = learn_pooled(table, replace(plan, n_members=min(plan.n_members, ORDER_MEMBERS), max_parents=order))
        found[order] = log_loss(training.left_out, training.labels, training.row_weights)
    return found


def choose(table: CodedTable, plan: Plan, progress: Progress, *, time_budget: float | None = None) -> Selection:
    """Learn without each fold, and find what predicts its rows best.

    After ``time_budget`` seconds no further correction is tried.
    """
    deadline = math.inf if time_budget is None else time.monotonic() + float(time_budget)
    folds = list(_folds(table, plan, progress))
    labels, weights = (np.concatenate([getattr(fold, name) for fold in folds]) for name in ("labels", "weights"))
    prior = np.concatenate([fold.log_prior for fold in folds])
    evidence = np.concatenate([fold.evidence for fold in folds])
    paths = _paths(folds, labels, weights, prior, plan, progress, deadline)
    found = {(0, 0): evidence, **{key: part for path in paths.values() for key, part in path.evidence.items()}}
    tau = {key: fit_temperature(part, prior, labels, weights) for key, part in found.items()}
    losses = {key: row_losses(prior + tau[key] * part, labels) for key, part in found.items()}
    means = {key: float(np.average(part, weights=weights)) for key, part in losses.items()}
    best = _fewest_trees(means)
    gain = losses[0, 0] - losses[best]
    mean = np.average(gain, weights=weights)
    error = np.sqrt(np.average((gain - mean) ** 2, weights=weights) / weights.sum())
    if mean < error:
        best = (0, 0)
    reading = np.concatenate([fold.reading for fold in folds])
    alone = fit_temperature(reading, prior, labels, weights)
    single = log_loss(prior + alone * reading, labels, weights) < means[best]
    if single:
        best = (0, 0)
    plain = alone if single else tau[0, 0]
    temperature = alone if single else tau[best]
    logits = prior + temperature * (reading if single else found[best])
    fade = _choose_fade(folds, paths[best[0]].models(best[1], temperature, plain), plan) if best[1] else 1.0
    rows = np.concatenate([fold.rows for fold in folds])
    half = None
    if time.monotonic() < deadline:
        fewer = np.concatenate([_half_logits(fold, plan, single, best, temperature) for fold in folds])
        half = _spread(fewer, rows, table.n_rows)
        progress.say(f"with half as many rows: log-loss {log_loss(fewer, labels, weights):.4f}")
    network, loss = log_loss(prior + reading, labels, weights), log_loss(logits, labels, weights)
    held_out = _spread(logits, rows, table.n_rows)
    choice = Choice({}, single, *best, fade, temperature, plain, means, loss, network, held_out)
    return Selection(choice, half, n_folds(table.n_rows if table.weights is None else table.weights.sum()))


def _fewest_trees(losses: dict[tuple[int, int], float]) -> tuple[int, int]:
    """Return the (leaves, rounds) with the fewest leaves in all whose log-loss is the least, up to what is negligible.

    >>> _fewest_trees({(0, 0): 0.3, (8, 16): 0.20005, (8, 32): 0.2, (31, 64): 0.25})
    (8, 16)
    """
    limit = min(losses.values()) + NEGLIGIBLE
    return min((key for key, loss in losses.items() if loss <= limit), key=lambda key: (key[0] * key[1], losses[key]))


def _spread(logits: Floats, rows: Array, n_rows: int) -> Floats:
    """Return log-posteriors of all rows, NaN where there are none."""
    found = np.full((n_rows, logits.shape[1]), np.nan)
    found[rows] = logits - np.logaddexp.reduce(logits, axis=1, keepdims=True)
    return found


def _half_logits(fold: Fold, plan: Plan, single: bool, trees: tuple[int, int], temperature: float) -> Floats:
    """Return the log-posteriors of a fold by the chosen kind of model, learnt from half of the other rows."""
    training = fold.training
    codes = np.concatenate([training.codes, training.labels[None].astype(training.codes.dtype)])
    table = CodedTable(training.pooled.schema, codes, training.row_weights)
    share = fold_weights(table, 2, plan.generator(HALVES))[0]
    kept = np.flatnonzero(share > NOTHING)
    rows = CodedTable(
        table.schema, np.ascontiguousarray(codes[:, kept]), None if table.weights is None else share[kept]
    )
    if single:
        network = learn_reading(rows, n_jobs=plan.n_jobs)
        evidence = network.log_likelihoods(network.coarsening.apply(fold.codes), n_jobs=plan.n_jobs)
        return fold.log_prior + temperature * evidence
    leaves, rounds = trees
    learnt = learn_pooled(rows, plan)
    evidence, _ = learnt.pooled.evidence(fold.codes, n_jobs=plan.n_jobs)
    forest = learnt.corrected(islice(learnt.boost(leaves, plan), rounds)).trees
    if forest is not None:
        add_trees(forest, fold.codes, evidence)
    return fold.log_prior + temperature * evidence


def n_folds(n_rows: float) -> int:
    """Return the number of folds; of :data:`LARGE_FOLDS` only the first is held out."""
    return SMALL_FOLDS if n_rows < FEW_ROWS else MIDDLE_FOLDS if n_rows < MANY_ROWS else LARGE_FOLDS


def _folds(table: CodedTable, plan: Plan, progress: Progress) -> Iterator[Fold]:
    total = table.n_rows if table.weights is None else table.weights.sum()
    count = n_folds(total)
    shares = fold_weights(table, count, plan.generator(FOLDS))
    weights = np.ones(table.n_rows) if table.weights is None else table.weights
    held = range(1) if count == LARGE_FOLDS else range(count)
    for fold in held:
        rest, share = weights - shares[fold], shares[fold]
        inside, outside = np.flatnonzero(rest > NOTHING), np.flatnonzero(share > NOTHING)
        part = None if table.weights is None else rest[inside]
        rows = CodedTable(table.schema, np.ascontiguousarray(table.codes[:, inside]), part)
        training, network = learn_pooled(rows, plan), learn_reading(rows, n_jobs=plan.n_jobs)
        codes = np.ascontiguousarray(table.codes[:-1, outside])
        labels = table.codes[-1, outside].astype(np.int64)
        evidence, _ = training.pooled.evidence(codes, n_jobs=plan.n_jobs)
        reading = network.log_likelihoods(network.coarsening.apply(codes), n_jobs=plan.n_jobs)
        yield Fold(training, codes, labels, share[outside], outside, evidence, reading)
        loss = log_loss(training.pooled.log_prior + evidence, labels, share[outside])
        progress.say(f"fold {fold + 1} of {len(held)}: log-loss {loss:.4f}")


@dataclass(eq=False)
class Boosted:
    """The trees that were grown without a fold, and what they add to the logits of its rows."""

    fold: Fold
    steps: Iterator[Tree]
    trees: list[Tree]
    correction: Floats

    def advance(self, rounds: int) -> Floats:
        """Grow until there are so many trees; return the corrected evidence of the fold."""
        new = list(islice(self.steps, rounds - len(self.trees)))
        self.trees += new
        forest = self.fold.training.corrected(new).trees
        if forest is not None:
            add_trees(forest, self.fold.codes, self.correction)
        return np.asarray(self.fold.evidence + self.correction)


@dataclass(eq=False)
class Path:
    """Trees of one size, grown without each fold, and the held-out evidence at the checkpoints, by (leaves, rounds)."""

    runs: list[Boosted]
    evidence: dict[tuple[int, int], Floats]
    log_loss: float = math.inf

    def models(self, rounds: int, temperature: float, plain_temperature: float) -> list[Pooled]:
        """Return the corrected model of every fold."""
        found = [run.fold.training.corrected(run.trees[:rounds]) for run in self.runs]
        return [replace(model, temperature=temperature, plain_temperature=plain_temperature) for model in found]


def _paths(
    folds: list[Fold], labels: Array, weights: Floats, prior: Floats, plan: Plan, progress: Progress, deadline: float
) -> dict[int, Path]:
    """Grow trees of every size that is tried until the held-out log-loss has not fallen at some checkpoints."""

    def follow(leaves: int) -> Path:
        runs = [Boosted(fold, fold.training.boost(leaves, plan), [], np.zeros(fold.evidence.shape)) for fold in folds]
        path, worse = Path(runs, {}), 0
        for rounds in CHECKPOINTS:
            if time.monotonic() >= deadline or worse == PATIENCE:
                break
            found = np.concatenate([run.advance(rounds) for run in runs])
            loss = _tempered_loss(found, prior, labels, weights)
            path.evidence[leaves, rounds] = found
            better = loss < path.log_loss - NEGLIGIBLE
            worse = 0 if better or rounds < LEAST_ROUNDS else worse + 1
            path.log_loss = loss if better else path.log_loss
        return path

    paths = run_threads(follow, [(leaves,) for leaves in LEAVES], thread_count(plan.n_jobs))
    for leaves, path in zip(LEAVES, paths, strict=True):
        progress.say(f"correction by trees of up to {leaves} leaves: log-loss {path.log_loss:.4f}")
    return dict(zip(LEAVES, paths, strict=True))


def _tempered_loss(evidence: Floats, prior: Floats, labels: Array, weights: Floats) -> float:
    tau = fit_temperature(evidence, prior, labels, weights)
    return log_loss(prior + tau * evidence, labels, weights)


def _choose_fade(folds: list[Fold], models: list[Pooled], plan: Plan) -> float:
    """Take values of held-out rows away, and find how strongly the correction must fade."""
    rng = plan.generator(BLANKS)
    parts = []
    for fold, model in zip(folds, models, strict=True):
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
