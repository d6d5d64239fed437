r"""How improbable the observed values of rows are under a network, against rows drawn from it.

For a row with the observed values e, of a network with the class C:

* **Log-probability**: :math:`\ln P(e) = \ln \sum_c P(c, e)`, exactly, missing values summed out.
* **Fraction**: of rows drawn from the network, the fraction whose values in the same columns have a probability of at
  most P(e), within a tolerance of 1e-9 of its logarithm. It is a p-value: small for rows that are odd.
* **Probability of a value**: :math:`P(x_i | e \setminus x_i) = P(e) / P(e \setminus x_i)`; the oddest value of a row
  has the lowest, ties to the earlier column.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tanbark.arrays import TIE, Codes, Floats, Integers
from tanbark.checks import check_count
from tanbark.display import html_table, text_table
from tanbark.graph import Network
from tanbark.inference import joint_log_proba
from tanbark.machine import blocks
from tanbark.table import missing_code
from tanbark.table.frames import make_frame

ROWS = 1 << 16  # that are evaluated at once


@dataclass(frozen=True, eq=False)
class Surprise:
    """How odd rows are; as an array, ``fractions``.

    Attributes
    ----------
    log_probabilities : (n_rows,) array
        ln P(observed values).
    fractions : (n_rows,) array
        The fraction of drawn rows that are at most as probable; 1 for a row without values.
    value_probabilities : (n_rows, n_features) array
        How probable every value is given the others of its row; NaN for missing values, and where the others are
        impossible.
    oddest : list of str or None
        The feature of the most improbable value of every row.
    oddest_states : list
        Its state.
    n_draws : int
    """

    log_probabilities: Floats
    fractions: Floats
    value_probabilities: Floats
    oddest: list[str | None]
    oddest_states: list[Any]
    n_draws: int

    @property
    def oddest_probabilities(self) -> Floats:
        """How probable the oddest value of every row is given the others."""
        filled = np.where(np.isnan(self.value_probabilities), np.inf, self.value_probabilities).min(axis=1)
        return np.where(np.isinf(filled), np.nan, filled)

    def to_frame(self, *, backend: str | None = None) -> Any:
        """Return a frame with a line for every row; ``backend`` is "pandas", "polars" or "pyarrow"."""
        data = {
            "log_probability": self.log_probabilities, "fraction": self.fractions, "oddest": self.oddest,
            "state": [None if state is None else str(state) for state in self.oddest_states],
            "probability": self.oddest_probabilities,
        }  # fmt: skip
        return make_frame(data, backend)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return np.array(self.fractions, dtype=dtype, copy=True if copy is None else copy)

    def __len__(self) -> int:
        return len(self.fractions)

    def _cells(self) -> tuple[list[str], list[list[str]]]:
        lines = []
        for row, probability in enumerate(self.oddest_probabilities.tolist()):
            name, state = self.oddest[row], self.oddest_states[row]
            odd = ["-", "-", "-"] if name is None else [name, str(state), f"{probability:.4g}"]
            lines.append(
                [str(row), *odd[:2], odd[2], f"{self.log_probabilities[row]:.4f}", f"{self.fractions[row]:.4f}"]
            )
        return ["row", "oddest value", "is", "P(given others)", "ln P(row)", "as odd"], lines

    def __str__(self) -> str:
        return text_table(*self._cells(), left=3)

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return html_table(f"“As odd” is the fraction of {self.n_draws} drawn rows", *self._cells(), left=3)


def surprise(network: Network, codes: Codes, *, n_draws: Any, random_state: Any, n_jobs: int | None) -> Surprise:
    """Measure rows of codes, (n_features, n_rows), of a network whose CPTs are distributions."""
    from tanbark.inference.factors.elimination import normalised
    from tanbark.inference.sampling import sample_codes

    normalised(network)
    n_draws = check_count("n_draws", n_draws, least=1)
    own = _log_probabilities(network, codes, n_jobs)
    values = _leave_one_out(network, codes, own, n_jobs)
    rng = np.random.default_rng(random_state)
    drawn = sample_codes(network, n_draws, None, soft=None, rng=rng)[: network.target].astype(codes.dtype)
    fractions = _fractions(network, codes, own, drawn, n_jobs)
    oddest, states = [], []
    for row, column in enumerate(np.where(np.isnan(values), np.inf, values).argmin(axis=1).tolist()):
        known = not np.isnan(values[row]).all()
        described = network.schema.columns[column]
        oddest.append(described.name if known else None)
        states.append(described.states()[codes[column, row]] if known else None)
    return Surprise(own, fractions, values, oddest, states, n_draws)


def _log_probabilities(network: Network, codes: Codes, n_jobs: int | None) -> Floats:
    from scipy.special import logsumexp

    out = np.empty(codes.shape[1])
    for low, high in blocks(codes.shape[1], ROWS):
        joint = joint_log_proba(network, np.ascontiguousarray(codes[:, low:high]), n_jobs=n_jobs)
        out[low:high] = logsumexp(joint, axis=1)
    return out


def _leave_one_out(network: Network, codes: Codes, own: Floats, n_jobs: int | None) -> Floats:
    """Return P(value | other values of the row), (n_rows, n_features)."""
    missing = missing_code(codes)
    found = np.full(codes.shape[::-1], np.nan)
    rows, columns = np.nonzero((codes != missing).T)
    for low, high in blocks(len(rows), ROWS):
        some, left = rows[low:high], columns[low:high]
        batch = codes[:, some]
        batch[left, np.arange(len(some))] = missing
        without = _log_probabilities(network, batch, n_jobs)
        with np.errstate(invalid="ignore"):
            found[some, left] = np.minimum(np.exp(own[some] - without), 1.0)
    return found


def _fractions(network: Network, codes: Codes, own: Floats, drawn: Codes, n_jobs: int | None) -> Floats:
    """Compare rows with the drawn ones, those with the same missing values together."""
    from tanbark.inference.factors.elimination import patterns

    missing = missing_code(codes)
    fractions = np.empty(len(own))
    for rows, observed in patterns(np.ascontiguousarray((codes == missing).T)):
        fractions[rows] = _lower(network, drawn, observed, own[rows], n_jobs)
    return fractions


def _lower(network: Network, drawn: Codes, observed: Integers, own: Floats, n_jobs: int | None) -> Floats:
    """Return the fraction of drawn rows that are at most as probable, in the observed columns."""
    entered = np.full_like(drawn, missing_code(drawn))
    entered[observed] = drawn[observed]
    logs = np.sort(_log_probabilities(network, entered, n_jobs))
    return np.asarray(np.searchsorted(logs, own + TIE, side="right") / len(logs))
