"""The words of a page in a small file of JSON or YAML."""

from __future__ import annotations

import json
import os
from dataclasses import fields
from pathlib import Path
from typing import Any

from tanbark.errors import InputError, MissingPackageError, OptionError, nearest
from tanbark.explorer.wording import Wording

WORDS = tuple(field.name for field in fields(Wording))


def read_wording(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Read options of ``explore`` such as title, about, labels and units; a suffix .yaml or .yml means YAML.

    Raises
    ------
    MissingPackageError
        For a file of YAML where PyYAML is not installed.
    """
    file = Path(path)
    try:
        text = file.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        msg = f"{file.name} is not text in UTF-8; expected JSON or YAML."
        raise InputError(msg) from None
    except OSError as error:
        msg = f"{file} cannot be read: {error.strerror}."
        raise InputError(msg) from None
    found = _read_yaml(text, file.name) if file.suffix.lower() in (".yaml", ".yml") else _read_json(text, file.name)
    if not isinstance(found, dict):
        msg = f"{file.name} must hold a mapping with some of {list(WORDS)}; it holds {type(found).__name__}."
        raise InputError(msg)
    for key in found:
        if key not in WORDS:
            msg = f"{file.name} has {key!r}, which is no option of a page.{nearest(key, WORDS)}"
            raise OptionError(f"{msg} The options are {list(WORDS)}.")
    return found


def _read_json(text: str, name: str) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        msg = f"{name} is not JSON: {error}. For YAML, let its name end in .yaml."
        raise InputError(msg) from None


def _read_yaml(text: str, name: str) -> Any:
    try:
        import yaml
    except ImportError:
        msg = f"{name} is YAML, which needs PyYAML: pip install pyyaml. Or write it as JSON."
        raise MissingPackageError(msg) from None
    try:
        found = yaml.load(text, Loader=yaml.BaseLoader)  # all values are texts: "no" is a state, not a truth value
    except yaml.YAMLError as error:
        msg = f"{name} is not YAML: {' '.join(str(error).split())}."
        raise InputError(msg) from None
    if isinstance(found, dict) and "threshold" in found:
        found["threshold"] = _numbers(found["threshold"])
    return found


def _numbers(threshold: Any) -> Any:
    """Turn texts into numbers where they are."""
    if isinstance(threshold, dict):
        return {label: _numbers(value) for label, value in threshold.items()}
    try:
        return float(threshold)
    except (TypeError, ValueError):
        return threshold
