"""A peer in a process of its own: it reads the table once, then times each command from inside and answers in JSON."""

from __future__ import annotations

import json
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from benchmarks.speed.data import Table
from benchmarks.speed.runner import Work

COMMA, NEWLINE, GAP, ZERO = (ord(c) for c in ",\n?0")


@contextmanager
def worker(command: Sequence[str], table: Table, X: np.ndarray, ask: str) -> Iterator[Work]:
    """Start the peer on a table to fit and rows to predict; the work is one round of asking.

    The command is followed by the file of the table, the file of the rows, and the numbers of states, class last.
    """
    with tempfile.TemporaryDirectory() as folder:
        fit_file, rows_file = Path(folder, "fit.csv"), Path(folder, "rows.csv")
        write_digits(fit_file, np.column_stack([table.X, table.y]))
        write_digits(rows_file, np.column_stack([X, np.zeros(len(X))]))
        states = ",".join(str(n) for n in [*table.states, table.n_classes])
        talk = Talk([*command, str(fit_file), str(rows_file), states], Path(folder, "errors"))
        try:
            talk.answer()  # it says when it has read the table
            yield lambda: talk.ask(ask)
        finally:
            talk.end()


class Talk:
    """A process that is asked on its standard input and answers on its standard output, a line of JSON each."""

    def __init__(self, command: Sequence[str], errors: Path) -> None:
        self.errors = errors
        with errors.open("w") as log:
            self.process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True
            )

    def ask(self, what: str) -> float:
        assert self.process.stdin is not None
        self.process.stdin.write(what + "\n")
        self.process.stdin.flush()
        return float(self.answer()["seconds"])

    def answer(self) -> dict[str, float]:
        assert self.process.stdout is not None
        for line in self.process.stdout:  # a peer may print other things in between
            if line.startswith("{"):
                return json.loads(line)
        raise RuntimeError(f"it ended without an answer: {self.errors.read_text().strip()[-300:]}")

    def end(self) -> None:
        self.process.kill()
        self.process.communicate()


def write_digits(path: Path, codes: np.ndarray) -> None:
    """Write the codes as lines of single digits with commas between, and a question mark for NaN."""
    gaps = np.isnan(codes.astype(float))
    if codes[~gaps].max(initial=0) > 9:
        raise ValueError("codes above 9 take more than one digit")
    text = np.full((len(codes), 2 * codes.shape[1]), COMMA, dtype=np.uint8)
    text[:, ::2] = np.where(gaps, GAP, np.where(gaps, 0, codes).astype(np.uint8) + ZERO)
    text[:, -1] = NEWLINE
    path.write_bytes(text.tobytes())
