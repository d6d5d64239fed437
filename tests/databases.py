"""Rows in SQLite and DuckDB, for the tests of SQL: with types, and with all columns as text."""

import sqlite3

import duckdb


def ask_sqlite(sql, X):
    with sqlite3.connect(":memory:") as connection:
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


def as_text(X):
    """Return the rows as a CSV file has them; an empty string is a missing value."""
    return X.reset_index(names="id").map(lambda value: "" if value is None or value != value else str(value))


def ask_sqlite_text(sql, X):
    with sqlite3.connect(":memory:") as connection:
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


def by_number(line):
    return float(line[0])


def ask_frame(engine, sql, X, table="rows"):
    """Return the lines for a frame as it is, in its order."""
    if engine == "sqlite":
        with sqlite3.connect(":memory:") as connection:
            X.to_sql(table, connection, index=False)
            return connection.execute(sql).fetchall()
    connection = duckdb.connect()
    texts = {name for name in X if isinstance(X[name].dropna().iloc[0], str)}
    columns = ", ".join(f'"{name}" {"VARCHAR" if name in texts else "DOUBLE"}' for name in X)
    connection.execute(f"CREATE TABLE {table} ({columns})")
    lines = X.astype(object).where(X.notna(), None).to_numpy().tolist()
    connection.executemany(f"INSERT INTO {table} VALUES ({', '.join('?' * X.shape[1])})", lines)
    return connection.execute(sql).fetchall()
