"""A classifier whose structure learner is chosen by name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any

from tanbark.errors import OptionError, find
from tanbark.estimators.network import NetworkClassifier
from tanbark.estimators.options import estimator
from tanbark.structure import LEARNERS, Learner


@estimator
class BayesNetClassifier(NetworkClassifier):
    """A classifier whose structure learner is chosen by name.

    Parameters
    ----------
    learner : str, default "tan"
        A name in ``tanbark.LEARNERS``.
    options : mapping, optional
        Options of the learner, such as ``{"criterion": "bic"}`` for "tan".
    {options}

    Attributes
    ----------
    {network}

    Examples
    --------
    >>> import tanbark as tb
    >>> tb.BayesNetClassifier("naive").fit([[0], [1]], ["a", "b"]).predict([[1]]).tolist()
    ['b']
    """

    learner: str = field(default="tan", kw_only=False)
    options: Mapping[str, Any] | None = None

    def _learner(self) -> tuple[Learner, dict[str, Any]]:
        learner = find("learner", self.learner, LEARNERS)
        if self.options is not None and not isinstance(self.options, Mapping):
            msg = f"options must be a mapping from names to values, or None; got {self.options!r}."
            raise OptionError(msg)
        for name in self.options or {}:
            find(f"an option of learner {self.learner!r}", name, learner.defaults)
        return learner, {**learner.defaults, **(self.options or {})}
