"""The RAI-ANB paper's Tables 1 to 5, run again on its data sets.

    python -m benchmarks.studies.rai_anb run --data ../shared/data      # goes on where a killed run stopped
    python -m benchmarks.studies.rai_anb page --data ../shared/data     # writes docs/rai_anb.md and its numbers

The cells that are done are kept in build/studies/rai_anb.jsonl.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from benchmarks.studies.rai_anb import cells as study
from benchmarks.studies.rai_anb import data

ROOT = Path(__file__).resolve().parents[3]
CELLS = ROOT / "build" / "studies" / "rai_anb.jsonl"
SEED = 2022


def all_cells(tables: dict, *, whole: bool) -> tuple[list[study.Cell], dict[str, tuple[int, int]]]:
    """List the cells of the folds, or those of Table 5, which learn from all rows on every core."""
    found, sizes = [], {}
    for table in ("table_1", "table_3"):
        for row in tables[table]["rows"]:
            name = row["file"]
            if name is None:
                continue
            sizes[name] = row["rows"], row["variables"]
            if not whole:
                found += [study.Cell(name, method, fold) for method in row["accuracy"] for fold in range(10)]
            elif table == "table_3":
                found += [study.Cell(name, method, study.WHOLE, None) for method in ("RAI-ANB", "RAI-GBN")]
    return found, sizes


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=["run", "page"])
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data")
    parser.add_argument("--cells", type=Path, default=CELLS)
    parser.add_argument("--sets", nargs="*", help="only these data sets")
    parser.add_argument("--methods", nargs="*", choices=study.METHODS, help="only these methods")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=float("inf"), help="begin no cell after as many")
    options = parser.parse_args()
    tables = data.paper_tables(options.data)
    if options.what == "page":
        from benchmarks.studies.rai_anb import page

        page.write(options.data, options.cells, ROOT / "docs", SEED)
        return
    for whole in (False, True):
        cells, sizes = all_cells(tables, whole=whole)
        chosen = [
            cell
            for cell in study.order(cells, sizes)
            if (not options.sets or cell.name in options.sets)
            and (not options.methods or cell.method in options.methods)
        ]
        study.run_all(
            chosen, options.cells, options.data, SEED, study.METHODS, workers=1 if whole else options.workers,
            seconds=options.seconds,
        )  # fmt: skip


if __name__ == "__main__":
    main()
