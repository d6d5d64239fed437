"""What a look at the columns of training rows finds: identifiers, free text, numbers of rows, leaks of the class,
numbers with a few texts among them."""

from tanbark.table.findings.rules import (
    FINDINGS,
    FREE_TEXT,
    IDENTIFIER,
    INCREASING,
    LEAK,
    LEFT_OUT,
    MIXED,
    ROW_NUMBER,
    Facts,
    find_facts,
    find_leaks,
)

__all__ = [
    "FINDINGS",
    "FREE_TEXT",
    "IDENTIFIER",
    "INCREASING",
    "LEAK",
    "LEFT_OUT",
    "MIXED",
    "ROW_NUMBER",
    "Facts",
    "find_facts",
    "find_leaks",
]
