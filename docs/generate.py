"""Pages that are made, not written: the learners in the registry, the options, the reference."""

import inspect
import re
from pathlib import Path

import numpy as np
from sklearn.datasets import load_breast_cancer

import tanbark as tb
from tanbark.estimators.catalogue import Entry, catalogue, make_classifier
from tanbark.estimators.mixture import PosteriorMixture
from tanbark.estimators.models.aode import AveragedClassifier
from tanbark.estimators.models.ensemble import PooledClassifier
from tanbark.estimators.option_texts import OPTIONS, REASONS
from tanbark.estimators.options import Use, described

# when to take a learner, and what it costs: N rows, n features, r states of a feature, c classes, v folds
NOTES = {
    "naive": ("First, always: as a baseline, with few rows, or with very many features.", "O(Nn)"),
    "tan": ("The usual next step; `criterion=\"bic\"` leaves out arcs that few rows cannot support.", "O(Nn²)"),
    "kdb": ("Many rows, where features depend on more than one other.", "O(Nn²), tables of r^(k+1) c cells"),
    "skdb": (
        "Many rows, also in files: the number of parents and of features is chosen in one more pass.",
        "O(Nn²), then O(Nnk) for the choice",
    ),
    "spode": ("One feature is known to govern the others.", "O(Nn²)"),
    "tan-hc": ("Accuracy matters more than time, and n is moderate.", "O(v N n³) at worst"),
    "tan-hcsp": ("As `tan-hc`, many times quicker for larger n.", "O(v N n²) and fewer tries"),
    "kdb-hc": ("As `tan-hc`, with more parents.", "O(v N n³) at worst"),
    "fssj": ("Many useless features, a few that act together.", "O(v N n³) at worst"),
    "bsej": ("Most features are useful, a few repeat others.", "O(v N n³) at worst"),
    "selective": ("Useless or repeated features harm naive Bayes.", "O(v N n²)"),
    "chow-liu": ("The joint of all columns matters, not only the class.", "O(Nn²)"),
    "hill-climb": ("The graph itself is the aim, or few features matter to the class.", "O(N n²) per step"),
    "ban": ("Enough rows for a graph among the features.", "O(N n²) per step"),
    "sparse-candidate": ("Hill climbing over hundreds of columns.", "O(N n k) per step"),
    "selective-mml": ("Features are to be chosen without folds, by message length.", "O(N n²)"),
    "rai-anb": ("Enough rows for a graph, too many features for exact search.", "grows with the order of the tests"),
    "rai-gbn": ("As `rai-anb`, with the class as one column of many.", "grows with the order of the tests"),
    "pc-anb": ("The usual baseline of tests; few neighbours per feature.", "grows with the order of the tests"),
    "pc-gbn": ("As `pc-anb`, with the class as one column of many.", "grows with the order of the tests"),
    "mmhc-anb": ("As `ban` over hundreds of features.", "tests of up to 2^k sets of k candidates, then as `ban`"),
    "mmhc-gbn": ("As `hill-climb` over hundreds of columns.", "as `mmhc-anb`, then as `hill-climb`"),
    "exact-anb": (
        "Up to about 25 features, more where the rows allow, and the best graph is wanted, proved.",
        "O(n² 2ⁿ) time, O(2ⁿ) memory up to about 25 columns; beyond, as much as the rows leave to prune",
    ),
    "exact-gbn": ("As `exact-anb`, over all columns.", "as `exact-anb`"),
    "acll-tan": ("As `tan`, with a tree chosen for the class's sake.", "O(Nn²)"),
    "bnc2p": ("Prediction matters, not the joint; n is moderate.", "O(N c n) for each of the arcs tried at a step"),
    "cmdl-gbn": ("As `bnc2p`, with a penalty instead of a limit of parents.", "as `bnc2p`"),
    "classifier": ("First, where accuracy matters and one graph does not.", "twelve networks of O(Nn²), also in folds"),
    "network-ensemble": ("As `classifier`, without a correction and folds.", "twelve networks of O(Nn²)"),
    "kbest-anb": (
        "As `exact-anb`, where several graphs are nearly as probable: few rows.",
        "O(k n² 2ⁿ) up to 18 features, then a local search",
    ),
    "kbest-gbn": ("As `kbest-anb`, over all columns.", "as `kbest-anb`"),
    "model-averaging": ("Accuracy is wanted more than one graph.", "that of its members"),
    "fixed": ("Somebody who knows drew the graph.", "O(N) per family"),
    "aode": ("Accuracy without choosing a structure; few states.", "O(Nn²), CPTs of n² r² c cells, or what fits"),
    "a2de": ("As `aode`, with more rows.", "O(Nn³), CPTs of n³ r³ c cells, or what fits"),
}  # fmt: skip

GROUPS = {
    "Classifiers": lambda thing: inspect.isclass(thing) and hasattr(thing, "predict_proba"),
    "Parts of classifiers": lambda thing: inspect.isclass(thing) and hasattr(thing, "get_params"),
    "Networks": inspect.isclass,
    "Functions": inspect.isfunction,
}
MODULES = {  # names that are not at the top
    "Results of classifiers": (
        "tanbark.estimators",
        "Choice Explanation RowExplanation TextExplanation PredictionSets CrossValidation Comparison Arc ArcReport "
        "Scan SignedRank bayesian_signed_rank hommel graph_score",
    ),
    "Results of queries": ("tanbark.graph", "Posterior Posteriors Assignment Cost Cpdag"),
    "Columns": ("tanbark.table", "Schema Column"),
    "Counts": ("tanbark.counts", "StoredCounts load_counts cmi"),
    "Scores": ("tanbark.scores", "kl_divergence mutual_information conditional_mutual_information bdeu k2"),
    "Other programs": (
        "tanbark.export",
        "read_network write_network to_networkx to_pgmpy to_pyagrum from_networkx from_pgmpy from_pyagrum "
        "to_sql to_python to_onnx",
    ),
}  # fmt: skip
POOLED = {
    "classifier": "Its `network_`, one network to read. Those that are pooled have up to three feature parents.",
    "network-ensemble": "A network with one feature parent; those that are pooled have up to three.",
}
COLUMNS = [0, 1, 4, 5, 6, 7, 20, 24, 27]


def write_all(folder: Path) -> None:
    """Write all pages."""
    folder.mkdir(exist_ok=True)
    _write(folder / "learners.md", learners(folder))
    _write(folder / "options.md", options())
    _write(folder / "api.md", reference())
    _write(folder / "shared.md", shared())


def _write(path: Path, text: str) -> None:
    """Write a page if it changed, so that an unchanged one is not built again."""
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def learners(folder: Path) -> str:
    """Tell of every learner in the registry, with the network that it finds in the same rows."""
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    X, y = X.iloc[:, COLUMNS], y.map({0: "malignant", 1: "benign"}).rename("tumour")
    parts = [
        "# The learners",
        "Every picture shows what the learner finds in nine columns of scikit-learn's breast-cancer data. The table is "
        "that of `tanbark learners`; costs are in rows N, features n, states r, classes c and folds v.",
        "| name | class | what | reference |\n|---|---|---|---|",
    ]
    entries = catalogue()
    parts[-1] += "".join(
        f"\n| [{e.name}](#{e.name}) | `{e.estimator}` | {e.title} | {e.reference} |" for e in entries.values()
    )
    for entry in entries.values():
        parts.append(f"({entry.name})=\n## {entry.name}: {entry.title}\n\n{entry.summary}")
        when, cost = NOTES.get(entry.name, ("See the class.", "see the class"))
        parts.append(
            f"*When*: {when} *Cost*: {cost}. *Options*: {_options(entry)}. *In Python*: `tb.{entry.estimator}`."
        )
        parts.append(f"*Reference*: {entry.reference.rstrip('.')}.")
        picture, caption = _picture(entry, X, y)
        _write(folder / f"{entry.name}.svg", picture)
        parts.append(f"![{entry.title}]({entry.name}.svg)\n\n{caption}".rstrip())
    return "\n\n".join(parts) + "\n"


def _options(entry: Entry) -> str:
    return ", ".join(f"`{option}`" for option in entry.options) or "those that all share"


def _picture(entry: Entry, X: object, y: object) -> tuple[str, str]:
    options = {"random_state": 0, "cv": 5, "verbose": False}
    if entry.name == "fixed":
        arcs = [("mean radius", "tumour"), ("tumour", "mean texture"), ("tumour", "worst radius")]
        clf = tb.FixedStructure([*arcs, ("mean radius", "worst radius")])
    else:
        clf = make_classifier(entry.name, {name: options[name] for name in entry.options if name in options})
    if isinstance(clf, AveragedClassifier):
        return str(tb.SPODE().fit(X, y).network_.svg()), "One of the models whose joints are averaged."
    fitted, caption = clf.fit(X, y), ""
    if isinstance(fitted, PosteriorMixture):
        fitted, caption = fitted.estimators_[0], "One of the models that are averaged."
    if isinstance(fitted, PooledClassifier):
        read = fitted.network_ if isinstance(fitted, tb.Classifier) else tb.KDB(1).fit(X, y).network_
        return str(read.svg()), POOLED[entry.name]
    report = tb.arc_report(fitted, X, y, n_bootstrap=0)
    weights = {(arc.parent, arc.child): float(np.maximum(arc.cmi, 0)) for arc in report if arc.kept}
    return str(fitted.network_.svg(weights=weights)), caption


def reference() -> str:
    """List every public name by kind, with a page of its own."""
    parts = [
        "# Public names",
        "Classifiers, their parts and functions are in `tanbark`, the rest where its heading says. The page of a class "
        "has its own methods; [Methods of classifiers](shared.md) has those that many share.",
    ]
    told: set[str] = set()
    for title, belongs in GROUPS.items():
        names = [name for name in tb.__all__ if name not in told and belongs(getattr(tb, name))]
        told.update(names)
        parts.append(f"## {title}\n\n{_autosummary(f'tanbark.{name}' for name in names)}")
    for title, (module, names) in MODULES.items():
        parts.append(f"## {title}: `{module}`\n\n{_autosummary(f'{module}.{name}' for name in names.split())}")
    errors = [
        name for name, thing in vars(tb.errors).items() if inspect.isclass(thing) and issubclass(thing, Exception)
    ]
    for title, module, names in (
        ("Errors and warnings", "tanbark.errors", errors),
        ("Pictures", "tanbark.plot", tb.plot.__all__),
    ):
        parts.append(f"## {title}: `{module}`\n\n{_autosummary(f'{module}.{name}' for name in names)}")
    return "\n\n".join(parts) + "\n"


def bases() -> list[type]:
    """List the classes that are not public and whose methods public classifiers inherit; derived ones first."""
    public = estimators()
    lines = [base for cls in public if hasattr(cls, "predict_proba") for base in cls.__mro__]
    found = [base for base in dict.fromkeys(lines) if base.__module__.startswith("tanbark.") and base not in public]
    return [base for base in found if _methods(base)]


def _methods(cls: type) -> list[str]:
    """List the public methods and properties that a class defines itself."""
    kinds = (property, classmethod, staticmethod)
    return [
        name
        for name, thing in vars(cls).items()
        if name[0] != "_" and not re.fullmatch("set_.*_request", name)
        if inspect.isfunction(thing)
        or isinstance(thing, kinds)
        or hasattr(thing, "__wrapped__")
        or hasattr(thing, "fn")
    ]


def shared() -> str:
    """Document the methods that classifiers inherit, once."""
    parts = [
        "# Methods of classifiers",
        "Classifiers inherit these from classes that are not public themselves. A class's own page names the classes "
        "that it is derived from, and has only what is its own.",
    ]
    for base in bases():
        above = [other for other in bases() if other is not base and issubclass(other, base)]
        own = [name for name in _methods(base) if not any(name in _methods(other) for other in above)]
        heirs = [f"`{cls.__name__}`" for cls in estimators() if issubclass(cls, base)]
        first = (inspect.getdoc(base) or "").partition("\n\n")[0].replace("\n", " ")
        parts.append(f"## {base.__name__}\n\n{_linked(first)}\n\n*Inherited by* {', '.join(heirs)}.")
        block = f".. currentmodule:: {base.__module__}\n\n.. autoclass:: {base.__name__}\n   :members: {', '.join(own)}"
        parts.append(f"```{{eval-rst}}\n{block}\n```")
    return "\n\n".join(parts) + "\n"


def estimators() -> list[type]:
    """List the public classes that have options."""
    things = [getattr(tb, name) for name in tb.__all__]
    return [thing for thing in things if inspect.isclass(thing) and hasattr(thing, "get_params")]


def options() -> str:
    """List every option with its meaning, the estimators that have it, and their defaults."""
    parts = [
        "# The options",
        "One name, one meaning: every option of every classifier and part, with its default. Where defaults or "
        "meanings differ, the reason is given.",
    ]
    for name, uses in described(estimators()).items():
        parts.append(f"## `{name}`")
        if name in OPTIONS:
            kind, meaning = OPTIONS[name]
            parts.append(f"{meaning.replace('{smoothing}', 'of the learner')} *({kind})*")
        alike: dict[tuple[str, str], list[str]] = {}
        for use in sorted(uses, key=lambda use: use.estimator.lower()):
            alike.setdefault((repr(use.default), _own(name, use)), []).append(f"`{use.estimator}`")
        lines = [f"- default `{default}`: {', '.join(names)}{own}" for (default, own), names in alike.items()]
        parts.append("\n".join(lines))
        if name in REASONS:
            parts.append(f"*Why they differ*: {REASONS[name]}")
    return "\n\n".join(_linked(part) for part in parts) + "\n"


def _own(name: str, use: Use) -> str:
    """Return the values and the meaning that an estimator gives an option itself."""
    shared = name in OPTIONS and use.meaning.startswith(OPTIONS[name].meaning.partition("{")[0].rstrip())
    return "" if shared and use.kind == OPTIONS[name].kind else f". {use.meaning} *({use.kind})*"


def _linked(text: str) -> str:
    """Turn the references of docstrings into code, which Markdown knows."""
    return re.sub(r":\w+:`~?(?:[\w.]+\.)?(\w+)`", r"`\1`", text).replace("``", "`")


def _autosummary(names: object) -> str:
    listed = "\n".join(f"   {name}" for name in names)
    return f"```{{eval-rst}}\n.. autosummary::\n   :toctree: api\n   :nosignatures:\n\n{listed}\n```"
