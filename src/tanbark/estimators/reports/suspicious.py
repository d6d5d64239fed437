"""What fit does with suspicious columns: it leaves them out, keeps them, warns of them or raises an error."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tanbark.arrays import Array
from tanbark.counts import StoredCounts
from tanbark.errors import InputError, SuspiciousColumnWarning, find, warn
from tanbark.estimators import inputs
from tanbark.table import CodedTable, RawTable
from tanbark.table.findings import (
    FINDINGS,
    FREE_TEXT,
    IDENTIFIER,
    INCREASING,
    LEAK,
    LEFT_OUT,
    MIXED,
    ROW_NUMBER,
    Facts,
    find_facts,
    find_leaks,
)
from tanbark.table.findings.rules import determines
from tanbark.table.observe import Observed
from tanbark.table.schema_json import demand, read_list

CHOICES = {"drop": None, "keep": None, "error": None}
WORDS = {
    IDENTIFIER: "has nearly as many different values as rows, like an identifier",
    ROW_NUMBER: "numbers the rows",
    FREE_TEXT: "holds free text",
    INCREASING: "increases from each row to the next, like an identifier or a time",
    LEAK: "determines the class: each of its values has one class, a likely leak",
    MIXED: "holds numbers and a few texts, so that each of its numbers is a category",
}


@dataclass(frozen=True)
class Seen:
    """What training saw of its rows.

    Parameters
    ----------
    rows : int
        Number of rows, whatever their weights.
    names, values : tuples of str
        Name and kind of values ("number", "text" or "boolean") of every column that training was given.
    facts : tuple of Facts
        What was found in each.
    left_out : tuple of int
        Positions of the columns that were left out.
    class_rows : tuple of int
        Rows of every class.
    """

    rows: int
    names: tuple[str, ...]
    values: tuple[str, ...]
    facts: tuple[Facts, ...]
    left_out: tuple[int, ...]
    class_rows: tuple[int, ...]

    def with_leaks(self, leaks: Sequence[int]) -> Seen:
        """Return the same with columns, by their position among all, that determine the class."""
        facts = [replace(known, finding=LEAK) if k in leaks else known for k, known in enumerate(self.facts)]
        return replace(self, facts=tuple(facts))

    def changed(self, table: CodedTable, sign: int = 1) -> Seen:
        """Return the same with further rows, or with rows taken away; rows of left-out columns are not looked at."""
        places = [place for place in range(len(self.names)) if place not in self.left_out]
        facts = list(self.facts)
        for code, place in enumerate(places):
            states = table.schema.cardinalities[code]
            missing = int((table.codes[code] >= states).sum())
            facts[place] = replace(facts[place], missing=max(0, facts[place].missing + sign * missing))
        labels = np.bincount(table.codes[-1].astype(np.int64), minlength=len(self.class_rows))
        counts = [max(0, old + sign * new) for old, new in zip(self.class_rows, labels.tolist(), strict=True)]
        return replace(self, rows=max(0, self.rows + sign * table.n_rows), facts=tuple(facts), class_rows=tuple(counts))


def document(seen: Seen) -> dict[str, Any]:
    """Write what was seen as JSON."""
    columns = [
        {"name": name, "values": values, "missing": known.missing, "distinct": known.distinct, "finding": known.finding}
        for name, values, known in zip(seen.names, seen.values, seen.facts, strict=True)
    ]
    return {
        "rows": seen.rows, "columns": columns, "left_out": list(seen.left_out), "class_rows": list(seen.class_rows),
    }  # fmt: skip


def read_document(item: Any) -> Seen:
    """Read what was seen from its JSON."""
    demand(isinstance(item, dict), "what was seen of the training rows is no mapping")
    columns = read_list(item["columns"], "columns that were seen")
    demand(all(isinstance(column, dict) for column in columns), "a column that was seen is no mapping")
    names, values = tuple(column["name"] for column in columns), tuple(column["values"] for column in columns)
    demand(all(isinstance(name, str) for name in names) and len(set(names)) == len(names), "the columns have no names")
    demand(set(values) <= {"number", "text", "boolean"}, "a column that was seen holds unknown values")
    facts = tuple(Facts(column["missing"], column["distinct"], column["finding"]) for column in columns)
    left_out = tuple(read_list(item["left_out"], "columns that were left out"))
    class_rows = tuple(read_list(item["class_rows"], "rows by class"))
    numbers = [item["rows"], *left_out, *class_rows, *(known.missing for known in facts)]
    numbers += [known.distinct for known in facts if known.distinct is not None]
    demand(all(type(number) is int and number >= 0 for number in numbers), "a number of rows is none")
    demand({known.finding for known in facts} <= {None, *FINDINGS}, "a finding is unknown")
    demand(list(left_out) == sorted(set(left_out)) and all(k < len(names) for k in left_out), "no column was left out")
    return Seen(item["rows"], names, values, facts, left_out, class_rows)


def look(model: Any, raw: RawTable) -> Seen:
    """Look at training rows and decide which columns are left out; the classes are counted later."""
    names = tuple(raw.name(column) for column in range(raw.n_columns))
    wanted = getattr(model, "categorical_features", "auto")
    facts = find_facts(raw, inputs.categorical_mask(wanted, names))
    values = ["number"] * raw.n_columns
    for item in raw.coded:
        values[item.column] = item.values
    for block in raw.blocks:
        for column in block.columns if block.values.dtype == bool else ():
            values[column] = "boolean"
    return Seen(raw.n_rows, names, tuple(values), facts, decide(model, names, facts), ())


def observed(model: Any, rows: Observed, few: int) -> Seen:
    """Return what a pass over rows in batches saw, with the columns that are left out."""
    names = tuple(view.name for view in rows.views)
    values = tuple(view.values or view.nominal for view in rows.views)
    facts = rows.facts(few)
    return Seen(rows.n_rows, names, values, facts, decide(model, names, facts), rows.class_rows())


def decide(model: Any, names: Sequence[str], facts: Sequence[Facts]) -> tuple[int, ...]:
    """Return the positions of the columns that are left out: never all of them, and none that the user names."""
    if getattr(model, "suspicious", "keep") != "drop":
        return ()
    wanted = model.categorical_features
    named = None if isinstance(wanted, str) else inputs.categorical_mask(wanted, names)
    found = [k for k, known in enumerate(facts) if known.finding in LEFT_OUT and (named is None or not named[k])]
    return () if len(found) == len(facts) else tuple(found)


def without(raw: RawTable, seen: Seen) -> RawTable:
    """Return a table without the columns that are left out; those of an array keep the names of their places."""
    if not seen.left_out:
        return raw
    kept = [column for column in range(raw.n_columns) if column not in seen.left_out]
    return replace(raw.take(kept), names=tuple(seen.names[column] for column in kept))


def count_classes(seen: Seen, labels: Array, n_classes: int) -> Seen:
    """Count the rows of every class."""
    return replace(seen, class_rows=tuple(np.bincount(labels, minlength=n_classes).tolist()))


def leaks_of(seen: Seen, table: CodedTable) -> Seen:
    """Find the categories of coded rows that determine the class."""
    schema = table.schema
    categories = [k for k, column in enumerate(schema.features) if column.kind == "category" and column.n_states > 1]
    places = [place for place in range(len(seen.names)) if place not in seen.left_out]
    leaks = find_leaks(table.codes, categories, schema.cardinalities)
    return seen.with_leaks([places[k] for k in leaks if seen.facts[places[k]].finding is None])


def leaks_in(seen: Seen, counts: StoredCounts) -> Seen:
    """Find the categories that determine the class in the counts of all features, which are categories."""
    schema = counts.schema
    tables = counts.tables([(k, schema.target) for k in range(schema.target)])
    leaks = [k for k, table in enumerate(tables) if len(table) > 1 and determines(table)]
    places = [place for place in range(len(seen.names)) if place not in seen.left_out]
    return seen.with_leaks([places[k] for k in leaks if seen.facts[places[k]].finding is None])


def report(model: Any, seen: Seen) -> None:
    """Note what was seen on an estimator, and warn or raise an error as its option demands."""
    model._seen = seen
    how = getattr(model, "suspicious", "keep")
    if how == "keep" or not any(known.finding for known in seen.facts):
        return
    named = _named(model, seen)
    kept = [k for k in range(len(seen.names)) if k not in seen.left_out and k not in named]
    left_out, also = _sentence("Left out", seen, seen.left_out), _sentence("Kept, but look at it", seen, kept)
    if how == "error" and also:
        msg = (
            f"{_sentence('Suspicious', seen, kept)} Drop such columns from the table, or use suspicious='drop' or "
            "suspicious='keep'."
        )
        raise InputError(msg)
    if left_out or also:
        mixed = any(known.others for known in seen.facts)
        advice = "Replace texts among numbers by missing values to have numbers. " if mixed else ""
        advice += "data_report_ lists all columns; suspicious='keep' keeps each of them and does not warn"
        advice += ", categorical_features=[…] keeps those that it names." if left_out else "."
        warn(" ".join(part for part in (left_out, also, advice) if part), SuspiciousColumnWarning)


def _named(model: Any, seen: Seen) -> set[int]:
    """Return the identifiers, texts and mixed columns that the user wants as categories: no word is lost on them."""
    wanted = getattr(model, "categorical_features", "auto")
    if isinstance(wanted, str):
        return set()
    mask = inputs.categorical_mask(wanted, seen.names)
    assert mask is not None
    return {k for k, known in enumerate(seen.facts) if mask[k] and known.finding in (*LEFT_OUT, MIXED)}


def _sentence(head: str, seen: Seen, columns: Sequence[int]) -> str:
    """List columns with what was found in them."""
    found = [f"{seen.names[k]!r} {_words(seen.facts[k])}" for k in columns if seen.facts[k].finding]
    more = f"; and {len(found) - 10} others" if len(found) > 10 else ""
    return f"{head}: {'; '.join(found[:10])}{more}." if found else ""


def _words(known: Facts) -> str:
    """Describe a finding; of numbers with a few texts, with some of the texts."""
    words = WORDS[str(known.finding)]
    if not known.others:
        return words
    shown = f"a few texts (such as {', '.join(map(repr, known.others))})"
    return words.replace("a few texts", shown) if known.finding == MIXED else f"{words}, of numbers and {shown}"


def check_choice(how: Any) -> None:
    """Validate the option."""
    find("suspicious", how, CHOICES)
