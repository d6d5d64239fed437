"""What the R peers have in common: is the package there, and how is it started."""

from __future__ import annotations

import os
import shutil
import subprocess
from functools import cache
from pathlib import Path

SCRIPT = Path(__file__).with_name("worker.R")


def rscript() -> str:
    """The program that runs R: RSCRIPT in the environment, or the one on the path; R_LIBS says where packages are."""
    return os.environ.get("RSCRIPT", "Rscript")


@cache
def r_version(package: str) -> str | None:
    """The version of an R package, or None where R or the package is missing."""
    if shutil.which(rscript()) is None:
        return None
    ask = f"cat(as.character(packageVersion('{package}')))"
    answer = subprocess.run([rscript(), "-e", ask], capture_output=True, text=True, check=False)
    return answer.stdout.strip() if answer.returncode == 0 else None


def why_not(package: str) -> str | None:
    if shutil.which(rscript()) is None:
        return "no Rscript"
    return None if r_version(package) else "not installed in R"


def command(package: str) -> list[str]:
    return [rscript(), str(SCRIPT), package]
