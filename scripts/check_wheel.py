"""Check the wheel in a folder: it holds the explorer's assets and py.typed, and it works where it is unpacked.

python scripts/check_wheel.py dist
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path
from zipfile import ZipFile

SOURCE = Path(__file__).resolve().parents[1] / "src"
TRIAL = """
import pathlib, sys, tanbark as tb
assert pathlib.Path(tb.__file__).is_relative_to(sys.argv[1]), tb.__file__
clf = tb.TAN().fit([["a", 1], ["a", 0], ["b", 1], ["b", None]], [0, 0, 1, 1])
clf.explore(pathlib.Path(sys.argv[1]) / "page.html")
print("tanbark", tb.__version__, "works from its wheel")
"""


def main(folder: Path) -> None:
    (wheel,) = folder.glob("*.whl")
    wanted = {
        path.relative_to(SOURCE).as_posix()
        for path in (SOURCE / "tanbark").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    held = {name for name in ZipFile(wheel).namelist() if name.startswith("tanbark/")}
    assert held == wanted, f"not as in src: {sorted(held ^ wanted)}"
    assert "tanbark/py.typed" in held
    assert any(name.startswith("tanbark/explorer/assets/") for name in held)
    with tempfile.TemporaryDirectory() as place:
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", place, str(wheel.resolve())]
        subprocess.run(pip, check=True)
        trial = f"import sys; sys.path.insert(0, {place!r})\n{TRIAL}"
        subprocess.run([sys.executable, "-P", "-c", trial, place], check=True, cwd=place)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
