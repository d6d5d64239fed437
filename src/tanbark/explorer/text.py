"""The data of the page of a classifier of texts: words, their probabilities in every class, and the prior."""

from __future__ import annotations

from typing import Any

from tanbark.errors import InputError, TableTooLargeError
from tanbark.estimators.inputs import class_column
from tanbark.estimators.models.text import TextNaiveBayes
from tanbark.explorer import pooled
from tanbark.explorer.packing import pack
from tanbark.explorer.performance import performance_data
from tanbark.explorer.wording import Wording, arrangement, column_words, facts
from tanbark.table import Schema

VERSION = 1


def text_data(
    model: TextNaiveBayes, *, performance: Any = None, X: Any = None, y: Any = None, **words: Any
) -> dict[str, Any]:
    """Describe a classifier of texts for its page; the only column that words can name is ``class``.

    Raises
    ------
    InputError
        For a model that is not fitted.
    TableTooLargeError
        If there are more words than a browser should hold.
    """
    if not hasattr(model, "class_counts_"):
        msg = "This TextNaiveBayes is not fitted yet, so there is nothing to explore. Call fit first."
        raise InputError(msg)
    logs = model.word_log_proba_
    if 8 * logs.size * 4 / 3 > pooled.MOST_BYTES:
        msg = (
            f"The page would hold {logs.size:,} probabilities of words, more than the {pooled.MOST_BYTES / 1e6:.0f} MB "
            "that a browser opens quickly. Count fewer words, such as with max_features of the vectoriser."
        )
        raise TableTooLargeError(msg)
    wording = Wording(**words)
    schema = Schema((class_column(None, model.classes_, ()),))
    column = schema.columns[0]
    arranged = arrangement(schema, wording)
    return {
        "version": VERSION,
        "title": wording.title or "TextNaiveBayes",
        "kind": type(model).__name__,
        "column": {"name": column.name, "labels": column.labels(), **column_words(schema, wording)[0]},
        "threshold": arranged["threshold"],
        "about": facts(wording.about),
        "performance": performance_data(model, performance, X, y),
        "rows": float(model.class_counts_.sum()),
        "words": [str(word) for word in model._words().tolist()],
        "log_prior": pack(model._log_prior()),
        "logs": pack(logs.T),
    }
