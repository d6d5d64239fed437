"""The log-joints of pooled networks with a correction, for rows without missing values.

Log-likelihoods and correction are sums over the families of all networks; both are tempered and joined in the cells. A
missing value would have to be summed out of every network before they are pooled. This is trivial only for columns that
are linked to no other in any network: they add nothing. Rows with any other missing value get NULL.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tanbark.arrays import Floats
from tanbark.errors import OptionError
from tanbark.export.sql.cells import MISSING, UNKNOWN, Family, Layout, Room, attach_steps, sum_steps
from tanbark.export.sql.contexts import Source, family_cells
from tanbark.export.sql.text import Step, log_number
from tanbark.export.sql.values import Rows
from tanbark.table import Column

ALL_NULL = "not marginalised: such a row has NULL as its prediction"
SOME_NULL = f"marginalised in columns that are linked to no other; with any other, {ALL_NULL.split(': ')[1]}"


def pooled_steps(rows: Rows, pooled: Any, room: Room) -> tuple[list[Step], str]:
    """Write the steps up to the log-joints, and how missing values are treated."""
    if pooled.trees is not None:
        msg = "SQL is written of pooled networks without a correction, and this one has boosted trees. Use to_python."
        raise OptionError(msg)
    members = _used(pooled)
    needed = _needed(pooled, members)
    layout, places = _lay_out(rows, pooled, members, needed)
    families = _families(pooled, members, places, layout, room)
    kept = [f"tb_k{place}" for place in range(len(rows.keep))]
    steps = [*rows.value_steps(), layout.step(rows, rows.step("coded"), kept)]
    n_classes = len(pooled.log_prior)
    summed = bool(families) and n_classes > 1
    if summed:
        coded = steps[-1].name
        steps += sum_steps(rows, coded, layout, families, n_classes - 1)
        steps += attach_steps(rows, coded, [*kept, "tb_z"], n_classes - 1)
    n_needed = sum(place in needed for place, _ in layout.columns)
    steps.append(_scored(rows, steps[-1].name, pooled.log_prior, n_needed * layout.width, summed=summed))
    return steps, ALL_NULL if len(needed) == rows.schema.target else SOME_NULL


def _used(pooled: Any) -> list[int]:
    """List the members that take part in predictions."""
    return [m for m in range(len(pooled.members)) if pooled.weights[m] > 0.0]


def _needed(pooled: Any, used: list[int]) -> set[int]:
    """Return the features without which there is no prediction: those that are linked to another one.

    All of them, where the correction fades with missing values.
    """
    if pooled.trees is not None and pooled.fade != 1.0:
        return set(range(pooled.schema.target))
    found: set[int] = set()
    for m in used:
        columns = pooled.members[m].columns.tolist()
        for family in pooled.members[m].families():
            if len(family) > 1:
                found.update(columns[c] for c in family)
    return found


Places = dict[tuple[int, int], int]  # by feature and coarsening


def _lay_out(rows: Rows, pooled: Any, used: list[int], needed: set[int]) -> tuple[Layout, Places]:
    """Return the string of states, and the place in it of every feature with the intervals of a coarsening.

    Features that are needed come first, and all are there where unknown values matter. A category has the same states
    in all networks.
    """
    wanted: dict[tuple[int, int], Column] = {}
    for m in used:
        coarsening = pooled.members[m].coarsening
        for feature in pooled.members[m].columns.tolist():
            wanted[_key(coarsening, feature)] = coarsening.schema.columns[feature]
    seen = {feature for feature, _ in wanted}
    for feature in range(pooled.schema.target) if rows.strict else sorted(needed):
        if feature not in seen:  # only whether it is missing matters
            wanted[feature, 0] = replace(pooled.schema.columns[feature], cuts=())
    order = sorted(wanted, key=lambda key: (key[0] not in needed, key[0]))
    return Layout(tuple((key[0], wanted[key]) for key in order)), {key: place for place, key in enumerate(order)}


def _key(coarsening: Any, feature: int) -> tuple[int, int]:
    return feature, id(coarsening) if coarsening.schema.columns[feature].kind == "interval" else 0


def _families(pooled: Any, used: list[int], places: Places, layout: Layout, room: Room) -> list[Family]:
    """List what the families of all networks add to the logits, tempered."""
    n_classes = len(pooled.log_prior)
    temperature = pooled.plain_temperature if pooled.trees is None else pooled.temperature
    total = sum(len(pooled.members[m].trees) for m in used)
    found: list[Family] = []
    for m in used if n_classes > 1 else []:
        member, weight = pooled.members[m], temperature * float(pooled.weights[m])
        columns = member.columns.tolist()
        for f, family in enumerate(member.families()):
            sizes = tuple(member.coarsening.schema.cardinalities[columns[c]] for c in family)
            source = Source(sizes, n_classes, member.trees[f] if weight else None, weight)
            read = tuple(places[_key(member.coarsening, columns[c])] for c in family)
            found.append(Family(read, family_cells(source, missing=False)))
            room.take(found[-1].characters(layout.width), done=len(found) / total)
    return found


def _scored(rows: Rows, before: str, log_prior: Floats, n_needed: int, *, summed: bool) -> Step:
    """Add the sums to the log-prior; a row without a value that is needed has NULL."""
    columns = ["tb_row", *(f"tb_k{place}" for place in range(len(rows.keep)))]
    incomplete = f"SUBSTR(tb_z, 1, {n_needed}) LIKE '%{MISSING}%'"
    for c, prior in enumerate(log_prior.tolist()):
        joint = log_number(prior) + (f" + tb_h{c}" if summed and c else "")
        columns.append(f"CASE WHEN {incomplete} THEN NULL ELSE {joint} END AS tb_l{c}")
    if rows.strict:
        columns.append(f"CASE WHEN tb_z LIKE '%{UNKNOWN}%' THEN 1 ELSE 0 END AS tb_unknown")
    source = f"{before} WHERE tb_side = 0" if summed else before
    return Step(rows.step("scored"), "SELECT " + ",\n    ".join(columns) + f"\n  FROM {source}")
