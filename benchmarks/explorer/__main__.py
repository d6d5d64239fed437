"""Click through the page in Chromium and measure what an answer costs and how long the reader waits.

    python -m benchmarks.explorer                 # the table
    python -m benchmarks.explorer --json docs/numbers/explorer.json

For every model and window, twenty questions are answered by clicks. From the click until the posterior is shown and the
page is laid out, "script" is the processor time of the script and "layout" that of style and layout, on the page's main
thread (Chromium's own counters, in thread ticks: they do not depend on what else the machine does). "painted" is the
time on the clock from the click until the next frame is there, at 60 frames a second; "next" and "interval" are the
times on the clock until the next question and the credible interval are there, which are computed in a worker. These
grow with the load of the machine, which is recorded. "interval job" is the processor time of the credible intervals,
of the case after the clicks and of a case with all values known, run once more in the page. All are milliseconds,
medians of the clicks; of the job the least of three.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import statistics
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import tanbark as tb
from benchmarks.explorer.models import models
from tanbark.explorer import write_page

CLICKS = 20
WINDOWS = ((1440, 900), (390, 844))
VIEWS = ("ask", "list")
COLUMNS = ("open", "script", "layout", "painted", "next", "interval", "job", "job, all")
FLAGS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-sync"]
REST = """async () => { while (!tanbark.app.work.idle) await new Promise((done) => setTimeout(done, 5)); }"""
FRAME = "() => new Promise((done) => requestAnimationFrame(() => setTimeout(done, 0)))"
FIND = """async (view) => {
  const { app } = tanbark;
  const where = view === "ask" ? "#question .ask-state" : "#list .state:not(.set) .pick";
  const rest = async () => { while (!app.work.idle) await new Promise((done) => setTimeout(done, 5)); };
  if (document.querySelector(where) === null) { app.clear(); await rest(); }
  const bench = window.bench = { button: document.querySelector(where), start: 0, times: {} };
  const note = (name) => () => (bench.times[name] = performance.now() - bench.start);
  app.events.addEventListener("bits", note("next"), { once: true });
  app.events.addEventListener("ranges", note("interval"), { once: true });
}"""
CLICK = """() => {
  bench.start = performance.now();
  bench.button.click();
  document.documentElement.getBoundingClientRect();
}"""
PAINTED = "() => (bench.times.painted = performance.now() - bench.start)"
JOB = """(all) => {
  const { app, Model, JOBS, finish } = tanbark;
  const { model } = app;
  let { likelihoods } = app;
  if (all) {
    likelihoods = model.nothing.slice();
    model.columns.forEach(({ kind, cuts }, node) => {
      const state = (7 * node) % model.sizes[node];
      if (node === model.target) return;
      const number = kind === "interval" ? (cuts[state - 1] ?? cuts[0] - 1) + 1e-9 : NaN;
      likelihoods[node] = model.observed(node, state, number);
    });
  }
  finish(JOBS.intervals(model, { target: app.target, likelihoods }));
}"""


class Counters:
    """Processor time of the main thread of a page, in milliseconds."""

    def __init__(self, page: Any) -> None:
        self.session = page.context.new_cdp_session(page)
        self.session.send("Performance.enable", {"timeDomain": "threadTicks"})

    def read(self) -> tuple[float, float]:
        """Return the time of all tasks, and that of style and layout."""
        found = {line["name"]: line["value"] for line in self.session.send("Performance.getMetrics")["metrics"]}
        return 1e3 * found["TaskDuration"], 1e3 * (found["LayoutDuration"] + found["RecalcStyleDuration"])


def measure(page: Any, view: str) -> dict[str, float]:
    """Give the medians, in milliseconds."""
    counters = Counters(page)
    page.evaluate("(view) => tanbark.app.show(view)", view)
    page.evaluate(REST)
    found: dict[str, list[float]] = {}
    for _ in range(CLICKS):
        page.evaluate(FIND, view)
        page.evaluate(FRAME)
        before = counters.read()
        page.evaluate(CLICK)
        after = counters.read()
        page.evaluate(FRAME)
        page.evaluate(PAINTED)
        page.evaluate(REST)
        page.evaluate(FRAME)
        layout = after[1] - before[1]
        times = {"script": after[0] - before[0] - layout, "layout": layout} | page.evaluate("() => bench.times")
        for name, time in times.items():
            found.setdefault(name, []).append(time)
    medians = {name: round(statistics.median(times), 1) for name, times in found.items()}
    if view == "ask" and "interval" in medians:
        medians |= {"job": _job(page, counters, all_known=False), "job, all": _job(page, counters, all_known=True)}
    return medians


def _job(page: Any, counters: Counters, *, all_known: bool) -> float:
    times = []
    for _ in range(3):
        before = counters.read()[0]
        page.evaluate(JOB, all_known)
        times.append(counters.read()[0] - before)
    return round(min(times), 1)


def measure_all(only: str | None) -> list[dict[str, Any]]:
    from playwright.sync_api import sync_playwright

    path = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))))
    lines = []
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as folder:
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        for name, model in models(only=only).items():
            file = write_page(model, Path(folder) / "page.html")
            for width, height in WINDOWS:
                for view in VIEWS:
                    page = browser.new_page(viewport={"width": width, "height": height})
                    page.goto(file.as_uri())
                    page.evaluate(
                        "async () => { while (!window.tanbark?.opened) await new Promise((f) => setTimeout(f, 5)); }"
                    )
                    line = {
                        "model": name, "window": f"{width}x{height}", "view": view, "kb": file.stat().st_size // 1000,
                        "open": round(page.evaluate("tanbark.opened"), 1), "load": round(os.getloadavg()[0], 1),
                    }  # fmt: skip
                    lines.append(line | measure(page, view))
                    print(row(lines[-1]), flush=True)
                    page.close()
        version = browser.version
        browser.close()
    return [line | {"chromium": version} for line in lines]


def markdown(record: dict[str, Any]) -> str:
    """Write the table of the documentation: both windows and views together, the worst of them."""
    lines = record["lines"]
    table = ["| model | script | layout | credible interval, all values known |", "|---|--:|--:|--:|"]
    for name in dict.fromkeys(line["model"] for line in lines):
        own = [line for line in lines if line["model"] == name]
        worst = {
            key: max((line[key] for line in own if key in line), default=None)
            for key in ("script", "layout", "job, all")
        }
        cells = ["-" if value is None else f"{value:.0f} ms" for value in worst.values()]
        table.append(f"| {name} | {' | '.join(cells)} |")
    loads = [line["load"] for line in lines]
    table.append(
        f"\nThe load of the machine ({record['cores']} cores) was {min(loads):.0f} to {max(loads):.0f} meanwhile."
    )
    return "\n".join(table)


def row(line: dict[str, Any]) -> str:
    cells = "".join(f"{line.get(name, float('nan')):10.1f}" for name in COLUMNS)
    return f"{line['model']:<28}{line['window']:>10}{line['view']:>6}{line['kb']:>8}{line['load']:>6.1f}{cells}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", help="only models with this in their name")
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    options = parser.parse_args()
    print(f"{'model':<28}{'window':>10}{'view':>6}{'kB':>8}{'load':>6}" + "".join(f"{name:>10}" for name in COLUMNS))
    lines = measure_all(options.only)
    if options.json is not None:
        commit = subprocess.run(["git", "rev-parse", "HEAD"], capture_output=True, text=True, check=True).stdout.strip()
        record = {
            "command": "python -m benchmarks.explorer --json docs/numbers/explorer.json",
            "unit": "milliseconds, medians of the clicks; script, layout and job are processor time, the rest clock",
            "clicks": CLICKS, "commit": commit, "machine": platform.machine(),
            "cores": os.cpu_count(), "versions": {"tanbark": tb.__version__, "python": platform.python_version()},
            "lines": lines,
        }  # fmt: skip
        options.json.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
