"""One row as people give it: a mapping of names to values, a frame or an array of one row, a series, or nothing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from tanbark.arrays import Codes
from tanbark.errors import ImpossibleEvidenceError, InputError, nearest
from tanbark.estimators.encoding import report_unseen
from tanbark.estimators.questions.model import Asked, posteriors
from tanbark.table import missing_code, read_table
from tanbark.table.objects import is_missing
from tanbark.table.raw import is_frame


def read_row(clf: Any, asked: Asked, row: Any) -> Codes:
    """Return the codes of one row, (n_features,); names that a mapping leaves out are not observed."""
    if row is None:
        return asked.nothing()
    if not is_frame(row) and hasattr(row, "to_dict"):  # a series
        row = row.to_dict()
    if isinstance(row, Mapping):
        return _read_mapping(clf, asked, row)
    if not is_frame(row) and np.ndim(row) == 1:
        row = [row if isinstance(row, list) else list(row)]
    codes = clf._codes(row)
    if codes.shape[1] != 1:
        msg = f"One row is asked about; got {codes.shape[1]:,}. Pass one, such as X.iloc[[0]], X[:1] or a dict."
        raise InputError(msg)
    return np.ascontiguousarray(codes[:, 0])


def _read_mapping(clf: Any, asked: Asked, row: Mapping[Any, Any]) -> Codes:
    names = asked.schema.names[: asked.n_features]
    place = {name: column for column, name in enumerate(names)}
    values = np.full((1, len(names)), None, object)
    for name, value in row.items():
        if name not in place:
            msg = f"There is no feature {name!r}.{nearest(name, names)} The features are {list(names)[:20]}."
            raise InputError(msg)
        values[0, place[name]] = value
    unknown = [column for column in range(len(names)) if is_missing(values[0, column])]
    encoded = clf.encoder_.encode(read_table(values), n_jobs=1)
    report_unseen(encoded.unseen, 1, clf.handle_unknown)
    codes = np.array(encoded.codes[:, 0])
    codes[unknown] = missing_code(codes)
    return codes


def own_posterior(asked: Asked, row: Codes) -> Any:
    """Return the class probabilities of one row; raise an error where its values are impossible together."""
    found, possible = posteriors(asked, row[:, None])
    if not possible[0]:
        msg = (
            "The values of this row are impossible under every class (probability zero), so that no posterior is "
            "defined. Check them, or use a smoothing such as parameters=1.0, which leaves nothing impossible."
        )
        raise ImpossibleEvidenceError(msg)
    return found[0]
