"""Models as one SELECT that scores a table inside a database."""

from tanbark.export.sql.select import to_sql

__all__ = ["to_sql"]
