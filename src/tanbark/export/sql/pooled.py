"""The log-joints of pooled networks with a correction by trees, for rows without missing values.

Log-likelihoods are sums over the families of all networks, looked up in cells; the trees are summed before. A missing
value would have to be summed out of every network before they are pooled. This is trivial only for columns that are
linked to no other in any network and that no tree reads: they add nothing. Rows with any other missing value get NULL.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tanbark.arrays import Floats
from tanbark.export.sql.cells import MISSING, UNKNOWN, Family, Layout, Room, attach_steps, sum_steps
from tanbark.export.sql.contexts import family_cells, likelihood_source
from tanbark.export.sql.text import Step, log_number, select_step
from tanbark.export.sql.trees import features_read, tree_inputs, tree_steps
from tanbark.export.sql.values import Rows
from tanbark.table import Column

ALL_NULL = "not marginalised: such a row has NULL as its prediction"
SOME_NULL = f"marginalised in columns linked to no other and read by no tree; with any other, {ALL_NULL.split(': ')[1]}"


def pooled_steps(rows: Rows, pooled: Any, room: Room) -> tuple[list[Step], str]:
    """Write the steps up to the log-joints, and how missing values are treated."""
    members = _used(pooled)
    needed = _needed(pooled, members)
    layout, places = _lay_out(rows, pooled, members, needed)
    kept = [f"tb_k{place}" for place in range(len(rows.keep))]
    steps, carried = _first_steps(rows, pooled, layout, kept)
    room.take(sum(len(step.select) for step in steps))
    families = _families(pooled, members, places, layout, room)
    n_classes = len(pooled.log_prior)
    changes = ["tb_d"] * (pooled.trees is not None)
    source = before = steps[-1].name
    if families and n_classes > 1:
        steps += sum_steps(rows, before, layout, families, n_classes - 1)
        steps += attach_steps(rows, before, carried, n_classes - 1)
        source, changes = f"{steps[-1].name} WHERE tb_side = 0", ["tb_h", *changes]
    n_needed = sum(place in needed for place, _ in layout.columns)
    steps.append(_scored(rows, source, pooled.log_prior, n_needed * layout.width, changes))
    return steps, ALL_NULL if len(needed) == rows.schema.target else SOME_NULL


def _first_steps(rows: Rows, pooled: Any, layout: Layout, kept: list[str]) -> tuple[list[Step], list[str]]:
    """Write the steps up to the string of states and the sums over the trees, and list the columns to carry on."""
    coded, carried, forest = rows.step("coded"), [*kept, "tb_z"], pooled.trees
    if forest is None:
        return [*rows.value_steps(), layout.step(rows, coded, kept)], carried
    inputs = tree_inputs(rows, pooled.schema, forest)
    steps = [*rows.value_steps(), layout.step(rows, coded, [*kept, *inputs])]
    steps += tree_steps(rows, coded, ["tb_row", *carried], pooled.schema, forest, pooled.temperature)
    return steps, [*carried, *(f"tb_d{c}" for c in range(1, len(pooled.log_prior)))]


def _used(pooled: Any) -> list[int]:
    """List the members that take part in predictions."""
    return [m for m in range(len(pooled.members)) if pooled.weights[m] > 0.0]


def _needed(pooled: Any, used: list[int]) -> set[int]:
    """Return the features without which there is no prediction: those linked to another one, or read by trees.

    All of them, where the correction fades with missing values.
    """
    if pooled.trees is not None and pooled.fade != 1.0:
        return set(range(pooled.schema.target))
    found: set[int] = set() if pooled.trees is None else features_read(pooled.trees)
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
            source = likelihood_source(member.trees[f], sizes, weight)
            read = tuple(places[_key(member.coarsening, columns[c])] for c in family)
            found.append(Family(read, family_cells(source, missing=False)))
            room.take_part(found[-1].characters(layout.width), len(found) / total)
    return found


def _scored(rows: Rows, source: str, log_prior: Floats, n_needed: int, changes: list[str]) -> Step:
    """Add the sums, named by ``changes``, to the log-prior; a row without a value that is needed has NULL."""
    columns = ["tb_row", *(f"tb_k{place}" for place in range(len(rows.keep)))]
    incomplete = f"SUBSTR(tb_z, 1, {n_needed}) LIKE '%{MISSING}%'"
    for c, prior in enumerate(log_prior.tolist()):
        joint = " + ".join([log_number(prior), *(f"{change}{c}" for change in changes if c)])
        columns.append(f"CASE WHEN {incomplete} THEN NULL ELSE {joint} END AS tb_l{c}")
    if rows.strict:
        columns.append(f"CASE WHEN tb_z LIKE '%{UNKNOWN}%' THEN 1 ELSE 0 END AS tb_unknown")
    return select_step(rows.step("scored"), columns, source)
