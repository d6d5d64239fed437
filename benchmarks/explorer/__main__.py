"""Click through the page in Chromium and measure how long the reader waits.

    python -m benchmarks.explorer                 # the table
    python -m benchmarks.explorer --json docs/numbers/explorer.json

For every model and window, twenty questions are answered by clicks. "answer" is the time from the click until the
script has shown the posterior and the browser has laid the page out; "frame" that until the next frame is there, at 60
frames a second. "next", "why" and "interval" are the times until the next question, the explanation and the credible
interval are there; they are computed in a worker. All are medians in milliseconds. "open" is the time from the start of
the script to the first answer.
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
FLAGS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-sync"]
MEASURE = """async ([view, clicks]) => {
  const { app } = tanbark;
  const frame = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done, 0)));
  const rest = async () => { while (!app.work.idle) await new Promise((done) => setTimeout(done, 5)); };
  app.show(view);
  await rest();
  const found = { answer: [], frame: [], next: [], why: [], interval: [] };
  const note = (name, start) => found[name].push(performance.now() - start);
  for (let k = 0; k < clicks; k++) {
    const where = view === "ask" ? "#question .ask-state" : "#list .state:not(.set) .pick";
    let button = document.querySelector(where);
    if (button === null) { app.clear(); await rest(); button = document.querySelector(where); }
    await frame();
    const start = performance.now();
    const heard = (name, event) => app.events.addEventListener(event, () => note(name, start), { once: true });
    heard("next", "bits");
    heard("interval", "ranges");
    const table = document.getElementById("why");
    const watch = new MutationObserver(() => { watch.disconnect(); note("why", start); });
    watch.observe(table, { childList: true });
    button.click();
    document.documentElement.getBoundingClientRect();
    note("answer", start);
    await frame();
    note("frame", start);
    await rest();
    await new Promise((done) => setTimeout(done, 0));
  }
  return found;
}"""


def measure(page: Any, view: str) -> dict[str, float]:
    """Give the median of every time, in milliseconds."""
    found = page.evaluate(MEASURE, [view, CLICKS])
    return {name: round(statistics.median(times), 1) for name, times in found.items() if times}


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
                    opened = page.evaluate("tanbark.opened")
                    line = {
                        "model": name,
                        "window": f"{width}x{height}",
                        "view": view,
                        "kb": file.stat().st_size // 1000,
                    }
                    lines.append(line | {"open": round(opened, 1)} | measure(page, view))
                    print(row(lines[-1]), flush=True)
                    page.close()
        version = browser.version
        browser.close()
    return [line | {"chromium": version} for line in lines]


COLUMNS = ("open", "answer", "frame", "next", "why", "interval")


def row(line: dict[str, Any]) -> str:
    cells = "".join(f"{line.get(name, float('nan')):10.1f}" for name in COLUMNS)
    return f"{line['model']:<28}{line['window']:>10}{line['view']:>6}{line['kb']:>8}{cells}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", help="only models with this in their name")
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    options = parser.parse_args()
    print(f"{'model':<28}{'window':>10}{'view':>6}{'kB':>8}" + "".join(f"{name:>10}" for name in COLUMNS))
    lines = measure_all(options.only)
    if options.json is not None:
        commit = subprocess.run(["git", "rev-parse", "HEAD"], capture_output=True, text=True, check=True).stdout.strip()
        record = {
            "command": "python -m benchmarks.explorer --json docs/numbers/explorer.json",
            "unit": "milliseconds, medians", "clicks": CLICKS, "commit": commit, "machine": platform.machine(),
            "cores": os.cpu_count(), "versions": {"tanbark": tb.__version__, "python": platform.python_version()},
            "lines": lines,
        }  # fmt: skip
        options.json.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
