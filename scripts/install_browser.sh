#!/usr/bin/env bash
# Install Debian's chromium, in which the tests read the explorer page; a no-op where there is one.
set -euo pipefail
if command -v chromium >/dev/null || command -v chromium-browser >/dev/null || command -v google-chrome >/dev/null; then
  exit 0
fi
if ! command -v apt-get >/dev/null; then
  echo "No apt-get here: install chromium in the way of this system, or the browser tests are skipped." >&2
  exit 1
fi
run=()
if [ "$(id -u)" -ne 0 ]; then run=(sudo); fi
"${run[@]}" apt-get update -qq
DEBIAN_FRONTEND=noninteractive "${run[@]}" apt-get install -y -qq --no-install-recommends chromium npm >/dev/null
