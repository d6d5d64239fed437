"""A classifier whose structure learner is chosen by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tanbark.errors import OptionError, find
from tanbark.estimators.network import NetworkClassifier
from tanbark.estimators.options import MAX_CELLS, documented, store
from tanbark.structure import LEARNERS, Learner


@documented
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

    def __init__(
        self, learner: str = "tan", *, options: Mapping[str, Any] | None = None, parameters: Any = None,
        class_prior: Any = None, discretize: Any = "mdlp", categorical_features: Any = "auto",
        missing: str = "available-case", handle_unknown: str = "marginalize", max_cells: int = MAX_CELLS,
        n_jobs: int | None = None,
    ) -> None:  # fmt: skip
        store(self, locals())

    def _learner(self) -> tuple[Learner, dict[str, Any]]:
        learner = find("learner", self.learner, LEARNERS)
        if self.options is not None and not isinstance(self.options, Mapping):
            msg = f"options must be a mapping from names to values, or None; got {self.options!r}."
            raise OptionError(msg)
        for name in self.options or {}:
            find(f"an option of learner {self.learner!r}", name, learner.defaults)
        return learner, {**learner.defaults, **(self.options or {})}
