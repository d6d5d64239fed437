"""What each option of an estimator means, and why some differ between them; docstrings and pages are made of it."""

from __future__ import annotations

from typing import NamedTuple


class Option(NamedTuple):
    """The values that an option may have, and what it means."""

    kind: str
    meaning: str


OPTIONS: dict[str, Option] = {
    "alpha": Option("float", "Pseudo-counts per cell; 0 is maximum likelihood."),
    "arcs": Option(
        "iterable of (parent, child) names",
        'Columns of X by name (x0, x1, … for an array), and the class by the name of ``y``, or "class".',
    ),
    "blanket_only": Option(
        "bool",
        "Keep only the arcs into the class and into its children. Complete rows are predicted the same; with "
        "missing values, what the other columns say about them is lost.",
    ),
    "categorical_features": Option(
        '"auto", "all", or names, positions or mask',
        'Which numeric columns are categories. "auto": whole numbers with at most 20 different values, or '
        'at most 7 with ``discretize="mdlp+quantile"``.',
    ),
    "class_prior": Option(
        "array-like or dict",
        "Probabilities of the classes, in the order of ``classes_`` or by label, instead of those of the rows.",
    ),
    "criterion": Option("str", "What is maximised."),
    "cv": Option(
        "int, splitter or folds by row",
        "The folds that a structure is scored on: a number of stratified folds, a splitter of scikit-learn, or an "
        "array with the fold of every row that ``fit`` is given.",
    ),
    "discretize": Option(
        '{"mdlp", "mdlp+quantile", "median", "quantile", "uniform"} or transformer',
        "How continuous columns are cut into intervals, on the training rows only: where the class changes (MDLP), at "
        "quantiles, at the union of both, at the median, or into intervals of the same width.",
    ),
    "distinct": Option(
        '{"classes", "dags"}',
        "Whether no two of the graphs are equivalent, each then weighing as all graphs of its kind that are equivalent "
        "to it, or only no two are the same.",
    ),
    "ess": Option("float", "Equivalent sample size of the Dirichlet prior (BDeu)."),
    "forbidden": Option("list of (parent, child) names", "Arcs that must not be there."),
    "handle_unknown": Option(
        '{"marginalize", "error"}',
        "What to do with categories that training never saw: treat them as missing values, or raise an error.",
    ),
    "k": Option("int", "How many graphs; fewer where there are fewer."),
    "max_cells": Option(
        "int",
        "The largest CPT that a family may need; of averages over super-parents, the most cells of all their CPTs.",
    ),
    "max_iter": Option("int", "The most iterations."),
    "max_memory": Option(
        "float",
        "Bytes that the search may take; None is half of the free memory. What it needs is known beforehand.",
    ),
    "max_order": Option(
        "int",
        "The most features in the condition of a test; None goes on as long as there are enough neighbours.",
    ),
    "max_parents": Option(
        "int",
        "Most parents of a column; the class is not counted where it is a parent of every feature.",
    ),
    "method": Option(
        '{"auto", "dp", "ip"}',
        '"dp" is dynamic programming over all subsets of columns, "ip" the integer programme over the parent sets that '
        'may be needed, solved by a search over orders, "auto" the first as long as its tables fit in ``max_memory``.',
    ),
    "min_cmi": Option(
        "float",
        "Parents whose conditional mutual information (nats per row) is not above this are left out.",
    ),
    "min_rows": Option(
        "float",
        "The fewest training rows with the values of its super-parents for a model to take part.",
    ),
    "missing": Option(
        '{"available-case", "em", "category", "drop"}',
        "What missing values mean in training. Every CPT counts the rows that have a value in each of its "
        "columns; or expectation maximisation fills them in (:class:`EM`); or, for columns that have any, a "
        "missing value is a state of its own, in prediction too; or rows with a missing value are left out.",
    ),
    "missing_parent": Option(
        '{"sum", "drop"}',
        "What prediction does with a model one of whose super-parents has a missing value: sum over the states that it "
        "may have, which is exact and costs that many times as much, or leave the model out of the average, as Weka "
        "does. A model with missing super-parents takes part if at least ``min_rows`` training rows agree with the "
        "values of those that are observed.",
    ),
    "n_bins": Option("int", "The number of intervals."),
    "n_jobs": Option("int", "Threads; None uses every core. Results do not depend on it."),
    "normalize": Option(
        "bool",
        "Renormalise the weighted CPTs, as some programs do. That is another model: the normaliser depends on the "
        "class, and the weights were not learnt for it.",
    ),
    "parameters": Option(
        "smoothing, number, str, or parameter estimator",
        "How counts become CPTs: a smoothing (:class:`Hierarchical`, :class:`Laplace`, :class:`BDeu`, :class:`K2`, "
        ":class:`MEstimate`, :class:`PriorCounts`, :class:`DataTemperature`); for short "
        '"hierarchical", "laplace", "bdeu", "k2", "m-estimate", "data-temperature", "ml" (maximum likelihood), or a '
        "number of pseudo-counts per cell; or :class:`MANB`, :class:`AWNB`, :class:`WANBIA`, :class:`Discriminative` "
        "or :class:`EM`. None is the smoothing {smoothing}.",
    ),
    "patience": Option(
        "int",
        "Rounds of the search over orders that may follow one another without a new best; 0 stops at its first local "
        "optimum. None is 3, or without bound where ``time_limit`` is given.",
    ),
    "perturbation": Option("int", "Random moves from the best graph before each restart."),
    "random_state": Option("int, Generator, RandomState or None", "Where random numbers come from."),
    "required": Option("list of (parent, child) names", "Arcs that must be there."),
    "restarts": Option("int", "Further runs from random starts; the best run is kept."),
    "root": Option(
        "str or int",
        "The column at the root of the tree; None is the first of each tree, or the class where it is in it.",
    ),
    "scoring": Option(
        '{"accuracy", "log-loss"}',
        "What is maximised: the mean accuracy over the folds, or the mean log-posterior of the right class.",
    ),
    "smoothing": Option(
        "smoothing, number or str",
        "The smoothing that it builds on, in any form that ``parameters=`` of a classifier takes; None is the "
        'classifier\'s own, or "laplace" for EM and MANB, whose prior may not depend on the counts.',
    ),
    "space": Option(
        '{"orders", "equivalence-classes", "dags"}',
        'What the search moves in. In "dags" every step is the best move from the present graph: plain hill '
        'climbing. In "equivalence-classes" it is the best move from any graph equivalent to it, so that '
        'arbitrary directions do not decide where the search ends; "k2" and "mml", which score equivalent graphs '
        'differently, search DAGs instead. "orders" goes on from plain hill climbing and improves the order of the '
        "columns, each of which takes its best parents among those before it. Missing values and "
        '"loglik" allow no search over orders; these are climbed over equivalence classes and over DAGs.',
    ),
    "start": Option(
        "Dag or list of arcs",
        "Where the search begins; by default without any arc but the required ones.",
    ),
    "start_order": Option("int", "Features in the condition of the first tests; 0 begins with the class alone."),
    "strict": Option(
        "bool",
        "Direct edges whose direction colliders dispute only by columns that separated their neighbours.",
    ),
    "superparent": Option(
        "str or int",
        "The feature that is a parent of all others; None is the one that says most about the class.",
    ),
    "suspicious": Option(
        '{"drop", "keep", "error"}',
        'What fit does with columns that cannot help: identifiers, numbers of rows and free text. "drop" leaves them '
        "out and warns; a column that ``categorical_features`` names is kept. Columns that determine the class, likely "
        'leaks, are kept and warned of. "keep" keeps every column and does not warn, "error" raises an error. '
        "``data_report_`` lists what was found.",
    ),
    "tabu": Option(
        "int",
        "Steps that may follow one another without a new best score; 0 stops at the first local optimum.",
    ),
    "tabu_length": Option("int", "How many of the last graphs may not be entered again."),
    "temperature": Option(
        '"auto" or float',
        "The exponent of the likelihood in the posterior, P(class) P(values | class)^temperature; below 1 it is less "
        'extreme. "auto" minimises the log-loss of the training rows, each without its own count; that takes '
        "one more pass over the rows. None is 1: the posterior of the network.",
    ),
    "test": Option(
        "test of independence or str",
        "How independence is tested: :class:`BayesFactor`, :class:`GTest`, :class:`ChiSquareTest`, "
        ':class:`ShrinkageTest` or :class:`PermutationTest`; for short "bayes-factor", "g2", "x2", "shrinkage" or '
        '"permutation". {test}',
    ),
    "time_limit": Option(
        "float",
        "Seconds for listing parent sets and for the search over orders; if they end early, a warning reports the gap.",
    ),
    "tol": Option("float", "When to stop: the least improvement that is worth another step."),
    "verbose": Option(
        "bool",
        "Print every step; a search also shows its last step in a terminal while it runs, whatever this is.",
    ),
}

# Why an option has several defaults or several meanings; a test demands an entry, and the page of options shows it.
REASONS: dict[str, str] = {
    "alpha": "Wrappers smooth the models of the folds little (0.01), as their papers and R's bnclassify do; Laplace's "
    "rule, 1, is the default elsewhere.",
    "criterion": "Every learner maximises what it was published with, and lists the values that it knows.",
    "direction": "HillClimbTAN chooses the direction of an arc, MarkovBlanketMML that of its search.",
    "discretize": "Ensembles merge intervals of one fine grid, whose default suits hierarchical CPTs.",
    "max_order": "The subsets of MMHC's candidates grow too many without a limit.",
    "max_parents": "KDB, SelectiveKDB and WrapperKDB need a limit, BNC2P is named after its; elsewhere the criterion "
    "limits them.",
    "max_iter": "An iteration of EM goes through all rows; one of WANBIA's or Discriminative's is a step of L-BFGS.",
    "method": "An integer programme finds one best graph, not many; a local search takes its place for the K best.",
    "n_bins": "MDLPQuantileDiscretizer adds finer cuts, and limits them by the number of rows itself.",
    "n_estimators": "Networks of an ensemble are cheap and vary more than models of subsets.",
    "n_jobs": "ModelAveraging spends its threads on whole models.",
    "normalize": "Discriminative learns other CPTs when they are to be normalised; weights are only rescaled.",
    "parameters": "AODE, A2DE, KBestANB and KBestGBN take smoothings only; the default smoothing is that of the "
    "learner, see `tanbark.LEARNERS`.",
    "random_state": "MarkovBlanketMML selects the same features every time by default: a pipeline fits it often.",
    "space": "The sparse candidate algorithm is published over graphs; its rounds already leave local optima.",
    "start": "Learners of conditional likelihood may also begin at naive Bayes.",
    "tabu": "The sparse candidate algorithm leaves local optima by new candidates instead.",
    "test": "RAI was published with the Bayes factor, PC and MMHC with G².",
    "time_limit": "A search that improves its graph step by step stops at any time and has no limit by default; exact "
    "search may take hours for its proof.",
    "tol": "What improves differs: a cross-validated score (wrappers), a gradient per row (WANBIA, Discriminative), a "
    "probability (EM).",
}

NETWORK = """network_ : Network
        The learnt network: CPTs, families, Markov blanket, a text drawing. Its queries know no temperature.
    dag_ : Dag
        Its graph; ``dag_.arcs()`` lists (parent, child) names.
    classes_ : array of the labels
    schema_ : Schema
        Columns with their categories or cut points.
    smoothing_ : Smoothing
        The smoothing of the CPTs.
    family_counts_ : tuple of arrays
        The counts that the CPTs were estimated from.
    temperature_ : float
        The exponent of the likelihood in class probabilities; 1 where no temperature was asked for.
    n_parameters_ : int
        Number of free parameters."""

CLIMBED = """structure_score_ : float
        The score of the graph that was found, in nats; higher is better.
    history_ : History
        Every step: the score after it, what it changed, the moves it chose from, and its seconds."""

SEARCHED = """structure_score_ : float
        The cross-validated score of the structure that was found.
    history_ : History
        Every step: its score, what it changed, the candidates it chose from, and its seconds; ``to_frame()`` and
        ``plot()`` show it."""

RANKED = """estimators_ : list of FixedStructure
        The fitted networks, by falling score of their graphs; ``estimators_[0].network_`` is the best one.
    graph_weights_ : array
        Their weights, which sum to one.
    report_ : RankedGraphs
        The graphs (``dags``), their ``scores`` in nats, the number of DAGs that each stands for (``sizes``), and
        whether they are ``proved`` the K best.
    n_parameters_ : int
        Number of free parameters of all networks."""

ATTRIBUTES = {"{network}": NETWORK, "{climbed}": CLIMBED, "{searched}": SEARCHED, "{ranked}": RANKED}
