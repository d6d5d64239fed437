"""Progress of a long search on stderr: lines, a line that is rewritten in place, and a bar."""

from __future__ import annotations

import sys
import threading
import time

WIDTH = 30
REWRITE = "\r\033[K"  # back to the first column, and clear the line


def show(line: str, *, keep: bool) -> None:
    """Print a line to stderr; one that is not kept is overwritten by the next."""
    if keep:
        print(line, file=sys.stderr, flush=True)
    else:
        print(f"{REWRITE}{line}", end="", file=sys.stderr, flush=True)


class Progress:
    """Lines and a progress bar on stderr, where they are asked for.

    On a terminal the bar is rewritten in place; elsewhere every tenth of the work is a line.

    Parameters
    ----------
    title : str
        The beginning of each line.
    shown : bool
        Whether anything is shown at all.
    """

    def __init__(self, title: str, *, shown: bool) -> None:
        self.title, self.shown = title, shown
        self._lock = threading.Lock()
        self._begun, self._shown = time.perf_counter(), 0

    def say(self, text: str) -> None:
        """Show a line."""
        if self.shown:
            show(f"{self.title}: {text}", keep=True)

    def start(self) -> None:
        """Begin a stage, whose completed fraction is passed to ``advance``."""
        self._begun, self._shown = time.perf_counter(), 0

    def advance(self, fraction: float) -> None:
        """Draw the bar for the completed fraction of the stage; threads may call it in any order."""
        if not self.shown:
            return
        with self._lock:
            tenths = int(fraction * 10 + 1e-9)
            if tenths <= self._shown:
                return
            self._shown = tenths
            seconds = time.perf_counter() - self._begun
            bar = "#" * int(fraction * WIDTH)
            left = seconds / fraction - seconds
            text = f"[{bar:<{WIDTH}}] {fraction:4.0%}, {seconds:.0f} s, about {left:.0f} s left"
            if sys.stderr.isatty():
                show(f"{self.title}: {text}", keep=False)
                if fraction >= 1:
                    show("", keep=True)
            elif seconds > 1:
                self.say(text)
