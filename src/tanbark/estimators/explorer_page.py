"""The page of a fitted classifier."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from tanbark.estimators.scikit import check_is_fitted


class ExplorerPage:
    """What lets a classifier be explored: one HTML file with its posteriors."""

    def explore(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        title: str | None = None,
        about: str | Mapping[str, Any] | None = None,
        labels: Mapping[str, Any] | None = None,
        units: Mapping[str, str] | None = None,
        descriptions: Mapping[str, str] | None = None,
        order: Sequence[str] | None = None,
        groups: Mapping[str, Sequence[str]] | None = None,
        threshold: float | Mapping[Any, float] | None = None,
        target: str | None = None,
        performance: Any = None,
        X: Any = None,
        y: Any = None,
    ) -> Any:
        """Make a page that answers questions to the model by clicking, and write it to a file where one is named.

        The class posterior is that of ``predict_proba``. Pooled and averaged networks are all in the page; it draws one
        network to read, and posteriors of other variables are of that network.

        Parameters
        ----------
        path : str or path, optional
            Where the page is written.
        title : str, optional
        about : str or mapping, optional
            What the model is for; or some of purpose, source, date, population, not_for, limits, authors, contact,
            licence and notes, each a text or a list of texts.
        labels : mapping, optional
            What is shown instead of the names of columns and states: a text by column, a mapping from its states to
            texts, or a pair of both.
        units, descriptions : mappings, optional
            The unit of each column of numbers, and a sentence on each column.
        order : list of names, optional
            Columns that come first wherever columns are listed.
        groups : mapping, optional
            The columns of each group, by its title.
        threshold : float or mapping, optional
            The probability from which on a class is decided for, such as ``{"malignant": 0.1}``; of two classes a
            number is for the second.
        target : str, optional
            The variable that is asked for first; by default the class.
        performance : CrossValidation, optional
            A result of :func:`tanbark.cross_validate_network`, for the page's account of how good the model is.
        X, y : rows and labels, optional
            Cross-validate the model with these, in five folds, instead of ``performance``.

        Returns
        -------
        :class:`tanbark.explorer.Page`
            A notebook shows it.
        """
        from tanbark.explorer import explore

        check_is_fitted(self)
        return explore(
            self, path, title=title, about=about, labels=labels, units=units, descriptions=descriptions, order=order,
            groups=groups, threshold=threshold, target=target, performance=performance, X=X, y=y,
        )  # fmt: skip
