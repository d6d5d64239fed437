"""Generated rows of two kinds: the class is an effect of the features, or their cause.

Categories come from a random network, numbers from their categories and from one another.

- "rules": the log-odds of the class are a sum of sines and lines of some numbers, of products of two, and of rules,
  which are conjunctions of three conditions. A fifth of the columns has nothing to do with the class.
- "network": the class is drawn first; the CPTs of the categories and the means of the numbers depend on it.

No model that is compared has exactly one of these forms.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

CHUNK = 1 << 20
CATEGORIES, NUMBERS, RULES = 15, 15, 12
TEST = 1 << 30  # chunks of test rows are numbered from here on


class Nature(NamedTuple):
    """What the seed decides: the network of the categories, the numbers, and the log-odds of the class."""

    cpts: list[tuple[list[int], np.ndarray]]
    sources: np.ndarray
    mixing: np.ndarray
    smooth: np.ndarray
    pairs: np.ndarray
    rules: list[tuple[float, list[tuple[int, float, bool]]]]


def nature(seed: int) -> Nature:
    rng = np.random.default_rng(seed)
    cpts: list[tuple[list[int], np.ndarray]] = []
    for place in range(CATEGORIES):
        parents = sorted(rng.choice(place, min(place, 2), replace=False).tolist()) if place else []
        shape = [cpts[p][1].shape[-1] for p in parents]
        cpts.append((parents, rng.dirichlet(np.full(int(rng.integers(2, 7)), 0.8), size=shape or None)))
    useful = rng.permutation(CATEGORIES + NUMBERS)[: int(0.8 * (CATEGORIES + NUMBERS))]
    numbers = [c - CATEGORIES for c in useful if c >= CATEGORIES]
    smooth = np.zeros((NUMBERS, 3))  # amplitude, frequency, slope
    smooth[numbers] = np.stack(
        [rng.normal(0, 0.7, len(numbers)), rng.uniform(0.5, 2.5, len(numbers)), rng.normal(0, 0.3, len(numbers))],
        axis=1,
    )
    pairs = np.array([(*rng.choice(numbers, 2, replace=False), rng.normal(0, 0.6)) for _ in range(5)])
    rules = []
    for _ in range(RULES):
        conditions = []
        for column in rng.choice(useful, 3, replace=False).tolist():
            states = cpts[column][1].shape[-1] if column < CATEGORIES else 0
            limit = float(rng.integers(0, states)) if states else float(rng.normal(0, 0.5))
            conditions.append((column, limit, bool(rng.random() < 0.5)))
        rules.append((float(rng.choice([-1, 1]) * rng.uniform(1.0, 3.0)), conditions))
    return Nature(
        cpts, rng.integers(0, CATEGORIES, NUMBERS), rng.normal(0, 0.35, (NUMBERS, NUMBERS)), smooth, pairs, rules
    )


def chunk(rows: int, kind: str, seed: int, number: int) -> dict[str, np.ndarray]:
    """Make one chunk; the same kind, seed and number always give the same rows."""
    return {"rules": rules_chunk, "network": network_chunk}[kind](rows, seed, np.random.default_rng([seed, number]))


def network_chunk(rows: int, seed: int, rng: np.random.Generator) -> dict[str, np.ndarray]:
    """Draw the class, then the features given it."""
    one, other, shape = nature(seed), nature(seed + 1000), np.random.default_rng([seed, 2])
    label = (rng.random(rows) < 0.4).astype(np.uint8)
    categories: list[np.ndarray] = []
    for parents, cpt in one.cpts:
        own = np.stack([cpt, 0.85 * cpt + 0.15 * np.roll(cpt, 1, axis=-1)])
        limits = np.cumsum(own, axis=-1)[(label, *(categories[p] for p in parents))]
        categories.append((rng.random(rows)[:, None] > limits[:, :-1]).sum(axis=1).astype(np.uint8))
    numbers = rng.standard_normal((rows, NUMBERS), dtype=np.float32)
    for place in range(NUMBERS):
        mixing = np.stack(
            [one.mixing[:place, place], 0.7 * one.mixing[:place, place] + 0.3 * other.mixing[:place, place]]
        )
        numbers[:, place] += (np.sin(numbers[:, :place]) * mixing[label]).sum(axis=1, dtype=np.float32)
        means = shape.normal(0, 0.25, (2, 8)).astype(np.float32)
        numbers[:, place] += means[label, categories[one.sources[place]]]
    return named(categories, numbers, label)


def rules_chunk(rows: int, seed: int, rng: np.random.Generator) -> dict[str, np.ndarray]:
    """Draw the features, then the class given them."""
    found = nature(seed)
    categories: list[np.ndarray] = []
    for parents, cpt in found.cpts:
        limits = np.cumsum(cpt, axis=-1)[tuple(categories[p] for p in parents)]
        column = (rng.random(rows)[:, None] > limits[..., :-1]).sum(axis=1)
        categories.append(column.astype(np.uint8))
    numbers = rng.standard_normal((rows, NUMBERS), dtype=np.float32)
    for place in range(NUMBERS):
        numbers[:, place] += numbers[:, :place] @ found.mixing[:place, place].astype(np.float32)
        numbers[:, place] += 0.3 * (categories[found.sources[place]].astype(np.float32) - 1.5)
    odds = np.full(rows, -0.3)
    for place, (amplitude, frequency, slope) in enumerate(found.smooth):
        odds += amplitude * np.sin(frequency * numbers[:, place]) + slope * numbers[:, place]
    for left, right, weight in found.pairs:
        odds += weight * np.tanh(numbers[:, int(left)]) * np.tanh(numbers[:, int(right)])
    for weight, conditions in found.rules:
        holds = np.ones(rows, bool)
        for column, limit, turned in conditions:
            here = categories[column] == limit if column < CATEGORIES else numbers[:, column - CATEGORIES] > limit
            holds &= here != turned
        odds += weight * holds
    label = (rng.random(rows) < 1 / (1 + np.exp(-odds))).astype(np.uint8)
    return named(categories, numbers, label)


def named(categories: list[np.ndarray], numbers: np.ndarray, label: np.ndarray) -> dict[str, np.ndarray]:
    columns = {f"c{i:02d}": values for i, values in enumerate(categories)}
    return {**columns, **{f"x{i:02d}": numbers[:, i] for i in range(NUMBERS)}, "class": label}


def write(path: Path, rows: int, *, kind: str, seed: int, first: int = 0) -> None:
    """Write rows to a Parquet file, one row group per chunk, where it is not there yet."""
    if path.exists():
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished, writer = path.with_suffix(".tmp"), None
    for number, low in enumerate(range(0, rows, CHUNK)):
        table = pa.table(chunk(min(CHUNK, rows - low), kind, seed, first + number))
        writer = writer or pq.ParquetWriter(unfinished, table.schema, compression="snappy")
        writer.write_table(table)
    if writer is not None:
        writer.close()
    unfinished.rename(path)
