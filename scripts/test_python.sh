#!/usr/bin/env bash
# Run the tests, without those of pages in a browser, on the Python that is given: scripts/test_python.sh python3.13
set -euo pipefail
cd "$(dirname "$0")/.."
version=$("$1" -c 'import sys; print(f"{sys.version_info.major}.{sys.version_info.minor}")')
folder=.venv-python$version
if [ ! -x "$folder/bin/python" ]; then "$1" -m venv "$folder"; fi
"$folder/bin/python" -m pip install --quiet --editable ".[test]"
NUMBA_CACHE_DIR=$PWD/$folder/kernels "$folder/bin/python" -m pytest -n auto --dist loadgroup tests \
  --ignore=tests/docs --ignore=tests/unit/explorer
