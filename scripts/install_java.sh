#!/usr/bin/env bash
# Install Debian's Java, on which the tests run a local Spark; a no-op where there is one.
set -euo pipefail
if command -v java >/dev/null || [ -x "${JAVA_HOME:-}/bin/java" ]; then
  exit 0
fi
if ! command -v apt-get >/dev/null; then
  echo "No apt-get here: install Java in the way of this system, or the Spark tests are skipped." >&2
  exit 1
fi
run=()
if [ "$(id -u)" -ne 0 ]; then run=(sudo); fi
"${run[@]}" apt-get update -qq
DEBIAN_FRONTEND=noninteractive "${run[@]}" apt-get install -y -qq --no-install-recommends default-jre-headless >/dev/null
