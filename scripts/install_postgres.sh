#!/usr/bin/env bash
# Install Debian's PostgreSQL, on which the tests run the SQL that models are written as; a no-op where there is one.
# No server is started or set up: the tests start one of their own, on a private socket.
set -euo pipefail
if command -v psql >/dev/null && { command -v postgres >/dev/null || compgen -G "/usr/lib/postgresql/*/bin/postgres" >/dev/null; }; then
  exit 0
fi
if ! command -v apt-get >/dev/null; then
  echo "No apt-get here: install PostgreSQL in the way of this system, or its tests are skipped." >&2
  exit 1
fi
run=()
if [ "$(id -u)" -ne 0 ]; then run=(sudo); fi
"${run[@]}" apt-get update -qq
DEBIAN_FRONTEND=noninteractive "${run[@]}" apt-get install -y -qq --no-install-recommends postgresql >/dev/null
