"""Comparisons of methods over data sets: means, ranks, and tests of every pair that the page speaks of."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.stats import rankdata

from benchmarks.studies.accuracy.measures import MEASURES
from benchmarks.studies.accuracy.methods import NARROW
from tanbark.estimators import Comparison, compare_scores, hommel

LEVEL = 0.05


class Claim(NamedTuple):
    """How one of our methods compares with a peer on the sets that both have.

    ``difference`` is the mean of ours minus the peer's; ``favours`` is 1 if the signed ranks are on our side, -1 if
    on the peer's, 0 if even; ``adjusted`` is Wilcoxon's p-value after Hommel's correction for all claims of a table.
    """

    ours: str
    peer: str
    sets: int
    difference: float
    favours: int
    p: float
    adjusted: float

    @property
    def verdict(self) -> str:
        """Return "better", "worse" or "undecided", at the level of five per cent."""
        return "undecided" if self.adjusted > LEVEL or not self.favours else "better" if self.favours > 0 else "worse"


def group(found: dict, *, narrow: bool) -> list[str]:
    """List the sets of at most 62 columns, or those of more."""
    return [name for name, about in found["sets"].items() if (about["columns"] <= NARROW) == narrow]


def scores(found: dict, condition: str, measure: str, method: str, sets: list[str]) -> dict[str, float]:
    """Return a measure of a method on those of the sets that it has a result for."""
    place, means = found["measures"].index(measure), found["means"][condition]
    return {name: means[name][method][place] for name in sets if method in means.get(name, {})}


def mean(values: dict[str, float]) -> float:
    return float(np.mean(list(values.values())))


def listed(found: dict, condition: str, sets: list[str], methods: list[str] | None = None) -> list[str]:
    """Order methods by mean log-loss, those that lack a set behind the others; leave out those without any."""
    chosen = list(found["methods"]) if methods is None else methods
    by = {method: scores(found, condition, "log_loss", method, sets) for method in chosen}
    most = max(map(len, by.values()), default=0)
    return sorted((m for m in chosen if by[m]), key=lambda method: (len(by[method]) < most, mean(by[method])))


def ranks(found: dict, condition: str, measure: str, methods: list[str], sets: list[str]) -> Comparison | None:
    """Compare the methods that have every set, if there are two of them and two sets."""
    columns = {method: scores(found, condition, measure, method, sets) for method in methods}
    most = max(map(len, columns.values()), default=0)
    whole = {method: list(column.values()) for method, column in columns.items() if len(column) == most}
    if len(whole) < 2 or most < 2:
        return None
    return compare_scores(whole, higher_is_better=MEASURES[measure][1], significance=LEVEL)


def claims(found: dict, condition: str, measure: str, sets: list[str]) -> list[Claim]:
    """Test each of our methods against each peer and its variants by Wilcoxon's signed ranks, adjusted together."""
    kinds = {name: about["group"] for name, about in found["methods"].items()}
    order = listed(found, condition, sets)
    tried = []
    for ours in (name for name in order if kinds[name] == "ours"):
        for peer in (name for name in order if kinds[name] == "peers"):
            a, b = (scores(found, condition, measure, name, sets) for name in (ours, peer))
            common = [name for name in a if name in b]
            if common:
                tried.append(_claim(ours, peer, [a[n] for n in common], [b[n] for n in common], measure))
    adjusted = hommel([claim.p for claim in tried]) if tried else []
    return [claim._replace(adjusted=float(p)) for claim, p in zip(tried, adjusted, strict=True)]


def _claim(ours: str, peer: str, a: list[float], b: list[float], measure: str) -> Claim:
    difference = np.array(a) - np.array(b)
    signed = difference if MEASURES[measure][1] else -difference
    favours = int(np.sign(np.round((np.sign(signed) * rankdata(np.abs(signed))).sum(), 9)))
    p = float(compare_scores({"a": a, "b": b}).pairwise[0, 1])
    return Claim(ours, peer, len(a), float(difference.mean()), favours, p, p)
