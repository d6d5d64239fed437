"""What workers of a test cluster are given: a source that takes its time, and a task that ends its worker."""

import os
import signal
import time
from dataclasses import dataclass

from tanbark.table.files.arrow_files import FileSource


@dataclass(frozen=True)
class SlowSource(FileSource):
    seconds: float = 0.2

    def read(self, piece, columns, size):
        time.sleep(self.seconds)
        yield from super().read(piece, columns, size)


def hungry():
    """End the worker at once, as the kernel does where memory runs out."""
    os.kill(os.getpid(), signal.SIGKILL)


def allow_no_failures(dask_scheduler):
    """Give a task up with the first worker that it ends."""
    dask_scheduler.allowed_failures = 0
