"""Compilation of kernels ahead of the first fit, for containers and clusters."""

from __future__ import annotations

import warnings
from typing import Any

import click

from tanbark.cli import options
from tanbark.cli.output import progress, say

USUAL = ("classifier", "naive", "tan", "kdb", "aode")


@click.command("warm-up", short_help="Compile the kernels of learners ahead of their first use.")
@click.option(
    "-l", "--learner", "learners", multiple=True, metavar="NAME",
    help=f"A learner of `tanbark learners`; may be repeated; `all` takes every one. By default {', '.join(USUAL)}.",
)  # fmt: skip
@options.quiet_option
def warm_up(learners: tuple[str, ...], quiet: bool) -> None:
    """Learn small tables and predict them, so that kernels are compiled and kept before they are needed.

    They are kept beside the modules, or in NUMBA_CACHE_DIR; from there they are read also where nothing can be
    written, such as in a container that runs as another user. They are of use on processors of the same kind.

    \b
    tanbark warm-up
    tanbark warm-up -l classifier -l ban
    """
    from tanbark import kernel
    from tanbark.cli import measuring
    from tanbark.cli.models import make_model
    from tanbark.counts import bit_kernels

    kernel.interprets = False
    chosen = measuring.all_learners() if learners == ("all",) else dict.fromkeys(learners or USUAL)
    models = {name: make_model(name) for name in chosen}
    with warnings.catch_warnings(), progress("compiling", len(models), quiet=quiet) as advance:
        warnings.simplefilter("ignore")
        for name, model in models.items():
            _use(model)
            advance(name)
    folder = getattr(getattr(bit_kernels.pack_bits, "stats", None), "cache_path", None)
    say(f"tanbark: kernels are kept in {folder} and beside it" if folder else "tanbark: nothing is kept", quiet=quiet)


def _use(model: Any) -> None:
    """Learn and predict tables with two and three classes, numbers and strings, complete and with missing values."""
    import numpy as np

    generator = np.random.default_rng(0)
    for n_classes in (2, 3):
        codes = generator.integers(0, 3, (120, 4))
        labels = (codes[:, 0] + codes[:, 1] + generator.integers(0, 2, 120)) % n_classes
        numbers = codes + generator.normal(size=codes.shape)
        holes = np.where(generator.random(numbers.shape) < 0.1, np.nan, numbers)
        words = np.array(["low", "middle", "high"], object)[codes]
        for rows in (numbers, holes, words):
            model.fit(rows, labels).predict_proba(rows)
        words[generator.random(words.shape) < 0.3] = None
        model.predict_proba(words)


COMMANDS = (warm_up,)
