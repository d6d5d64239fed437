"""Which defaults serve best: the criterion of TAN, the smoothing and the discretiser, on two collections of tables.

    python -m benchmarks.studies.accuracy.r_datasets build/studies/r_datasets
    python -m benchmarks.studies.defaults [--data FOLDER] [--unseen FOLDER]

Every model is fitted on the first split of every set of at most 62 columns, as in the study of accuracy. One option is
changed at a time, everything else stays at the present default; each change is compared with the default by Wilcoxon's
signed ranks over the sets, the p-values of a collection adjusted by Hommel's method. It writes docs/defaults.md and
docs/numbers/defaults.json, in about two minutes.
"""

from __future__ import annotations

import argparse
import platform
import subprocess
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import tanbark as tb
from benchmarks.studies.accuracy import data
from benchmarks.studies.accuracy.measures import measure
from benchmarks.studies.accuracy.methods import NARROW
from benchmarks.studies.accuracy.numbers import text
from tanbark.estimators import compare_scores, hommel

ROOT = Path(__file__).resolve().parents[2]
LEARNERS = ("NaiveBayes", "TAN", "KDB", "AODE", "RAIANB")
CHANGES: dict[str, tuple[str, ...]] = {
    "criterion": ("aic", "bic", "mml"),
    "parameters": ("laplace", "bdeu", "m-estimate"),
    "discretize": ("mdlp+quantile", "quantile", "median"),
    "temperature": ("auto",),
}
MEASURES = ("log_loss", "accuracy")
LEVEL = 0.05


class Setting(NamedTuple):
    """A learner with one option changed, or none."""

    learner: str
    option: str = ""
    value: str = ""

    def make(self) -> Any:
        """Make the estimator."""
        changed = {self.option: self.value} if self.option else {}
        return getattr(tb, self.learner)(n_jobs=1, **changed)

    def __str__(self) -> str:
        return f"{self.learner}({self.option}={self.value!r})" if self.option else f"{self.learner}()"


def settings() -> Iterator[Setting]:
    """List every learner with its defaults, then with each option changed that it has."""
    for learner in LEARNERS:
        yield Setting(learner)
        known = getattr(tb, learner)().get_params()
        for option, values in CHANGES.items():
            for value in values if option in known else ():
                if not (learner == "AODE" and option == "parameters"):  # its default is another one
                    yield Setting(learner, option, value)


def run(folder: Path) -> dict[str, dict[str, list[float]]]:
    """Return the measures of every setting on every set."""
    found: dict[str, dict[str, list[float]]] = {}
    for name in data.names(folder):
        table = data.load(folder, name)
        if table.X.shape[1] > NARROW:
            continue
        train, test = data.splits(name, table.y)[0]
        begun = time.perf_counter()
        for setting in settings():
            clf = setting.make().fit(table.X.iloc[train], table.y[train])
            P = np.zeros((len(test), table.n_classes))
            P[:, clf.classes_] = clf.predict_proba(table.X.iloc[test])
            known = measure(P, table.y[test])
            found.setdefault(name, {})[str(setting)] = [round(known[key], 5) for key in MEASURES]
        print(f"{folder.name} {name}: {time.perf_counter() - begun:.1f} s", flush=True)
    return found


def compare(found: dict[str, dict[str, list[float]]]) -> dict[str, dict[str, Any]]:
    """Compare every change with the default of its learner by log-loss, p-values adjusted together."""
    rows = {}
    for setting in settings():
        default = str(Setting(setting.learner))
        own, base = (np.array([lines[str(s)] for lines in found.values()]) for s in (setting, default))
        rows[str(setting)] = {
            "log_loss": float(own[:, 0].mean()), "accuracy": float(own[:, 1].mean()),
            "better": int((own[:, 0] < base[:, 0]).sum()), "worse": int((own[:, 0] > base[:, 0]).sum()),
            "p": float(compare_scores({"a": own[:, 0].tolist(), "b": base[:, 0].tolist()}).pairwise[0, 1])
            if setting.option and (own[:, 0] != base[:, 0]).any() else 1.0,
        }  # fmt: skip
    changed = [name for name, row in rows.items() if name != str(Setting(name.partition("(")[0]))]
    for name, p in zip(changed, hommel([rows[name]["p"] for name in changed]), strict=True):
        rows[name]["adjusted"] = float(p)
    return {name: {key: round(value, 5) for key, value in row.items()} for name, row in rows.items()}


def verdict(row: dict[str, Any], base: dict[str, Any]) -> str:
    """Say what the test shows."""
    if "adjusted" not in row:
        return ""
    if row["adjusted"] > LEVEL:
        return "no difference shown"
    return "better" if row["better"] > row["worse"] and row["log_loss"] < base["log_loss"] else "worse"


def render(numbers: dict[str, Any]) -> str:
    """Write the page."""
    parts = [HEAD.format(made=numbers["made"])]
    for title, collection in numbers["collections"].items():
        n = len(collection["sets"])
        lines = [f"## {title}, {n} sets", "", "| model | log-loss | accuracy | sets better, worse | p | |",
                 "|---|--:|--:|--:|--:|---|"]  # fmt: skip
        for name, row in collection["rows"].items():
            base = collection["rows"][f"{name.partition('(')[0]}()"]
            p = f"{row['adjusted']:.3f}" if "adjusted" in row else ""
            counts = f"{row['better']}, {row['worse']}" if p else ""
            shown = f"**{name}**" if not p else name
            lines.append(
                f"| {shown} | {row['log_loss']:.3f} | {row['accuracy']:.3f} | {counts} | {p} | {verdict(row, base)} |"
            )
        parts.append("\n".join(lines))
    return "\n\n".join([*parts, conclusions(numbers)]) + "\n"


def conclusions(numbers: dict[str, Any]) -> str:
    """List what the tests of both collections agree on."""
    lines = ["## What both collections show", ""]
    for setting in settings():
        found = {
            verdict(c["rows"][str(setting)], c["rows"][str(Setting(setting.learner))])
            for c in numbers["collections"].values()
        }
        if len(found) == 1 and (told := found.pop()) in ("better", "worse"):
            lines.append(f"- `{setting}` is {told} than `{Setting(setting.learner)}` by log-loss.")
    if len(lines) == 2:
        lines.append("Nothing: no change is better or worse in both.")
    return "\n".join([*lines, "", decision(numbers)])


def decision(numbers: dict[str, Any]) -> str:
    """Say which options have a value that is better than the default in some collection, and what follows."""
    better = {
        setting.option
        for setting in settings()
        for c in numbers["collections"].values()
        if verdict(c["rows"][str(setting)], c["rows"][str(Setting(setting.learner))]) == "better"
    }
    others = sorted(set(CHANGES) - better)
    told = f"No other value of {', '.join(f'`{name}`' for name in others)} is better in either collection: they stay. "
    if "temperature" in better:
        told += TEMPERATURE
    return told + "".join(
        f" A value of `{name}` is better: its default is due for a change." for name in sorted(better - {"temperature"})
    )


TEMPERATURE = (
    '`temperature="auto"` is better, and is an option all the same: it is fitted to rows, which counts from several\n'
    "machines do not replace, and such a model does not learn step by step. `Classifier`, which the command line\n"
    "takes without a learner's name, has it."
)


HEAD = """# Which defaults serve best

One option of a learner is changed at a time, the others stay at their defaults (bold). The models are fitted on the
first split of every set of at most 62 columns, as in [the study of accuracy](accuracy.md); the second collection are
the sets that were [not looked at](accuracy_unseen.md) while defaults were chosen. The p-values are of Wilcoxon's signed
ranks over the sets, by log-loss, against the default of the same learner, adjusted together by Hommel's method;
*better* and *worse* mean at most 0.05.

```
python -m benchmarks.studies.accuracy.r_datasets build/studies/r_datasets
python -m benchmarks.studies.defaults
```

Made by {made}."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data")
    parser.add_argument("--unseen", type=Path, default=ROOT / "build" / "studies" / "r_datasets")
    parser.add_argument("--docs", type=Path, default=ROOT / "docs")
    options = parser.parse_args()
    warnings.filterwarnings("ignore")
    commit = subprocess.run(["git", "rev-parse", "--short=12", "HEAD"], capture_output=True, text=True, check=False)
    made = f"commit {commit.stdout.strip() or 'unknown'}; {platform.system()}, Python {platform.python_version()}"
    collections = {}
    for title, folder in (
        ("Sets in use while defaults were chosen", options.data),
        ("Sets that were not", options.unseen),
    ):
        found = run(folder)
        collections[title] = {"sets": list(found), "rows": compare(found), "by_set": found}
    numbers = {"command": "python -m benchmarks.studies.defaults", "made": made, "collections": collections}
    for path, content in (
        (options.docs / "numbers" / "defaults.json", text(numbers)),
        (options.docs / "defaults.md", render(numbers)),
    ):
        partial = path.with_suffix(".partial")
        partial.write_text(content, encoding="utf-8")
        partial.replace(path)


if __name__ == "__main__":
    main()
