#!/usr/bin/env bash
# Put axe-core, which checks the explorer page for accessibility, into build/axe; a no-op where it is.
set -euo pipefail
version=4.10.3
cd "$(dirname "$0")/.."
if [ -f build/axe/package/axe.min.js ] && grep -q "axe v$version" build/axe/package/axe.min.js; then exit 0; fi
if ! command -v npm >/dev/null; then
  echo "No npm here: install it in the way of this system, or the tests of accessibility are skipped." >&2
  exit 1
fi
mkdir -p build/axe
cd build/axe
npm pack --silent "axe-core@$version" >/dev/null
tar -xzf "axe-core-$version.tgz"
rm "axe-core-$version.tgz"
