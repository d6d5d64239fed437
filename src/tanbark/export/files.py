"""Read and write network files; the suffix chooses the format."""

from __future__ import annotations

import gzip
import io
import os
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tanbark.errors import InputError, ModelFileError, OptionError, TanbarkError, find
from tanbark.export import bif, dot, net, uai, xdsl, xmlbif
from tanbark.files import write_atomic
from tanbark.graph import Network

PathLike = str | os.PathLike[str]
SPARE_BYTES, MOST_GROWTH = 1 << 24, 50  # of a file that is decompressed


@dataclass(frozen=True)
class Format:
    """How a format is written and, where it can be, read."""

    dumps: Callable[[Network], str]
    loads: Callable[[str], Network] | None
    suffixes: tuple[str, ...]


FORMATS: dict[str, Format] = {
    "bif": Format(bif.dumps, bif.loads, (".bif",)),
    "xmlbif": Format(xmlbif.dumps, xmlbif.loads, (".xmlbif", ".xml", ".bifxml")),
    "net": Format(net.dumps, net.loads, (".net",)),
    "xdsl": Format(xdsl.dumps, xdsl.loads, (".xdsl",)),
    "uai": Format(uai.dumps, uai.loads, (".uai",)),
    "dot": Format(dot.dumps, None, (".dot", ".gv")),
    "svg": Format(lambda network: f"{network.svg()}\n", None, (".svg",)),
}


def _format(path: Path, name: str | None) -> Format:
    if name is not None:
        return find("format", name, FORMATS)
    suffixes = [suffix.lower() for suffix in path.suffixes if suffix.lower() != ".gz"]
    for found in FORMATS.values():
        if suffixes and suffixes[-1] in found.suffixes:
            return found
    known = sorted(suffix for each in FORMATS.values() for suffix in each.suffixes)
    msg = f"The suffix of {path.name!r} names no known format; use one of {known}, or pass format=."
    raise OptionError(msg)


def read_network(path: PathLike, *, format: str | None = None) -> Network:
    """Read a network from a BIF, XMLBIF, Hugin NET, GeNIe XDSL or UAI file, by its suffix or a named format.

    A file that is compressed with gzip is decompressed. Errors in a file name the line.
    """
    place = Path(path)
    loads = _format(place, format).loads
    if loads is None:
        msg = f"{place.name!r} is a drawing of a graph, which has no CPTs; it can only be written."
        raise OptionError(msg)
    raw = place.read_bytes()
    try:
        if raw[:2] == b"\x1f\x8b":
            raw = _decompressed(raw)
        return loads(raw.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        line = raw[: error.start].count(10) + 1
        msg = f"{path}, line {line}: expected text in UTF-8, got the byte {raw[error.start]:#x}."
        raise ModelFileError(msg) from None
    except (EOFError, OSError, zlib.error) as error:
        msg = f"{path} is damaged: {error}."
        raise ModelFileError(msg) from None
    except TanbarkError as error:
        msg = f"{path}, {str(error).rstrip('.')}."
        raise ModelFileError(msg) from None


def _decompressed(raw: bytes) -> bytes:
    """Decompress a file, which may grow by a factor only: a small one must not fill the memory."""
    most = SPARE_BYTES + MOST_GROWTH * len(raw)
    with gzip.open(io.BytesIO(raw)) as file:
        found = file.read(most + 1)
    if len(found) > most:
        msg = f"line 1: decompressed it has more than {most:,} bytes, {MOST_GROWTH} for each of its own"
        raise ModelFileError(msg)
    return found


def write_network(network: Network, path: PathLike, *, format: str | None = None) -> None:
    """Write a network as BIF, XMLBIF, Hugin NET, GeNIe XDSL, UAI, DOT or SVG, by the suffix or a named format.

    The file is written atomically. Probabilities read back to the last bit; UAI has no names.
    """
    place = Path(path)
    text = _format(place, format).dumps(network)
    try:
        raw = text.encode()
    except UnicodeEncodeError as error:
        msg = f"A name holds {text[error.start]!r}, half of a character, which no file of text can hold. Rename it."
        raise InputError(msg) from None
    if place.suffix.lower() == ".gz":
        raw = gzip.compress(raw, mtime=0)
    write_atomic(place, raw)
