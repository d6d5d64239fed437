"""The engine for rows larger than memory: they are read batch by batch, and only the sums stay."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tanbark.counts.partitioned.base import Answer, Merge, PartitionedCounts, Question, answer_parts
from tanbark.counts.partitioned.checkpoint import Checkpoint
from tanbark.counts.partitioned.row_cache import CodedStore
from tanbark.machine import read_ahead, thread_count
from tanbark.table import CodedTable, Schema
from tanbark.table.reader import RowReader

CODED_COST = 0.5  # nanoseconds to read a code back
IN_MEMORY = 4  # the share of max_memory that coded rows may take is one in so many


class StreamCounts(PartitionedCounts):
    """Count the rows of a source in passes.

    Coded rows that take at most a quarter of ``max_memory`` are kept, and later passes need not read them again. Others
    are written to a temporary file in the third pass, since a learner that asks three times will ask again.

    Parameters
    ----------
    reader : RowReader
    schema : Schema
    max_memory : int
        Bytes that rows and tables may take.
    checkpoint : Checkpoint, optional
        Where sums are kept, so that an interrupted fit goes on where it was.
    scratch : path, optional
        The folder of the temporary file; None for no file.
    """

    def __init__(
        self, reader: RowReader, schema: Schema, *, max_memory: int, n_jobs: int | None = None,
        checkpoint: Checkpoint | None = None, scratch: str | os.PathLike[str] | None = None,
    ) -> None:  # fmt: skip
        super().__init__(schema, max_memory=max_memory, n_jobs=n_jobs)
        self._reader, self._checkpoint, self._scratch = reader, checkpoint, scratch
        self._store: CodedStore | None = None
        self._walks = 0

    @property
    def n_pieces(self) -> int:
        """Number of pieces that the rows come in."""
        return len(self._reader.pieces())

    def _ask(self, question: Question, merge: Merge, name: str, told: Sequence[Any] | None = None) -> Answer | None:
        saved = None if self._checkpoint is None else self._checkpoint.open(name)
        if saved is not None and saved.done:
            return saved.answer
        self.passes.counts += self._store is None or not self._store.in_memory
        answer = None if saved is None else saved.answer
        done = 0 if saved is None else saved.pieces
        for number, tables in enumerate(self._pieces(done), start=done + 1):
            mine = None if told is None else told[number - 1]
            answer = answer_parts(question, merge, tables, told=mine, answer=answer, n_jobs=self.n_jobs)
            if self._checkpoint is not None and answer is not None:
                self._checkpoint.save(name, answer, number)
        if self._checkpoint is not None and answer is not None:
            self._checkpoint.finish(name, answer)
        return answer

    @property
    def pass_cost(self) -> float:
        """What reading a row takes in a pass: little where coded rows are kept."""
        if self._store is None:
            return super().pass_cost
        return 0.0 if self._store.in_memory else CODED_COST * len(self._states)

    def _pieces(self, done: int) -> Iterator[Iterator[CodedTable]]:
        """Return the batches of each piece from number ``done`` on."""
        if self._store is not None:
            yield from map(self._ahead, self._store.pieces(done))
            return
        store = self._next_store() if done == 0 else None
        for piece in self._reader.pieces()[done:]:
            tables = self._ahead(self._reader.coded(piece, self.schema, 1))
            yield tables if store is None else store.watch(tables)
        if store is not None and store.whole:
            self._store = store

    def _next_store(self) -> CodedStore | None:
        """Return what keeps the rows of the pass that begins: memory in the first one, a file from the third on."""
        self._walks += 1
        if self._walks == 2 or (self._walks > 2 and self._scratch is None):
            return None
        return CodedStore(self.schema, self.max_memory // IN_MEMORY, self._scratch if self._walks > 2 else None)

    def _ahead(self, tables: Iterator[CodedTable]) -> Iterator[CodedTable]:
        """Read the next batch while one is counted, where there are threads for it."""
        return read_ahead(tables) if thread_count(self.n_jobs) > 1 else tables

    def kept_rows(self) -> NDArray[np.bool_] | None:
        """Return which rows of the source are counted, in their order; None, without a pass, where all are."""
        if not self._reader.leaves_out:
            return None
        self.passes.counts += 1
        return np.concatenate([self._reader.kept(piece) for piece in self._reader.pieces()])

    def _parts(self) -> Iterator[CodedTable]:
        for tables in self._pieces(0):
            yield from tables
