"""TAN on a Dask cluster of two worker processes on this machine, against the stream engine in this process."""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path
from typing import Any


def measure(path: str, warm: str) -> dict[str, Any]:
    """Give the seconds of start-up, of the cluster's fit and of the stream engine's, one after another, twice."""
    sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))
    import tanbark as tb
    from loopback import loopback

    begun = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder, loopback(folder, memory="2GB") as (client, _):
        start = time.perf_counter() - begun
        tb.TAN().fit(tb.scan(warm, target="class", client=client))
        tb.TAN().fit(warm, target="class")
        ours: list[float] = []
        stream: list[float] = []
        for _ in range(2):
            for taken, rows in (
                (ours, tb.scan(path, target="class", client=client)),
                (stream, tb.scan(path, target="class")),
            ):
                begun = time.perf_counter()
                tb.TAN().fit(rows)
                taken.append(round(time.perf_counter() - begun, 2))
    return {
        "start_seconds": round(start, 2), "dask_seconds": ours, "stream_seconds": stream,
        "ratio": round(min(ours) / min(stream), 2),
    }  # fmt: skip
