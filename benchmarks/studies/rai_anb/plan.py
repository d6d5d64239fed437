"""Which cells the study runs, the cheap and telling ones first, and which it leaves out because they cost too much."""

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
# Processor seconds of the two exact searches for ten folds: german 70, mushroom 67, spect 170, bank 250, waveform 400.
# These are left to --all, and so are the large sets whose cells of one shuffle take more than 30.
SLOW_EXACT = ("german", "mushroom", "spect", "bank", "waveform-21")
SLOWER_EXACT = ("climate-model", "vehicle")  # 15 and 11: five shuffles
SLOW_LARGE = ("musk2", "micro-mass", "connect-4")
SLOW_CLIMB = ("letter", "pendigits")
FEW_OF_MANY_COLUMNS = ("flowmeters-d", "movement-libras", "musk1")  # sets of Table 3 with fewer than 500 rows
STARTS = ("GBN-CMDL, naive", "GBN-CMDL, TAN", "GBN-CMDL, class a root")


def small(tables: dict) -> dict[str, int]:
    """Give the sets of Table 1 with their rows (german has 1,000 of the 5,000 that are printed)."""
    return {row["file"]: 1000 if row["file"] == "german" else row["rows"] for row in tables["table_1"]["rows"]}


def large(tables: dict) -> list[str]:
    return [row["file"] for row in tables["table_3"]["rows"] if row["file"]]


def cells(tables: dict, *, everything: bool = False) -> list[Cell]:
    """List the cells in the order in which they are run; ``everything`` adds those that cost most."""
    chosen = [*parts(tables), *(costly(tables) if everything else ())]
    return list(dict.fromkeys(cell for part in chosen for cell in part))


def parts(tables: dict) -> Iterator[list[Cell]]:
    """Give the parts of the study, the cheap and telling ones first."""
    sets, one = small(tables), SEEDS[:1]
    few = [name for name, rows in sets.items() if rows <= FEW_ROWS]
    many = [name for name in sets if name not in few]
    quick = [name for name in few if name not in SLOW_EXACT]
    free = [method for method in METHODS if method not in EXACT]
    slow_climbs = [name for name in many if name in SLOW_CLIMB]
    yield folds(quick, [*METHODS, *RAI_VARIANTS, *TAN_VARIANTS], one)
    otherwise = [name for name in data.OTHERWISE if name.split(",")[0] in quick]
    yield folds(otherwise, [*TREES, *EXACT, *RAI], one)
    others = [name for name in large(tables) if name not in SLOW_LARGE]
    yield folds([*many, "german", "spect"], [*TREES, *RAI, *RAI_VARIANTS, *TAN_VARIANTS], one)
    yield folds(others, [*TREES, "RAI-ANB", *RAI_VARIANTS], one)
    yield folds([name for name in data.OTHERWISE if name.startswith("mfeat-fac")], [*TREES, *RAI], one)
    yield folds(["mfeat-fac"], [*TREES, *RAI], (data.IN_ORDER,))
    yield folds(["mfeat-fac"], ["RAI-GBN"], one)
    yield folds([*quick, "german", "spect"], ["GBN-CMDL", *CMDL_VARIANTS], one)
    for seed in SEEDS[1:5]:
        yield folds(quick, [*METHODS, *RAI_VARIANTS], (seed,))
    yield folds(otherwise, [*TREES, *EXACT, *RAI], SEEDS[1:5])
    yield folds([n for n in many if n not in slow_climbs], ["GBN-CMDL", *STARTS], one)
    yield folds(["image-segmentation, few values cut"], EXACT, one)
    yield folds(["dota2, codes cut"], [*TREES, "RAI-ANB"], one)
    yield folds(["dota2"], ["RAI-GBN"], one)
    for seed in SEEDS[5:]:
        yield folds(quick, [*free, *RAI_VARIANTS], (seed,))
        yield folds([name for name in quick if name not in SLOWER_EXACT], EXACT, (seed,))
    yield folds(FEW_OF_MANY_COLUMNS, [*TREES, *RAI, *RAI_VARIANTS], SEEDS)
    yield folds([n for n in many if n not in (*SLOW_EXACT, "letter")], EXACT, SEEDS[:2])
    yield folds(["german", "spect"], [*free, *RAI_VARIANTS], SEEDS)
    yield folds(slow_climbs, ["GBN-CMDL", *STARTS], one)
    yield folds(["letter"], EXACT, SEEDS[:2])
    yield folds(["german"], EXACT, SEEDS[:2])


def costly(tables: dict) -> Iterator[list[Cell]]:
    """Give what takes most of the time: exact searches over 21 columns and more, large sets, all rows for Table 5."""
    sets = small(tables)
    free = [method for method in METHODS if method not in EXACT]
    yield folds([name for name, rows in sets.items() if rows > FEW_ROWS and name not in SLOW_CLIMB], free, SEEDS[:1])
    yield folds([n for n in large(tables) if n not in SLOW_LARGE], ["RAI-GBN"], SEEDS[:1])
    yield folds(["mushroom"], EXACT, SEEDS[:2])
    yield folds(["spect"], EXACT, SEEDS[:2])
    yield folds(SLOW_LARGE, [*TREES, *RAI, *RAI_VARIANTS], SEEDS[:1])
    yield [Cell(name, method, WHOLE, SEED) for name in large(tables) for method in RAI]
    yield folds(["german, few values cut"], [*TREES, *EXACT, *RAI], SEEDS[:1])
    yield folds(SLOW_CLIMB, [*free, *CMDL_VARIANTS], SEEDS[:1])
    yield folds(["bank"], EXACT, SEEDS[:2])
    yield folds(["waveform-21"], EXACT, SEEDS[:2])


def folds(names: Sequence[str], methods: Iterable[str], seeds: Sequence[int]) -> list[Cell]:
    """List the ten folds of methods on sets."""
    methods = list(methods)
    return [
        Cell(name, method, fold, seed) for seed in seeds for name in names for method in methods for fold in range(10)
    ]
