"""Tables: any frame becomes typed raw columns, a schema is learnt, and values become small integer codes."""

from tanbark.table.coded import CodedTable, missing_code
from tanbark.table.encode import Encoded, encode
from tanbark.table.learn_schema import learn_schema
from tanbark.table.raw import RawTable, read_table
from tanbark.table.schema import Column, Level, Schema

__all__ = [
    "CodedTable",
    "Column",
    "Encoded",
    "Level",
    "RawTable",
    "Schema",
    "encode",
    "learn_schema",
    "missing_code",
    "read_table",
]
