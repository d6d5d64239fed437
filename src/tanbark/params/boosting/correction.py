"""Corrections of log-posteriors, summed over the families of a network and learnt by boosting.

The corrected logit of a row for class c is

    z(c) = z0(c) + sum over families, sum over levels l of delta[context_l][c]

where the contexts of a family (x, p1, ..., pm) grow in this order: (x), (x, p1), (x, p1, p2), ... This is a log-linear
model of the class with the cells of every family as features. Boosting goes over the families in turn and moves all
corrections of one family by a diagonal Newton step on the conditional log-likelihood less an L2 penalty,

    delta += rate (G - penalty delta) / (H + penalty),   G = sum of (y_c - p_c),   H = sum of p_c (1 - p_c)

over the rows of the context; a Newton step is at most 4 long, as in LogitBoost. Friedman, Hastie and Tibshirani (2000),
Additive logistic regression: a statistical view of boosting, is the step; Greiner and Zhou (2002), Structural extension
to logistic regression, the model.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from tanbark.arrays import Array, Floats, Integers
from tanbark.machine import row_blocks, run_threads, thread_count

RATE = 0.2
NO_WEIGHTS = np.zeros(0)


class Families(NamedTuple):
    """The observed contexts of all families, and the correction of each.

    The columns of family f, in the order in which its contexts grow, are entries ``spans[f]`` to ``spans[f + 1]`` of
    ``columns``, and ``states`` has their numbers of states. Contexts are numbered family by family, level by level, a
    family's root, which has no correction, first. The contexts that entry e extends begin at ``firsts[e]``; the one
    below context v for state s is ``children[starts[e] + (v - firsts[e]) * states[e] + s]``, or -1 where no row was
    seen. ``above`` is the context with one column fewer; that of a root is the root.

    ``sums[v]`` is, for every class, the correction of context v and of all above it.
    """

    columns: Array
    spans: Array
    states: Array
    firsts: Array
    starts: Array
    children: Array
    above: Array
    sums: Array


class FamilyContexts(NamedTuple):
    """The contexts of one family, numbered from its root; those of level l are ``levels[l]`` to ``levels[l + 1]``."""

    columns: Array
    levels: Array
    children: Array
    above: Array


class LabelledRows(NamedTuple):
    """Rows as boosting reads them: no weights stand for ones; posteriors of all classes, of two the second's odds."""

    labels: Array
    weights: Array
    posteriors: Array


def grow_families(
    codes: Array, families: Sequence[Sequence[int]], states: Sequence[int] | Integers, n_classes: int
) -> tuple[Families, Array]:
    """Number the contexts of families, without corrections yet.

    Parameters
    ----------
    codes : (n_columns, n_rows) array
        A code beyond the states of its column is a missing value.
    families : sequences of columns
        The first is the node, the others its parents in the order in which contexts grow; the class is not among them.
    states : number of states of every column
    n_classes : int

    Returns
    -------
    families : Families
    contexts : (n_families, n_rows) array
        The context of every row: that of the columns before its first missing one.
    """
    from tanbark.params.boosting import correction_kernels as kernels

    columns = np.array([column for members in families for column in members], np.int64)
    spans = np.cumsum([0, *(len(members) for members in families)]).astype(np.int64)
    own_states = np.asarray(states, np.int64)[columns]
    contexts = np.empty((len(families), codes.shape[1]), np.int32)
    firsts, starts, children, above = kernels.number_contexts(codes, columns, spans, own_states, contexts)
    sums = np.zeros((len(above), n_classes))
    return Families(columns, spans, own_states, firsts, starts, children, above, sums), contexts


def join_families(parts: Sequence[FamilyContexts], sizes: Integers, sums: Floats) -> Families:
    """Lay the contexts of families out one after another; ``sizes`` has the number of states of every column."""
    n_contexts = n_children = 0
    joined: list[tuple[Array, ...]] = [(np.zeros(0, np.int64),) * 4 + (np.zeros(0, np.int32),) * 2]
    for columns, levels, children, above in parts:
        states = sizes[columns]
        starts = np.cumsum(np.append(0, np.diff(levels)[:-1] * states))[:-1]
        below = np.where(children >= 0, children + n_contexts, -1).astype(np.int32)
        firsts = levels[: len(columns)] + n_contexts
        joined.append((columns, states, firsts, starts + n_children, below, (above + n_contexts).astype(np.int32)))
        n_contexts, n_children = n_contexts + len(above), n_children + len(children)
    columns, states, firsts, starts, children, above = map(np.concatenate, zip(*joined, strict=True))
    spans = np.cumsum([0, *(len(part.columns) for part in parts)]).astype(np.int64)
    return Families(columns, spans, states, firsts, starts, children, above, sums)


def without_corrections(families: Families) -> Families:
    """Return the same contexts with corrections of zero."""
    return families._replace(sums=np.zeros_like(families.sums))


def run_rounds(
    families: Sequence[Families], contexts: Sequence[Array], labels: Array, logits: Floats,
    weights: Floats | None = None, *, penalty: float, rate: float = RATE,
) -> Iterator[int]:  # fmt: skip
    """Boost without end: yield the number of rounds after each, the corrections updated in place.

    A round takes one step for every family. Several sets of families, as those of an ensemble's members, take their
    turns in each round.

    Parameters
    ----------
    families, contexts : of equal length, as from ``grow_families``
    labels : (n_rows,) array
        Codes of the classes.
    logits : (n_rows, n_classes) array
        The log-posterior to correct, up to a constant per row.
    weights : array, optional
        How many times each row counts.
    penalty : float
        L2 penalty of every correction of a context and class; positive.
    rate : float
        Fraction of a Newton step.
    """
    from tanbark.params.boosting import correction_kernels as kernels

    n_rows, n_classes = logits.shape
    posteriors = np.empty((n_rows, 1 if n_classes == 2 else n_classes))
    kernels.fill_posteriors(logits, posteriors)
    given = NO_WEIGHTS if weights is None else np.asarray(weights, float)
    rows = LabelledRows(np.asarray(labels, np.int64), given, posteriors)
    pairs = [(part, places) for part, places in zip(families, contexts, strict=True) if len(places)]
    done = 0
    while True:
        for part, places in pairs:
            kernels.take_steps(part, places, rows, float(penalty), float(rate))
        if _extreme(posteriors):
            now = logits.copy()
            for part, places in pairs:
                kernels.sum_corrections(places, part.sums, np.ones(n_rows), now)
            kernels.fill_posteriors(now, posteriors)
        done += 1
        yield done


def _extreme(posteriors: Floats) -> bool:
    """Return whether products may underflow or overflow, so that posteriors must be computed from logits again."""
    return bool(posteriors.size and (posteriors.min() < 1e-150 or posteriors.max() > 1e150))


def add_corrections(families: Families, codes: Array, logits: Floats, *, n_jobs: int | None = 1) -> None:
    """Add the corrections of rows to ``logits[row, class]``.

    A family whose node is missing adds nothing; of its parents, those before the first missing one count. A context
    that was not seen has the correction of the longest one that was.
    """
    from tanbark.params.boosting import correction_kernels as kernels

    threads = thread_count(n_jobs)

    def work(top: int, bottom: int) -> None:
        kernels.add_sums(families, codes, top, bottom, logits)

    run_threads(work, row_blocks(len(logits), threads), threads)


def find_contexts(families: Families, codes: Array) -> Array:
    """Return the longest context seen of every row in every family, (n_families, n_rows)."""
    from tanbark.params.boosting import correction_kernels as kernels

    return np.asarray(kernels.find_contexts(families, codes))


def sum_corrections(contexts: Array, families: Families, fractions: Floats, logits: Floats) -> Floats:
    """Return logits plus a fraction of the corrections of every row in the contexts that were found."""
    from tanbark.params.boosting import correction_kernels as kernels

    found = logits.copy()
    kernels.sum_corrections(contexts, families.sums, fractions, found)
    return found


def complete_fraction(families: Families, codes: Array) -> Floats:
    """Return the fraction of the families without a missing value, for every row; one if there are no families."""
    from tanbark.params.boosting import correction_kernels as kernels

    return np.asarray(kernels.complete_fractions(families, codes))
