"""Exchange: networks to and from the files and objects of other programs.

What needs a classifier, ``to_onnx``, ``to_python`` and ``to_sql``, is loaded when it is first asked for.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from tanbark.export.files import FORMATS, read_network, write_network
from tanbark.export.objects import from_networkx, from_pgmpy, from_pyagrum, to_networkx, to_pgmpy, to_pyagrum

if TYPE_CHECKING:
    from tanbark.export.onnx_graph import to_onnx
    from tanbark.export.scorer import to_python
    from tanbark.export.sql import to_sql

__all__ = [
    "FORMATS",
    "from_networkx",
    "from_pgmpy",
    "from_pyagrum",
    "read_network",
    "to_networkx",
    "to_onnx",
    "to_pgmpy",
    "to_pyagrum",
    "to_python",
    "to_sql",
    "write_network",
]

_SCORERS = {
    "to_onnx": "tanbark.export.onnx_graph",
    "to_python": "tanbark.export.scorer",
    "to_sql": "tanbark.export.sql",
}


def __getattr__(name: str) -> Any:
    """Load what scores rows in other programs."""
    if name in _SCORERS:
        return getattr(import_module(_SCORERS[name]), name)
    msg = f"module 'tanbark.export' has no attribute {name!r}"
    raise AttributeError(msg, name=name)
