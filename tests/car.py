"""The car evaluation table, worked out from the rules of the decision model that it was made with.

Bohanec and Rajkovic (1990), Expert system for decision making, Sistemica 1(1): a car is judged by its price (buying,
maint) and by its technical worth, which is comfort (doors, persons, lug_boot) and safety. The table is the whole grid
of the six features, 1,728 rows.
"""

from __future__ import annotations

import itertools

import pandas as pd

GRID = {
    "buying": ("vhigh", "high", "med", "low"), "maint": ("vhigh", "high", "med", "low"),
    "doors": ("2", "3", "4", "5more"), "persons": ("2", "4", "more"),
    "lug_boot": ("small", "med", "big"), "safety": ("low", "med", "high"),
}  # fmt: skip
VERDICTS = {
    "very high": ("unacc", "unacc", "unacc", "unacc"), "high": ("unacc", "unacc", "acc", "acc"),
    "fair": ("unacc", "acc", "acc", "vgood"), "low": ("unacc", "acc", "good", "vgood"),
}  # fmt: skip  # by price, then by technical worth from 0 to 3


def price(buying: str, maint: str) -> str:
    """Return what the price comes to."""
    if {buying, maint} <= {"high", "vhigh"} and "vhigh" in (buying, maint):
        return "very high"
    if {buying, maint} <= {"low", "med"}:
        return "fair" if buying == maint == "med" else "low"
    return "fair" if (buying, maint) == ("low", "high") else "high"


def comfort(doors: str, persons: str, lug_boot: str) -> int:
    """Return 0 (bad), 1 or 2 (good)."""
    if persons == "2" or (doors, persons, lug_boot) == ("2", "more", "small"):
        return 0
    if lug_boot == "med":
        return 2 if doors in ("4", "5more") or (doors, persons) == ("3", "more") else 1
    return 2 if lug_boot == "big" else 1


def car_table() -> pd.DataFrame:
    """Return the table with the class last, all of it text."""
    rows = list(itertools.product(*GRID.values()))
    classes = []
    for buying, maint, doors, persons, lug_boot, safety in rows:
        comfortable = comfort(doors, persons, lug_boot)
        worth = 0 if safety == "low" or not comfortable else comfortable + (safety == "high")
        classes.append(VERDICTS[price(buying, maint)][worth])
    return pd.DataFrame(rows, columns=list(GRID)).assign(**{"class": classes})
