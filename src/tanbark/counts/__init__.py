"""Counting: the engines that answer queries about the rows, and counts that are kept without the rows."""

from tanbark.counts.chosen import ChosenCounts, chosen_cells
from tanbark.counts.engine import CountEngine, PairInformation
from tanbark.counts.information import cmi
from tanbark.counts.low_order import StoredCounts, load_counts, stored_cells
from tanbark.counts.memory import MemoryCounts
from tanbark.counts.partitioned.base import PartitionedCounts
from tanbark.counts.partitioned.stream import StreamCounts

__all__ = [
    "ChosenCounts",
    "CountEngine",
    "MemoryCounts",
    "PairInformation",
    "PartitionedCounts",
    "StoredCounts",
    "StreamCounts",
    "chosen_cells",
    "cmi",
    "load_counts",
    "stored_cells",
]
