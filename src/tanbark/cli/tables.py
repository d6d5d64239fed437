"""Tables in files: CSV, TSV, Parquet, Arrow and ARFF, from a path or standard input, to a path or standard output."""

from __future__ import annotations

import csv
import gzip
import io
import json
import re
import sys
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from tanbark.cli.cleaning import as_utf8, name_columns, read_marks
from tanbark.cli.output import print_json, write
from tanbark.errors import InputError, MissingPackageError, OptionError, find, listed, nearest

SUFFIXES = {
    ".csv": "csv", ".tsv": "tsv", ".tab": "tsv", ".parquet": "parquet", ".pq": "parquet", ".arrow": "arrow",
    ".feather": "arrow", ".ipc": "arrow", ".arff": "arff",
}  # fmt: skip
FORMATS = ("csv", "tsv", "parquet", "arrow", "arff")
MISSING = ("", "NA", "N/A", "n/a", "#N/A", "NaN", "nan", "NULL", "null", "?")
MAGIC = {b"PAR1": "parquet", b"ARRO": "arrow", b"\xff\xff\xff\xff": "arrow"}


def arrow(part: str = "") -> Any:
    """Import pyarrow, or say how to get it."""
    try:
        return import_module(f"pyarrow{part}")
    except ImportError:
        msg = 'Reading tables needs pyarrow: pip install "tanbark[cli]"'
        raise MissingPackageError(msg) from None


def format_of(path: str, named: str | None) -> str | None:
    """Tell a file's format by its name or from its suffix; None where neither says."""
    if named is not None:
        find("format", named, dict.fromkeys(FORMATS))
        return named
    suffixes = [suffix.lower() for suffix in Path(path).suffixes if suffix.lower() != ".gz"]
    if path == "-" or not suffixes or suffixes[-1] == ".txt":
        return None
    if suffixes[-1] not in SUFFIXES:
        hint = nearest(suffixes[-1], SUFFIXES)
        msg = f"The format of {path!r} cannot be inferred from {suffixes[-1]!r}.{hint} Use --format {'|'.join(FORMATS)}"
        raise OptionError(msg)
    return SUFFIXES[suffixes[-1]]


def read_table(
    path: str, *, format: str | None = None, missing: Sequence[str] = (), text: Sequence[str] = (),
    numbers: Sequence[str] = (),
) -> Any:  # fmt: skip
    """Read a table as a ``pyarrow.Table``.

    The columns in ``text`` are strings whatever they look like; in those in ``numbers`` marks such as "-" are missing.
    """
    kind = format_of(path, format)
    raw = sys.stdin.buffer.read() if path == "-" else Path(path).read_bytes()
    try:
        raw = gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else raw
    except (EOFError, OSError) as error:
        msg = f"{_called(path)} is damaged: {error}."
        raise InputError(msg) from None
    kind = kind or MAGIC.get(raw[:4]) or _looks(raw)
    if not raw.strip():
        msg = f"{_called(path)} is empty; a table with a line of names is needed."
        raise InputError(msg)
    try:
        if kind == "arff":
            from tanbark.cli.arff import parse

            table = parse(_decoded(raw), text)
        elif kind == "parquet":
            table = arrow(".parquet").read_table(io.BytesIO(raw))
        elif kind == "arrow":
            table = _read_arrow(raw)
        else:
            table = _read_text(as_utf8(raw, _called(path)), kind, (*MISSING, *missing), text, numbers)
    except arrow().ArrowException as error:
        msg = f"{_called(path)} cannot be read as {kind.upper()}: {' '.join(str(error).split())}"
        raise InputError(msg) from None
    except InputError as error:
        msg = f"{_called(path)}, {error}"
        raise InputError(msg) from None
    names = list(table.column_names)
    if len(set(names)) < len(names):
        from tanbark.table.written import is_number

        twice = sorted({name for name in names if names.count(name) > 1})
        advice = "Its first line must be the names of the columns." if is_number(twice[0]) else "Rename all but one."
        msg = f"{_called(path)} has several columns of the name {twice[0]!r}. {advice}"
        raise InputError(msg)
    return table


def _called(path: str) -> str:
    return "Standard input" if path == "-" else repr(path)


def _decoded(raw: bytes) -> str:
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw[: error.start].count(10) + 1
        msg = f"line {line}: expected text in UTF-8, got the byte {raw[error.start]:#x}."
        raise InputError(msg) from None


def _looks(raw: bytes) -> str:
    """Tell a format from the first line that is no comment."""
    for line in raw[:65536].lstrip(b"\xef\xbb\xbf").splitlines():
        if line.strip() and not line.lstrip().startswith(b"%"):
            if line.lstrip()[:9].lower() == b"@relation":
                return "arff"
            return "tsv" if line.count(b"\t") > line.count(b",") else "csv"
    return "csv"


def _read_arrow(raw: bytes) -> Any:
    ipc = arrow(".ipc")
    source = arrow().BufferReader(raw)
    return ipc.open_file(source).read_all() if raw[:6] == b"ARROW1" else ipc.open_stream(source).read_all()


def _punctuation(raw: bytes, kind: str) -> tuple[str, str]:
    """Return the delimiter and the decimal point; where commas are decimal, spreadsheets put semicolons between cells.

    >>> _punctuation(b"a;b\\n1,5;x\\n", "csv"), _punctuation(b"a;b\\n1.5;x\\n", "csv"), _punctuation(b"a,b\\n", "csv")
    ((';', ','), (';', '.'), (',', '.'))
    """
    if kind != "csv":
        return "\t", "."
    head = raw[:65536]
    names = head.splitlines()[0] if head else b""
    if names.count(b";") <= names.count(b","):
        return ",", "."
    commas, points = (len(re.findall(rb"(?m)(?:^|;)-?\d+" + mark + rb"\d+(?=;|\r?$)", head)) for mark in (b",", rb"\."))
    return ";", "," if commas > points else "."


def _read_text(
    raw: bytes, kind: str, missing: Sequence[str], text: Sequence[str], numbers: Sequence[str]
) -> Any:  # fmt: skip
    """Read CSV or TSV; the type of a column is inferred from all of its cells."""
    reader, string = arrow(".csv"), arrow().string()
    delimiter, point = _punctuation(raw, kind)
    table = reader.read_csv(
        io.BytesIO(raw),
        read_options=reader.ReadOptions(block_size=min(len(raw) + 1024, 2**31 - 1)),
        parse_options=reader.ParseOptions(delimiter=delimiter, newlines_in_values=True),
        convert_options=reader.ConvertOptions(
            null_values=list(missing),
            strings_can_be_null=True,
            column_types=dict.fromkeys(text, string),
            decimal_point=point,
        ),
    )
    return read_marks(name_columns(table), text, numbers, point)


def write_table(columns: Mapping[str, Any], path: str, *, format: str | None = None) -> None:
    """Write columns as a table, as CSV where nothing says otherwise."""
    kind = format_of(path, format) or "csv"
    if kind == "arff":
        msg = "Tables can be read from ARFF, not written to it. Use csv, tsv, parquet or arrow."
        raise OptionError(msg)
    table = arrow().table(dict(columns))
    raw = io.BytesIO()
    if kind == "parquet":
        arrow(".parquet").write_table(table, raw)
    elif kind == "arrow":
        with arrow(".ipc").new_file(raw, table.schema) as file:
            file.write_table(table)
    else:
        text = io.TextIOWrapper(raw, "utf-8", newline="", write_through=True)
        lines = csv.writer(text, delimiter="," if kind == "csv" else "\t", lineterminator="\n")
        lines.writerow(table.column_names)
        lines.writerows(zip(*(column.to_pylist() for column in table.columns), strict=True))
    packed = gzip.compress(raw.getvalue(), mtime=0) if path.endswith(".gz") else raw.getvalue()
    write(packed, path)


def write_columns(columns: Mapping[str, Any], out: str, *, as_json: bool) -> None:
    """Write columns as a table, or as one JSON document with a line for every row."""
    if not as_json:
        write_table(columns, out)
        return
    listed = {key: value.to_pylist() if hasattr(value, "to_pylist") else value for key, value in columns.items()}
    listed = {key: value.tolist() if hasattr(value, "tolist") else value for key, value in listed.items()}
    document = [dict(zip(listed, row, strict=True)) for row in zip(*listed.values(), strict=True)]
    if out == "-":
        print_json(document)
    else:
        write(json.dumps(document, ensure_ascii=False, default=str) + "\n", out)


def choose(table: Any, name: str, what: str) -> Any:
    """Take a column, or say which is nearest."""
    check_name(table, name, what)
    return table.column(name)


def check_name(table: Any, name: str, what: str) -> None:
    """Refuse the name of a column that is not there."""
    if name not in table.column_names:
        known = list(table.column_names)
        msg = f"{what}: there is no column {name!r}.{nearest(name, known)} The columns are {listed(known)}."
        raise InputError(msg)
