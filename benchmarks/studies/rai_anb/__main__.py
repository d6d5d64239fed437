"""The RAI-ANB paper's Tables 1 to 5, run again on its data sets.

    python -m benchmarks.studies.rai_anb run --data ../shared/data      # goes on where a killed run stopped
    python -m benchmarks.studies.rai_anb page --data ../shared/data     # writes docs/rai_anb.md and its numbers

The cells that are done are kept in build/studies/rai_anb.jsonl.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from benchmarks.studies.rai_anb import cells, data, leak, methods, plan

ROOT = Path(__file__).resolve().parents[3]
CELLS = ROOT / "build" / "studies" / "rai_anb.jsonl"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=["run", "leak", "page"])
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data")
    parser.add_argument("--cells", type=Path, default=CELLS)
    parser.add_argument("--sets", nargs="*", help="only these data sets")
    parser.add_argument("--methods", nargs="*", choices=methods.ALL, help="only these methods")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=float("inf"), help="begin no cell after as many")
    options = parser.parse_args()
    if options.what == "page":
        from benchmarks.studies.rai_anb import page

        page.write(options.data, options.cells, ROOT / "docs")
        return
    if options.what == "leak":
        leak.run(options.cells, options.data)
        return
    chosen = [
        cell
        for cell in plan.cells(data.paper_tables(options.data))
        if (not options.sets or cell.name in options.sets) and (not options.methods or cell.method in options.methods)
    ]
    cells.run_all(
        chosen, options.cells, options.data, methods.ALL, workers=options.workers, seconds=options.seconds
    )  # fmt: skip
    if not options.sets and not options.methods:
        leak.run(options.cells, options.data)


if __name__ == "__main__":
    main()
