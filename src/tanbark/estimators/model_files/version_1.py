"""Model files of version 1: the same content, under the names that options had then."""

from __future__ import annotations

from typing import Any

from tanbark.table.schema_json import demand

RENAMED = {
    "score": "criterion", "objective": "criterion", "unseen": "handle_unknown", "k": "max_parents", "over": "space",
    "shake": "perturbation", "epsilon": "tol", "pseudo": "min_count", "m": "min_rows", "smooth": "alpha",
}  # fmt: skip
OF_OWNER = {
    ("SparseCandidateGBN", "k"): "n_candidates",
    ("sparse-candidate", "k"): "n_candidates",
    ("MANB", "prior"): "arc_prior",
}
SMOOTHINGS = {
    "laplace": ("Laplace", "alpha"),
    "bdeu": ("BDeu", "ess"),
    "m-estimate": ("MEstimate", "m"),
    "k2": ("K2", None),
}
BY_NAME = {"space": "dags", "tabu": 0}  # defaults of hill climbing where it was chosen by name
VALUES = {("space", "classes"): "equivalence-classes", ("space", "graphs"): "dags"}


def from_version_1(document: dict[str, Any]) -> dict[str, Any]:
    """Return the document of a model with the names that its options have now."""
    changed = {**document, "options": _options(document["estimator"], document["options"])}
    if isinstance(document.get("members"), list):
        changed["members"] = [from_version_1(member) for member in document["members"]]
    return changed


def _options(owner: Any, options: Any) -> Any:
    if not isinstance(owner, str) or not isinstance(options, dict):
        return options  # damaged, which is found where the options are read
    found: dict[str, Any] = {}
    options, smoothing = _smoothing(options)
    for old, value in options.items():
        new = OF_OWNER.get((owner, old)) or RENAMED.get(old, str(old))
        found[new] = VALUES.get((new, value), value) if isinstance(value, str) else _part(value)
    chosen = found.get("options")
    if owner == "BayesNetClassifier" and isinstance(chosen, dict) and "pairs" in chosen:
        found["options"] = {"pairs": _pairs(found.get("learner", "tan"), chosen["pairs"])}
    if smoothing is not None:
        part = found.get("parameters")
        if isinstance(part, dict) and isinstance(part.get("options"), dict):
            found["parameters"] = {**part, "options": {**part["options"], "smoothing": smoothing}}
        else:
            found["parameters"] = smoothing
    return found


def _smoothing(options: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any] | None]:
    """Take the two options of the smoothing out of the others, and return it as a part."""
    if not {"alpha", "prior"} <= options.keys():
        return options, None
    rest = {name: value for name, value in options.items() if name not in ("alpha", "prior")}
    demand(isinstance(options["prior"], str) and options["prior"] in SMOOTHINGS, "the option 'prior' is none")
    part, name = SMOOTHINGS[options["prior"]]
    return rest, {"part": part, "options": {} if name is None else {name: options["alpha"]}}


def _pairs(learner: Any, pairs: Any) -> Any:
    """Rename the options of a learner that was chosen by name, which are kept as a list of pairs."""
    before = BY_NAME if learner in ("hill-climb", "ban") else {}
    return [list(pair) for pair in {**before, **_options(learner, dict(pairs))}.items()]


def _part(value: Any) -> Any:
    """Rename the options of a part, such as parameters or the model that is averaged."""
    if isinstance(value, dict) and "part" in value:
        return {**value, "options": _options(value["part"], value.get("options"))}
    return value
