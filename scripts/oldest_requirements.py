"""Print requirements-oldest.txt: every lower bound of pyproject.toml as the version itself.

python scripts/oldest_requirements.py > requirements-oldest.txt
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

EXTRAS = ("frames", "big", "cluster", "spark", "plot", "cli", "onnx", "test")
NOT_TESTED = {"playwright", "nbconvert"}  # the explorer's tests do not depend on old versions
HEAD = "# The lowest versions that pyproject.toml promises, for `make test-oldest`; by scripts/oldest_requirements.py."


def requirements(pyproject: Path) -> str:
    """Return the text of the file; what pyproject.toml pins to one version is left out."""
    project = tomllib.loads(pyproject.read_text(encoding="utf-8"))["project"]
    optional = project["optional-dependencies"]
    wanted = [*project["dependencies"], *(each for extra in EXTRAS for each in optional[extra])]
    found: dict[str, str] = {}
    for each in wanted:
        lowest = re.fullmatch(r"([\w.-]+(?:\[\w+\])?)>=([\d.]+)(?:,.*)?", each)
        if lowest and lowest[1] not in NOT_TESTED:
            name, version = lowest.groups()
            if found.setdefault(name, version) != version:
                msg = f"pyproject.toml promises two lowest versions of {name}: {found[name]} and {version}."
                raise ValueError(msg)
    return "\n".join([HEAD, *(f"{name}=={version}" for name, version in found.items())]) + "\n"


if __name__ == "__main__":
    print(requirements(Path(__file__).resolve().parents[1] / "pyproject.toml"), end="")
