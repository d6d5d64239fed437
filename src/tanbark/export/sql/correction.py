"""The boosted correction of a network's log-joints, with missing values as in Python.

The correction of a row counts with the fraction of its families that are complete, and the temperature goes from the
corrected one to that of the network alone in the same way.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from tanbark.arrays import Floats
from tanbark.export.sql.cells import Family, Layout, Room, attach_steps, sum_steps
from tanbark.export.sql.contexts import correction_source, family_cells
from tanbark.export.sql.text import NEVER, Step, join_terms, number, select_step, step_from
from tanbark.export.sql.values import Rows


def corrected_steps(rows: Rows, before: str, log_prior: Floats, correction: Any, room: Room) -> list[Step]:
    """Write the steps from the log-joints, tb_j, to the corrected logits, tb_l."""
    columns, n_classes = _corrected_columns(correction), len(log_prior)
    layout = Layout(tuple((place, rows.schema.columns[place]) for place in range(rows.schema.target)))
    families = []
    for f, family in enumerate(columns):
        sizes = tuple(rows.schema.cardinalities[c] for c in family)
        source = correction_source(correction.families, f, sizes)
        families.append(Family(tuple(family), family_cells(source, missing=True)))
        room.take_part(families[-1].characters(layout.width), len(families) / len(columns))
    steps, summed = [_fraction(rows, before, columns)], bool(families) and n_classes > 1
    if summed:
        complete = steps[-1].name
        carried = [f"tb_k{place}" for place in range(len(rows.keep))] + ["tb_unknown"] * rows.strict
        carried += ["tb_q", *(f"tb_j{c}" for c in range(n_classes))]
        steps.append(layout.step(rows, rows.step("text"), []))
        steps += sum_steps(rows, steps[-1].name, layout, families, n_classes - 1)
        steps += attach_steps(rows, complete, carried, n_classes - 1)
    return [*steps, _logits(rows, steps[-1].name, log_prior, correction, summed=summed)]


def _corrected_columns(correction: Any) -> list[list[int]]:
    spans, columns = correction.families.spans.tolist(), correction.families.columns.tolist()
    return [columns[low:high] for low, high in pairwise(spans)]


def _fraction(rows: Rows, before: str, columns: list[list[int]]) -> Step:
    """Write tb_q, the fraction of the families without a missing value."""
    whole = [
        "CASE WHEN " + " OR ".join(f"tb_s{c} IS NULL" for c in family) + " THEN 0e0 ELSE 1e0 END" for family in columns
    ]
    fraction = f"{join_terms(whole, '+')} / {number(len(whole))}" if whole else number(1.0)
    return step_from(rows.step("complete"), before, [f"{fraction} AS tb_q"])


def _logits(rows: Rows, before: str, log_prior: Floats, correction: Any, *, summed: bool) -> Step:
    """Write log P(c) + temperature * log P(row | c) + the correction."""
    columns = ["tb_row", *(f"tb_k{place}" for place in range(len(rows.keep)))]
    columns += ["tb_unknown"] * rows.strict
    alone, more = correction.base_temperature, correction.temperature - correction.base_temperature
    for c, prior in enumerate(log_prior.tolist()):
        held = number(prior if np.isfinite(prior) else 0.0)
        tempered = f"{held} + ({number(alone)} + {number(more)} * tb_q) * (tb_j{c} - {held})"
        change = f" + tb_q * tb_h{c}" if summed and c else ""
        columns.append(
            f"CASE WHEN tb_j{c} IS NULL THEN NULL WHEN tb_j{c} > {number(NEVER / 2)} THEN {tempered}{change} "
            f"ELSE {number(NEVER)} END AS tb_l{c}"
        )
    source = f"{before} WHERE tb_side = 0" if summed else before
    return select_step(rows.step("corrected"), columns, source)
