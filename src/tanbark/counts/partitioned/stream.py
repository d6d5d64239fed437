"""The engine for rows larger than memory: they are read batch by batch, and only the sums stay."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tanbark.counts.partitioned.base import Merge, PartitionedCounts, Query, Result, query_parts
from tanbark.counts.partitioned.checkpoint import Checkpoint
from tanbark.counts.partitioned.row_cache import RowCache
from tanbark.machine import read_ahead, thread_count
from tanbark.table import CodedTable, Schema
from tanbark.table.files.reader import RowReader

CODED_COST = 0.5  # nanoseconds to read a code back
CACHE_FRACTION = 4  # coded rows may take one part in so many of max_memory


class StreamCounts(PartitionedCounts):
    """Count the rows of a source in passes.

    Coded rows that take at most a quarter of ``max_memory`` are kept, and later passes need not read them again. Others
    are written to a temporary file in the third pass, since a learner that needs three passes will need more.

    Parameters
    ----------
    reader : RowReader
    schema : Schema
    max_memory : int
        Bytes that rows and tables may take.
    checkpoint : Checkpoint, optional
        Where sums are kept, so that an interrupted fit resumes where it was.
    scratch : path, optional
        The folder of the temporary file; None for no file.
    """

    def __init__(
        self, reader: RowReader, schema: Schema, *, max_memory: int, n_jobs: int | None = None,
        checkpoint: Checkpoint | None = None, scratch: str | os.PathLike[str] | None = None,
    ) -> None:  # fmt: skip
        super().__init__(schema, max_memory=max_memory, n_jobs=n_jobs)
        self._reader, self._checkpoint, self._scratch = reader, checkpoint, scratch
        self._cache: RowCache | None = None
        self._n_reads = 0

    @property
    def n_pieces(self) -> int:
        """Number of pieces that the rows come in."""
        return len(self._reader.pieces())

    def _run(self, query: Query, merge: Merge, name: str, arguments: Sequence[Any] | None = None) -> Result | None:
        saved = None if self._checkpoint is None else self._checkpoint.open(name)
        if saved is not None and saved.done:
            return saved.result
        self.passes.counts += self._cache is None or not self._cache.in_memory
        result = None if saved is None else saved.result
        done = 0 if saved is None else saved.pieces
        for number, tables in enumerate(self._pieces(done), start=done + 1):
            argument = None if arguments is None else arguments[number - 1]
            result = query_parts(query, merge, tables, argument=argument, result=result, n_jobs=self.n_jobs)
            if self._checkpoint is not None and result is not None:
                self._checkpoint.save(name, result, number)
        if self._checkpoint is not None and result is not None:
            self._checkpoint.finish(name, result)
        return result

    @property
    def pass_cost(self) -> float:
        """Nanoseconds of one core that reading a row takes: little where coded rows are cached."""
        if self._cache is None:
            return super().pass_cost
        return 0.0 if self._cache.in_memory else CODED_COST * len(self._states)

    def _pieces(self, done: int) -> Iterator[Iterator[CodedTable]]:
        """Return the batches of each piece from number ``done`` on."""
        if self._cache is not None:
            yield from map(self._ahead, self._cache.pieces(done))
            return
        cache = self._next_cache() if done == 0 else None
        for piece in self._reader.pieces()[done:]:
            tables = self._ahead(self._reader.coded(piece, self.schema, 1))
            yield tables if cache is None else cache.watch(tables)
        if cache is not None and cache.whole:
            self._cache = cache

    def _next_cache(self) -> RowCache | None:
        """Return the cache that the next pass fills: in memory in the first pass, in a file from the third on."""
        self._n_reads += 1
        if self._n_reads == 2 or (self._n_reads > 2 and self._scratch is None):
            return None
        return RowCache(self.schema, self.max_memory // CACHE_FRACTION, self._scratch if self._n_reads > 2 else None)

    def _ahead(self, tables: Iterator[CodedTable]) -> Iterator[CodedTable]:
        """Read the next batch while one is counted, where there are threads for it."""
        return read_ahead(tables) if thread_count(self.n_jobs) > 1 else tables

    def kept_rows(self) -> NDArray[np.bool_] | None:
        """Return a mask of the rows of the source that are counted; None, without a pass, where all are."""
        if not self._reader.leaves_out:
            return None
        self.passes.counts += 1
        return np.concatenate([self._reader.kept(piece) for piece in self._reader.pieces()])

    def _parts(self) -> Iterator[CodedTable]:
        for tables in self._pieces(0):
            yield from tables
