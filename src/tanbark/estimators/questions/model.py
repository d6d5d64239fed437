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
* **Value of asking** for F with costs K, where :math:`k_d(p) = \sum_c p(c) K_{cd}` is the expected cost of d and
  :math:`d^*` the decision of least expected cost as things are: :math:`\sum_s P(s | e) [k_{d^*}(p(\cdot | e, s)) -
  \min_d k_d(p(\cdot | e, s))]`, what is saved where an answer changes the decision. It is never negative, and 0 where
  no answer changes it. Where the posteriors agree with the probabilities of the states, :math:`\sum_s P(s | e) p(c | e,
  s) = p(c | e)`, as in a network without temperature and correction, it is Howard's value of information,
  :math:`\min_d k_d(p(\cdot | e)) - \sum_s P(s | e) \min_d k_d(p(\cdot | e, s))`.
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
Cell = tuple[int, int]  # a row and a feature


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

    def observed(self, rows: Codes) -> Bools:
        """Mark the features that have a value."""
        return np.asarray(rows != missing_code(rows))

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


def each_state(evaluate: Joint, rows: Codes, cells: Sequence[Cell], values: Sequence[Array]) -> list[Floats]:
    """Evaluate rows with other values in one column: (n_values, n_classes) for every pair of a row and a column.

    Parameters
    ----------
    evaluate : function of codes
    rows : (n_features, n_rows) array
    cells : pairs of a row and a feature
    values : for each of them, the codes that the feature takes
    """
    found: list[Floats] = []
    low = 0
    while low < len(cells):
        high, n = low + 1, len(values[low])
        while high < len(cells) and (n + len(values[high])) * len(rows) <= MOST_CODES:
            n += len(values[high])
            high += 1
        sizes = [len(codes) for codes in values[low:high]]
        places = np.repeat(np.array(cells[low:high]), sizes, axis=0)
        batch = rows[:, places[:, 0]]
        batch[places[:, 1], np.arange(n)] = np.concatenate(values[low:high])
        found += np.split(evaluate(batch), np.cumsum(sizes)[:-1])
        low = high
    return found


def state_likelihoods(asked: Asked, rows: Codes, cells: Sequence[Cell]) -> list[Floats]:
    """Return P(s | e, c) for pairs of a row and a column, (n_states, n_classes); zeros where no network has it."""
    sizes, n_classes = asked.schema.cardinalities, asked.schema.cardinalities[asked.n_features]
    sums = [np.zeros((sizes[column], n_classes)) for _, column in cells]
    weights = [np.zeros(n_classes) for _ in cells]
    columns = {column for _, column in cells}
    for network in asked.networks:
        owned = columns if network.columns is None else columns.intersection(network.columns.tolist())
        codes = {column: _first_codes(network, asked, column) for column in owned}
        spreads = {column: _spread(network, asked, column) for column in owned}
        places = [place for place, (_, column) in enumerate(cells) if column in owned]
        own = [cells[place] for place in places]
        values = [codes[column] for _, column in own]
        for place, joint in zip(places, each_state(network.joint, rows, own, values), strict=True):
            known, likelihood = _over_states(joint)
            spread = spreads[cells[place][1]]
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
    """What may be seen in one column of one row.

    Attributes
    ----------
    row, column : int
    probabilities : (n_states,) array
        P(s | e); all zeros where no network has the column.
    likelihoods : (n_states, n_classes) array
        P(s | e, c).
    posteriors : (n_states, n_classes) array
        The class probabilities after each state, NaN where it is impossible.
    """

    row: int
    column: int
    probabilities: Floats
    likelihoods: Floats
    posteriors: Floats

    @property
    def possible(self) -> Bools:
        """The states that may be seen; none where only one is left, so that there is nothing to learn."""
        seen = self.probabilities > 0.0
        return np.asarray(seen if len(seen) > 1 else np.zeros_like(seen))

    def bits(self, before: Floats) -> float:
        """Return by how much the entropy of the class is expected to fall; at least 0."""
        seen = self.possible
        if not seen.any():
            return 0.0
        expected = float(self.probabilities[seen] @ entropy(self.posteriors[seen]))
        return max(0.0, float(entropy(before[None])[0]) - expected)

    def saving(self, before: Floats, matrix: Floats) -> float:
        """Return the value of asking for the column, for costs (n_classes, n_decisions)."""
        seen = self.possible
        after = self.posteriors[seen] @ matrix
        return float(self.probabilities[seen] @ (after[:, int((before @ matrix).argmin())] - after.min(axis=1)))


def entropy(probabilities: Floats) -> Floats:
    """Return the entropy of every row in bits.

    >>> entropy(np.array([[0.5, 0.5], [1.0, 0.0]])).tolist()
    [1.0, 0.0]
    """
    logs = np.log2(np.where(probabilities > 0.0, probabilities, 1.0))
    return np.asarray(-(probabilities * logs).sum(axis=1)) + 0.0


def outcomes(asked: Asked, rows: Codes, before: Floats) -> list[Outcomes]:
    """Describe what may be seen in every feature that a row has no value of, by row and in the order of the features.

    Parameters
    ----------
    rows : (n_features, n_rows) array
    before : (n_rows, n_classes) array
        p(c | e) of the rows.
    """
    cells = [(int(row), int(column)) for row, column in np.argwhere(~asked.observed(rows).T)]
    values = [asked.cells[column] for _, column in cells]
    after = each_state(lambda codes: posteriors(asked, codes)[0], rows, cells, values)
    found = []
    for (row, column), later, likelihood in zip(cells, after, state_likelihoods(asked, rows, cells), strict=True):
        chances = np.where(np.isnan(later[:, 0]), 0.0, likelihood @ before[row])
        found.append(Outcomes(row, column, chances, likelihood, later))
    return found
