"""Which of several models is better, and by how much more than chance: ranks, tests, adjusted p-values."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from tanbark.arrays import Floats
from tanbark.display import html_table, text_table
from tanbark.errors import InputError, OptionError, find
from tanbark.estimators.reports.paired_tests import bayesian_signed_rank, rank_difference, resampled_t, wilcoxon
from tanbark.table.frames import make_frame

TESTS = {
    "wilcoxon": "Wilcoxon's signed-rank test",
    "resampled-t": "corrected resampled t-test",
    "friedman": "z-test of mean ranks",
    "nemenyi": "Nemenyi's test",
}
HEADS = ("model", "mean", "rank", "p")
BAYES = ("better", "equivalent", "worse")  # than the reference


def hommel(p_values: ArrayLike) -> Floats:
    r"""Adjust p-values for being many, by Hommel's method, which rejects no less than Holm's and Hochberg's.

    With the sorted :math:`p_{(1)} \le … \le p_{(m)}`, a hypothesis is rejected at level a where every set of
    hypotheses that holds it has :math:`k p_{(j)} / j \le a` for one of its k sorted p-values (Simes's test).

    References
    ----------
    Hommel (1988), A stagewise rejective multiple test procedure based on a modified Bonferroni test. The passes are
    those of Wright (1992), Adjusted p-values for simultaneous inference, Appendix.

    Examples
    --------
    >>> hommel([0.01, 0.02, 0.03, 0.04]).round(4).tolist()
    [0.04, 0.04, 0.04, 0.04]
    """
    raw = np.asarray(p_values, float)
    if raw.ndim != 1 or not ((raw >= 0) & (raw <= 1)).all():
        msg = f"p-values are a list of numbers from 0 to 1; got {raw.tolist()!r:.80}."
        raise InputError(msg)
    m, order = len(raw), np.argsort(raw, kind="stable")
    sorted_p = raw[order]
    adjusted = np.full(m, np.min(m * sorted_p / np.arange(1, m + 1), initial=1.0))
    least = adjusted.copy()
    for size in range(m - 1, 1, -1):
        head, tail = slice(0, m - size + 1), slice(m - size + 1, m)
        bound = np.min(size * sorted_p[tail] / np.arange(2, size + 1))
        least[head] = np.minimum(size * sorted_p[head], bound)
        least[tail] = least[m - size]
        adjusted = np.maximum(adjusted, least)
    out = np.empty(m)
    out[order] = np.maximum(adjusted, sorted_p)
    return out


@dataclass(frozen=True, eq=False)
class Comparison:
    """Models side by side, the best first.

    Attributes
    ----------
    names : tuple of str
    means : array
        The mean score of every model.
    ranks : array
        Its mean rank over the folds or data sets; 1 is best, ties share their ranks.
    p_values : array
        For every model, that it is as good as the reference, adjusted for as many tests by Hommel's method (Nemenyi's
        hold for all pairs as they are); 1 for the reference itself.
    pairwise : array
        For every two models, that they are equally good, all pairs adjusted together.
    friedman : float
        p-value of the hypothesis that all ranks are alike (Friedman's test).
    critical_difference : float
        Nemenyi's: how far two mean ranks must lie apart to differ at ``significance``.
    significance : float
        The level that ``groups`` and ``critical_difference`` refer to.
    n : int
        Number of folds or data sets.
    test : str
    metric : str
        What the scores measure.
    higher_is_better : bool
    control : str, optional
        The model that the others are compared with; None is the best.
    bayes : array of shape (n_models, 3), optional
        For every model, the posterior probabilities that it is better than the reference, practically equivalent, and
        worse, by the Bayesian signed-rank test.
    """

    names: tuple[str, ...]
    means: Floats
    ranks: Floats
    p_values: Floats
    pairwise: Floats
    friedman: float
    critical_difference: float
    significance: float
    n: int
    test: str
    metric: str = "score"
    higher_is_better: bool = True
    control: str | None = None
    bayes: Floats | None = None

    @property
    def reference(self) -> str:
        """The model that ``p_values`` and ``bayes`` compare the others with: the control, or else the best."""
        return self.names[0] if self.control is None else self.control

    def title(self) -> str:
        """Name the metric and which values of it are better."""
        return f"{self.metric} ({'higher' if self.higher_is_better else 'lower'} is better)"

    def groups(self) -> list[tuple[str, ...]]:
        """List the largest runs of neighbours by rank in which no two models differ at ``significance``."""
        order = np.argsort(self.ranks, kind="stable")
        alike = self.pairwise[np.ix_(order, order)] > self.significance
        spans: list[tuple[int, int]] = []
        for low in range(len(order)):
            high = low + 1
            while high < len(order) and alike[low : high + 1, low : high + 1].all():
                high += 1
            if high - low > 1 and (not spans or high > spans[-1][1]):
                spans.append((low, high))
        return [tuple(self.names[k] for k in order[low:high]) for low, high in spans]

    def to_frame(self, *, backend: str | None = None) -> Any:
        """Return a frame with a line per model; ``backend`` is "pandas", "polars" or "pyarrow"."""
        data = {"model": list(self.names), "mean": self.means, "rank": self.ranks, "p": self.p_values}
        if self.bayes is not None:
            data |= {name: self.bayes[:, column] for column, name in enumerate(BAYES)}
        return make_frame(data, backend)

    def __str__(self) -> str:
        """Write a table, the best model first."""
        return f"{self._caption()}\n{text_table(self._heads(), self._lines(), most=len(self.names))}"

    def _caption(self) -> str:
        against = "" if self.control is None else f" against {self.control}"
        many = "scores" if self.n > 1 else "score"
        return f"{self.title()}; {self.n} {many} of each model, {TESTS[self.test]}{against}"

    def _heads(self) -> tuple[str, ...]:
        return HEADS if self.bayes is None else (*HEADS, *BAYES)

    def _lines(self) -> list[list[str]]:
        numbers = zip(self.names, self.means, self.ranks, self.p_values, strict=True)
        lines = [[name, f"{mean:.4f}", f"{rank:.2f}", f"{p:.4f}"] for name, mean, rank, p in numbers]
        further = [[]] * len(lines) if self.bayes is None else [[f"{p:.4f}" for p in row] for row in self.bayes]
        return [line + more for line, more in zip(lines, further, strict=True)]

    def _repr_html_(self) -> str:
        return html_table(self._caption(), self._heads(), self._lines(), most=len(self.names))

    def __repr__(self) -> str:
        return str(self)


def compare_scores(
    scores: Mapping[str, ArrayLike], *, higher_is_better: bool = True, test: str = "wilcoxon",
    control: str | None = None, rope: float | None = None, significance: float = 0.05,
    test_ratio: float | None = None, metric: str = "score",
) -> Comparison:  # fmt: skip
    """Compare models by scores on the same data sets, or on the same folds of one.

    Parameters
    ----------
    scores : mapping from model names to arrays
        All of the same length: one score per data set, or per fold.
    higher_is_better : bool, default True
    test : {"wilcoxon", "friedman", "nemenyi", "resampled-t"}, default "wilcoxon"
        Wilcoxon's signed-rank test is for scores on different data sets; so are "friedman", which compares mean ranks
        by their normal distribution, and "nemenyi", which compares all pairs of them with one critical difference.
        Folds of one data set share their training rows, so that their scores are not independent: "resampled-t" is the
        t-test with a variance that allows for it.
    control : str, optional
        The model that all others are compared with, their p-values adjusted by Hommel's method; by default the best.
    rope : float, optional
        Also run the Bayesian signed-rank test against the control or the best, with differences of at most ``rope``
        as no difference in practice; see :func:`bayesian_signed_rank`.
    significance : float, default 0.05
        The level of the tests, for the groups and the critical difference.
    test_ratio : float, optional
        For "resampled-t": test rows divided by training rows; by default that of as many folds as there are scores.
    metric : str, default "score"
        What the scores measure, for tables and plots.

    References
    ----------
    Demšar (2006), Statistical comparisons of classifiers over multiple data sets; Nadeau and Bengio (2003), Inference
    for the generalization error, Section 3; García and Herrera (2008) on adjusted p-values; Benavoli, Corani, Demšar
    and Zaffalon (2017) on the Bayesian test.

    Examples
    --------
    >>> result = compare_scores({"a": [0.9, 0.8, 0.9], "b": [0.7, 0.7, 0.8]}, test="resampled-t")
    >>> result.names, result.ranks.tolist()
    (('a', 'b'), [1.0, 2.0])
    >>> compare_scores({"a": [0.1, 0.2], "b": [0.3, 0.3]}, metric="log-loss", higher_is_better=False)
    log-loss (lower is better); 2 scores of each model, Wilcoxon's signed-rank test
    model    mean  rank       p
    ───────────────────────────
    a      0.1500  1.00  1.0000
    b      0.3000  2.00  0.5000
    """
    find("test", test, TESTS)
    if not 0 < significance < 1:
        msg = f"significance must lie between 0 and 1; got {significance!r}."
        raise OptionError(msg)
    names, table = list(scores), _table(scores)
    if control is not None:
        find("control, the name of a model,", control, dict.fromkeys(names))
    k, n = table.shape
    signed = table if higher_is_better else -table
    order = np.argsort(-signed.mean(axis=1), kind="stable")
    names, table, signed = [names[i] for i in order], table[order], signed[order]
    ranks = _ranks(-signed).mean(axis=1)
    raw = _test_pairs(signed, ranks, test, 1.0 / max(n - 1, 1) if test_ratio is None else test_ratio)
    reference = 0 if control is None else names.index(control)
    others = np.arange(k) != reference
    p_values = np.ones(k)
    p_values[others] = raw[reference, others] if test == "nemenyi" else hommel(raw[reference, others])
    pairwise, upper = np.ones((k, k)), np.triu_indices(k, 1)
    pairwise[upper] = raw[upper] if test == "nemenyi" else hommel(raw[upper])
    bayes = (
        None if rope is None else np.array([bayesian_signed_rank(row, signed[reference], rope=rope) for row in signed])
    )
    return Comparison(
        tuple(names), table.mean(axis=1), ranks, p_values, np.minimum(pairwise, pairwise.T), _friedman(signed),
        critical_difference(k, n, significance), significance, n, test, str(metric), higher_is_better, control, bayes,
    )  # fmt: skip


def _test_pairs(signed: Floats, ranks: Floats, test: str, ratio: float) -> Floats:
    """Return the p-values of all pairs of models, not adjusted."""
    k, n = signed.shape
    raw = np.ones((k, k))
    for a in range(k):
        for b in range(a + 1, k):
            if test == "wilcoxon":
                found = wilcoxon(signed[a], signed[b])
            elif test == "resampled-t":
                found = resampled_t(signed[a], signed[b], ratio)
            else:
                found = rank_difference(ranks[a], ranks[b], k, n, all_pairs=test == "nemenyi")
            raw[a, b] = raw[b, a] = found
    return raw


def critical_difference(n_models: int, n_scores: int, significance: float = 0.05) -> float:
    """Return Nemenyi's critical difference of mean ranks (Demšar 2006, Section 3.2.2).

    >>> round(critical_difference(5, 30), 3)
    1.114
    """
    from scipy.stats import studentized_range

    if n_models < 2:
        return math.nan
    q = float(studentized_range.ppf(1 - significance, n_models, np.inf)) / math.sqrt(2.0)
    return q * math.sqrt(n_models * (n_models + 1) / (6.0 * n_scores))


def _table(scores: Mapping[str, ArrayLike]) -> Floats:
    rows = [np.asarray(values, float) for values in scores.values()]
    if not rows or len({row.shape for row in rows}) > 1 or rows[0].ndim != 1 or not rows[0].size:
        shapes = {name: np.shape(values) for name, values in scores.items()}
        msg = f"Every model needs as many scores as the others, and at least one; got {shapes!r:.200}."
        raise InputError(msg)
    table = np.stack(rows)
    if not np.isfinite(table).all():
        bad = [name for name, row in zip(scores, table, strict=True) if not np.isfinite(row).all()]
        msg = f"Scores must be finite numbers; those of {bad[:10]} are not all. Leave these models out."
        raise InputError(msg)
    return table


def _ranks(table: Floats) -> Floats:
    from scipy.stats import rankdata

    return np.asarray(rankdata(table, axis=0), float)


def _friedman(table: Floats) -> float:
    from scipy.stats import chi2

    k, n = table.shape
    ranks = _ranks(table)
    spread = float(((ranks - (k + 1) / 2) ** 2).sum())
    if k < 2 or spread == 0:
        return 1.0
    statistic = n**2 * (k - 1) * float(((ranks.mean(axis=1) - (k + 1) / 2) ** 2).sum()) / spread
    return float(chi2.sf(statistic, k - 1))
