"""How good class probabilities are: accuracy, log-loss, Brier score, area under the curve, confusion, calibration."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tanbark.arrays import Floats


def measure(labels: NDArray[Any], proba: Floats, classes: NDArray[Any]) -> dict[str, float]:
    """Measure class probabilities against labels.

    Returns
    -------
    dict with
        accuracy; balanced_accuracy (the mean recall of the classes); log_loss in nats per row; brier
        (squared error summed over the classes, halved where there are two, as in scikit-learn); auc (the mean over the
        classes of the area under the curve of one class against the rest; NaN where only one class occurs).

    Examples
    --------
    >>> import numpy as np
    >>> found = measure(np.array([0, 1]), np.array([[0.9, 0.1], [0.4, 0.6]]), np.array([0, 1]))
    >>> found["accuracy"], found["auc"], round(found["brier"], 3)
    (1.0, 1.0, 0.085)
    """
    codes = np.searchsorted(classes, labels)
    right = proba.argmax(axis=1) == codes
    present = np.unique(codes)
    chosen = np.clip(proba[np.arange(len(codes)), codes], np.finfo(float).eps, 1.0)
    wanted = np.eye(len(classes))[codes]
    squares = ((proba - wanted) ** 2).sum(axis=1).mean() / (2 if len(classes) == 2 else 1)
    areas = [_area(codes == c, proba[:, c]) for c in present] if len(present) > 1 else [math.nan]
    return {
        "accuracy": float(right.mean()),
        "balanced_accuracy": float(np.mean([right[codes == c].mean() for c in present])),
        "log_loss": float(-np.log(chosen).mean()),
        "brier": float(squares),
        "auc": float(np.mean(areas)),
    }


def _area(positive: NDArray[np.bool_], scores: Floats) -> float:
    """Return the fraction of pairs of a positive and a negative row that the scores order correctly; ties half."""
    from scipy.stats import rankdata

    n = int(positive.sum())
    ranks = rankdata(scores)[positive].sum()
    return float((ranks - n * (n + 1) / 2) / (n * (len(scores) - n)))


def confusion(labels: NDArray[Any], proba: Floats, classes: NDArray[Any]) -> NDArray[np.int64]:
    """Count rows by their own class (lines) and the predicted one (columns)."""
    table = np.zeros((len(classes), len(classes)), np.int64)
    np.add.at(table, (np.searchsorted(classes, labels), proba.argmax(axis=1)), 1)
    return table


@dataclass(frozen=True, eq=False)
class Calibration:
    """How often what was said to have probability p was so.

    Attributes
    ----------
    predicted, observed : arrays
        For every bin, the mean probability, and the fraction of rows of the class.
    rows : array
        Rows of every bin.
    edges : array
        Lower and upper end of every bin, of shape (bins, 2).
    error : float
        The expected calibration error: the mean over rows of the bins' difference between both.
    """

    predicted: Floats
    observed: Floats
    rows: NDArray[np.int64]
    edges: Floats

    @property
    def error(self) -> float:
        """Mean over rows of the difference between predicted and observed fraction in the row's bin."""
        return float((self.rows * np.abs(self.predicted - self.observed)).sum() / max(int(self.rows.sum()), 1))

    def intervals(self, level: float = 0.95) -> tuple[Floats, Floats]:
        r"""Return Wilson's confidence limits of the observed fractions, lower and upper.

        With n rows, a fraction f and the normal quantile z they are
        :math:`(f + z^2 / 2n \pm z \sqrt{f (1 - f) / n + z^2 / 4n^2}) / (1 + z^2 / n)`.

        References
        ----------
        Wilson (1927), Probable inference, the law of succession, and statistical inference.
        """
        z = NormalDist().inv_cdf(0.5 + level / 2)
        f, n = self.observed, np.maximum(self.rows, 1)
        middle, half = f + z**2 / (2 * n), z * np.sqrt(f * (1 - f) / n + z**2 / (4 * n**2))
        scale = 1 + z**2 / n
        return np.maximum((middle - half) / scale, 0.0), np.minimum((middle + half) / scale, 1.0)


def calibration(
    labels: NDArray[Any], proba: Floats, classes: NDArray[Any], *, label: Any = None, bins: int = 10, min_rows: int = 1
) -> Calibration:
    """Put rows into bins of equal width by probability and compare it with what happened; empty bins are left out.

    Without a ``label``, the probability is that of the predicted class, and what happened is whether it was right.
    Neighbouring bins are joined until each has ``min_rows`` rows, where there are as many.

    Examples
    --------
    >>> import numpy as np
    >>> found = calibration(np.array([0, 1]), np.array([[0.9, 0.1], [0.4, 0.6]]), np.array([0, 1]), label=1)
    >>> found.predicted.tolist(), found.observed.tolist(), round(found.error, 3)
    ([0.1, 0.6], [0.0, 1.0], 0.25)
    """
    codes = np.searchsorted(classes, labels)
    if label is None:
        said, so = proba.max(axis=1), proba.argmax(axis=1) == codes
    else:
        code = int(np.flatnonzero(classes == label)[0])
        said, so = proba[:, code], codes == code
    place = np.minimum((said * bins).astype(np.int64), bins - 1)
    runs = _joined(np.bincount(place, minlength=bins), max(min_rows, 1))
    run_of = np.zeros(bins, np.int64)
    for k, (low, high) in enumerate(runs):
        run_of[low:high] = k
    place = run_of[place]
    rows = np.bincount(place, minlength=len(runs))
    sums = [np.bincount(place, weights=values, minlength=len(runs)) for values in (said, so.astype(float))]
    return Calibration(sums[0] / rows, sums[1] / rows, rows, np.array(runs, float).reshape(-1, 2) / bins)


def _joined(rows: NDArray[np.int64], least: int) -> list[tuple[int, int]]:
    """Join neighbouring bins from the left until each has enough rows; the last joins the one before it.

    >>> _joined(np.array([30, 0, 5, 20, 3]), 10), _joined(np.array([30, 0, 5, 0]), 1), _joined(np.array([2, 1]), 10)
    ([(0, 1), (2, 5)], [(0, 1), (2, 3)], [(0, 2)])
    """
    runs: list[tuple[int, int, int]] = []
    held = 0
    for place, count in enumerate(rows.tolist()):
        if not held:
            low = place
        held += count
        if held >= least:
            runs.append((low, place + 1, held))
            held = 0
    last = int(np.flatnonzero(rows)[-1]) + 1 if rows.any() else 0
    if held and runs:
        runs[-1] = (runs[-1][0], last, runs[-1][2] + held)
    elif held:
        runs.append((int(np.flatnonzero(rows)[0]), last, held))
    return [(low, high) for low, high, _ in runs]
