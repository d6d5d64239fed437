"""Every structure learner by name, with its defaults.

The classifiers, the command line, the documentation and the contract tests read this list. The default of an option is
written once, in the signature of the learner's function.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from inspect import signature
from typing import Any

from tanbark.structure.result import Learnt


class Late:
    """A module of learners, which is imported when one of them is used: ``tan.learn`` is the place of a function."""

    def __init__(self, module: str) -> None:
        self._module = module

    def __getattr__(self, function: str) -> str:
        return f"tanbark.structure.{self._module}:{function}"


blanket = Late("blanket.search")
bnc2p, cmdl_gbn = Late("conditional.bnc2p"), Late("conditional.cmdl_gbn")
mmhc, pc, rai = Late("constraint.mmhc"), Late("constraint.pc"), Late("constraint.rai")
exact = Late("exact.learn")
fixed, kdb, naive = Late("fixed.given"), Late("fixed.kdb"), Late("fixed.naive")
selective_kdb, spode = Late("fixed.selective_kdb"), Late("fixed.spode")
ban, hill_climb, sparse_candidate = Late("greedy.ban"), Late("greedy.hill_climb"), Late("greedy.sparse_candidate")
acll_tan, chow_liu, tan = Late("trees.acll_tan"), Late("trees.chow_liu"), Late("trees.tan")
kdb_hc, selective, semi_naive = Late("wrapper.kdb_hc"), Late("wrapper.selective"), Late("wrapper.semi_naive")
tan_hc, tan_hcsp = Late("wrapper.tan_hc"), Late("wrapper.tan_hcsp")

PROVIDED = ("counts", "evaluate", "pair_marginals", "max_cells")  # arguments that a classifier itself provides
FOLDS: dict[str, Any] = {"cv": 10, "alpha": 0.01, "scoring": "accuracy", "random_state": None}  # of every wrapper


@dataclass(frozen=True)
class Learner:
    """A structure learner and what to say of it.

    Attributes
    ----------
    place : str or callable
        Its function ``learn``, or where that is, as ``module:function``.
    title, reference : str
    stored_order : int
        The order of the counts that suffice to learn again without rows (see ``StoredCounts``); 0 where none do.
    smoothing : str
        The default smoothing of the CPTs, by its short form.
    wrapper : bool
        Whether it searches by cross-validated score, and is given an evaluator.
    infers : bool
        Whether it is given the distributions of pairs of columns in the networks that it tries.
    nested : bool
        Whether it chooses among nested models, and is given what measures all of them in one pass.
    """

    place: str | Callable[..., Learnt]
    title: str
    reference: str
    stored_order: int = 0
    smoothing: str = "hierarchical"
    wrapper: bool = False
    infers: bool = False
    nested: bool = False

    @cached_property
    def learn(self) -> Callable[..., Learnt]:
        """The function that learns, imported when it is first used."""
        if not isinstance(self.place, str):
            return self.place
        module, _, function = self.place.partition(":")
        found: Callable[..., Learnt] = getattr(import_module(module), function)
        return found

    @cached_property
    def defaults(self) -> dict[str, Any]:
        """The options and their defaults; those of a wrapper include the options of its folds."""
        own = {name: value for name, value in self.arguments.items() if name not in PROVIDED}
        return {**(FOLDS if self.wrapper else {}), **own}

    @cached_property
    def arguments(self) -> dict[str, Any]:
        """The arguments of the function that learns, with their defaults."""
        return {name: parameter.default for name, parameter in signature(self.learn).parameters.items()}


LEARNERS: dict[str, Learner] = {
    "naive": Learner(naive.learn, "Naive Bayes", "Minsky (1961), Steps toward artificial intelligence", 1),
    "tan": Learner(tan.learn, "Tree-augmented naive Bayes (Chow-Liu)", "Friedman, Geiger and Goldszmidt (1997)", 2),
    "kdb": Learner(kdb.learn, "k-dependence Bayesian classifier", "Sahami (1996)"),
    "skdb": Learner(
        selective_kdb.learn,
        "Selective k-dependence Bayesian classifier",
        "Martínez, Webb, Chen and Zaidi (2016)",
        nested=True,
    ),
    "spode": Learner(spode.learn, "Super-parent one-dependence estimator", "Keogh and Pazzani (1999)", 2),
    "tan-hc": Learner(tan_hc.learn, "TAN by hill climbing", "Keogh and Pazzani (1999)", wrapper=True),
    "tan-hcsp": Learner(tan_hcsp.learn, "TAN by super-parents", "Keogh and Pazzani (1999)", wrapper=True),
    "kdb-hc": Learner(kdb_hc.learn, "k-dependence by hill climbing", "Mihaljević et al. (2018)", wrapper=True),
    "fssj": Learner(semi_naive.learn_forward, "Forward selection and joining", "Pazzani (1996)", wrapper=True),
    "bsej": Learner(semi_naive.learn_backward, "Backward elimination and joining", "Pazzani (1996)", wrapper=True),
    "selective": Learner(selective.learn, "Selective naive Bayes", "Langley and Sage (1994)", wrapper=True),
    "chow-liu": Learner(chow_liu.learn, "Tree over all columns", "Chow and Liu (1968)", 2),
    "hill-climb": Learner(hill_climb.learn, "Hill climbing over graphs", "Heckerman, Geiger and Chickering (1995)"),
    "ban": Learner(ban.learn, "Augmented naive Bayes by hill climbing", "Friedman, Geiger and Goldszmidt (1997)"),
    "sparse-candidate": Learner(
        sparse_candidate.learn,
        "Sparse candidate search",
        "Friedman, Nachman and Pe'er (1999)",
        infers=True,
    ),
    "selective-mml": Learner(blanket.learn, "Naive Bayes on a Markov blanket", "Li, Korb and Allison (2021)"),
    "rai-anb": Learner(rai.learn_augmented, "Augmented naive Bayes by RAI", "Sugahara, Kishida, Kato and Ueno (2022)"),
    "rai-gbn": Learner(rai.learn_general, "General network by RAI", "Yehezkel and Lerner (2009)"),
    "pc-anb": Learner(pc.learn_augmented, "Augmented naive Bayes by PC", "Colombo and Maathuis (2014)"),
    "pc-gbn": Learner(pc.learn_general, "General network by PC", "Colombo and Maathuis (2014)"),
    "mmhc-anb": Learner(
        mmhc.learn_augmented,
        "Augmented naive Bayes by max-min hill climbing",
        "Tsamardinos, Brown and Aliferis (2006)",
    ),
    "mmhc-gbn": Learner(
        mmhc.learn_general,
        "General network by max-min hill climbing",
        "Tsamardinos, Brown and Aliferis (2006)",
    ),
    "exact-anb": Learner(exact.learn_augmented, "Augmented naive Bayes of highest BDeu", "Sugahara and Ueno (2021)"),
    "exact-gbn": Learner(exact.learn_general, "General network of highest BDeu", "Silander and Myllymäki (2006)"),
    "acll-tan": Learner(acll_tan.learn, "TAN of highest aCLL", "Carvalho, Roos, Oliveira and Myllymäki (2011)", 2),
    "bnc2p": Learner(bnc2p.learn, "Graph of high conditional log-likelihood", "Grossman and Domingos (2004)"),
    "cmdl-gbn": Learner(cmdl_gbn.learn, "Graph of short conditional description", "Grossman and Domingos (2004)"),
    "fixed": Learner(fixed.learn, "A structure drawn by hand", "none"),
}
