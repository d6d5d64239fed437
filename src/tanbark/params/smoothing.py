"""Smoothings: the Dirichlet prior of every CPT, as values that a classifier takes as ``parameters=``.

A new smoothing is a subclass here whose ``mass`` returns the parameters of the Dirichlet prior of a family, and a short
form in ``SHORT_FORMS``. ``mass`` sees the counts of the family, so a prior may also be shrunk from fewer parents.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from tanbark.arrays import Floats
from tanbark.checks import Options, check_at_least
from tanbark.errors import OptionError, find
from tanbark.kernel import for_work
from tanbark.machine import blocks, run_threads, thread_count
from tanbark.params.expert import by_class, check_columns, distribution, numbers
from tanbark.table import Schema

LARGEST_ALPHA = 1e100
MIN_THREADED_FAMILIES = 128  # fewer are estimated before a second thread has started
MOST_INTERPRETED = 2000  # cells of hierarchical CPTs that are computed before Numba would be imported


@dataclass
class Smoothing(Options):
    """What is added to the counts of a family; the options are checked when a classifier is fitted."""

    uses_counts: ClassVar[bool] = False  # whether the prior depends on the counts

    @property
    def by_column(self) -> bool:
        """Whether the prior of a column depends on its name, so that ``mass`` alone does not know it."""
        return False

    def mass_at(self, counts: NDArray[Any], columns: tuple[int, ...], node: int, schema: Schema) -> float | Floats:
        """Return ``mass`` for the family of a column of a schema, whose axes are ``columns``."""
        return self.mass(counts, columns.index(node))

    def mass(self, counts: NDArray[Any], axis: int, *, stacked: bool = False) -> float | Floats:
        """Return the parameters of the Dirichlet prior: one number for all cells, or an array that broadcasts.

        Parameters
        ----------
        counts : array
            One axis per column of the family.
        axis : int
            The axis of the node itself.
        stacked : bool
            Whether the first axis runs over families of the same shape instead of belonging to one.
        """
        raise AssertionError("every smoothing returns its mass")

    def check(self) -> Self:
        """Validate the options."""
        for name, value in self.get_params().items():
            check_at_least(name, value, 0, LARGEST_ALPHA)
        return self


@dataclass
class Laplace(Smoothing):
    r"""The same pseudo-count in every cell: :math:`(N_{jk} + \alpha) / (N_j + r \alpha)`.

    Parameters
    ----------
    alpha : float, default 1.0
        Pseudo-counts per cell; 0 is maximum likelihood.

    Examples
    --------
    >>> import tanbark as tb
    >>> tb.NaiveBayes(parameters=tb.Laplace(0.5)).get_params()["parameters__alpha"]
    0.5
    """

    alpha: float = 1.0

    def mass(self, counts: NDArray[Any], axis: int, *, stacked: bool = False) -> float | Floats:
        """Return the pseudo-count per cell."""
        return self.alpha


@dataclass
class K2(Smoothing):
    """One pseudo-count in every cell, as in the K2 score; the same as ``Laplace(1.0)``."""

    alpha: ClassVar[float] = 1.0

    def mass(self, counts: NDArray[Any], axis: int, *, stacked: bool = False) -> float | Floats:
        """Return 1."""
        return 1.0


@dataclass
class BDeu(Smoothing):
    r"""An equivalent sample size, spread evenly over the cells: :math:`(N_{jk} + e/(rq)) / (N_j + e/q)`.

    Parameters
    ----------
    ess : float, default 1.0
        Equivalent sample size of the Dirichlet prior (BDeu).
    """

    ess: float = 1.0

    def mass(self, counts: NDArray[Any], axis: int, *, stacked: bool = False) -> float | Floats:
        """Return the share of a cell in the equivalent sample size."""
        return self.ess / math.prod(counts.shape[stacked:])


@dataclass
class MEstimate(Smoothing):
    r"""Pseudo-rows with the column's own distribution: :math:`(N_{jk} + m p_k) / (N_j + m)`, p = (N_k + 1) / (N + r).

    Parameters
    ----------
    m : float, default 1.0
        Pseudo-rows per parent configuration; 0 is maximum likelihood.
    distributions : dict of column names to distributions, optional
        p of columns where it is known: probabilities by state, or in the order of the states. The class has the name of
        ``y``, or "class". Other columns have the p above.

    Notes
    -----
    For a node without parents p is uniform. Cestnik (1990), Estimating probabilities: A crucial task in machine
    learning.
    """

    uses_counts: ClassVar[bool] = True
    m: float = 1.0
    distributions: Any = None

    def mass(self, counts: NDArray[Any], axis: int, *, stacked: bool = False) -> float | Floats:
        """Return m times the marginal distribution of the node."""
        return self.m * _marginal(counts, axis, stacked)

    @property
    def by_column(self) -> bool:
        """Whether some columns have a prior of their own."""
        return self.distributions is not None

    def mass_at(self, counts: NDArray[Any], columns: tuple[int, ...], node: int, schema: Schema) -> float | Floats:
        """Return m times the prior of the column, if it has one, or its marginal distribution."""
        name, axis = schema.names[node], columns.index(node)
        if self.distributions is None:
            return self.mass(counts, axis)
        check_columns("distributions", self.distributions, schema)
        if name not in self.distributions:
            return self.mass(counts, axis)
        known = distribution("distributions", self.distributions[name], schema.columns[node])
        return self.m * known.reshape([-1 if k == axis else 1 for k in range(counts.ndim)])

    def check(self) -> Self:
        """Validate m; distributions are read when the columns are known."""
        check_at_least("m", self.m, 0, LARGEST_ALPHA)
        return self


@dataclass
class PriorCounts(Smoothing):
    r"""Rows that an expert has in mind: counts of every column by class, added to those of the data.

    A column with further parents has them spread evenly over their configurations, so that the expert's rows count as
    often as they were given: :math:`(N_{jck} + a_{ck} / q) / (N_{jc} + a_c / q)`, with the q configurations of
    the other parents.

    Parameters
    ----------
    counts : dict of column names to counts
        For a feature, ``{label: {state: rows}}``, or lists in the order of the labels and states; for the class,
        ``{label: rows}``.
    alpha : float, default 1.0
        Pseudo-counts per cell of the columns that are not named.

    Notes
    -----
    Heckerman, Geiger and Chickering (1995), section 6, on priors from an equivalent sample.

    Examples
    --------
    >>> import tanbark as tb
    >>> expert = tb.PriorCounts({"x0": {"ham": {"no": 9, "yes": 1}, "spam": {"no": 2, "yes": 8}}})
    >>> clf = tb.NaiveBayes(parameters=expert).fit([["no"], ["yes"]], ["ham", "spam"])
    >>> clf.network_.table("x0").round(3).tolist()
    [[0.909, 0.182], [0.091, 0.818]]
    """

    counts: Any = None
    alpha: float = 1.0

    def mass(self, counts: NDArray[Any], axis: int, *, stacked: bool = False) -> float | Floats:
        """Return the pseudo-count of columns that are not named."""
        return self.alpha

    @property
    def by_column(self) -> bool:
        """Whether any column is named."""
        return bool(self.counts)

    def mass_at(self, counts: NDArray[Any], columns: tuple[int, ...], node: int, schema: Schema) -> float | Floats:
        """Return the expert's counts of a family, spread over the configurations of other parents."""
        if not self.counts:
            return self.alpha
        check_columns("counts", self.counts, schema)
        name, target = schema.names[node], schema.target
        if name not in self.counts:
            return self.alpha
        if node == target:
            given = numbers("counts", self.counts[name], schema.columns[node])
        else:
            given = by_class("counts", self.counts[name], schema.columns[node], schema.columns[target])
            given = given if target in columns else given.sum(axis=1)
        kept = [k for k, column in enumerate(columns) if column == node or (column == target and node != target)]
        shape = [counts.shape[k] if k in kept else 1 for k in range(counts.ndim)]
        return np.asarray(given.reshape(shape) * (given.size / counts.size))

    def check(self) -> Self:
        """Validate the pseudo-count; the counts are read when the columns are known."""
        check_at_least("alpha", self.alpha, 0, LARGEST_ALPHA)
        return self


def _marginal(n: Floats, axis: int, stacked: bool) -> Floats:
    states = n.shape[axis]
    others = tuple(k for k in range(int(stacked), n.ndim) if k != axis % n.ndim)
    if not others:
        return np.full(states, 1.0 / states)
    margin = n.sum(axis=others, keepdims=True)
    return np.asarray((margin + 1.0) / (margin.sum(axis=axis, keepdims=True) + states))


@dataclass
class Hierarchical(Smoothing):
    r"""Every CPT is shrunk towards the one with a parent fewer: :math:`(N_{jk} + c\,\theta_{jk}) / (N_j + c)`.

    The parents have an order: the class first, the others by falling mutual information with the node given the class.
    :math:`\theta` is the same estimate without the last of them, down to the node's own distribution,
    :math:`(N_k + 1/2) / (N + r/2)`. Without one parent, a configuration counts the expected tables of a Chinese
    restaurant process instead of the rows. The concentrations c, one for each number of parents, maximise the evidence,
    so there is nothing to set.

    Notes
    -----
    Where the class is no parent (also in the CPT of the class itself), all parents are ordered by falling mutual
    information with the node. Ties go to the earlier column. A configuration without rows has the distribution of the
    longest part of it that was seen. After Petitjean, Buntine, Webb and Zaidi (2018), Accurate parameter estimation for
    Bayesian network classifiers using hierarchical Dirichlet processes, who sample what is expected here.

    Examples
    --------
    >>> import tanbark as tb
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]] * 5, [0, 0, 1, 1] * 5
    >>> tb.KDB(parameters=tb.Hierarchical()).fit(X, y).network_.table("x1").round(3)[0].tolist()
    [[0.5, 0.5], [0.5, 0.5]]
    """

    uses_counts: ClassVar[bool] = True

    def mass(self, counts: NDArray[Any], axis: int, *, stacked: bool = False) -> float | Floats:
        """Return the concentration of the CPT times the distribution with one parent fewer."""
        families = np.asarray(counts if stacked else counts[None], dtype=np.float64)
        shape = np.array(families.shape[1:], np.int64)
        node = axis % counts.ndim - stacked
        if len(shape) == 1 or not families.size:
            return 0.5
        from tanbark.params.hierarchical import hierarchical_kernels as kernels

        flat = np.ascontiguousarray(families).reshape(len(families), -1)
        found = np.empty(flat.shape)
        masses = for_work(kernels.prior_masses, flat.size, MOST_INTERPRETED)
        threads = thread_count(None) if len(flat) >= MIN_THREADED_FAMILIES else 1

        def work(low: int, high: int) -> None:
            masses(flat[low:high], shape, node, found[low:high])

        run_threads(work, blocks(len(flat), -(-len(flat) // (4 * threads))), threads)
        return found.reshape(counts.shape)


@dataclass
class DataTemperature(Smoothing):
    r"""Distributions of least free energy, hot with few rows: :math:`\theta_{jk} \propto (N_{jk} + \alpha)^{\beta_j}`.

    The inverse temperature :math:`\beta_j = N_j / (N_j + \gamma)` rises with the rows of a parent configuration, from 0
    (uniform) to 1 (relative frequencies).

    Parameters
    ----------
    gamma : float or "auto", default "auto"
        Rows at which the inverse temperature is a half; "auto" is best for the leave-one-out likelihood of each CPT.
    alpha : float, default 0.5
        Pseudo-counts per cell, so that no state is impossible at any temperature.

    Notes
    -----
    After Isozaki, Kato and Ueno (2009), "Data temperature" in minimum free energies for parameter learning of Bayesian
    networks. Their formula of the temperature could not be read: :math:`\beta_j`, its choice and alpha are ours.

    Examples
    --------
    >>> import tanbark as tb
    >>> tb.NaiveBayes(parameters=tb.DataTemperature(gamma=2, alpha=0)).fit([[0], [0]], [0, 1]).network_.table("class")
    array([0.5, 0.5])
    """

    uses_counts: ClassVar[bool] = True
    gamma: Any = "auto"
    alpha: float = 0.5

    def mass(self, counts: NDArray[Any], axis: int, *, stacked: bool = False) -> float | Floats:
        """Return the prior of least mass that gives the distributions of least free energy."""
        from tanbark.params.data_temperature import tempered_mass

        gamma = None if self.gamma == "auto" else float(self.gamma)
        return tempered_mass(counts, axis % counts.ndim - stacked, gamma=gamma, alpha=self.alpha, stacked=stacked)

    def check(self) -> Self:
        """Validate the options; an automatic temperature needs pseudo-counts for single rows."""
        check_at_least("alpha", self.alpha, 0, LARGEST_ALPHA)
        if isinstance(self.gamma, str):
            find("gamma, where it is not a number of at least 0,", self.gamma, {"auto": None})
            if self.alpha == 0:
                msg = "gamma='auto' needs an alpha above 0; got alpha=0. Use alpha=0.5, or give gamma as a number."
                raise OptionError(msg)
            return self
        check_at_least("gamma", self.gamma, 0, LARGEST_ALPHA)
        return self


SHORT_FORMS: dict[str, Callable[[], Smoothing]] = {
    "laplace": Laplace,
    "bdeu": BDeu,
    "k2": K2,
    "m-estimate": MEstimate,
    "hierarchical": Hierarchical,
    "data-temperature": DataTemperature,
    "ml": lambda: Laplace(0.0),
}


def as_smoothing(value: Any, default: str, *, option: str = "parameters", others: str = "") -> Smoothing:
    """Return a smoothing from what an option may hold: a smoothing, a short form, pseudo-counts per cell, or None.

    >>> as_smoothing(None, "bdeu"), as_smoothing(0.5, "bdeu"), as_smoothing("ml", "bdeu")
    (BDeu(ess=1.0), Laplace(alpha=0.5), Laplace(alpha=0.0))
    """
    if isinstance(value, Smoothing):
        return value.check()
    if value is None:
        return SHORT_FORMS[default]()
    if isinstance(value, str):
        return find(option, value, SHORT_FORMS)()
    if isinstance(value, (Real, np.number)) and not isinstance(value, (bool, np.bool_)):
        return Laplace(float(value)).check()
    msg = (
        f"{option} must be a smoothing such as Laplace(1.0) or BDeu(1.0), one of {sorted(SHORT_FORMS)}, a number of "
        f"pseudo-counts per cell{others}, or None; got {value!r:.80}."
    )
    raise OptionError(msg)
