"""The tables of other readings of the paper, and the single figures that the prose names."""

from __future__ import annotations

from statistics import mean

from benchmarks.studies.rai_anb import plan
from benchmarks.studies.rai_anb.methods import CMDL_VARIANTS
from benchmarks.studies.rai_anb.readings import READINGS
from benchmarks.studies.rai_anb.tables import markdown, paper_rows

EXACT = ("exact-GBN", "exact-ANB")
DIFFERENT = 0.015  # between two readings of the exact columns: such sets are listed


def parts(found: dict) -> dict[str, str]:
    """Write every table of readings."""
    return {
        "pooled": pooled(found), "pooled_sets": ", ".join(found["pooled"]["sets"]),
        "pooled_chance": f"{found['pooled']['by_chance']:.1f}",
        "exact_rms": exact_rms(found), "exact_sets": exact_sets(found), "exact_shuffles": exact_shuffles(found),
        "otherwise": otherwise(found), "orders": orders(found), "orders_sum": orders_sum(found),
        "starts_rms": starts_rms(found), "starts_sets": starts_sets(found), "labels": labels(found),
        "tan": tan(found), "tan_groups": tan_groups(found),
        "dota2": dota2(found), "tan_rms": f"{found['tan']['TAN']:.3f} and {found['tan']['aside']:.3f}",
    }  # fmt: skip


def pooled(found: dict) -> str:
    """How many of the printed figures are k / N."""
    columns = found["pooled"]["columns"]
    return markdown(
        ["", *columns],
        [["figures that are k / N", *(f"{told['shares']} of {told['sets']}" for told in columns.values())]],
    )


def exact_rms(found: dict) -> str:
    """Root mean square distances from the paper of every reading."""
    rows = []
    for method, told in found["exact"]["rms"].items():
        best = min(told[reading] for reading in READINGS)
        cells = [f"**{told[r]:.4f}**" if told[r] == best else f"{told[r]:.4f}" for r in READINGS]
        rows.append([method, str(told["sets"]), *cells])
    return markdown(["column", "sets", *READINGS], rows)


def exact_sets(found: dict) -> str:
    """The sets where the readings differ."""
    rows = []
    for one in found["exact"]["sets"]:
        for method in EXACT:
            told = one["methods"][method]
            values = [told[reading] for reading in READINGS]
            if max(values) - min(values) > DIFFERENT:
                nearest = min(READINGS, key=lambda reading: abs(told[reading] - told["paper"]))
                cells = [f"**{told[r]:.4f}**" if r == nearest else f"{told[r]:.4f}" for r in READINGS]
                rows.append([f"{one['set']}, {method}", str(told["shuffles"]), *cells, f"{told['paper']:.4f}"])
    return markdown(["", "shuffles", *READINGS, "paper"], rows)


def exact_shuffles(found: dict) -> str:
    """Name how many sets the readings were tried on, with how many shuffles, and which were left out."""
    tried = {one["set"]: one["methods"]["exact-ANB"]["shuffles"] for one in found["exact"]["sets"]}
    times = sorted(set(tried.values()))
    shuffles = str(times[0]) if len(times) == 1 else f"{times[0]} to {times[-1]}"
    left = [one["set"] for one in found["small"] if one["set"] not in tried]
    every = f"all {len(tried)} sets" if not left else f"{len(tried)} sets (without {', '.join(left)})"
    return f"{every}, {shuffles} shuffles each"


def otherwise(found: dict) -> str:
    """Sets prepared in two ways: parents, edges and accuracies of both."""
    sizes = {**paper_rows(found, "table_2"), **paper_rows(found, "table_4")}
    accuracies = {**paper_rows(found, "table_1"), **paper_rows(found, "table_3")}
    by_name = {one["set"]: one["methods"] for one in found["small"] + found["large"]}
    rows = []
    for name, told in found["otherwise"].items():
        base = name.split(",")[0]
        if base == "mfeat-fac":
            continue
        for label, methods in ((f"{base}, as used here", by_name[base]), (name, told)):
            line = [label]
            for method in ("exact-GBN", "exact-ANB", "RAI-ANB"):
                mine, printed = methods.get(method), sizes[base]
                if mine is None or method not in printed["NMB"]:
                    line.append("—")
                    continue
                parents = f"{mine['max_parents']:.1f} ({printed['NMP'][method]:g}), " if "NMP" in printed else ""
                line.append(f"{parents}{mine['blanket_edges']:.1f} ({printed['NMB'][method]:g})")
            both = [
                m
                for m in ("Naive Bayes", "TAN", "exact-GBN", "exact-ANB", "RAI-GBN", "RAI-ANB")
                if m in told and m in by_name[base]
            ]
            gaps = [methods[m]["accuracy"] - accuracies[base]["accuracy"][m] for m in both]
            line += [f"{mean(gap**2 for gap in gaps) ** 0.5:.4f}", str(min(methods[m]["shuffles"] for m in both))]
            rows.append(line)
    head = ["NMP, NMB exact-GBN", "NMP, NMB exact-ANB", "NMB RAI-ANB", "accuracies: root mean square", "shuffles"]
    head[2] = "NMP, NMB RAI-ANB"
    return markdown(["preparation", *head], rows)


def dota2(found: dict) -> str:
    """TAN on dota2 with its codes kept and cut."""
    (kept,) = [one["methods"]["TAN"]["accuracy"] for one in found["large"] if one["set"] == "dota2"]
    cut = found["otherwise"]["dota2, codes cut"]["TAN"]["accuracy"]
    return f"{kept:.4f} kept, {cut:.4f} cut, paper {paper_rows(found, 'table_3')['dota2']['accuracy']['TAN']:.4f}"


def orders(found: dict) -> str:
    """RAI-ANB from either start on every set."""
    rows = []
    for one in found["orders"]["sets"]:
        away = [abs(one[f"edges_{start}"] - one["paper_edges"]) for start in (0, 1)]
        edges = [f"{one[f'edges_{s}']:.1f}" for s in (0, 1)]
        if away[0] != away[1]:
            nearer = int(away[1] < away[0])
            edges[nearer] = f"**{edges[nearer]}**"
        accuracy = [f"{one[f'accuracy_{s}']:.4f}" for s in (0, 1)]
        line = [one["set"], str(one["shuffles"]), *edges, f"{one['paper_edges']:g}", *accuracy]
        rows.append([*line, f"{one['paper_accuracy']:.4f}"])
    head = [
        "NMB: class alone",
        "class and one feature",
        "paper",
        "accuracy: class alone",
        "class and one feature",
        "paper",
    ]
    return markdown(["data set", "shuffles", *head], rows)


def orders_sum(found: dict) -> str:
    """What the table of starts adds up to."""
    sets = found["orders"]["sets"]
    rows = []
    for start, name in enumerate(("class alone", "class and one feature")):
        away = [abs(one[f"edges_{start}"] - one["paper_edges"]) for one in sets]
        other = [abs(one[f"edges_{1 - start}"] - one["paper_edges"]) for one in sets]
        usable = [one for one in sets if one["set"] != "mfeat-fac"]
        gaps = [abs(one[f"accuracy_{start}"] - one["paper_accuracy"]) for one in usable]
        relative = [gap / one["paper_edges"] for gap, one in zip(away, sets, strict=True)]
        few = [gap for gap, one in zip(away, sets, strict=True) if one["paper_edges"] < 100]
        rows.append([
            name, f"{sum(away):.1f}", f"{sum(few):.1f}", f"{100 * mean(relative):.1f} %",
            str(sum(a < b for a, b in zip(away, other, strict=True))), f"{mean(gaps):.4f}",
            f"{mean(one[f'accuracy_{start}'] for one in sets):.4f}",
            f"{sum(one[f'tests_{start}'] for one in sets):,.0f}",
        ])  # fmt: skip
    head = [
        "NMB error, sum",
        "the same, small sets",
        "relative, mean",
        "sets that it is nearer on",
        "accuracy error, mean",
    ]
    return markdown(["first tests given", *head, "our accuracy, mean", "tests, sum"], rows)


def starts_rms(found: dict) -> str:
    """Distances of GBN-CMDL's starts and moves from the paper's column."""
    told, rows = found["starts"], []
    for method in ("GBN-CMDL", *CMDL_VARIANTS):
        line = [describe(method)]
        for group in ("every", "many", "some"):
            one = told[f"rms_{group}"].get(method)
            line += [f"{one['rms']:.4f}", f"{one['median']:.4f}"] if one and told[group] else ["—", "—"]
        rows.append(line)
    names = (f"{len(told['every'])} sets of few rows", f"{len(told['many'])} of many", f"all {len(told['some'])}")
    head = [f"{name}: {what}" for name in names for what in ("root mean square", "median")]
    return markdown(["start and moves", *head], rows)


def describe(method: str) -> str:
    """Name a variant of GBN-CMDL."""
    return {
        "GBN-CMDL": "no arcs; add, delete, reverse", "GBN-CMDL, no reversal": "no arcs; add, delete",
        "GBN-CMDL, naive": "naive Bayes; add, delete, reverse",
        "GBN-CMDL, naive, no reversal": "naive Bayes; add, delete", "GBN-CMDL, TAN": "TAN; add, delete, reverse",
        "GBN-CMDL, class a root": "no arcs; none into the class",
        "GBN-CMDL, two parents": "no arcs; at most two parents",
        "GBN-CMDL, naive, two parents": "naive Bayes; at most two parents",
    }[method]  # fmt: skip


def starts_sets(found: dict) -> str:
    """GBN-CMDL by set: three starts and the paper."""
    rows = []
    methods = ("GBN-CMDL", *plan.STARTS)
    for name, told in found["starts"]["sets"].items():
        near = {m: abs(v - told["paper"]) for m, v in told["accuracy"].items() if m in methods}
        best = min(near.values())
        line = []
        for method in methods:
            value = told["accuracy"].get(method)
            text = "—" if value is None else f"{value:.4f}"
            line.append(f"**{text}**" if value is not None and near[method] == best else text)
        rows.append([name, *line, f"{told['paper']:.4f}"])
    return markdown(["data set", *(describe(m) for m in methods), "paper"], rows)


def labels(found: dict) -> str:
    """mfeat-fac with other folds and other labels."""
    told = found["labels"]
    methods = list(told["paper"]["accuracy"])
    rows = []
    for name, one in told.items():
        line = [f"{one['accuracy'][m]:.4f}" if m in one["accuracy"] else "—" for m in methods]
        edges = one["edges"].get("RAI-ANB")
        line += ["—" if edges is None else f"{edges:.1f}", f"{one['rms']:.3f}" if "rms" in one else ""]
        rows.append([name.removeprefix("mfeat-fac").lstrip(", ") or "as it is", *line])
    return markdown(["mfeat-fac", *methods, "NMB RAI-ANB", "root mean square"], rows)


def tan(found: dict) -> str:
    """TAN where the paper's is far from it, with the class left aside."""
    rows = [
        [one["set"], str(one["classes"]), f"{one['TAN']:.4f}", f"{one['aside']:.4f}", f"{one['paper']:.4f}"]
        for one in found["tan"]["sets"]
        if abs(one["TAN"] - one["paper"]) > 0.02
    ]
    return markdown(["data set", "classes", "TAN", "class left aside", "paper"], rows)


def tan_groups(found: dict) -> str:
    """TAN's distance from the paper by the number of classes."""
    rows = [
        [name, str(told["sets"]), f"{told['mean']:+.4f}", f"{told['rms']:.4f}"]
        for name, told in found["tan"]["groups"].items()
    ]
    return markdown(["", "sets", "mean difference", "root mean square"], rows)
