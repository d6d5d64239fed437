"""The engine for rows larger than memory: they are read batch by batch, and only the sums stay."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tanbark.counts.checkpoint import Checkpoint
from tanbark.counts.parted import Answer, Merge, PartedCounts, Question, answer_parts
from tanbark.machine import read_ahead, thread_count
from tanbark.table import CodedTable, Schema
from tanbark.table.coded_rows import RowReader


class StreamCounts(PartedCounts):
    """Count the rows of a source in passes.

    Coded rows that take at most a quarter of ``max_memory`` are kept, and later passes need not read them again.

    Parameters
    ----------
    reader : RowReader
    schema : Schema
    max_memory : int
        Bytes that rows and tables may take.
    checkpoint : Checkpoint, optional
        Where sums are kept, so that an interrupted fit goes on where it was.
    """

    def __init__(
        self, reader: RowReader, schema: Schema, *, max_memory: int, n_jobs: int | None = None,
        checkpoint: Checkpoint | None = None,
    ) -> None:  # fmt: skip
        super().__init__(schema, max_memory=max_memory, n_jobs=n_jobs)
        self._reader, self._checkpoint = reader, checkpoint
        self._rows_kept: list[list[CodedTable]] | None = None

    @property
    def n_pieces(self) -> int:
        """Number of pieces that the rows come in."""
        return len(self._reader.pieces())

    def _ask(self, question: Question, merge: Merge, name: str, told: Sequence[Any] | None = None) -> Answer | None:
        saved = None if self._checkpoint is None else self._checkpoint.open(name)
        if saved is not None and saved.done:
            return saved.answer
        self.passes.counts += self._rows_kept is None
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
        """What reading a row takes in a pass: nothing where rows are kept."""
        return super().pass_cost if self._rows_kept is None else 0.0

    def _pieces(self, done: int) -> Iterator[Iterator[CodedTable]]:
        """Give the batches of each piece from number ``done`` on."""
        if self._rows_kept is not None:
            yield from map(iter, self._rows_kept[done:])
            return
        keep = _Keeper(self.max_memory // 4) if done == 0 else None
        for piece in self._reader.pieces()[done:]:
            tables = self._reader.coded(piece, self.schema, 1)
            if thread_count(self.n_jobs) > 1:
                tables = read_ahead(tables)
            yield tables if keep is None else keep.watch(tables)
        if keep is not None:
            self._rows_kept = keep.kept

    def kept_rows(self) -> NDArray[np.bool_] | None:
        """Tell which rows of the source are counted, in their order; None, without a pass, where all are."""
        if not self._reader.leaves_out:
            return None
        self.passes.counts += 1
        return np.concatenate([self._reader.kept(piece) for piece in self._reader.pieces()])

    def _parts(self) -> Iterator[CodedTable]:
        for tables in self._pieces(0):
            yield from tables


class _Keeper:
    """Keep coded tables that go by, as long as all of them fit."""

    def __init__(self, room: int) -> None:
        self._room = room
        self.kept: list[list[CodedTable]] | None = []

    def watch(self, tables: Iterator[CodedTable]) -> Iterator[CodedTable]:
        """Let the tables of one piece go by."""
        mine: list[CodedTable] = []
        if self.kept is not None:
            self.kept.append(mine)
        for table in tables:
            self._room -= table.codes.nbytes + (0 if table.weights is None else table.weights.nbytes)
            if self._room < 0:
                self.kept = None
                mine.clear()
            else:
                mine.append(table)
            yield table
