"""A PostgreSQL server of the tests' own: started when first asked, on a private socket, by a user without rights.

On a machine without PostgreSQL the tests are skipped with the reason; where TANBARK_REQUIRE_POSTGRES is set, as in CI,
they fail. Statements go through ``psql``, so no driver is needed; lines come back as JSON.
"""

import atexit
import json
import os
import pwd
import shutil
import subprocess
import tempfile
import time
from functools import cache
from pathlib import Path

import pytest

from tanbark.export.sql.text import quote_name

GROUP = pytest.mark.xdist_group("postgres")  # one server for all tests
SECONDS = 60  # for the server to start


def find_programs():
    """Return the folder of initdb and postgres; Debian does not put them on the path."""
    folders = [os.environ.get("PATH", ""), *sorted(map(str, Path("/usr/lib/postgresql").glob("*/bin")), reverse=True)]
    server = shutil.which("postgres", path=":".join(folders))
    found = Path(server).resolve().parent if server and shutil.which("psql") else None
    return found if found and (found / "initdb").exists() else None


def unprivileged():
    """Return how processes are started: PostgreSQL refuses to run as root, so root starts it as another user."""
    if os.getuid() != 0:
        return {}
    names = {entry.pw_name: entry for entry in pwd.getpwall()}
    entry = names.get("postgres") or names["nobody"]
    return {"user": entry.pw_uid, "group": entry.pw_gid, "extra_groups": []}


@cache
def socket_folder():
    """Start a server, once per process, and return the folder of its socket."""
    programs = find_programs()
    if programs is None:
        reason = "There is no PostgreSQL: `make postgres` installs Debian's"
        if os.environ.get("TANBARK_REQUIRE_POSTGRES"):
            pytest.fail(f"{reason}, and TANBARK_REQUIRE_POSTGRES is set", pytrace=False)
        pytest.skip(reason)
    who, folder = unprivileged(), Path(tempfile.mkdtemp(prefix="tb-pg-", dir="/tmp"))
    if who:
        os.chown(folder, who["user"], who["group"])
    data, log = folder / "data", folder / "log"
    start = [programs / "initdb", "-D", data, "-U", "tests", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync"]
    subprocess.run(start, check=True, capture_output=True, cwd=folder, **who)
    options = ["-c", "listen_addresses=", "-c", "fsync=off", "-c", f"unix_socket_directories={folder}"]
    with log.open("wb") as output:
        server = subprocess.Popen(
            [programs / "postgres", "-D", data, *options], stdout=output, stderr=output, cwd=folder, **who
        )
    atexit.register(_stop, server, folder)
    deadline = time.monotonic() + SECONDS
    while run_psql(folder, "SELECT 1", check=False).returncode:
        if server.poll() is not None or time.monotonic() > deadline:
            pytest.fail(f"PostgreSQL did not start: {log.read_text()[-2000:]}", pytrace=False)
        time.sleep(0.1)
    return folder


def _stop(server, folder):
    server.terminate()
    server.wait(20)
    shutil.rmtree(folder, ignore_errors=True)


def run_psql(folder, script, *, check=True):
    command = ["psql", "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-h", str(folder), "-U", "tests", "postgres"]
    ran = subprocess.run(command, input=script, capture_output=True, text=True, check=False)
    if check and ran.returncode:
        raise AssertionError(ran.stderr[:2000])
    return ran


def quoted(value):
    if value is None or value != value:
        return "NULL"
    return "'" + str(value).replace("'", "''") + "'"


def ask_table(sql, X, types, *, table="rows"):
    """Return the names and lines of a statement over a table with the rows of a frame and columns of these types."""
    name = quote_name(table)
    columns = ", ".join(f"{quote_name(each)} {kind}" for each, kind in zip(X.columns, types, strict=True))
    lines = ",\n".join("(" + ", ".join(map(quoted, line)) + ")" for line in X.astype(object).to_numpy().tolist())
    script = f"""BEGIN;
        CREATE TEMP TABLE {name} ({columns}) ON COMMIT DROP;
        INSERT INTO {name} VALUES {lines};
        SELECT json_agg(tb_found) FROM ({sql.strip().rstrip(";")}) AS tb_found;
        COMMIT;"""
    found = json.loads(run_psql(socket_folder(), script).stdout)
    return list(found[0]), [tuple(line.values()) for line in found]
