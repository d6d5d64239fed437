"""A model as one SELECT that scores a table inside a database.

The columns become states; states become log-joints, in a way that depends on the model; these become posteriors. If the
features of a single network form trees given the class, missing values are marginalised by messages up the trees, one
step of the WITH clause per level. For any other structure a missing value is marginalised exactly if it has no observed
descendant; a row with another missing value gets NULL as its prediction.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tanbark.arrays import Floats
from tanbark.checks import check_count
from tanbark.export.scored import correction_of, is_pooled, pooled_model, scored_network
from tanbark.export.sql.cells import Room
from tanbark.export.sql.correction import corrected_steps
from tanbark.export.sql.network import log_joint_steps, tempered_step
from tanbark.export.sql.pooled import pooled_steps
from tanbark.export.sql.text import NEVER, Step, literal, number, one_line, quote_name, step_from
from tanbark.export.sql.values import Rows
from tanbark.graph import Network
from tanbark.inference import class_log_prior, normalize

FAR = 700.0  # EXP overflows beyond this difference of logarithms
MILLION = 1_000_000


def to_sql(network: Network, *, table: str = "rows", keep: Sequence[str] = (), max_size: int = 50 * MILLION) -> str:
    """Write a SELECT that adds to a table the probability of every class and the most probable one.

    It is standard SQL with ``EXP`` and ``LN``, for DuckDB, SQLite (from 3.35) and PostgreSQL. NULL is a missing value,
    and so is NaN or an empty string; columns of numbers may be stored as text. A value that was not seen in training,
    or text where numbers are expected, is treated as missing; with ``handle_unknown="error"`` the prediction of its row
    is NULL. Rows of probability zero under every class get the class prior, as in Python.

    Parameters
    ----------
    network : Network, or a classifier with one or with several pooled
        Only a classifier has a temperature or a correction. Rows with missing values get NULL from pooled networks,
        unless the missing columns are linked to no other in any of them, and no tree of the correction reads them.
    table : str, default "rows"
        The table to score; it has the model's columns by name.
    keep : list of str
        Further columns of the table to select, such as a key.
    max_size : int, default 50,000,000
        The most characters of the statement; a larger one raises an error.

    Examples
    --------
    >>> tables = {"C": [0.5, 0.5], "A": (("C",), [[0.1, 0.9], [0.5, 0.5]])}
    >>> network = Network.from_tables({"A": ["no", "yes"], "C": ["a", "b"]}, tables, target="C")
    >>> print(to_sql(network).splitlines()[-1])
    FROM tb_posterior;
    """
    check_count("max_size", max_size, least=1)
    room = Room(int(max_size))
    strict = getattr(network, "handle_unknown", None) == "error"
    if is_pooled(network):
        pooled, schema = pooled_model(network)
        rows = Rows(schema, table, keep, strict, numbered=True)
        steps, how = pooled_steps(rows, pooled, room)
        what, prior = f"{len(pooled.members)} networks", pooled.log_prior
    else:
        steps, how, prior, rows = _network_steps(network, table, keep, strict, room)
        what = "a network"
    remarks = [
        f"-- P({one_line(rows.schema.names[-1])} | row) by {what} over {rows.schema.target} features.",
        f"-- Missing values (NULL, NaN, empty text) and values not seen in training are {how}.",
        *(["-- A row with a value not seen in training has NULL as its prediction."] if strict else []),
    ]
    steps.append(_posteriors(rows, steps[-1].name, prior))
    body = ",\n".join(f"{name} AS MATERIALIZED (\n  {select}\n)" for name, select in steps)
    sql = "\n".join([*remarks, f"WITH {body}", f"{_selection(rows)};", ""])
    room.take(max(len(sql) - room.taken, 0))
    return sql


def _network_steps(
    model: Any, table: str, keep: Sequence[str], strict: bool, room: Room
) -> tuple[list[Step], str, Floats, Rows]:
    """Write the log-joints of one network, tempered or corrected as its classifier does."""
    network = scored_network(model, "SQL scores rows")
    correction = correction_of(model)
    rows = Rows(network.schema, table, keep, strict, numbered=correction is not None)
    prior = class_log_prior(network)
    temperature = float(getattr(model, "temperature_", 1.0))
    changed = correction is not None or temperature != 1.0
    steps, how = log_joint_steps(rows, network, "tb_j" if changed else "tb_l")
    if correction is not None:
        steps += corrected_steps(rows, steps[-1].name, prior, correction, room)
    elif temperature != 1.0:
        steps.append(tempered_step(rows, steps[-1].name, prior, temperature))
    return steps, how, prior, rows


def _posteriors(rows: Rows, before: str, log_prior: Floats) -> Step:
    """Normalise log-joints to posteriors: one over the sum of the ratios, which cannot overflow."""
    n_classes = rows.schema.cardinalities[-1]
    prior = normalize(np.asarray(log_prior, float)[None].copy(), logs=False)[0][0].tolist()
    possible = " OR ".join(f"tb_l{c} > {number(NEVER / 2)}" for c in range(n_classes))
    nothing = " OR ".join(["tb_unknown = 1"] * rows.strict + [f"tb_l{d} IS NULL" for d in range(n_classes)])
    columns = []
    for c in range(n_classes):
        ratios = " + ".join(
            "1e0" if d == c else
            f"CASE WHEN tb_l{d} - tb_l{c} > {FAR} THEN 1e300 WHEN tb_l{d} - tb_l{c} < -{FAR} THEN 0e0 "
            f"ELSE EXP(tb_l{d} - tb_l{c}) END"
            for d in range(n_classes)
        )  # fmt: skip
        posterior = f"WHEN {possible} THEN 1e0 / ({ratios}) ELSE {number(prior[c])}"
        columns.append(f"CASE WHEN {nothing} THEN NULL {posterior} END AS tb_p{c}")
    return step_from(rows.step("posterior"), before, columns)


def _selection(rows: Rows) -> str:
    """Choose the kept columns, the probabilities and the most probable class; ties go to the first."""
    column = rows.schema.columns[-1]
    labels: Sequence[Any] = column.states()
    whens = []
    for c, label in enumerate(labels[:-1]):
        best = " AND ".join(f"tb_p{c} >= tb_p{d}" for d in range(c + 1, len(labels)))
        whens.append(f"WHEN {best} THEN {literal(label)}")
    chosen = f"CASE WHEN tb_p0 IS NULL THEN NULL {' '.join(whens)} ELSE {literal(labels[-1])} END"
    names = [f"tb_k{place} AS {quote_name(name)}" for place, name in enumerate(rows.keep)]
    posteriors = [f"tb_p{c} AS {quote_name(f'P({column.name}={label})')}" for c, label in enumerate(column.labels())]
    listed = ",\n  ".join([*names, *posteriors, f"{chosen} AS {quote_name(f'predicted {column.name}')}"])
    order = "\nORDER BY tb_row" if rows.numbered else ""
    return f"SELECT {listed}\nFROM {rows.step('posterior')}{order}"
