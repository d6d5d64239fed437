"""Rows in SQLite, DuckDB and PostgreSQL, for the tests of SQL: with types, and with all columns as text."""

import sqlite3
from contextlib import closing

import duckdb
import numpy as np
import pytest

from postgres import GROUP, ask_table

POSTGRES = pytest.param("postgres", marks=GROUP)
ENGINES = ["sqlite", "duckdb", POSTGRES]


def ask_sqlite(sql, X):
    with closing(sqlite3.connect(":memory:")) as connection:
        X.reset_index(names="id").to_sql("rows", connection, index=False, dtype={"b": "REAL", "n": "REAL"})
        cursor = connection.execute(sql)
        return [name[0] for name in cursor.description], sorted(cursor.fetchall())


def ask_duckdb(sql, X):
    frame = X.reset_index(names="id").astype({"b": float, "n": float})
    for column in ("a", "c", "flag"):
        frame[column] = frame[column].astype("boolean" if column == "flag" else "string")
    connection = duckdb.connect()
    connection.register("frame", frame)
    # pandas' NaN and, in older versions, <NA> are NULL in the table
    columns = "id, nullif(a, '<NA>') a, nullif(b, 'nan') b, nullif(n, 'nan') n, nullif(c, '<NA>') c, flag"
    connection.execute(f"CREATE TABLE rows AS SELECT {columns} FROM frame")
    cursor = connection.execute(sql)
    return [name[0] for name in cursor.description], sorted(cursor.fetchall())


def ask_postgres(sql, X):
    frame = X.reset_index(names="id")
    kinds = {"b": "DOUBLE PRECISION", "n": "DOUBLE PRECISION", "flag": "BOOLEAN", "id": "INTEGER"}
    names, found = ask_table(sql, frame, [kinds.get(name, "TEXT") for name in frame])
    return names, sorted(found)


def as_text(X):
    """Return the rows as a CSV file has them; an empty string is a missing value."""
    return X.reset_index(names="id").map(lambda value: "" if value is None or value != value else str(value))


def ask_sqlite_text(sql, X):
    with closing(sqlite3.connect(":memory:")) as connection:
        as_text(X).to_sql("rows", connection, index=False, dtype="TEXT")
        cursor = connection.execute(sql)
        return [name[0] for name in cursor.description], sorted(cursor.fetchall(), key=by_number)


def ask_duckdb_text(sql, X):
    text = as_text(X)
    connection = duckdb.connect()
    columns = ", ".join(f'"{name}" VARCHAR' for name in text.columns)
    connection.execute(f"CREATE TABLE rows ({columns})")
    marks = ", ".join("?" * text.shape[1])
    connection.executemany(f"INSERT INTO rows VALUES ({marks})", text.to_numpy().tolist())
    cursor = connection.execute(sql)
    return [name[0] for name in cursor.description], sorted(cursor.fetchall(), key=by_number)


def ask_postgres_text(sql, X):
    text = as_text(X)
    names, found = ask_table(sql, text, ["TEXT"] * text.shape[1])
    return names, sorted(found, key=by_number)


ASK = {"sqlite": ask_sqlite, "duckdb": ask_duckdb, "postgres": ask_postgres}
ASK_TEXT = {"sqlite": ask_sqlite_text, "duckdb": ask_duckdb_text, "postgres": ask_postgres_text}


def by_number(line):
    return float(line[0])


def ask_frame(engine, sql, X, table="rows"):
    """Return the lines for a frame as it is, in its order."""
    if engine == "sqlite":
        with closing(sqlite3.connect(":memory:")) as connection:
            X.to_sql(table, connection, index=False)
            return connection.execute(sql).fetchall()
    texts = {name for name in X if isinstance(X[name].dropna().iloc[0], str)}
    if engine == "postgres":
        truths = {name for name in X if isinstance(X[name].dropna().iloc[0], (bool, np.bool_))}
        kinds = ["TEXT" if name in texts else "BOOLEAN" if name in truths else "DOUBLE PRECISION" for name in X]
        return ask_table(sql, X, kinds, table=table)[1]
    connection = duckdb.connect()
    columns = ", ".join(f'"{name}" {"VARCHAR" if name in texts else "DOUBLE"}' for name in X)
    connection.execute(f"CREATE TABLE {table} ({columns})")
    lines = X.astype(object).where(X.notna(), None).to_numpy().tolist()
    connection.executemany(f"INSERT INTO {table} VALUES ({', '.join('?' * X.shape[1])})", lines)
    return connection.execute(sql).fetchall()
