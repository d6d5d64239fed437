"""Every structure learner by name. The command line, the documentation and the contract tests read this list."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tanbark.structure import fixed, naive, tan
from tanbark.structure.result import Learnt


@dataclass(frozen=True)
class Learner:
    """A structure learner and what to say of it.

    ``stored_order`` is the order of the counts that suffice to learn again without rows (see ``StoredCounts``), or 0
    where none do.
    """

    learn: Callable[..., Learnt]
    title: str
    reference: str
    stored_order: int = 0


LEARNERS: dict[str, Learner] = {
    "naive": Learner(naive.learn, "Naive Bayes", "Minsky (1961), Steps toward artificial intelligence", 1),
    "tan": Learner(tan.learn, "Tree-augmented naive Bayes (Chow-Liu)", "Friedman, Geiger and Goldszmidt (1997)", 2),
    "fixed": Learner(fixed.learn, "A structure drawn by hand", "none", 0),
}
