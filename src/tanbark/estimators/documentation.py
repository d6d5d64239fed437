"""What all classifiers share in their constructors and docstrings."""

from __future__ import annotations

from typing import Any, TypeVar

Class = TypeVar("Class", bound=type)

MAX_CELLS = 1 << 24

SMOOTHING = """alpha : float, default 1.0
        Smoothing: what is added to every cell (``prior="laplace"``), or the equivalent sample size (``"bdeu"``), or m
        (``"m-estimate"``). 0 is maximum likelihood.
    prior : {"laplace", "k2", "bdeu", "m-estimate"}, default "laplace"
        How counts are smoothed; the class prior is smoothed the same way.
    class_prior : array-like or dict, optional
        Probabilities of the classes, in the order of ``classes_`` or by label, instead of those of the rows.
    discretize : {"mdlp", "median", "quantile", "uniform"} or transformer, default "mdlp"
        How continuous columns are cut into intervals, on the training rows only.
    categorical_features : "auto", "all", or names, positions or mask, default "auto"
        Which numeric columns are categories. "auto": whole numbers with at most 20 different values."""

PARAMETERS = """parameters : MANB, AWNB, WANBIA or EM, optional
        Another way to turn counts into tables than smoothing alone.
    missing : {"available-case", "em", "category", "drop"}, default "available-case"
        What gaps mean in training. Every table counts the rows that have a value in each of its columns; or expectation
        maximisation fills them by what the rest of the row tells (``parameters=EM()``); or, for columns that have any,
        a gap is a state of its own, in prediction too; or rows with a gap are left out."""

LIMITS = """handle_unknown : {"marginalize", "error"}, default "marginalize"
        What to do with categories that training never saw: treat them as missing, or refuse them.
    max_cells : int, default 2**24
        The largest table that a family may need.
    n_jobs : int, optional
        Threads; None uses every core. Results do not depend on it."""

SEARCH = """cv : int, splitter or folds by row, default 10
        The folds that a structure is scored on: a number of stratified folds, a splitter of scikit-learn, or an array
        with the fold of every row that is given to ``fit``.
    tol : float, default 0.01
        The least gain in score that a step must bring; 0 takes equally good steps too.
    scoring : {"accuracy", "log-loss"}, default "accuracy"
        What is maximised: the mean accuracy over the folds, or the mean log-posterior of the right class.
    smooth : float, default 0.01
        What is added to every cell of the models of the folds.
    random_state : int, RandomState or None
        How rows are dealt out to the folds.
    verbose : bool, default False
        Print every step; otherwise a terminal shows the last one while the search runs."""

ATTRIBUTES = """Attributes
    ----------
    network_ : Network
        The learnt network: tables, families, Markov blanket, a text drawing.
    dag_ : Dag
        Its graph; ``dag_.arcs()`` lists (parent, child) names.
    classes_ : array of the labels
    schema_ : Schema
        Columns with their categories or cut points.
    family_counts_ : tuple of arrays
        The counts that the tables were estimated from.
    n_parameters_ : int
        Number of free parameters."""

CLIMB = """ess : float, default 1.0
        Equivalent sample size of the criterion "bdeu".
    max_parents : int, optional
        Most parents of a column; the class is not counted where it is a parent of every feature (in a BAN).
    required : list of (parent, child) names
        Arcs that must be there.
    forbidden : list of (parent, child) names
        Arcs that must not be there.
    start : Dag or list of arcs, optional
        Where the search begins; by default without any arc but the required ones.
    space : {"equivalence-classes", "dags"}, default "equivalence-classes" ("dags" in a sparse candidate search)
        What the search moves in. In "dags" every step is the best move from the present graph: plain hill climbing. In
        "equivalence-classes" it is the best move from any graph equivalent to it, so that arbitrary directions do not
        decide where the search ends; "k2" and "mml", which score equivalent graphs differently, and "loglik" search
        DAGs in any case.
    tabu : int, default 10 (0 in a sparse candidate search)
        Steps that may follow one another without a new best score; 0 stops at the first local optimum.
    tabu_length : int, default 10
        How many of the last graphs may not be entered again.
    restarts : int, default 0
        How often to begin again from the best graph after random moves.
    perturbation : int, default 8
        How many random moves those are.
    random_state : int, Generator, RandomState or None
        Where random moves come from.
    verbose : bool, default False
        Print every step; otherwise a line that is rewritten in a terminal, and nothing elsewhere."""

CLIMB_ATTRIBUTES = """structure_score_ : float
        The score of the graph that was found, in nats; higher is better.
    history_ : tuple of Step
        Every step: the score after it, what it changed, the moves it chose from, and its seconds."""

SEARCH_ATTRIBUTES = """structure_score_ : float
        The cross-validated score of the structure that was found.
    history_ : History
        Every step: its score, what it changed, the candidates it chose from, and its seconds; ``to_frame()`` and
        ``plot()`` show it."""

COMMON = f"{SMOOTHING}\n    {PARAMETERS}\n    {LIMITS}\n\n    {ATTRIBUTES}"
SEARCHED = f"{SEARCH}\n    {COMMON}\n    {SEARCH_ATTRIBUTES}"
COMMON_BDEU = COMMON.replace('default "laplace"', 'default "bdeu"')
TEXTS = {
    "{common}": COMMON, "{common_bdeu}": COMMON_BDEU, "{searched}": SEARCHED, "{smoothing}": SMOOTHING,
    "{limits}": LIMITS, "{climbed}": CLIMB, "{climbed_attributes}": CLIMB_ATTRIBUTES,
}  # fmt: skip


def documented(cls: Class) -> Class:
    """Write the options and attributes that classifiers share into a docstring."""
    text = cls.__doc__ or ""
    for mark, common in TEXTS.items():
        text = text.replace(mark, common)
    cls.__doc__ = text
    return cls


def store(estimator: Any, options: dict[str, Any]) -> None:
    """Store a constructor's arguments, untouched, as scikit-learn wants it; they are checked in fit."""
    for name, value in options.items():
        if name not in ("self", "__class__"):
            setattr(estimator, name, value)
