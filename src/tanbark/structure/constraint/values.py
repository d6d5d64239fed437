"""Tests of conditional independence, as values that a learner takes as ``test=``.

A new test is a subclass here whose ``measure`` looks at one table of counts, and a short form in ``SHORT_FORMS``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike

from tanbark.arrays import TIE
from tanbark.checks import Options, check_count, check_ess, check_fraction
from tanbark.counts.information import count_columns
from tanbark.errors import OptionError, find
from tanbark.scores.dirichlet import log_bayes_factor
from tanbark.scores.independence import (
    Statistic,
    chi_square_statistic,
    g_statistic,
    log_tail,
    observed_degrees,
    shrunken_statistic,
)


class Outcome(NamedTuple):
    """The outcome of a test.

    Parameters
    ----------
    support : float
        The evidence for independence in nats: the logarithm of the Bayes factor, or of the p-value over the level.
    statistic : float
        What the test rests on: G², X², or the logarithm of the Bayes factor.
    degrees : float
        Degrees of freedom; NaN where there are none.
    p_value : float
        The probability of so large a statistic under independence; NaN for a Bayes factor.
    """

    support: float
    statistic: float
    degrees: float = math.nan
    p_value: float = math.nan

    @property
    def independent(self) -> bool:
        """Whether the test decides for independence."""
        return self.support > TIE


@dataclass
class IndependenceTest(Options):
    """A test of the independence of two columns given others; options are checked when it is used."""

    def measure(self, counts: ArrayLike, n_configs: float | None = None) -> Outcome:
        """Test by a table of counts.

        Parameters
        ----------
        counts : (n_configs, n_x, n_y) array
            Configurations of the conditioning columns without rows may be left out.
        n_configs : float, optional
            The number of configurations, observed or not.
        """
        raise AssertionError("every test measures")

    def check(self) -> Self:
        """Validate the options."""
        raise AssertionError("every test checks its options")

    def __call__(self, x: Any, y: Any, *, given: Any = None) -> Outcome:
        """Test columns of any values: whether x and y are independent given others.

        Parameters
        ----------
        x, y : columns of the same length
            Every different value is a state; None, NaN and NA are missing values, and a row with one does not count.
        given : column, or list or frame of columns, optional
            The conditioning columns.
        """
        counts, n_configs = count_columns(x, y, given=given)
        return self.check().measure(np.moveaxis(counts, 2, 0), n_configs)


@dataclass
class BayesFactor(IndependenceTest):
    r"""The BDeu Bayes factor of independence against dependence; independent where its logarithm is above 0.

    .. math:: \ln BF(X, Y | Z) = h(ZX) + h(ZY) - h(Z) - h(ZXY)

    with :math:`h(S) = \sum \ln \Gamma(e/q + N) - \ln \Gamma(e/q)` over the observed cells of a set S with q cells. It
    needs no level: with more rows both errors vanish.

    Parameters
    ----------
    ess : float, default 1.0
        Equivalent sample size of the Dirichlet prior (BDeu).

    Notes
    -----
    Heckerman, Geiger and Chickering (1995), section 7.

    Examples
    --------
    >>> import tanbark as tb
    >>> outcome = tb.BayesFactor()(["a", "a", "b", "b"] * 5, [0, 1, 0, 1] * 5)
    >>> round(outcome.support, 4), outcome.independent
    (2.044, True)
    """

    ess: float = 1.0

    def measure(self, counts: ArrayLike, n_configs: float | None = None) -> Outcome:
        """Return the logarithm of the Bayes factor."""
        n = np.asarray(counts)
        cells = np.argwhere(n > 0)
        states = (float(n.shape[0]) if n_configs is None else n_configs, *n.shape[1:])
        value = log_bayes_factor(cells, n[n > 0], states, self.ess)
        return Outcome(value, value)

    def check(self) -> Self:
        """Validate the equivalent sample size."""
        check_ess(self.ess)
        return self


@dataclass
class LevelTest(IndependenceTest):
    """A test at a significance level; columns are independent where the p-value is above it."""

    level: float = 0.05

    def statistic(self, counts: ArrayLike, n_configs: float | None) -> Statistic:
        """Return the statistic and its degrees of freedom."""
        raise AssertionError("every test has a statistic")

    def measure(self, counts: ArrayLike, n_configs: float | None = None) -> Outcome:
        """Compare the statistic with chi-square."""
        found = self.statistic(counts, n_configs)
        tail = log_tail(found)
        return Outcome(tail - math.log(self.level), found.value, found.degrees, math.exp(tail))

    def check(self) -> Self:
        """Validate the level."""
        check_fraction("level", self.level, inside=True)
        return self


@dataclass
class GTest(LevelTest):
    """The likelihood-ratio test: G², twice the rows times the mutual information, compared with chi-square.

    Degrees of freedom count the states that occur in each configuration of the conditioning columns.

    Parameters
    ----------
    level : float, default 0.05
        Significance level: columns with a larger p-value are taken as independent.

    Notes
    -----
    Spirtes, Glymour and Scheines (2000), Causation, Prediction, and Search, section 5.5.

    Examples
    --------
    >>> import tanbark as tb
    >>> outcome = tb.GTest(0.01)(["a", "a", "b", "b"] * 5, [0, 1, 1, 1] * 5)
    >>> round(outcome.statistic, 3), outcome.degrees, round(outcome.p_value, 4), outcome.independent
    (8.63, 1.0, 0.0033, False)
    """

    def statistic(self, counts: ArrayLike, n_configs: float | None) -> Statistic:
        """Return G²."""
        return g_statistic(counts)


@dataclass
class ChiSquareTest(LevelTest):
    """Pearson's test: X², summed over the configurations of the conditioning columns, compared with chi-square.

    Degrees of freedom count the states that occur in each configuration.

    Parameters
    ----------
    level : float, default 0.05
        Significance level: columns with a larger p-value are taken as independent.

    Examples
    --------
    >>> import tanbark as tb
    >>> outcome = tb.ChiSquareTest()(["a", "a", "b", "b"] * 5, [0, 1, 1, 1] * 5)
    >>> round(outcome.statistic, 4), round(outcome.p_value, 4)
    (6.6667, 0.0098)
    """

    def statistic(self, counts: ArrayLike, n_configs: float | None) -> Statistic:
        """Return X²."""
        return chi_square_statistic(counts)


@dataclass
class ShrinkageTest(LevelTest):
    """Mutual information of the joint distribution after shrinkage to the uniform one, compared with chi-square.

    Of sparse tables the shrunken information is lower than the plain one, whose mean under independence is too high.

    Parameters
    ----------
    level : float, default 0.05
        Significance level: columns with a larger p-value are taken as independent.

    Notes
    -----
    Hausser and Strimmer (2009), Entropy inference and the James-Stein estimator, with application to nonlinear gene
    association networks. Degrees of freedom are those of all cells.

    Examples
    --------
    >>> import tanbark as tb
    >>> outcome = tb.ShrinkageTest()(["a", "a", "b", "b"] * 5, [0, 1, 1, 1] * 5)
    >>> round(outcome.statistic, 3), outcome.independent
    (3.296, True)
    """

    def statistic(self, counts: ArrayLike, n_configs: float | None) -> Statistic:
        """Return the shrunken G²."""
        return shrunken_statistic(counts, n_configs)


@dataclass
class PermutationTest(LevelTest):
    """Mutual information compared with that of rows whose values are permuted within every configuration.

    The p-value is (1 + permutations with as much information) / (1 + permutations), and holds for any number of rows.
    Counting stops as soon as independence is certain. Fractional counts are rounded to whole rows.

    Parameters
    ----------
    level : float, default 0.05
        Significance level: columns with a larger p-value are taken as independent.
    n_permutations : int, default 1000
        The most permutations of the rows.
    seed : int, default 0
        Where random numbers come from. They do not depend on the order of rows, columns or states.

    Notes
    -----
    Phipson and Smyth (2010) for the p-value; Besag and Clifford (1991) for the early stop.

    Examples
    --------
    >>> import tanbark as tb
    >>> outcome = tb.PermutationTest()(["a", "a", "b", "b"] * 5, [0, 1, 1, 1] * 5)
    >>> round(outcome.statistic, 3), outcome.independent
    (8.63, False)
    """

    n_permutations: int = 1000
    seed: int = 0

    def measure(self, counts: ArrayLike, n_configs: float | None = None) -> Outcome:
        """Permute, and count how often the information is as high."""
        from tanbark.structure.constraint.permutation import permuted_p_value

        whole = np.rint(np.asarray(counts, dtype=float)).astype(np.int64)
        p_value = permuted_p_value(whole, self.level, self.n_permutations, self.seed)
        return Outcome(
            math.log(p_value) - math.log(self.level), g_statistic(whole).value, observed_degrees(whole), p_value
        )

    def check(self) -> Self:
        """Validate level, permutations and seed."""
        check_fraction("level", self.level, inside=True)
        check_count("n_permutations", self.n_permutations, least=1)
        check_count("seed", self.seed)
        if self.n_permutations + 1 < 1 / self.level:
            msg = (
                f"{self.n_permutations} permutations cannot reach the level {self.level}; give n_permutations of at "
                f"least {math.ceil(1 / self.level) - 1}."
            )
            raise OptionError(msg)
        return self


SHORT_FORMS: dict[str, type[IndependenceTest]] = {
    "bayes-factor": BayesFactor,
    "g2": GTest,
    "x2": ChiSquareTest,
    "shrinkage": ShrinkageTest,
    "permutation": PermutationTest,
}


def as_test(value: Any, default: IndependenceTest) -> IndependenceTest:
    """Return a test from what an option may hold: a test, a short form, or None for the default.

    >>> as_test("g2", BayesFactor()), as_test(None, BayesFactor(2.0))
    (GTest(level=0.05), BayesFactor(ess=2.0))
    """
    if isinstance(value, IndependenceTest):
        return value.check()
    if value is None:
        return default.check()
    if isinstance(value, str):
        return find("test", value, SHORT_FORMS)()
    msg = (
        f"test must be a test of independence such as BayesFactor() or GTest(0.05), one of {sorted(SHORT_FORMS)}, or "
        f"None; got {value!r:.80}."
    )
    raise OptionError(msg)
