"""Counting: the engine that answers questions about the rows, and counts that are kept without them."""

from tanbark.counts.counts_file import load_counts
from tanbark.counts.engine import CountEngine, PairInformation
from tanbark.counts.information import cmi
from tanbark.counts.memory import MemoryCounts
from tanbark.counts.parted import PartedCounts
from tanbark.counts.stored import StoredCounts, stored_cells
from tanbark.counts.stream import StreamCounts

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
