"""Model files of version 1: the same content, under the names that options had then."""

from __future__ import annotations

from typing import Any

RENAMED = {
    "score": "criterion", "objective": "criterion", "unseen": "handle_unknown", "k": "max_parents", "over": "space",
    "shake": "perturbation", "epsilon": "tol", "pseudo": "min_count", "m": "min_rows",
}  # fmt: skip
OF_OWNER = {
    ("SparseCandidateGBN", "k"): "n_candidates",
    ("sparse-candidate", "k"): "n_candidates",
    ("MANB", "prior"): "arc_prior",
}
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
    for old, value in options.items():
        new = OF_OWNER.get((owner, old)) or RENAMED.get(old, str(old))
        found[new] = VALUES.get((new, value), value) if isinstance(value, str) else _part(value)
    chosen = found.get("options")
    if owner == "BayesNetClassifier" and isinstance(chosen, dict) and "pairs" in chosen:
        found["options"] = {"pairs": _pairs(found.get("learner", "tan"), chosen["pairs"])}
    return found


def _pairs(learner: Any, pairs: Any) -> Any:
    """Rename the options of a learner that was chosen by name, which are kept as a list of pairs."""
    try:
        return [list(pair) for pair in _options(learner, dict(pairs)).items()]
    except (TypeError, ValueError):
        return pairs  # damaged, which is found where the options are read


def _part(value: Any) -> Any:
    """Rename the options of a part, such as parameters or the model that is averaged."""
    if isinstance(value, dict) and "part" in value:
        return {**value, "options": _options(value["part"], value.get("options"))}
    return value
