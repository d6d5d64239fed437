"""Running the command line in tests: a table of mails, and commands that succeed or fail."""

import numpy as np
import pandas as pd
from click.testing import CliRunner

import tanbark as tb
from tanbark.cli.program import app

N = 90


def make_rows():
    rng = np.random.default_rng(5)
    spam = rng.choice(["yes", "no"], N, p=[0.4, 0.6])
    frame = pd.DataFrame(
        {
            "id": np.arange(N),
            "word": np.where(rng.random(N) < 0.8, np.where(spam == "yes", "win", "dear"), "hello"),
            "caps": (rng.random(N) + (spam == "yes")).round(3),
            "code": rng.choice([1, 2, 3], N),
            "spam": spam,
        }
    )
    frame.loc[::7, "word"] = None
    return frame


def run(*arguments, stdin=None):
    return CliRunner().invoke(app, [str(each) for each in arguments], input=stdin)


def good(*arguments, stdin=None):
    ran = run(*arguments, stdin=stdin)
    assert ran.exit_code == 0, ran.stderr
    return ran.stdout


def bad(*arguments, stdin=None):
    """Give the one line that a mistake is answered with."""
    ran = run(*arguments, stdin=stdin)
    assert ran.exit_code == 2, (ran.stdout, ran.stderr)
    lines = ran.stderr.splitlines()
    assert len(lines) == 1
    assert lines[0].startswith("tanbark: error: ")
    assert "Traceback" not in ran.output
    return lines[0]


def direct():
    frame = make_rows()
    clf = tb.TAN().fit(frame[["word", "caps", "code"]], frame["spam"])
    return clf, frame
