# `make demo` and `make test` do all the set-up on a fresh machine with Python 3.11 or newer.
PYTHON ?= python3
VENV ?= .venv
OLDEST ?= .venv-oldest
PYTHONS ?= python3.12 python3.13
BIN := $(VENV)/bin
SHARED_DATA ?= ../shared/data

# or every process that a test starts would compile all modules again
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test test-oldest test-python coverage browser java postgres check lint types layers bench docs docs-test pictures build clean

demo: $(VENV)/.demo
	$(BIN)/python scripts/demo.py

test: $(VENV)/.test
	$(BIN)/python -m pytest -n auto --dist loadgroup

# all tests, with the lines and branches that none of them reaches; kernels are compiled and do not count
coverage: $(VENV)/.test
	$(BIN)/python -m pytest -n auto --dist loadgroup --cov --cov-report=term --cov-report=html:build/coverage

# the lowest versions that pyproject.toml promises (Python 3.11 or 3.12: they have no wheels for later ones). Warnings are
# no errors here: packages below ours may be newer than what these versions were written for.
test-oldest: $(OLDEST)/.test
	NUMBA_CACHE_DIR=$(abspath $(OLDEST))/kernels $(OLDEST)/bin/python -m pytest -n auto --dist loadgroup -W default tests \
	  --ignore=tests/docs --ignore=tests/unit/explorer

# all tests but those of pages on other Pythons, each in an environment of its own; one that is not there is an error.
# With pyenv: make test-python PYTHONS="$$(ls -d ~/.pyenv/versions/3.1[23]*/bin/python)"
test-python:
	for python in $(PYTHONS); do scripts/test_python.sh $$python || exit 1; done

# the browser of the tests that read the explorer page, and axe-core to check it; without them they are skipped
browser:
	scripts/install_browser.sh
	scripts/install_axe.sh

# what the tests on a local Spark run on; without it they are skipped
java:
	scripts/install_java.sh

# the server that the tests of SQL start; without it those on PostgreSQL are skipped
postgres:
	scripts/install_postgres.sh

check: lint types layers coverage

lint: $(VENV)/.lint
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.lint
	$(BIN)/mypy

layers: $(VENV)/.lint
	$(BIN)/lint-imports

# against the peers that are there; those of R too with R_LIBS=folder, where bnlearn and bnclassify are installed
bench: $(VENV)/.bench
	$(BIN)/python -m benchmarks.speed --data $(SHARED_DATA) $(if $(R_LIBS),--r-libs $(R_LIBS))

docs: $(VENV)/.docs
	rm -rf docs/generated
	$(BIN)/python -m sphinx -W --keep-going -q -b html docs build/docs
	@echo "build/docs/index.html"

# the built site in a browser: no network, search, links, copied code
docs-test: docs $(VENV)/.test
	TANBARK_SITE=build/docs $(BIN)/python -m pytest -n 0 tests/docs/test_site.py

# the pictures of the explorer page in docs/pictures, after a change of the page; they are committed
pictures: $(VENV)/.test
	$(BIN)/python scripts/pictures.py

# a source package and a wheel in dist/, and a look into the wheel
build: $(VENV)/.build
	rm -rf dist
	$(BIN)/python -m build --outdir dist
	$(BIN)/python scripts/check_wheel.py dist

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Tanbark needs Python 3.11 or newer; set PYTHON=...")'
	$(PYTHON) -m venv $(VENV)

$(VENV)/.demo: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --editable ".[demo]"
	@touch $@

$(VENV)/.test: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --editable ".[test]"
	@touch $@

$(VENV)/.lint: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --editable ".[test,lint]"
	@touch $@

$(VENV)/.bench: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --editable ".[bench]"
	@touch $@

$(VENV)/.docs: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --editable ".[docs]"
	@touch $@

$(VENV)/.build: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --editable ".[build]"
	@touch $@

$(OLDEST)/.test: requirements-oldest.txt
	$(PYTHON) -m venv $(OLDEST)
	$(OLDEST)/bin/python -m pip install --quiet --requirement requirements-oldest.txt
	$(OLDEST)/bin/python -m pip install --quiet --no-deps --editable .
	@touch $@

clean:
	rm -rf docs/generated $(VENV) $(OLDEST) .venv-python* build dist demo-output .pytest_cache .mypy_cache .ruff_cache .hypothesis
