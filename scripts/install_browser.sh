#!/usr/bin/env bash
# Install Debian's chromium, in which the tests read the explorer page, and npm, which brings axe-core; what is there stays.
set -euo pipefail
missing=()
if ! command -v chromium >/dev/null && ! command -v chromium-browser >/dev/null && ! command -v google-chrome >/dev/null; then
  missing+=(chromium)
fi
# Debian's npm conflicts with the Node.js of other sources, which has its own: ask for it only where there is none
if ! command -v npm >/dev/null; then missing+=(npm); fi
if [ "${#missing[@]}" -eq 0 ]; then exit 0; fi
if ! command -v apt-get >/dev/null; then
  echo "No apt-get here: install ${missing[*]} in the way of this system, or the browser tests are skipped." >&2
  exit 1
fi
run=()
if [ "$(id -u)" -ne 0 ]; then run=(sudo); fi
"${run[@]}" apt-get update -qq
DEBIAN_FRONTEND=noninteractive "${run[@]}" apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
