"""The corrected log-posterior of a network: fitted on leave-one-out log-joints, its options chosen by validation.

The model is z(c) = log P(c) + temperature * log P(observed values | c) + corrections; see ``params.correction``. The
log-joints of training rows are without the row itself, so that they are as uncertain as those of new rows, and the
correction learns what the network lacks and not what it remembers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tanbark.arrays import Array, Codes, Floats
from tanbark.counts import MemoryCounts
from tanbark.errors import OptionError
from tanbark.evaluation.leave_one_out import NO_TREES, LeaveOneOut
from tanbark.evaluation.temperature import best_temperature
from tanbark.graph import Network
from tanbark.inference import class_log_prior, joint_log_proba, temper
from tanbark.params import Smoothing
from tanbark.params.boosting.correction import (
    Families,
    add_corrections,
    complete_fraction,
    find_contexts,
    grow_families,
    run_rounds,
    sum_corrections,
    without_corrections,
)
from tanbark.params.hierarchical.family import HierarchicalFamily, class_information, parent_order
from tanbark.params.normalised import Objective, Optimum, with_changes
from tanbark.params.pool import row_losses
from tanbark.table import CodedTable

FEW_ROWS, SOME_ROWS = 500, 3000  # below them five and three folds, else one split
COMPARED_ROUNDS = 2  # of boosting, after which penalties are compared


class Estimated(NamedTuple):
    """A network with the counts and the smoothing that its CPTs come from; ``trees`` are those of hierarchical CPTs."""

    network: Network
    counts: Sequence[NDArray[Any]]
    smoothing: Smoothing
    fixed_prior: bool
    trees: Mapping[int, HierarchicalFamily] = NO_TREES


@dataclass(frozen=True, eq=False)
class Correction:
    """What is added to the log-posterior of a network: a power of the likelihood, and corrections of contexts.

    ``base_temperature`` is the power that the likelihood has without corrections.
    """

    temperature: float
    families: Families
    base_temperature: float


class Choice(NamedTuple):
    """The penalty and the rounds of boosting, the temperature of validation, and the log-loss by penalty and rounds.

    The base alone has zero rounds; ``losses`` are means over the validation rows.
    """

    penalty: float
    rounds: int
    temperature: float
    losses: dict[tuple[float, int], float]


def corrected_log_proba(network: Network, correction: Correction, codes: Codes, *, n_jobs: int | None = None) -> Floats:
    """Return the corrected log-posterior of every row and class, up to a constant per row.

    Missing values are summed out of the network exactly. The correction of a family with a missing value is that of the
    longest context before it, which is no exact sum; therefore the correction counts only with the fraction of the
    families that are complete, and the temperature goes from the corrected one to that of the base in the same way.
    """
    joint, prior = joint_log_proba(network, codes, n_jobs=n_jobs), class_log_prior(network)
    fraction = complete_fraction(correction.families, codes)[:, None]
    logits = fraction * _corrections(correction.families, codes, n_jobs=n_jobs)
    temperatures = fraction * correction.temperature + (1.0 - fraction) * correction.base_temperature
    logits += prior + temperatures * (joint - prior)
    return logits


def _corrections(families: Families, codes: Codes, *, n_jobs: int | None = 1) -> Floats:
    found = np.zeros((codes.shape[1], families.sums.shape[1]))
    add_corrections(families, codes, found, n_jobs=n_jobs)
    return found


def corrected_families(
    network: Network, counts: Sequence[NDArray[Any]], trees: Mapping[int, HierarchicalFamily] = NO_TREES
) -> list[tuple[int, ...]]:
    """List the columns of the families that contain the class, without it, in the order in which contexts grow.

    A node comes before its parents, and these by falling mutual information with it given the class; the family of the
    class has its parents alone. Families are in the order in which boosting takes them: by falling mutual information
    of the node with the class, that of the class first. Ties go to the earlier column.
    """
    target, families, information = network.target, [], []
    for node, table in enumerate(counts):
        axes = network.axes(node)
        if target in axes and network.schema.cardinalities[node] > 1:
            axis = axes.index(node)
            order = trees[node].order if node in trees else parent_order(table, axis)
            family = tuple(column for column in (node, *(axes[each] for each in order)) if column != target)
            if family:
                families.append(family)
                information.append(np.inf if node == target else class_information(table, axis))
    return [families[place] for place in np.argsort(-np.array(information), kind="stable")]


class LeftOut:
    """Training rows with the log-joints of a network that was learnt without each of them."""

    def __init__(self, estimated: Estimated, rows: MemoryCounts) -> None:
        self.network, self.counts, smoothing, self.fixed_prior, self.trees = estimated
        self.codes, self.weights = rows.coded_rows()
        self.labels, self.n_jobs = self.codes[-1].astype(np.int64), rows.n_jobs
        left_out = LeaveOneOut(self.network, self.counts, smoothing, fixed_prior=self.fixed_prior, trees=self.trees)
        self.joint, self.prior = left_out.log_joints(self.codes, self.weights, n_jobs=rows.n_jobs)
        if not (np.isfinite(self.joint).all() and np.isfinite(self.prior).all()):
            msg = (
                "Discriminative needs CPTs without zeros, also when a row is left out. Use a smoothing with prior "
                "mass, such as Laplace(1.0), and a class_prior without zeros."
            )
            raise OptionError(msg)


class Corrector:
    """Boost the corrections of one network on its training rows."""

    def __init__(self, rows: LeftOut) -> None:
        self._rows = rows
        self.temperature = _temperature(rows.joint, rows.prior, rows.labels, rows.weights)
        self._base = temper(rows.joint, rows.prior, self.temperature)
        sizes = rows.network.schema.cardinalities
        families = corrected_families(rows.network, rows.counts, rows.trees)
        self._families, self._contexts = grow_families(rows.codes, families, sizes, sizes[-1])

    def contexts(self, codes: Codes) -> tuple[Array, Floats]:
        """Return the contexts of other rows in all families, and the fraction of the families that are complete."""
        return find_contexts(self._families, codes), complete_fraction(self._families, codes)

    def boost(self, penalty: float, rate: float) -> Iterator[Correction]:
        """Yield the correction after every round; all share their arrays, so that only the last is good."""
        families = without_corrections(self._families)
        correction, contexts = Correction(self.temperature, families, self.temperature), [self._contexts]
        steps = run_rounds(
            [families], contexts, self._rows.labels, self._base, self._rows.weights, penalty=penalty, rate=rate
        )
        for _ in steps:
            yield correction

    def fit(self, choice: Choice, rate: float) -> Correction:
        """Boost for the chosen rounds, and scale all by the temperature of validation."""
        found = Correction(self.temperature, without_corrections(self._families), self.temperature)
        if choice.rounds:
            found = next(islice(self.boost(choice.penalty, rate), choice.rounds - 1, None))
        scaled = found.families._replace(sums=found.families.sums * choice.temperature)
        base = self.temperature if choice.rounds else found.temperature * choice.temperature
        return Correction(found.temperature * choice.temperature, scaled, base)


def fit_normalised(rows: LeftOut, penalty: float, *, max_iter: int, tol: float) -> Optimum:
    """Find the changes of normalised CPTs that maximise the penalised conditional log-likelihood."""
    objective = Objective(
        rows.network, rows.codes, rows.weights, rows.joint, penalty=penalty, fixed_prior=rows.fixed_prior,
        n_jobs=rows.n_jobs,
    )  # fmt: skip
    return objective.maximise(max_iter=max_iter, tol=tol)


class Folds:
    """Networks learnt without some of the rows, structure included, and these rows to validate on.

    Five stratified folds below 500 rows, three below 3,000, else one split of 75 to 25.
    """

    def __init__(self, rows: MemoryCounts, relearn: Callable[[MemoryCounts], Estimated]) -> None:
        table, n_jobs = rows.table, rows.n_jobs
        labels = table.codes[-1].astype(np.int64)
        n_folds, n_used = (5, 5) if rows.n_rows < FEW_ROWS else (3, 3) if rows.n_rows < SOME_ROWS else (4, 1)
        order = np.random.default_rng(0).permutation(rows.n_rows)
        order = order[np.argsort(labels[order], kind="stable")]
        fold_of = np.empty(rows.n_rows, np.int64)
        fold_of[order] = np.arange(rows.n_rows) % n_folds
        self.training: list[LeftOut] = []
        self.codes: list[Codes] = []
        for fold in range(n_used):
            part = MemoryCounts(_rows_of(table, fold_of != fold), n_jobs=n_jobs)
            self.training.append(LeftOut(relearn(part), part))
            self.codes.append(np.ascontiguousarray(table.codes[:-1, fold_of == fold]))
        places = np.concatenate([np.flatnonzero(fold_of == fold) for fold in range(n_used)])
        self.labels = labels[places]
        self.weights = None if table.weights is None else table.weights[places]

    def joints(self, networks: Sequence[Network]) -> list[Floats]:
        """Return the log-joints of the validation rows of each fold in its network."""
        n_jobs = self.training[0].n_jobs
        return [joint_log_proba(each, codes, n_jobs=n_jobs) for each, codes in zip(networks, self.codes, strict=True)]

    def base(self) -> list[Floats]:
        """Return the log-joints of the validation rows of each fold in the network as it was estimated."""
        return self.joints([rows.network for rows in self.training])

    def prior(self) -> list[Floats]:
        """Return the log-priors of the validation rows of each fold."""
        pairs = zip(self.training, self.codes, strict=True)
        return [np.repeat(class_log_prior(rows.network)[None], codes.shape[1], axis=0) for rows, codes in pairs]

    def losses(self, logits: Floats) -> Floats:
        """Return the log-loss of all validation rows, one fold after another."""
        return row_losses(logits, self.labels)

    def mean(self, losses: Floats) -> float:
        """Return the mean over the validation rows."""
        return float(np.average(losses, weights=self.weights))

    def is_clear(self, gains: Floats) -> bool:
        """Return whether the mean is larger than its standard error."""
        mean = self.mean(gains)
        total = len(gains) if self.weights is None else self.weights.sum()
        return bool(mean > np.sqrt(self.mean((gains - mean) ** 2) / total))


class Candidate(NamedTuple):
    """A penalty, rounds, and the logits of the validation rows with them."""

    penalty: float
    rounds: int
    logits: Floats
    losses: Floats


def _best(folds: Folds, candidates: Iterable[Candidate]) -> tuple[Candidate, dict[tuple[float, int], float]]:
    """Return the candidate of least log-loss; or zero rounds, unless the gain is larger than its standard error."""
    found: dict[tuple[float, int], float] = {}
    best: Candidate | None = None
    base: Candidate | None = None
    for candidate in candidates:
        loss = found[candidate.penalty, candidate.rounds] = folds.mean(candidate.losses)
        base = candidate if base is None and candidate.rounds == 0 else base
        best = candidate if best is None or loss < folds.mean(best.losses) else best
    assert best is not None
    return (best if base is None or folds.is_clear(base.losses - best.losses) else base), found


def choose_boosting(folds: Folds, *, penalties: Sequence[float], looks: Sequence[int], rate: float) -> Choice:
    """Choose the penalty and the rounds by the log-loss of validation rows, then the temperature.

    Of the numbers of rounds in ``looks``, 0 stands for no correction, and is kept unless another is clearly better. For
    every penalty the search stops where a further look is worse than the one before. The search over penalties begins
    in the middle, and goes down, else up, as long as that is better after few rounds.
    """
    correctors, prior = [Corrector(rows) for rows in folds.training], folds.prior()
    base = [
        temper(joint, log_prior, corrector.temperature)
        for joint, log_prior, corrector in zip(folds.base(), prior, correctors, strict=True)
    ]

    known = [corrector.contexts(codes) for corrector, codes in zip(correctors, folds.codes, strict=True)]

    def corrected(fold: int, correction: Correction) -> Floats:
        contexts, fractions = known[fold]
        return sum_corrections(contexts, correction.families, fractions, base[fold])

    def follow(penalty: float) -> Iterator[Candidate]:
        running, done, before = [corrector.boost(penalty, rate) for corrector in correctors], 0, np.inf
        for look in looks:
            parts = base
            if look:
                boosted = [next(islice(boost, look - done - 1, None)) for boost in running]
                parts = [corrected(fold, each) for fold, each in enumerate(boosted)]
            logits, done = np.concatenate(parts), look
            losses = folds.losses(logits)
            yield Candidate(penalty, look, logits, losses)
            if folds.mean(losses) > before:
                break
            before = folds.mean(losses)

    best, found = _best(folds, _descend(folds, sorted(penalties), follow))
    temperature = _temperature(best.logits, np.concatenate(prior), folds.labels, folds.weights)
    return Choice(best.penalty, best.rounds, temperature, found)


def _descend(
    folds: Folds, penalties: Sequence[float], follow: Callable[[float], Iterator[Candidate]]
) -> Iterator[Candidate]:
    """Follow penalties for a few rounds, from the middle down, else up, while that is better; then the best to its end.

    What the penalties gain in a few rounds ranks them nearly as all rounds would, at a fraction of the cost.
    """
    at = len(penalties) // 2
    paths = {at: follow(penalties[at])}
    first = list(_few_rounds(paths[at]))
    yield from first
    least = _least(folds, first)
    for step in (-1, 1):
        start = at
        while 0 <= at + step < len(penalties):
            paths[at + step] = follow(penalties[at + step])
            candidates = list(_few_rounds(paths[at + step]))
            yield from candidates
            if _least(folds, candidates) >= least:
                break
            at, least = at + step, _least(folds, candidates)
        if at != start:
            break
    yield from paths[at]


def _few_rounds(path: Iterator[Candidate]) -> Iterator[Candidate]:
    for candidate in path:
        yield candidate
        if candidate.rounds >= COMPARED_ROUNDS:
            return


def _least(folds: Folds, candidates: Iterable[Candidate]) -> float:
    """Return the least mean log-loss of candidates with a correction."""
    return min(folds.mean(each.losses) for each in candidates if each.rounds)


def choose_normalised(folds: Folds, *, penalties: Sequence[float], tempered: bool, max_iter: int, tol: float) -> Choice:
    """Choose the penalty of normalised CPTs by the log-loss of validation rows; zero rounds stand for no change.

    If predictions will be ``tempered``, every candidate is measured at its best temperature. Penalties fall until one
    is worse than the one before.
    """
    prior = np.concatenate(folds.prior())

    def temperature(logits: Floats) -> float:
        return _temperature(logits, prior, folds.labels, folds.weights) if tempered else 1.0

    def candidate(penalty: float, rounds: int, joints: Sequence[Floats]) -> Candidate:
        logits = np.concatenate(joints)
        return Candidate(penalty, rounds, logits, folds.losses(temper(logits, prior, temperature(logits))))

    def candidates() -> Iterator[Candidate]:
        yield candidate(penalties[0], 0, folds.base())
        before = np.inf
        for penalty in sorted(penalties, reverse=True):
            optima = [fit_normalised(rows, penalty, max_iter=max_iter, tol=tol) for rows in folds.training]
            pairs = zip(folds.training, optima, strict=True)
            changed = [with_changes(rows.network, optimum.changes) for rows, optimum in pairs]
            found = candidate(penalty, 1, folds.joints(changed))
            yield found
            if folds.mean(found.losses) > before:
                break
            before = folds.mean(found.losses)

    best, found = _best(folds, candidates())
    return Choice(best.penalty, best.rounds, temperature(best.logits), found)


def _temperature(joint: Floats, prior: Floats, labels: Array, weights: Floats | None) -> float:
    return best_temperature(joint, prior, labels, np.ones(len(labels)) if weights is None else weights)


def _rows_of(table: CodedTable, chosen: NDArray[np.bool_]) -> CodedTable:
    weights = None if table.weights is None else table.weights[chosen]
    return CodedTable(table.schema, np.ascontiguousarray(table.codes[:, chosen]), weights)
