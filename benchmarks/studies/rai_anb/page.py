"""The page: the prose of template.md with the tables in it, all from the numbers."""

from __future__ import annotations

import json
import re
from pathlib import Path

from benchmarks.studies.rai_anb import numbers as gathered
from benchmarks.studies.rai_anb import reading_tables, tables, verdicts
from benchmarks.studies.rai_anb.tables import markdown

__all__ = ["markdown", "render", "write"]

HERE = Path(__file__).parent


def write(folder: Path, path: Path, docs: Path) -> None:
    """Gather the numbers, and write them and the page."""
    found = gathered.collect(folder, path)
    for place, text in (
        (docs / "numbers" / "rai_anb.json", json.dumps(found, indent=1) + "\n"), (docs / "rai_anb.md", render(found)),
    ):  # fmt: skip
        partial = place.with_suffix(".partial")
        partial.write_text(text)
        partial.replace(place)


def render(found: dict) -> str:
    """Put the tables and single figures into the prose."""
    parts = {
        "made": made(found), "shuffled": tables.shuffled(found),
        "columns_1": tables.columns(found, "small"), "columns_3": tables.columns(found, "large"),
        "near_1": tables.near(found, "small"), "near_3": tables.near(found, "large"),
        "sizes_agree": tables.sizes_agree(found), "p_1": tables.p_values(found, "small", "table_1"),
        "p_3": tables.p_values(found, "large", "table_3"), "seconds_1": tables.seconds(found, "small", "table_1"),
        "seconds_3": tables.seconds(found, "large", "table_3"),
        "table_1": tables.accuracies(found, "small", "table_1"), "far_1": tables.far(found, "small", "table_1"),
        "table_2": tables.sizes(found, "small", "table_2"), "table_3": tables.accuracies(found, "large", "table_3"),
        "far_3": tables.far(found, "large", "table_3"), "table_4": tables.sizes(found, "large", "table_4"),
        "table_5": tables.whole(found), "family": tables.family(found), "optimal": tables.optimal(found),
        **reading_tables.parts(found), **verdicts.parts(found),
    }  # fmt: skip
    return re.sub(r"\{\{(\w+)\}\}", lambda mark: parts[mark[1]], (HERE / "template.md").read_text())


def made(found: dict) -> str:
    """Say where the numbers come from."""
    versions = ", ".join(f"{name} {version}" for name, version in found["versions"].items())
    seeds = found["seeds"]
    return f"commit {found['commit'][:12]}, seeds {seeds[0]} to {seeds[-1]}, {found['machine']}, {versions}"
