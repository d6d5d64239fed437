r"""What questions are answered from: posteriors of rows that differ in one state, and how probable the states are.

Definitions, for one row with the observed values e, a feature F without a value, and the class C:

* **States.** The states s of a feature are its own. Of a numeric column of pooled networks they are the intervals of
  the first network. A state enters a row as one code: its own, or, of pooled networks, the grid cell
  ``(first + last) // 2`` of the cells ``first``, …, ``last`` of the interval, so that boosted trees read a value too.
* **Posterior.** p(c | e) and p(c | e, s) are those that the classifier predicts, with its temperature and correction.
* **Likelihood of a state.** P(s | e, c) comes from the networks, without temperature, weights of features or
  correction: :math:`P_m(t | e, c) = P_m(e, t, c) / \sum_{t'} P_m(e, t', c)` over the states t of network m. Where the
  network has other intervals, :math:`P_m(s | e, c) = \sum_t a_{st} P_m(t | e, c)` with :math:`a_{st}` the fraction of
  the grid cells of t that are in s. Several networks are averaged by their weights, over those that have the column
  (and in which (e, c) is possible).
* **Probability of a state.** :math:`P(s | e) = \sum_c p(c | e) P(s | e, c)`.
* **Information** of F in bits: :math:`\max(0, H(C | e) - \sum_s P(s | e) H(C | e, s))`, with the entropies of the
  posteriors above; 0 where no network has the column. For one network without temperature, weights and correction it
  is the mutual information I(C; F | e).
* **Value of information** for costs K: :math:`\max(0, \min_d \sum_c p(c | e) K_{cd} - \sum_s P(s | e) \min_d \sum_c
  p(c | e, s) K_{cd})`.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from tanbark.arrays import Array, Bools, Codes, Floats, Integers
from tanbark.errors import ImpossibleEvidenceWarning
from tanbark.inference import normalize
from tanbark.table import Schema, missing_code
from tanbark.table.coded import code_dtype

MOST_CODES = 1 << 24  # of the rows that are evaluated at once

Joint = Callable[[Codes], Floats]


@dataclass(frozen=True, eq=False)
class Generative:
    """One network of a classifier.

    Parameters
    ----------
    joint : function of codes (n_features, n_rows)
        log P(observed, class), up to a constant for every class.
    weight : float
    columns : array, optional
        The features that the network has; by default all.
    lookups : sequence of arrays, optional
        For every feature, the network's state of each code; by default the codes are its states.
    """

    joint: Joint
    weight: float = 1.0
    columns: Integers | None = None
    lookups: Sequence[Array] | None = None


@dataclass(frozen=True, eq=False)
class Asked:
    """What questions need to know of a classifier.

    Parameters
    ----------
    schema : Schema
        The columns with the states that are asked about.
    cells : tuple of arrays
        For every feature, the code that stands for each of its states.
    members : tuple of arrays
        For every feature, the state of each code.
    logits : function of codes (n_features, n_rows)
        The classifier's log P(class | observed), up to a constant for every row.
    networks : tuple of Generative
    """

    schema: Schema
    cells: tuple[Integers, ...]
    members: tuple[Array, ...]
    logits: Joint
    networks: tuple[Generative, ...]

    @property
    def n_features(self) -> int:
        """Number of features."""
        return self.schema.target

    def state(self, row: Codes, column: int) -> int | None:
        """Return the state that a row has in a column, or None."""
        return None if row[column] == missing_code(row) else int(self.members[column][row[column]])

    def observed(self, row: Codes) -> Bools:
        """Mark the features that have a value."""
        return np.asarray(row != missing_code(row))

    def nothing(self) -> Codes:
        """Return a row without values."""
        dtype = code_dtype(tuple(len(members) for members in self.members))
        return np.full(self.n_features, np.iinfo(dtype).max, dtype)


def plain_asked(schema: Schema, logits: Joint, networks: tuple[Generative, ...]) -> Asked:
    """Describe a classifier whose codes are its states."""
    states = tuple(np.arange(size) for size in schema.cardinalities[: schema.target])
    return Asked(schema, states, states, logits, networks)


def merged_asked(schema: Schema, lookups: Sequence[Array], logits: Joint, networks: tuple[Generative, ...]) -> Asked:
    """Describe a classifier over the cells of a grid; ``lookups`` has the state of ``schema`` of every cell."""
    cells = []
    for column, lookup in enumerate(lookups):
        states = np.arange(schema.cardinalities[column])
        first, last = np.searchsorted(lookup, states), np.searchsorted(lookup, states, side="right") - 1
        cells.append((first + last) // 2)
    return Asked(schema, tuple(cells), tuple(lookups), logits, networks)


# ---------------------------------------------------------------------- rows that differ in one column


def posteriors(asked: Asked, codes: Codes) -> tuple[Floats, Bools]:
    """Return the class probabilities of rows, and which rows are possible; those of the others are not defined."""
    with warnings.catch_warnings():  # rows are hypothetical: what is impossible is left out
        warnings.simplefilter("ignore", ImpossibleEvidenceWarning)
        found, impossible = normalize(np.array(asked.logits(np.ascontiguousarray(codes))), logs=False)
    found[impossible] = np.nan
    return found, ~impossible


def each_state(evaluate: Joint, row: Codes, columns: Sequence[int], values: Sequence[Array]) -> list[Floats]:
    """Evaluate the rows that have another value in one column: (n_values, n_classes) for every column.

    Parameters
    ----------
    evaluate : function of codes
    row : (n_features,) array
    columns : features
    values : for each of them, the codes that it takes
    """
    found: list[Floats] = []
    low = 0
    while low < len(columns):
        high, rows = low + 1, len(values[low])
        while high < len(columns) and (rows + len(values[high])) * len(row) <= MOST_CODES:
            rows += len(values[high])
            high += 1
        sizes = [len(codes) for codes in values[low:high]]
        batch = np.repeat(row[:, None], rows, axis=1)
        batch[np.repeat(columns[low:high], sizes), np.arange(rows)] = np.concatenate(values[low:high])
        found += np.split(evaluate(batch), np.cumsum(sizes)[:-1])
        low = high
    return found


def state_likelihoods(asked: Asked, row: Codes, columns: Sequence[int]) -> list[Floats]:
    """Return P(s | e, c) for every column, (n_states, n_classes); zeros where no network has the column."""
    sizes, n_classes = asked.schema.cardinalities, asked.schema.cardinalities[asked.n_features]
    sums = [np.zeros((sizes[column], n_classes)) for column in columns]
    weights = [np.zeros(n_classes) for _ in columns]
    for network in asked.networks:
        owned = set(range(asked.n_features)) if network.columns is None else set(network.columns.tolist())
        places = [place for place, column in enumerate(columns) if column in owned]
        own = [columns[place] for place in places]
        values = [_first_codes(network, asked, column) for column in own]
        for place, joint in zip(places, each_state(network.joint, row, own, values), strict=True):
            known, likelihood = _over_states(joint)
            spread = _spread(network, asked, columns[place])
            sums[place] += network.weight * (likelihood if spread is None else spread @ likelihood)
            weights[place] += network.weight * known
    return [total / np.where(weight > 0.0, weight, 1.0) for total, weight in zip(sums, weights, strict=True)]


def _first_codes(network: Generative, asked: Asked, column: int) -> Array:
    """Return a code for each of a network's own states."""
    return asked.cells[column] if network.lookups is None else np.unique(network.lookups[column], return_index=True)[1]


def _over_states(joint: Floats) -> tuple[Bools, Floats]:
    """Turn log P(e, t, c), (states, classes), into P(t | e, c); mark the classes for which it is defined."""
    top = joint.max(axis=0)
    known = ~np.isneginf(top)
    values = np.exp(joint - np.where(known, top, 0.0))
    return known, values / np.where(known, values.sum(axis=0), 1.0)


def _spread(network: Generative, asked: Asked, column: int) -> Floats | None:
    """Return the fraction of the codes of each of a network's states that is in each state asked about."""
    if network.lookups is None or network.lookups[column] is asked.members[column]:
        return None
    shape = (asked.schema.cardinalities[column], int(network.lookups[column].max()) + 1)
    counts = np.zeros(shape)
    np.add.at(counts, (asked.members[column].astype(np.int64), network.lookups[column].astype(np.int64)), 1.0)
    return np.asarray(counts / counts.sum(axis=0))


# ---------------------------------------------------------------------- what may be seen


@dataclass(frozen=True, eq=False)
class Outcomes:
    """What may be seen in one column: the probability of every state, and the posterior of the class after it.

    ``posteriors`` is (n_states, n_classes), NaN where a state is impossible; ``probabilities`` is all zeros where no
    network has the column.
    """

    column: int
    probabilities: Floats
    posteriors: Floats

    def expected(self, measure: Callable[[Floats], Floats]) -> float:
        """Return the mean of a function of posteriors over the states."""
        seen = self.probabilities > 0.0
        return float(self.probabilities[seen] @ measure(self.posteriors[seen]))

    def fall(self, before: Floats, measure: Callable[[Floats], Floats]) -> float:
        """Return by how much a function of the posterior is expected to fall; at least 0."""
        if len(self.probabilities) < 2 or not self.probabilities.any():
            return 0.0
        return max(0.0, float(measure(before[None])[0]) - self.expected(measure))


def entropy(probabilities: Floats) -> Floats:
    """Return the entropy of every row in bits.

    >>> entropy(np.array([[0.5, 0.5], [1.0, 0.0]])).tolist()
    [1.0, 0.0]
    """
    logs = np.log2(np.where(probabilities > 0.0, probabilities, 1.0))
    return np.asarray(-(probabilities * logs).sum(axis=1)) + 0.0


def outcomes(asked: Asked, row: Codes, posterior: Floats) -> list[Outcomes]:
    """Describe what may be seen in every feature that has no value, in the order of the features.

    Parameters
    ----------
    row : (n_features,) array
    posterior : (n_classes,) array
        p(c | e) of the row.
    """
    columns = np.flatnonzero(~asked.observed(row)).tolist()
    after = each_state(lambda codes: posteriors(asked, codes)[0], row, columns, [asked.cells[c] for c in columns])
    likelihoods = state_likelihoods(asked, row, columns)
    found = []
    for column, later, likelihood in zip(columns, after, likelihoods, strict=True):
        chances = np.where(np.isnan(later[:, 0]), 0.0, likelihood @ posterior)
        found.append(Outcomes(column, chances, later))
    return found
