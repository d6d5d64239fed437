"""Words of the page beside those of the model: shown names, units, descriptions, order, groups, and facts about it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tanbark.checks import is_number
from tanbark.errors import OptionError, listed, nearest
from tanbark.table import Column, Schema

FACTS = ("purpose", "source", "date", "population", "not_for", "limits", "authors", "contact", "licence", "notes")


@dataclass(frozen=True)
class Wording:
    """What a reader is told about a model, as given to ``explore``; see :func:`tanbark.explorer.explore`."""

    title: str | None = None
    about: str | Mapping[str, Any] | None = None
    labels: Mapping[str, Any] | None = None
    units: Mapping[str, str] | None = None
    descriptions: Mapping[str, str] | None = None
    order: Sequence[str] | None = None
    groups: Mapping[str, Sequence[str]] | None = None
    threshold: float | Mapping[Any, float] | None = None
    target: str | None = None


def column_words(schema: Schema, wording: Wording) -> list[dict[str, Any]]:
    """Return for every column the words that are shown: its title, unit, description and those of its states."""
    labels = _by_column("labels", wording.labels, schema)
    units = {node: _text("units", unit) for node, unit in _by_column("units", wording.units, schema).items()}
    told = _by_column("descriptions", wording.descriptions, schema)
    described = {node: _text("descriptions", text) for node, text in told.items()}
    found: list[dict[str, Any]] = []
    for node, column in enumerate(schema.columns):
        title, states = _split_label(column, labels.get(node))
        words: dict[str, Any] = {"shown": _states(column, states, units.get(node))}
        optional = {"title": title, "unit": units.get(node), "description": described.get(node)}
        found.append(words | {key: text for key, text in optional.items() if text is not None})
    _check_titles([words.get("title", name) for words, name in zip(found, schema.names, strict=True)])
    return found


def arrangement(schema: Schema, wording: Wording) -> dict[str, Any]:
    """Return the order of the columns in lists, their groups, the threshold and the variable asked for first."""
    return {
        "arranged": _order(schema, wording.order),
        "groups": _groups(schema, wording.groups),
        "threshold": _threshold(schema, wording.threshold),
        "asked": None if wording.target is None else _node("target", wording.target, schema),
    }


def facts(about: str | Mapping[str, Any] | None) -> dict[str, Any]:
    """Return what is told about a model: texts, or lists of texts, by one of ``FACTS``; a text alone is the purpose."""
    if about is None:
        return {}
    if isinstance(about, str):
        return {"purpose": about}
    if not isinstance(about, Mapping):
        msg = f"about must be a text, or a mapping with some of {list(FACTS)}; got {type(about).__name__}."
        raise OptionError(msg)
    found: dict[str, Any] = {}
    for key, value in about.items():
        if key not in FACTS:
            msg = f"about has no part {key!r}.{nearest(key, FACTS)} Its parts are {list(FACTS)}."
            raise OptionError(msg)
        several = isinstance(value, (list, tuple))
        found[key] = [str(part) for part in value] if several else str(value)
    return found


# ---------------------------------------------------------------------- names


def _node(what: str, name: Any, schema: Schema) -> int:
    if name in schema.names:
        return schema.names.index(str(name))
    msg = f"{what} names {name!r}, which is no column of the model.{nearest(name, schema.names)}"
    raise OptionError(f"{msg} The columns are {listed(schema.names)}.")


def _by_column(what: str, given: Mapping[str, Any] | None, schema: Schema) -> dict[int, Any]:
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        msg = f"{what} must be a mapping from names of columns; got {type(given).__name__}."
        raise OptionError(msg)
    return {_node(what, name, schema): value for name, value in given.items()}


def _text(what: str, value: Any) -> str:
    if isinstance(value, str) and value.strip():
        return value.strip()
    msg = f"{what} must map every column to a text; got {value!r:.60}."
    raise OptionError(msg)


def _split_label(column: Column, given: Any) -> tuple[str | None, Mapping[Any, Any]]:
    """Read a shown name, a mapping of states to theirs, or both in a pair."""
    if given is None:
        return None, {}
    if isinstance(given, str):
        return _text("labels", given), {}
    if isinstance(given, Mapping):
        return None, given
    if isinstance(given, (list, tuple)) and len(given) == 2 and isinstance(given[1], Mapping):
        return _text("labels", given[0]), given[1]
    msg = (
        f"labels[{column.name!r}] must be a text, a mapping from states to texts, or a pair of both; got {given!r:.60}."
    )
    raise OptionError(msg)


def _states(column: Column, given: Mapping[Any, Any], unit: str | None) -> list[str]:
    """Return the shown label of every state; numbers of an interval are followed by the unit."""
    own = column.labels()
    measured = unit is not None and column.kind == "interval" and bool(column.cuts)
    first = int(column.missing_state)
    shown = [f"{label} {unit}" if measured and place >= first else label for place, label in enumerate(own)]
    for state, text in given.items():
        if str(state) not in own:
            msg = f"labels[{column.name!r}] names the state {state!r}, which the column does not have."
            raise OptionError(f"{msg}{nearest(state, own)} Its states are {own[:20]}.")
        shown[own.index(str(state))] = _text(f"labels[{column.name!r}]", text)
    if len(set(shown)) < len(shown):
        twice = sorted({label for label in shown if shown.count(label) > 1})
        msg = f"labels[{column.name!r}] shows several states as {twice}; give every state its own text."
        raise OptionError(msg)
    return shown


def _check_titles(titles: list[str]) -> None:
    twice = sorted({title for title in titles if titles.count(title) > 1})
    if twice:
        msg = f"labels shows several columns as {twice}; give every column its own text."
        raise OptionError(msg)


# ---------------------------------------------------------------------- order and groups


def _names(what: str, given: Any) -> list[Any]:
    if isinstance(given, str) or not isinstance(given, Iterable):
        msg = f"{what} must be a list of names of columns; got {given!r:.60}."
        raise OptionError(msg)
    return list(given)


def _order(schema: Schema, order: Sequence[str] | None) -> list[int]:
    """Return all columns, those that are named first."""
    chosen = [] if order is None else [_node("order", name, schema) for name in _names("order", order)]
    if len(set(chosen)) < len(chosen):
        msg = f"order names a column twice: {sorted({schema.names[n] for n in chosen if chosen.count(n) > 1})}."
        raise OptionError(msg)
    return [*chosen, *(node for node in range(len(schema.columns)) if node not in set(chosen))]


def _groups(schema: Schema, groups: Mapping[str, Sequence[str]] | None) -> list[dict[str, Any]]:
    """Return the groups with their columns; a column is in one group at most."""
    if groups is None:
        return []
    if not isinstance(groups, Mapping):
        msg = f"groups must map the title of each group to its columns; got {type(groups).__name__}."
        raise OptionError(msg)
    found: list[dict[str, Any]] = []
    placed: dict[int, str] = {}
    for title, names in groups.items():
        nodes = [_node(f"groups[{title!r}]", name, schema) for name in _names(f"groups[{title!r}]", names)]
        for node in nodes:
            if node in placed:
                msg = f"groups has {schema.names[node]!r} in {placed[node]!r} and again in {title!r}; keep one."
                raise OptionError(msg)
            placed[node] = str(title)
        found.append({"title": str(title), "nodes": nodes})
    return found


def _threshold(schema: Schema, threshold: float | Mapping[Any, float] | None) -> dict[str, Any] | None:
    """Return the class and the probability from which on it is decided for; of two classes a number is the second's."""
    if threshold is None:
        return None
    if not schema.has_class:
        msg = "threshold is for a class, and this network has none."
        raise OptionError(msg)
    column = schema.columns[schema.target]
    labels = column.labels()
    if isinstance(threshold, Mapping):
        if len(threshold) != 1:
            msg = f"threshold must be a number or name one class, such as {{{labels[-1]!r}: 0.2}}"
            raise OptionError(f"{msg}; got {threshold!r:.60}.")
        ((label, value),) = threshold.items()
    elif len(labels) == 2:
        label, value = labels[1], threshold
    else:
        msg = f"threshold must name its class, since there are {len(labels)}, such as {{{labels[-1]!r}: 0.2}}."
        raise OptionError(msg)
    if str(label) not in labels:
        msg = f"threshold names {label!r}, which is no class.{nearest(label, labels)} The classes are {labels}."
        raise OptionError(msg)
    if not is_number(value) or not 0.0 < float(value) < 1.0:
        msg = f"threshold must be a probability above 0 and below 1; got {value!r}."
        raise OptionError(msg)
    return {"label": labels.index(str(label)), "value": float(value)}
