"""A real Dask scheduler and real worker processes on loopback, ended in the order that does not hang."""

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LIMIT = 60.0


class Loopback:
    """A scheduler and workers, each a process of ours."""

    def __init__(self, folder, workers=2, memory="2GB"):
        self._file = Path(folder) / "scheduler.json"
        self._env = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT / "tests")]),
            "TANBARK_QUIET": "1",
            "DASK_DISTRIBUTED__ADMIN__TICK__LIMIT": "1h",
        }
        self._folder = folder
        options = ["--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--scheduler-file", str(self._file)]
        self.scheduler = self._start("distributed.cli.dask_scheduler", *options)
        self.workers = []
        deadline = time.monotonic() + LIMIT
        while not self._file.exists():
            if time.monotonic() > deadline or self.scheduler.poll() is not None:
                raise RuntimeError("the scheduler did not start")
            time.sleep(0.1)
        self.address = json.loads(self._file.read_text())["address"]
        for _ in range(workers):
            self.workers.append(
                self._start(
                    "distributed.cli.dask_worker", self.address, "--host", "127.0.0.1", "--nthreads", "1",
                    "--no-dashboard", "--no-nanny", "--memory-limit", memory, "--death-timeout", "60",
                    "--local-directory", str(folder),
                )
            )  # fmt: skip

    def _start(self, module, *options):
        return subprocess.Popen(
            [sys.executable, "-m", module, *options], env=self._env, cwd=self._folder,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip

    def end(self):
        """End workers first, then the scheduler, with a limit each, and what is left by force."""
        for group in (self.workers, [self.scheduler]):
            for process in group:
                if process.poll() is None:
                    process.send_signal(signal.SIGTERM)
            for process in group:
                try:
                    process.wait(5)
                except subprocess.TimeoutExpired:
                    process.kill()
                    process.wait(5)


@contextmanager
def loopback(folder, workers=2, **options):
    """Give a client and the processes behind it."""
    from distributed import Client

    cluster = Loopback(folder, workers, **options)
    try:
        client = Client(cluster.address, timeout=LIMIT, set_as_default=False)
        try:
            client.wait_for_workers(workers, timeout=LIMIT)
            yield client, cluster
        finally:
            for worker in cluster.workers:
                if worker.poll() is None:
                    worker.send_signal(signal.SIGTERM)
            client.close(timeout=5)
    finally:
        cluster.end()
