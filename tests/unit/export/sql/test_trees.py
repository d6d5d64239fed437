"""Boosted trees as CASE expressions, on DuckDB, SQLite and PostgreSQL, against the kernel that walks them."""

from copy import deepcopy
from functools import cache
from itertools import islice

import numpy as np
import pandas as pd
import pytest

from databases import ENGINES, ask_frame
from tanbark.export.sql.text import Step, select_step
from tanbark.export.sql.trees import WORD, features_read, tree_inputs, tree_steps
from tanbark.export.sql.values import Rows
from tanbark.params.boosting.trees import LEFT, TreeOptions, add_trees, boost, join_trees
from tanbark.table import Column, Schema, missing_code

N_ROWS, MANY = 600, WORD + 15
CUTS = tuple(float(cut) for cut in np.linspace(-2.0, 2.0, 20))


def make_schema(n_classes):
    words = tuple(f"word {k}" for k in range(MANY))
    return Schema((
        Column("n", "interval", cuts=CUTS),
        Column("w", "category", levels=words),
        Column("q", "category", levels=("it's", "no", "yes")),
        Column("unread", "category", levels=("u",)),
        Column("y", "category", levels=tuple("abcde"[:n_classes])),
    ))  # fmt: skip


@cache
def grow(n_classes, missing):
    """Return a forest, the frame it was grown from, and its codes, once for all engines; none of them is changed."""
    rng, schema = np.random.default_rng(n_classes), make_schema(n_classes)
    numbers = rng.choice([*CUTS, *rng.normal(size=40)], N_ROWS)
    words, small = rng.integers(0, MANY, N_ROWS), rng.integers(0, 3, N_ROWS)
    labels = ((numbers > 0.3) + (words * 7919 % 5 > 2) * (small != 1) + rng.integers(0, 2, N_ROWS)) % n_classes
    states = [np.searchsorted(CUTS, numbers), words, small, np.zeros(N_ROWS, int)]
    codes = np.array(states).astype(np.uint8)
    codes[:3, :][rng.random((3, N_ROWS)) < missing] = missing_code(codes)
    codes[0, (labels == 0) & (rng.random(N_ROWS) < 3 * missing)] = missing_code(codes)
    logits = np.zeros((N_ROWS, n_classes))
    ordered = np.array([True, False, False, False])
    sizes = schema.cardinalities[:-1]
    trees = boost(codes, sizes, ordered, labels, logits, options=TreeOptions(most_leaves=12, least_rows=5.0))
    forest = join_trees(list(islice(trees, 60)), sizes, ordered)
    columns = [numbers, *(np.array(schema.columns[k].levels, object)[states[k]] for k in (1, 2, 3))]
    return schema, forest, pd.DataFrame(dict(zip(schema.names, columns, strict=False))), np.array(states, np.uint8)


def ask(engine, schema, forest, frame, scale, n_values):
    rows = Rows(schema, "rows", [], strict=False, numbered=True)
    coded = rows.step("coded")
    steps = [*rows.value_steps(), select_step(coded, ["tb_row", *tree_inputs(rows, schema, forest)], "tb_values")]
    steps += tree_steps(rows, coded, ["tb_row"], schema, forest, scale)
    chosen = ", ".join(f"tb_d{k + 1}" for k in range(n_values))
    steps.append(Step("tb_found", f"SELECT tb_row, {chosen} FROM tb_corrected"))
    body = ", ".join(f"{name} AS MATERIALIZED ({select})" for name, select in steps)
    return np.array(ask_frame(engine, f"WITH {body} SELECT {chosen} FROM tb_found ORDER BY tb_row", frame))


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("n_classes", [2, 3, 5])
@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_the_sums_are_those_of_the_kernel(engine, n_classes, missing):
    schema, forest, frame, codes = grow(n_classes, missing)
    assert features_read(forest) == {0, 1, 2}
    wanted = np.zeros((N_ROWS, n_classes))
    add_trees(forest, codes, wanted)
    found = ask(engine, schema, forest, frame, 1.7, n_classes - 1)
    assert found == pytest.approx(1.7 * (wanted[:, 1:] - wanted[:, :1]), abs=1e-9)
    assert np.ptp(found, axis=0).min() > 1.0, "the trees have something to say"


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("column", [0, 1])
def test_a_split_of_missing_values_from_all_others(engine, column):
    schema, forest, frame, codes = grow(2, 0.2)
    forest = deepcopy(forest)
    nodes = forest.nodes
    split = np.flatnonzero(nodes.features == column)[:5]
    nodes.missing[split] = LEFT
    if column == 0:
        nodes.thresholds[split] = -1
    else:
        nodes.masks[nodes.thresholds[split]] = False
    wanted = np.zeros((N_ROWS, 2))
    add_trees(forest, codes, wanted)
    assert ask(engine, schema, forest, frame, 1.0, 1)[:, 0] == pytest.approx(wanted[:, 1], abs=1e-9)
