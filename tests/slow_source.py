"""A source that takes its time, so that a test can end a worker while it reads."""

import time
from dataclasses import dataclass

from tanbark.table.source import FileSource


@dataclass(frozen=True)
class SlowSource(FileSource):
    seconds: float = 0.2

    def read(self, piece, columns, size):
        time.sleep(self.seconds)
        yield from super().read(piece, columns, size)
