"""Learners that take long on many columns or classes: a rough lower bound of their time, known before they begin.

The seconds are processor seconds of one machine for 500 rows of three states, fitted to runs with 25 and 50 features
and with 2 and 20 classes (BAN also with 500). Other machines differ, and searches that make more steps where there are
more columns take longer than this.
"""

from __future__ import annotations

from typing import NamedTuple

from tanbark.counts import CountEngine
from tanbark.errors import LongFitWarning, warn

LONG_SECONDS = 40.0
ROWS = 500.0  # of the runs


class Cost(NamedTuple):
    """Seconds per square of the number of features, and how they grow with classes and rows.

    They are multiplied by 1 + linear c + quadratic c^2 for c classes, and by a power of the number of rows.
    """

    per_pair: float
    linear: float = 0.0
    quadratic: float = 0.0
    rows: float = 0.3


COSTS = {
    "hill-climb": Cost(1.1e-5), "ban": Cost(4.8e-6, quadratic=1 / 140, rows=0.5), "sparse-candidate": Cost(5.8e-5),
    "rai-anb": Cost(2.4e-6), "rai-gbn": Cost(3.2e-6), "bnc2p": Cost(4.0e-4, linear=0.024, rows=0.6),
    "cmdl-gbn": Cost(1.0e-4, rows=1.0), "tan-hc": Cost(2.7e-5, linear=0.2), "tan-hcsp": Cost(2.1e-5, linear=0.1),
    "kdb-hc": Cost(4.6e-5, linear=0.06), "fssj": Cost(2.4e-5), "bsej": Cost(2.9e-5, linear=0.2),
    "selective": Cost(6.0e-6), "chow-liu": Cost(1.5e-5),
}  # fmt: skip


def expected_seconds(name: str, n_features: int, n_classes: int, n_rows: float) -> float:
    """Return roughly the seconds that a learner takes at least; 0 for those that are quick on any table.

    >>> expected_seconds("tan", 5000, 2, 1000), round(expected_seconds("hill-climb", 5000, 2, 500))
    (0.0, 275)
    """
    cost = COSTS.get(name)
    if cost is None:
        return 0.0
    classes = 1.0 + cost.linear * n_classes + cost.quadratic * n_classes**2
    return float(cost.per_pair * n_features**2 * classes * max(1.0, n_rows / ROWS) ** cost.rows)


def warn_if_long(name: str, counts: CountEngine) -> None:
    """Warn before a learner begins that it will take more than ``LONG_SECONDS``."""
    schema = counts.schema
    n_features, n_classes = schema.target, schema.cardinalities[schema.target]
    n_rows = ROWS if counts.counts_in_passes else counts.total  # no pass over the rows for the sake of a warning
    seconds = expected_seconds(name, n_features, n_classes, n_rows)
    if seconds > LONG_SECONDS:
        shown = f"{seconds:,.0f} seconds" if seconds < 300 else f"{seconds / 60:,.0f} minutes"
        msg = (
            f"The learner {name!r} takes roughly {shown} or more with {n_features:,} features and {n_classes:,} "
            "classes. A terminal shows its steps, and so does verbose=True where there is that option; Ctrl-C stops "
            "it. NaiveBayes, TAN and KDB are quicker."
        )
        warn(msg, LongFitWarning)
