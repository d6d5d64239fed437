"""Lines, a rewritten line and a bar on stderr."""

import pytest

from tanbark.structure.progress import REWRITE, Progress, show


def test_lines_are_kept_or_rewritten(capsys):
    show("one", keep=False)
    show("two", keep=True)
    assert capsys.readouterr().err == f"{REWRITE}onetwo\n"


def test_a_bar_in_a_log_is_a_line_for_each_tenth(capsys):
    progress = Progress("work", shown=True)
    progress.start()
    progress._begun -= 10
    for fraction in (0.25, 0.26, 0.9, 1.0):
        progress.advance(fraction)
    lines = capsys.readouterr().err.splitlines()
    assert [line.split("%")[0][-4:].strip() for line in lines] == ["25", "90", "100"]
    assert lines[0].startswith("work: [#######")


def test_a_bar_on_a_terminal_is_one_line(capsys, monkeypatch):
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    progress = Progress("work", shown=True)
    progress._begun -= 10
    for fraction in (0.5, 1.0):
        progress.advance(fraction)
    shown = capsys.readouterr().err
    assert shown.count(REWRITE) == 2
    assert shown.count("\n") == 1
    assert shown.endswith("\n")


@pytest.mark.parametrize("work", [lambda p: p.advance(0.5), lambda p: p.say("text")])
def test_silence(capsys, work):
    work(Progress("work", shown=False))
    assert capsys.readouterr().err == ""
