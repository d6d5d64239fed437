"""From words to models: learners with their options, model files, rows for a model."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tanbark.cli.cleaning import find_dates
from tanbark.cli.options import DEFAULT_LEARNER
from tanbark.cli.output import say
from tanbark.cli.tables import check_name, read_table
from tanbark.errors import InputError, OptionError, find, nearest


def parse_learner(text: str, settings: Iterable[str] = ()) -> tuple[str, dict[str, Any]]:
    """Read ``name`` or ``name:option=value,…``, and further ``option=value`` settings.

    >>> parse_learner("tan:criterion=bic,parameters=0.5")
    ('tan', {'criterion': 'bic', 'parameters': 0.5})
    """
    name, _, inside = text.partition(":")
    options = {}
    for setting in (*(inside.split(",") if inside else ()), *settings):
        key, equals, value = setting.partition("=")
        if not equals or not key.strip():
            msg = f"An option of a learner is written name=value, such as criterion=bic; got {setting!r}."
            raise OptionError(msg)
        options[key.strip()] = parse_value(value.strip())
    return name.strip(), options


def parse_value(text: str) -> Any:
    """Read a value as JSON where it is JSON, and else as a string.

    >>> parse_value("3"), parse_value("true"), parse_value("bic")
    (3, True, 'bic')
    """
    try:
        return json.loads(text)
    except ValueError:
        return text


def make_model(text: str, settings: Iterable[str] = ()) -> Any:
    """Make the classifier that words describe; ``parameters=bdeu:ess=2`` and ``estimator=tan`` name parts of it."""
    from tanbark.estimators.catalogue import make_classifier
    from tanbark.estimators.classifier import TableClassifier
    from tanbark.estimators.ensemble.classifier import PooledClassifier

    name, options = parse_learner(text, settings)
    if isinstance(options.get("parameters"), str):
        options["parameters"] = _make_part(options["parameters"])
    if isinstance(options.get("estimator"), str):
        options["estimator"] = make_model(options["estimator"])
    if name == "fixed" and "arcs" in options:
        options["arcs"] = [tuple(arc) for arc in options["arcs"]]
    try:
        model = make_classifier(name, options)
    except OptionError as error:
        hint = " Other learners have other options: name one, such as -l tan." if name == DEFAULT_LEARNER else ""
        raise OptionError(f"{error}{hint}") from None
    if isinstance(model, (TableClassifier, PooledClassifier)):
        model._check_options()
    return model


@contextmanager
def reporting(model: Any, *, quiet: bool) -> Iterator[bool]:
    """Have an ensemble report its steps on a terminal while it is learnt; yield whether it does.

    The option is set back, so that the model file does not depend on where the command ran.
    """
    from tanbark.estimators.ensemble.classifier import PooledClassifier

    if quiet or not isinstance(model, PooledClassifier) or not sys.stderr.isatty():
        yield isinstance(model, PooledClassifier) and model.verbose
        return
    verbose, model.verbose = model.verbose, True
    try:
        yield True
    finally:
        model.verbose = verbose


def _make_part(text: str) -> Any:
    """Make a smoothing or a parameter estimator from words such as ``bdeu``, ``bdeu:ess=2`` or ``wanbia``."""
    from tanbark.estimators.model_files.model_file import parts
    from tanbark.estimators.parts.parameters import ParameterEstimator
    from tanbark.params import Smoothing
    from tanbark.params.smoothing import SHORT_FORMS

    name, options = parse_learner(text)
    known: dict[str, Any] = {
        each.lower(): cls for each, cls in parts().items() if issubclass(cls, (ParameterEstimator, Smoothing))
    }
    part = find("parameters", name.lower(), {**known, **SHORT_FORMS})()
    return part.set_params(**options)


def load_model(path: str) -> Any:
    """Read a model file, or a network file of another program, by its suffix."""
    if path == "-":
        msg = "A model is read from a file; only tables come from standard input."
        raise OptionError(msg)
    suffixes = [suffix.lower() for suffix in Path(path).suffixes if suffix.lower() != ".gz"]
    if suffixes and suffixes[-1] != ".json":
        from tanbark.export import FORMATS, read_network

        if any(suffixes[-1] in each.suffixes for each in FORMATS.values()):
            return read_network(path)
    from tanbark.estimators import load

    return load(path)


def load_network(path: str) -> tuple[str, Any]:
    """Read the one network of a file, without its classifier where that is not needed; return how it prints, too.

    A network file of another program prints as nothing.
    """
    from tanbark.params.network_file import read_saved_network

    if path.lower().endswith(".json"):
        saved = read_saved_network(path)
        if saved is not None:
            _note_pool(saved.estimator)
            return saved.text, saved.network
    loaded = load_model(path)
    network = network_of(loaded, path)
    return "" if loaded is network else " ".join(repr(loaded).split()), network


def _note_pool(estimator: str) -> None:
    """Report on standard error that a network does not predict as its classifier does."""
    if estimator == "Classifier":
        say(
            "tanbark: this is the classifier's network_, one network to read; the classifier pools many networks, and "
            "`tanbark predict` uses them all."
        )


def load_classifier(path: str) -> Any:
    """Read a classifier of tables."""
    model = load_model(path)
    if not hasattr(model, "schema_"):
        msg = f"{path!r} holds a {type(model).__name__}; this command needs a classifier that `tanbark fit` wrote."
        raise InputError(msg)
    return model


def network_of(model: Any, path: str) -> Any:
    """Return the one network of a model; where it does not predict as the model does, report it on standard error."""
    from tanbark.graph import Network

    _note_pool(type(model).__name__)
    network = model if isinstance(model, Network) else getattr(model, "network_", None)
    if network is None:
        msg = f"{path!r} holds a {type(model).__name__}, which is no single network. Use a learner such as tan."
        raise InputError(msg)
    return network


def read_training(
    path: str,
    target: str,
    *,
    format: str | None,
    missing: Iterable[str],
    drop: Iterable[str],
    weights: str | None = None,
) -> tuple[Any, Any, Any]:
    """Read features, labels and weights; rows without a label are left out with a warning."""
    import narwhals as nw

    from tanbark.errors import TanbarkWarning, warn

    table = read_table(path, format=format, missing=tuple(missing))
    check_name(table, target, "--class")
    for name in (*drop, *([] if weights is None else [weights])):
        check_name(table, name, "--drop" if name in drop else "--weights")
    features = table.select([name for name in table.column_names if name not in {target, weights, *drop}])
    dates = find_dates(features)
    if dates:
        warn(
            f"Left out: {', '.join(map(repr, dates))}, which {'hold' if len(dates) > 1 else 'holds'} dates or times. "
            "Add columns with what matters of them, such as the month, the weekday or an age in days.",
            TanbarkWarning,
        )
    features = features.drop_columns(dates)
    if not table.num_rows:
        msg = f"{path!r} has no rows below its names; a classifier learns from rows."
        raise InputError(msg)
    without = table.column(target).null_count
    if without == table.num_rows:
        msg = f"The class {target!r} has no value in any row. Is it the right column?"
        raise InputError(msg)
    if without:
        warn(f"{without:,} rows have no {target!r}; they are left out.", TanbarkWarning)
        table = table.filter(table.column(target).is_valid())
    others = list(features.column_names)
    if not others:
        msg = f"Nothing is left to learn from: {path!r} has no column beside the class and what is dropped."
        raise InputError(msg)
    _check_labels(table.column(target), target)
    labels = nw.from_native(_plain(table.column(target)), series_only=True).alias(target)
    weighed = None if weights is None else table.column(weights).to_numpy(zero_copy_only=False)
    return table.select(others), labels, weighed


def _check_labels(labels: Any, target: str) -> None:
    """Refuse a class that identifies rows, which would take long and predict nothing; warn of a single one."""
    from tanbark.errors import TanbarkWarning, warn
    from tanbark.table.findings.rules import LEAST_ROWS, MOSTLY

    values = labels.unique().to_pylist()
    if len(labels) >= LEAST_ROWS and len(values) >= MOSTLY * len(labels):
        msg = (
            f"The class {target!r} has {len(values):,} different values in {len(labels):,} rows, like an identifier or "
            "a measurement. Is it the right column? A number to predict must be cut into classes first."
        )
        raise InputError(msg)
    if len(values) == 1:
        warn(f"The class {target!r} has one value, {values[0]!r}, which every prediction will be.", TanbarkWarning)


def _plain(column: Any) -> Any:
    """Turn a categorical column into its values."""
    import pyarrow as pa

    return column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column


def read_rows(model: Any, path: str, *, format: str | None, missing: Iterable[str]) -> tuple[Any, Any]:
    """Read rows for a model: its own columns, and the whole table; other columns are ignored."""
    columns = model.schema_.features
    named = {kind: [column.name for column in columns if column.values == kind] for kind in ("text", "number")}
    table = read_table(path, format=format, missing=tuple(missing), text=named["text"], numbers=named["number"])
    known, names = list(table.column_names), [column.name for column in columns]
    lacking = [name for name in names if name not in known]
    if lacking and not hasattr(model, "feature_names_in_") and len(known) == len(names):
        return table.rename_columns(names), table
    if lacking:
        msg = (
            f"{path!r} lacks the columns {lacking[:10]}, which the model needs.{nearest(lacking[0], known)} "
            f"It has {known[:20]}."
        )
        raise InputError(msg)
    return table.select(names), table


def read_one(model: Any, path: str, row: int, *, format: str | None, missing: Iterable[str]) -> dict[str, Any]:
    """Read one row for a model, as a mapping of names to values; missing ones are None."""
    rows, _ = read_rows(model, path, format=format, missing=missing)
    if row >= rows.num_rows:
        msg = f"--row {row} is beyond the table, whose {rows.num_rows:,} rows are counted from 0."
        raise InputError(msg)
    found: dict[str, Any] = rows.slice(row, 1).to_pylist()[0]
    return found


def read_observed(columns: Iterable[Any], text: str) -> tuple[str, Any]:
    """Read NAME=STATE of one of some columns; names may hold an equals sign."""
    known = {column.name: column for column in columns}
    name = next((each for each in sorted(known, key=len, reverse=True) if text.startswith(f"{each}=")), None)
    if name is None:
        wrong, equals, _ = text.partition("=")
        if not equals:
            msg = f"Evidence is written name=state; got {text!r}."
            raise OptionError(msg)
        msg = f"There is no variable {wrong!r}.{nearest(wrong, list(known))}"
        raise InputError(msg)
    return name, read_state(known[name], text[len(name) + 1 :])


def read_state(column: Any, text: str) -> Any:
    """Read a state of a column: one that it has, or a number."""
    states = {str(state): state for state in column.states()}
    if text in states:
        return states[text]
    try:
        return float(text) if column.values == "number" else text
    except ValueError:
        return text


def able(classifier: Any, method: str, option: str) -> Any:
    """Return a method, or raise an error with the reason why this classifier does not have it."""
    try:
        return getattr(classifier, method)
    except AttributeError as error:
        msg = f"{option}: {error}"
        raise InputError(msg) from None
