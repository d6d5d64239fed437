"""A classifier whose structure learner is chosen by name."""

from __future__ import annotations

from collections.abc import Mapping
from inspect import signature
from typing import Any

from tanbark.errors import OptionError, find
from tanbark.estimators.documentation import MAX_CELLS, documented, store
from tanbark.estimators.network import NetworkClassifier
from tanbark.structure import LEARNERS, Learner

GIVEN = ("counts", "evaluate", "pair_marginals", "max_cells")  # what a classifier itself gives to a learner
SEARCH_OPTIONS = ("cv", "smooth", "scoring", "random_state")


@documented
class BayesNetClassifier(NetworkClassifier):
    """A classifier whose structure learner is chosen by name.

    Parameters
    ----------
    learner : str, default "tan"
        A name in ``tanbark.LEARNERS``.
    options : mapping, optional
        Options of the learner, such as ``{"criterion": "bic"}`` for "tan".
    {common}

    Examples
    --------
    >>> import tanbark as tb
    >>> tb.BayesNetClassifier("naive").fit([[0], [1]], ["a", "b"]).predict([[1]]).tolist()
    ['b']
    """

    def __init__(
        self, learner: str = "tan", *, options: Mapping[str, Any] | None = None, alpha: float = 1.0,
        prior: str = "laplace", class_prior: Any = None, discretize: Any = "mdlp", categorical_features: Any = "auto",
        parameters: Any = None, missing: str = "available-case", handle_unknown: str = "marginalize",
        max_cells: int = MAX_CELLS, n_jobs: int | None = None,
    ) -> None:  # fmt: skip
        store(self, locals())

    def _learner(self) -> tuple[Learner, dict[str, Any]]:
        learner = find("learner", self.learner, LEARNERS)
        if self.options is not None and not isinstance(self.options, Mapping):
            msg = f"options must be a mapping from names to values, or None; got {self.options!r}."
            raise OptionError(msg)
        options = dict(self.options or {})
        known = {name: None for name in signature(learner.learn).parameters if name not in GIVEN}
        if learner.wrapper:
            known |= dict.fromkeys(SEARCH_OPTIONS)
        for name in options:
            find(f"an option of learner {self.learner!r}", name, known)
        return learner, options
