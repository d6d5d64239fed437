"""The command line: ``python -m benchmarks.speed [--only 1,4] [--quick] [--data DIR] [--r-libs DIR] [--json FILE]``."""

from __future__ import annotations

import argparse
import os
import platform
import sys
from dataclasses import replace
from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as version_of
from pathlib import Path
from typing import Any

from benchmarks.speed import limits
from benchmarks.speed.contest import Setting
from benchmarks.speed.items import ITEMS
from benchmarks.speed.peers import PEERS
from benchmarks.speed.runner import Line, best_peers, table, write_json

PACKAGES = ("tanbark", "numpy", "scipy", "scikit-learn", "numba", "pandas")
CPUINFO = Path("/proc/cpuinfo")


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.speed", description="Tanbark against its peers.")
    parser.add_argument("--only", default="", help="numbers of the items to run, with commas between")
    parser.add_argument("--quick", action="store_true", help="small sizes: a smoke test whose ratios mean nothing")
    parser.add_argument("--data", type=Path, default=Path("../shared/data"), help="the folder of the tables, .csv.gz")
    parser.add_argument("--r-libs", type=Path, help="the folder where bnlearn and bnclassify are installed for R")
    parser.add_argument("--rscript", type=Path, help="the Rscript that runs them; the one on the path by default")
    parser.add_argument("--json", type=Path, help="also write the lines to this file")
    return parser.parse_args()


def run(numbers: list[int], setting: Setting) -> list[Line]:
    """Run the items one after the other; one that fails leaves a line that says so."""
    lines: list[Line] = []
    for number in numbers:
        work = ITEMS[number]
        print(f"item {number}: {work.__name__} ...", file=sys.stderr, flush=True)
        try:
            lines += work(setting)
        except Exception as error:
            why = f"failed: {type(error).__name__}: {error}".replace("\n", " ").replace("|", "/")
            lines.append(Line(number, work.__name__, "", "", note=why[:300]))
    return lines


def about(setting: Setting) -> dict[str, Any]:
    """The machine, the versions, and what had to be left out."""
    reasons = {peer: peer.available() for peer in PEERS}
    return {
        "quick": setting.quick,
        "cpu": cpu_name(),
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "load_before": round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None,
        "rates": limits.rates(),
        "system": f"{platform.system()} {platform.machine()}, Python {platform.python_version()}",
        "packages": {name: package_version(name) for name in PACKAGES},
        "peers": {peer.NAME: peer.version() for peer, reason in reasons.items() if reason is None},
        "left_out": {peer.NAME: f"{reason}; to get it: {peer.INSTALL}" for peer, reason in reasons.items() if reason},
    }


def package_version(name: str) -> str:
    try:
        return version_of(name)
    except PackageNotFoundError:
        return "not installed"


def cpu_name() -> str:
    if CPUINFO.exists():
        for line in CPUINFO.read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor() or "unknown"


def report(lines: list[Line], facts: dict[str, Any]) -> str:
    """The whole report in Markdown: the table, then where and with what it was measured."""
    listed = {key: ", ".join(f"{k} {v}" for k, v in facts[key].items()) for key in ("packages", "peers")}
    parts = [
        table(lines),
        "",
        "The best peer of each work, and what percentage ours reaches of a bare loop that does only what must be done:",
        "",
        best_peers(lines),
        "",
        "Seconds and rows/s are medians with their quartiles; the ratio is how many times faster Tanbark is, unless "
        "the note says otherwise. Both sides ran in turns in one run; ours starts from the raw array, the peers from "
        "input already in their own form. Times marked as published were measured elsewhere by others: neither they "
        "nor the ratios against them are of this run.",
        "",
        f"- Machine: {facts['cpu']}, {facts['cores']} cores, load {facts['load_before']} before; {facts['system']}.",
        f"- One thread does in a second: {facts['rates']}.",
        f"- Packages: {listed['packages']}.",
        f"- Peers: {listed['peers']}.",
        *(f"- Left out: {name}: {why}." for name, why in facts["left_out"].items()),
    ]
    if facts["quick"]:
        parts.append("- A quick run: sizes too small for the targets to mean anything.")
    return "\n".join(parts)


def main() -> int:
    given = arguments()
    numbers = [int(n) for n in given.only.split(",")] if given.only else list(ITEMS)
    unknown = sorted(set(numbers) - set(ITEMS))
    if unknown:
        sys.exit(f"no such item: {unknown}; there are {min(ITEMS)} to {max(ITEMS)}")
    try:
        import tanbark  # noqa: F401
    except ImportError as error:
        sys.exit(f"Tanbark cannot be imported ({error}): pip install -e . first")
    if given.r_libs:
        os.environ["R_LIBS"] = str(given.r_libs.resolve())
    if given.rscript:
        os.environ["RSCRIPT"] = str(given.rscript)
    setting = Setting(data=given.data, quick=given.quick)
    facts = about(setting)
    lines = run(numbers, setting)
    if given.quick:
        lines = [replace(line, target=None) for line in lines]
    print(report(lines, facts))
    if given.json:
        write_json(given.json, lines, facts)
    return 0


if __name__ == "__main__":
    sys.exit(main())
