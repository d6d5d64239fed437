"""Counting: the engine that answers questions about the rows, and counts that are kept without them."""

from tanbark.counts.engine import CountEngine, PairInformation
from tanbark.counts.information import cmi
from tanbark.counts.low_order import StoredCounts, stored_cells
from tanbark.counts.low_order_file import load_counts
from tanbark.counts.memory import MemoryCounts
from tanbark.counts.partitioned.base import PartedCounts
from tanbark.counts.partitioned.stream import StreamCounts

__all__ = [
    "CountEngine",
    "MemoryCounts",
    "PairInformation",
    "PartedCounts",
    "StoredCounts",
    "StreamCounts",
    "cmi",
    "load_counts",
    "stored_cells",
]
