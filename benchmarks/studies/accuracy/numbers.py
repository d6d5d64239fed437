"""From results to the numbers of the page: means over the splits that all methods have, and learning curves."""

from __future__ import annotations

import json
import platform
import re
from collections import defaultdict
from pathlib import Path

import numpy as np

from benchmarks.studies.accuracy import data, tasks
from benchmarks.studies.accuracy.earlier import label, recover
from benchmarks.studies.accuracy.measures import MEASURES
from benchmarks.studies.accuracy.methods import METHODS

PAGES = ("accuracy", "accuracy_unseen")  # each has a template, numbers and figures of its name
Means = dict[str, dict[str, list[float]]]  # set, method, then one number per measure


def collect(results: Path, page: str = PAGES[0], earlier: dict | None = None) -> dict:
    """Gather everything that a page shows, and where it comes from.

    What has no result is taken from the numbers of an ``earlier`` page, if they are given.
    """
    new = tasks.load(results)
    sets = json.loads((results / "sets.json").read_text())
    done = {**(recover(earlier, sets) if earlier else {}), **new}
    good = {key: result for key, result in done.items() if "error" not in result}
    versions = results / "versions.json"
    known = [name for name in METHODS if any(key[2] == name for key in done)]
    found = {
        "page": page,
        "command": "python -m benchmarks.studies.accuracy run, then page",
        "commits": sorted({result["commit"] for result in new.values() if "error" not in result}),
        "versions": json.loads(versions.read_text()) if versions.exists() else {},
        "machine": f"{platform.system()} {platform.machine()}, Python {platform.python_version()}",
        "methods": {name: {"group": METHODS[name].group, "variant": METHODS[name].variant} for name in known},
        "sets": {name: about for name, about in sets.items() if any(key[0] == name for key in done)},
        "measures": list(MEASURES),
        "splits": {name: len(common) for name, common in common_splits(good, data.COMPLETE).items()},
        "means": {label(condition): means(good, condition) for condition in data.CONDITIONS},
        "curves": curves(good, sets),
        "failures": failures(done),
    }  # fmt: skip
    if earlier:
        again = {name: len({key[0] for key in new if key[2] == name and key[3] == 0}) for name in known}
        commits = sorted({*earlier["commits"], *earlier.get("earlier", {}).get("commits", [])})
        packages = {**earlier["versions"], **found["versions"]}
        found["versions"] = {
            name: sorted({*earlier["versions"].get(name, []), *found["versions"].get(name, [])}) for name in packages
        }
        found["earlier"] = {"commits": commits, "again": {name: n for name, n in again.items() if n}}
    return found


def by_split(good: dict[tasks.Key, dict], condition: tuple[str, int]) -> dict[str, dict[str, dict[int, dict]]]:
    """Return the results of models of all training rows by set, method and split."""
    found: dict[str, dict[str, dict[int, dict]]] = defaultdict(lambda: defaultdict(dict))
    for (name, split, method, rows, *of), result in good.items():
        if rows == 0 and tuple(of) == condition:
            found[name][method][split] = result
    return found


def common_splits(good: dict[tasks.Key, dict], condition: tuple[str, int]) -> dict[str, set[int]]:
    """Return, for each set, the splits that every method with a result on it has."""
    found = by_split(good, condition)
    return {name: set.intersection(*(set(splits) for splits in found[name].values())) for name in sorted(found)}


def means(good: dict[tasks.Key, dict], condition: tuple[str, int]) -> Means:
    """Average, for each set, over the splits for which every method with a result on that set has one."""
    found = by_split(good, condition)
    out: Means = {}
    for name, common in common_splits(good, condition).items():
        if common:
            out[name] = {
                method: [_mean([splits[split][key] for split in sorted(common)]) for key in MEASURES]
                for method, splits in sorted(found[name].items(), key=lambda pair: list(METHODS).index(pair[0]))
            }
    return out


def _mean(values: list[float]) -> float:
    return round(float(np.mean(values)), 5)


def curves(good: dict[tasks.Key, dict], sets: dict[str, dict]) -> dict:
    """Return, for each set with smaller training sets and each method, log-loss and accuracy by training rows."""
    found: dict = {}
    for name in tasks.CURVE_SETS:
        for method in METHODS:
            points = []
            for rows in (*tasks.CURVE_ROWS, 0):
                result = good.get((name, 0, method, rows, *data.COMPLETE))
                if result is not None:
                    known = rows or sets[name]["train"]
                    points.append([known, round(result["log_loss"], 5), round(result["accuracy"], 5)])
            if len(points) > 1:
                found.setdefault(name, {})[method] = points
    return found


def failures(done: dict[tasks.Key, dict]) -> dict[str, dict[str, list[str]]]:
    """List, for each method, the reasons of its failures with the sets that they occurred on."""
    found: dict[str, dict[str, list[str]]] = {}
    for key, result in sorted(done.items()):
        if "error" in result:
            places = found.setdefault(key[2], {}).setdefault(result["error"], [])
            place = f"{key[0]} ({label((key[4], key[5]))})"
            if place not in places:
                places.append(place)
    return found


def text(found: dict) -> str:
    """Write numbers as JSON with every innermost list on one line."""
    spread = json.dumps(found, indent=1, ensure_ascii=False)
    return re.sub(r"\[[^\[\]{}]*\]", lambda part: re.sub(r"\s+", " ", part[0]), spread) + "\n"
