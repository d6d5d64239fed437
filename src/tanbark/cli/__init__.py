"""The command line: ``tanbark …``, also ``python -m tanbark``.

Help texts are shown without loading anything heavy; each command imports what it needs when it runs.
"""

from __future__ import annotations

import sys

READERS = ("predict", "explain", "show", "convert", "query", "ask", "decide")  # of saved models; they learn nothing


def main() -> None:
    """Run the command line, or say which extra it needs."""
    try:
        from tanbark.cli.program import app
    except ModuleNotFoundError as error:
        if error.name not in ("click", "rich"):
            raise
        print('tanbark: the command line needs click and rich: pip install "tanbark[cli]"', file=sys.stderr)
        sys.exit(2)
    if any(argument in READERS for argument in sys.argv[1:2]):
        from tanbark.machine import stand_alone

        stand_alone()
    app.main(prog_name="tanbark")


__all__ = ["main"]
