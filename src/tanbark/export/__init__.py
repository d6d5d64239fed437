"""Exchange: networks to and from the files and objects of other programs."""

from tanbark.export.files import FORMATS, read_network, write_network
from tanbark.export.objects import from_networkx, from_pgmpy, from_pyagrum, to_networkx, to_pgmpy, to_pyagrum
from tanbark.export.scorer import to_python
from tanbark.export.sql import to_sql

__all__ = [
    "FORMATS",
    "from_networkx",
    "from_pgmpy",
    "from_pyagrum",
    "read_network",
    "to_networkx",
    "to_pgmpy",
    "to_pyagrum",
    "to_python",
    "to_sql",
    "write_network",
]
