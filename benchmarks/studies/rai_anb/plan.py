"""Which cells the study runs, the cheap and telling ones first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from benchmarks.studies.rai_anb import data
from benchmarks.studies.rai_anb.cells import WHOLE, Cell
from benchmarks.studies.rai_anb.methods import CMDL_VARIANTS, METHODS, RAI_VARIANTS, TAN_VARIANTS

SEED = 2022
SEEDS = tuple(range(SEED, SEED + 10))
EXACT = ("exact-GBN", "exact-ANB")
TREES = ("Naive Bayes", "TAN")
RAI = ("RAI-GBN", "RAI-ANB")
FEW_ROWS = 1500  # sets of at most as many rows are shuffled ten times
# Processor seconds of the two exact searches for ten folds: german 30, mushroom 70, spect 110, bank 150, waveform 240.
SLOW_EXACT = ("german", "mushroom", "spect", "bank", "waveform-21")
SLOW_LARGE = ("musk2", "micro-mass", "connect-4")
FEW_OF_MANY_COLUMNS = ("flowmeters-d", "movement-libras", "musk1")  # sets of Table 3 with fewer than 500 rows
STARTS = ("GBN-CMDL, naive", "GBN-CMDL, TAN", "GBN-CMDL, class a root")


def small(tables: dict) -> dict[str, int]:
    """Give the sets of Table 1 with their rows (german has 1,000 of the 5,000 that are printed)."""
    return {row["file"]: 1000 if row["file"] == "german" else row["rows"] for row in tables["table_1"]["rows"]}


def large(tables: dict) -> list[str]:
    return [row["file"] for row in tables["table_3"]["rows"] if row["file"]]


def cells(tables: dict) -> list[Cell]:
    """List the cells in the order in which they are run."""
    return list(dict.fromkeys(cell for part in parts(tables) for cell in part))


def parts(tables: dict) -> Iterator[list[Cell]]:
    """Give the parts of the study, the cheap and telling ones first."""
    sets, one, five = small(tables), SEEDS[:1], SEEDS[:5]
    few = [name for name, rows in sets.items() if rows <= FEW_ROWS]
    many = [name for name in sets if name not in few]
    quick = [name for name in few if name not in SLOW_EXACT]
    free = [method for method in METHODS if method not in EXACT]
    yield folds(quick, [*METHODS, *RAI_VARIANTS, *TAN_VARIANTS], one)
    otherwise = [name for name in data.OTHERWISE if name.split(",")[0] in quick]
    yield folds(otherwise, [*TREES, *EXACT, *RAI], one)
    others = [name for name in large(tables) if name not in SLOW_LARGE]
    yield folds([*many, "german", "spect"], [*TREES, *RAI, *RAI_VARIANTS, *TAN_VARIANTS], one)
    yield folds(others, [*TREES, *RAI, *RAI_VARIANTS], one)
    yield folds([name for name in data.OTHERWISE if name.startswith("mfeat-fac")], [*TREES, *RAI], one)
    yield folds(["mfeat-fac"], [*TREES, *RAI], (data.IN_ORDER,))
    yield folds([*quick, "german", "spect"], ["GBN-CMDL", *CMDL_VARIANTS], one)
    yield folds(quick, [*METHODS, *RAI_VARIANTS], SEEDS)
    yield folds(["german", "spect"], [*free, *RAI_VARIANTS], SEEDS)
    yield folds(many, [*TREES, *RAI], five)
    yield folds(["german", *(name for name in many if name not in SLOW_EXACT)], EXACT, five)
    yield folds(otherwise, [*TREES, *EXACT, *RAI], five)
    yield folds(many, [*free, *STARTS], one)
    yield folds(["image-segmentation, few values cut"], EXACT, one)
    yield folds(["dota2, codes cut"], [*TREES, "RAI-ANB"], one)
    yield folds(FEW_OF_MANY_COLUMNS, [*TREES, *RAI, *RAI_VARIANTS], SEEDS)
    yield folds(SLOW_LARGE, [*TREES, *RAI, *RAI_VARIANTS], one)
    yield [Cell(name, method, WHOLE, SEED) for name in large(tables) for method in RAI]
    yield folds(["mushroom", "spect", "waveform-21", "bank"], EXACT, SEEDS[:2])
    yield folds(["mushroom", "spect"], EXACT, five)
    yield folds(["waveform-21", "bank"], EXACT, five)
    yield folds(["german, few values cut"], [*TREES, *EXACT, *RAI], one)
    yield folds(["german", "spect"], EXACT, SEEDS)


def folds(names: Sequence[str], methods: Iterable[str], seeds: Sequence[int]) -> list[Cell]:
    """List the ten folds of methods on sets."""
    methods = list(methods)
    return [
        Cell(name, method, fold, seed) for seed in seeds for name in names for method in methods for fold in range(10)
    ]
