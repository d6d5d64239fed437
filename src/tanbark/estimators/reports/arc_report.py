"""What every arc of a network is worth, and what the arcs that are not there would be worth."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tanbark.checks import check_count, check_ess
from tanbark.counts import MemoryCounts
from tanbark.display import html_table, short
from tanbark.draw.axes import make_axes, text_width
from tanbark.errors import OptionError, TableTooLargeError, find
from tanbark.estimators import inputs
from tanbark.estimators.network import NetworkClassifier
from tanbark.estimators.scikit import check_is_fitted, clone
from tanbark.estimators.training import check_same_length, chosen_rows, code_rows, kept_rows
from tanbark.graph import Dag
from tanbark.scores import bdeu, conditional_mutual_information
from tanbark.scores.mml import family_score
from tanbark.table import CodedTable
from tanbark.table.frames import make_frame

BLOCK_CELLS = 1 << 22  # cells of tables that are held at once
MEASURES = ("cmi", "log_likelihood", "aic", "bic", "bdeu", "mml", "bootstrap")
TITLES = ("CMI", "logL", "AIC", "BIC", "BDeu", "MML", "boot")
UNITS = {
    "cmi": "CMI (nats per row)", "log_likelihood": "log-likelihood gain (nats)", "aic": "AIC gain (nats)",
    "bic": "BIC gain (nats)", "bdeu": "log Bayes factor, BDeu (nats)", "mml": "MML gain (nits)",
    "bootstrap": "fraction of bootstrap samples with the arc",
}  # fmt: skip
SHOWN = 40  # arcs that a session or a notebook shows
NAME = 30  # characters of a column's name


@dataclass(frozen=True)
class Arc:
    """An arc, or a pair of columns without one, and what it is worth.

    Parameters
    ----------
    parent, child : str
        For a pair without an arc, the direction that would close no circle.
    kept : bool
        Whether the arc is in the network.
    given : tuple of str
        What is known when the arc is measured.
    rows : float
        Rows, or their weight, with a value in all of these columns.
    parameters : int
        Free parameters that the arc costs.
    cmi : float
        Conditional mutual information, in nats per row.
    log_likelihood : float
        What the arc adds to the maximised log-likelihood, in nats.
    aic, bic : float
        The same, less 1 or half the log of the rows for every parameter.
    bdeu : float
        Log Bayes factor for the arc under BDeu.
    mml : float
        Nits by which the arc shortens the message.
    bootstrap : float
        Share of the bootstrap samples in whose network the two are joined, whichever way; NaN without samples.
    """

    parent: str
    child: str
    kept: bool
    given: tuple[str, ...]
    rows: float
    parameters: int
    cmi: float
    log_likelihood: float
    aic: float
    bic: float
    bdeu: float
    mml: float
    bootstrap: float


@dataclass(frozen=True)
class ArcReport:
    """All arcs and rejected pairs of a network: those that are kept first, then by falling MML gain."""

    arcs: tuple[Arc, ...]

    def to_frame(self, backend: str | None = None) -> Any:
        """Return a frame with a row for every pair of columns.

        ``backend`` is "pandas", "polars" or "pyarrow"; by default the first of them that is installed.
        """
        data: dict[str, list[Any]] = {
            field.name: [getattr(arc, field.name) for arc in self.arcs] for field in fields(Arc)
        }
        data["given"] = [", ".join(given) for given in data["given"]]
        return make_frame(data, backend)

    def plot(self, ax: Any = None, *, measure: str = "mml", most: int = 30) -> Any:
        """Draw a bar for each of the first arcs, those of the network darker; give the axes of matplotlib.

        Without ``ax`` a new figure is made, which needs matplotlib.
        """
        find("measure", measure, dict.fromkeys(MEASURES))
        shown = self.arcs[:most][::-1]
        labels = [_arrow(arc) for arc in shown]
        if ax is None:
            widest = max((text_width(label, 8) for label in labels), default=0.0)
            ax = make_axes(figsize=(5.0 + widest / 72, 1.2 + 0.24 * len(shown)), layout="constrained")
        colours = ["tab:blue" if arc.kept else "lightgrey" for arc in shown]
        ax.barh(list(range(len(shown))), [getattr(arc, measure) for arc in shown], color=colours)
        ax.set_yticks(list(range(len(shown))), labels=labels, fontsize=8, parse_math=False)
        ax.axvline(0.0, color="black", linewidth=0.8)
        ax.set_xlabel(UNITS[measure])
        return ax

    def __len__(self) -> int:
        return len(self.arcs)

    def __iter__(self) -> Iterator[Arc]:
        return iter(self.arcs)

    def __str__(self) -> str:
        return self._text(len(self.arcs))

    def __repr__(self) -> str:
        return self._text(SHOWN)

    def _text(self, most: int) -> str:
        """Write a table of the first arcs; of one more where that is the last."""
        most += most + 1 == len(self.arcs)
        shown, more = self.arcs[:most], len(self.arcs) - most
        width = max((len(_arrow(arc)) for arc in shown), default=0) + 2
        lines = [" " * (width + 2) + "".join(f"{title:>10}" for title in TITLES)]
        for arc in shown:
            values = "".join(f"{value:>10}" for value in _numbers(arc))
            lines.append(f"{'*' if arc.kept else ' '} {_arrow(arc):<{width}}{values}")
        rest = [f"… and {more:,} more"] if more > 0 else []
        return "\n".join([*lines, *rest, "* in the network"])

    def _repr_html_(self) -> str:
        lines = [["✓" if arc.kept else "", arc.parent, arc.child, *_numbers(arc)] for arc in self.arcs]
        kept = sum(arc.kept for arc in self.arcs)
        title = f"{kept:,} arcs of the network (✓) and {len(lines) - kept:,} pairs without one: what an arc is worth"
        return html_table(title, ["", "parent", "child", *TITLES], lines, left=3, most=SHOWN)


def _numbers(arc: Arc) -> list[str]:
    return [f"{getattr(arc, name):.{4 if name == 'cmi' else 2}f}" for name in MEASURES]


def _arrow(arc: Arc) -> str:
    return f"{short(arc.parent, NAME)} {'->' if arc.kept else '..'} {short(arc.child, NAME)}"


def arc_report(
    clf: NetworkClassifier, X: Any, y: Any, sample_weight: Any = None, *, given: str = "class", ess: float = 1.0,
    n_bootstrap: int = 100, random_state: Any = None,
) -> ArcReport:  # fmt: skip
    """Measure every arc of a fitted network and every pair of columns that it does not join.

    Parameters
    ----------
    clf : fitted classifier with one network
    X, y, sample_weight
        Rows to measure on, usually those of training.
    given : {"class", "parents"}, default "class"
        What is known when an arc is measured: the class, for arcs between features, and nothing for arcs of the class;
        or the child's other parents in the network.
    ess : float, default 1.0
        Equivalent sample size of BDeu.
    n_bootstrap : int, default 100
        Samples of the rows on which the structure is learnt again, with the categories and cut points of ``clf``.
    random_state : int, RandomState or None
        How rows are drawn.

    Examples
    --------
    >>> import tanbark as tb
    >>> X = [[0, 0, 1], [0, 0, 0], [1, 1, 1], [1, 1, 0]] * 4
    >>> clf = tb.TAN(criterion="mml").fit(X, [0, 1, 1, 0] * 4)
    >>> report = tb.arc_report(clf, X, [0, 1, 1, 0] * 4, n_bootstrap=20, random_state=0)
    >>> [(arc.parent, arc.child, round(arc.mml, 2)) for arc in report if arc.kept and arc.parent != "class"]
    [('x0', 'x1', 6.45), ('x0', 'x2', 6.45)]
    """
    find("given", given, {"class": None, "parents": None})
    check_count("n_bootstrap", n_bootstrap)
    if not isinstance(clf, NetworkClassifier):
        msg = f"arc_report needs a classifier with one network, such as TAN; {type(clf).__name__} has none."
        raise OptionError(msg)
    check_ess(ess)
    check_is_fitted(clf)
    table = _coded(clf, X, y, sample_weight)
    sets = [(child, parent, *known) for parent, child, known in _pairs(clf.dag_, clf.schema_.target, given)]
    fractions = _bootstrap(clf, table, n_bootstrap, random_state)
    found = [
        _measure(clf, columns, counts, float(fractions[columns[0], columns[1]]), ess)
        for columns, counts in _tables(MemoryCounts(table, n_jobs=clf.n_jobs), sets, clf.max_cells)
    ]
    return ArcReport(tuple(sorted(found, key=lambda arc: (not arc.kept, -arc.mml))))


def _coded(clf: NetworkClassifier, X: Any, y: Any, sample_weight: Any) -> CodedTable:
    raw = inputs.read_features(clf, X)
    _, labels = inputs.read_labels(y, clf.classes_)
    weights = inputs.read_weights(sample_weight, raw.n_rows)
    check_same_length(raw.n_rows, len(labels))
    return code_rows(clf, *chosen_rows(kept_rows(clf, raw, weights), raw, labels, weights))


def _pairs(dag: Dag, target: int, given: str) -> Iterator[tuple[int, int, tuple[int, ...]]]:
    """List every two columns as (parent, child, what is known); without an arc, in the order of the graph."""
    place = {node: position for position, node in enumerate(dag.order)}
    for a in range(len(dag.names)):
        for b in range(a + 1, len(dag.names)):
            parent, child = (a, b) if place[a] < place[b] else (b, a)
            if given == "parents":
                known = tuple(p for p in dag.parents[child] if p != parent)
            else:
                known = () if target in (a, b) else (target,)
            yield parent, child, known


def _tables(
    counts: MemoryCounts, sets: list[tuple[int, ...]], max_cells: int
) -> Iterator[tuple[tuple[int, ...], NDArray[Any]]]:
    """Count tables, a block of them at a time."""
    sizes = [math.prod(counts.schema.cardinalities[c] for c in columns) for columns in sets]
    for columns, size in zip(sets, sizes, strict=True):
        if size > max_cells:
            names = [counts.schema.names[c] for c in columns]
            msg = f"The table of {names} needs {size:,} cells, above max_cells={max_cells:,}. Use given='class'."
            raise TableTooLargeError(msg)
    low = 0
    while low < len(sets):
        high, held = low + 1, sizes[low]
        while high < len(sets) and held + sizes[high] <= BLOCK_CELLS:
            held += sizes[high]
            high += 1
        yield from zip(sets[low:high], counts.tables(sets[low:high]), strict=True)
        low = high


def _measure(
    clf: NetworkClassifier, columns: tuple[int, ...], counts: NDArray[Any], fraction: float, ess: float
) -> Arc:
    child, parent, *known = columns
    r_child, r_parent = counts.shape[:2]
    n = counts.reshape(r_child, r_parent, -1).astype(float)
    rows = float(n.sum())
    helped, alone = n.transpose(2, 1, 0).reshape(-1, r_child), n.sum(axis=1).T
    parameters = (r_child - 1) * (r_parent - 1) * n.shape[2]
    cmi = conditional_mutual_information(n)
    names = clf.dag_.names
    return Arc(
        names[parent], names[child], parent in clf.dag_.parents[child], tuple(names[c] for c in known), rows,
        parameters, cmi, rows * cmi, rows * cmi - parameters,
        rows * cmi - 0.5 * math.log(max(rows, 1.0)) * parameters, bdeu(helped, ess=ess) - bdeu(alone, ess=ess),
        family_score(helped) - family_score(alone), fraction,
    )  # fmt: skip


def _bootstrap(clf: NetworkClassifier, table: CodedTable, n_samples: int, random_state: Any) -> NDArray[np.float64]:
    """Learn the structure on samples of the rows and return the fraction in which each two columns are joined."""
    n = len(clf.schema_.columns)
    if n_samples == 0:
        return np.full((n, n), np.nan)
    random, joined = inputs.read_random_state(random_state), np.zeros((n, n))
    for _ in range(n_samples):
        rows = random.randint(0, table.n_rows, table.n_rows)
        weights = None if table.weights is None else table.weights[rows]
        sample = MemoryCounts(
            CodedTable(table.schema, np.ascontiguousarray(table.codes[:, rows]), weights), n_jobs=clf.n_jobs
        )
        copy = clone(clf).set_params(parameters=None)
        copy.classes_, copy.schema_, copy.encoder_ = clf.classes_, clf.schema_, clf.encoder_
        copy._learn_structure(sample, sample)
        for child, parents in enumerate(copy.dag_.parents):
            joined[child, list(parents)] += 1
            joined[list(parents), child] += 1
    return joined / n_samples
