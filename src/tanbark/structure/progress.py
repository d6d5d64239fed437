"""What a long search tells on the terminal."""

from __future__ import annotations

import sys
import threading
import time

WIDTH = 30


class Progress:
    """Lines and a bar on stderr, if anybody is to be told.

    On a terminal the bar is drawn over itself; elsewhere every tenth is a line.

    Parameters
    ----------
    title : str
        What each line begins with.
    told : bool
        Whether anything is shown at all.
    """

    def __init__(self, title: str, *, told: bool) -> None:
        self.title, self.told = title, told
        self._lock = threading.Lock()
        self._begun, self._shown = time.perf_counter(), 0

    def say(self, text: str) -> None:
        """Show a line."""
        if self.told:
            print(f"{self.title}: {text}", file=sys.stderr, flush=True)

    def start(self) -> None:
        """Begin a stage, whose shares ``advance`` is told."""
        self._begun, self._shown = time.perf_counter(), 0

    def advance(self, share: float) -> None:
        """Draw the bar for a share of the stage that is done; threads may call it in any order."""
        if not self.told:
            return
        with self._lock:
            steps = int(share * 10 + 1e-9)
            if steps <= self._shown:
                return
            self._shown = steps
            seconds = time.perf_counter() - self._begun
            bar = "#" * int(share * WIDTH)
            text = f"[{bar:<{WIDTH}}] {share:4.0%}, {seconds:.0f} s, about {seconds / share - seconds:.0f} s left"
            if sys.stderr.isatty():
                print(f"\r{self.title}: {text:<78}", end="\n" if share >= 1 else "", file=sys.stderr, flush=True)
            elif seconds > 1:
                self.say(text)
