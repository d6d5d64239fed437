"""Results taken back from the numbers of an earlier page, for what was not run again on the same splits."""

from __future__ import annotations

from benchmarks.studies.accuracy import data, tasks
from benchmarks.studies.accuracy.measures import MEASURES

CURVE = ("log_loss", "accuracy")  # the measures of a learning curve


def label(condition: tuple[str, int]) -> str:
    """Name a condition.

    >>> label(("random", 0)), label(("not-random", 30))
    ('complete', '30 % not at random')
    """
    mechanism, percent = condition
    return "complete" if percent == 0 else f"{percent} % {'at random' if mechanism == 'random' else 'not at random'}"


def recover(numbers: dict, sets: dict[str, dict]) -> dict[tasks.Key, dict]:
    """Return the results that a page shows, of the sets that are still the same.

    Means are those of the first split, and only sets of which a page shows no other split are taken.
    """
    kept = {
        name for name, about in numbers["sets"].items()
        if numbers["splits"].get(name) == 1 and sets.get(name, {}).get("hash") == about["hash"]
    }  # fmt: skip
    found: dict[tasks.Key, dict] = {}
    for condition in data.CONDITIONS:
        for name, methods in numbers["means"].get(label(condition), {}).items():
            for method, values in methods.items() if name in kept else ():
                found[name, 0, method, 0, *condition] = dict(zip(MEASURES, values, strict=True))
    for name, methods in numbers["curves"].items():
        for method, points in methods.items() if name in kept else ():
            for rows, *values in points:
                if rows < sets[name]["train"]:
                    found[name, 0, method, rows, *data.COMPLETE] = dict(zip(CURVE, values, strict=True))
    return {**_failures(numbers, kept), **found}


def _failures(numbers: dict, kept: set[str]) -> dict[tasks.Key, dict]:
    conditions = {label(condition): condition for condition in data.CONDITIONS}
    found: dict[tasks.Key, dict] = {}
    for method, reasons in numbers["failures"].items():
        for reason, places in reasons.items():
            for place in places:
                name, _, state = place.removesuffix(")").partition(" (")
                if name in kept:
                    found[name, 0, method, 0, *conditions[state]] = {"error": reason}
    return found
