# Every target sets up what it needs; a second call is instant while requirements/ stands still.

.DEFAULT_GOAL := help
.PHONY: help demo test test-other test-lowest check bench bench-real bench-freshness docs simulations requirements clean

# The newest interpreter on the path that really runs and can make an environment; name another
# one with `make PYTHON=…`.
USABLE := import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))
PYTHON = $(shell for name in python3.13 python3.12 python3.11 python3; do \
    $$name -c '$(USABLE)' 2>/dev/null && { echo $$name; break; }; done)
VENV := .venv
BIN := $(VENV)/bin
PIP := -m pip install --quiet --disable-pip-version-check
# The rings of the code that are pure: numbers in, numbers out.
PURE := src/recrawl/core/*,src/recrawl/signatures/*,src/recrawl/estimation/*,src/recrawl/schedules/*,src/recrawl/planning/*,src/recrawl/simulation/*
PURE_TESTS := tests/core tests/signatures tests/estimation tests/schedules tests/planning tests/simulation tests/golden
DOC_TESTS := tests/test_architecture.py tests/test_docs.py tests/test_repository.py

help:  ## List the targets
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 17

$(VENV)/runtime.stamp: requirements/build.txt requirements/runtime.txt pyproject.toml
	@test -x $(BIN)/python || test -n "$(PYTHON)" || { echo 'no Python 3.11 or later with the venv\
	 module found: install one (Debian: python3-venv too), or name it: make PYTHON=…'; exit 1; }
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python $(PIP) --require-hashes -r requirements/build.txt -r requirements/runtime.txt
	$(BIN)/python $(PIP) --no-deps --no-build-isolation --editable .
	@touch $@

$(VENV)/dev.stamp: $(VENV)/runtime.stamp requirements/dev.txt
	$(BIN)/python $(PIP) --require-hashes -r requirements/dev.txt
	@touch $@

demo: $(VENV)/runtime.stamp  ## Follow a small changing site on this machine for half a minute
	$(BIN)/recrawl demo

test: $(VENV)/dev.stamp  ## Run every test; the pure ring must be covered to the last branch
	$(BIN)/python -m pytest -q --cov --cov-report=
	$(BIN)/coverage report --include='$(PURE)' --fail-under=100
	$(BIN)/coverage report --skip-covered --format=total | sed 's/$$/ % of all branches and lines/'

test-other: $(VENV)/dev.stamp  ## Pure ring and golden records on the other interpreters found here
	@sh tools/test_other.sh '$(PURE_TESTS)'

test-lowest: $(VENV)/dev.stamp  ## Every test on the lowest versions that pyproject.toml allows
	@sh tools/test_lowest.sh

check: $(VENV)/dev.stamp  ## Lint, format, types, layers, documentation
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python -m pytest -q $(DOC_TESTS)

bench: $(VENV)/dev.stamp  ## Run each benchmark briefly; one JSON object a line
	@for script in $(filter-out benchmarks/real.py benchmarks/freshness.py,$(wildcard benchmarks/*.py)); do \
	    echo "# $$script" && $(BIN)/python $$script --json || exit 1; done

bench-real: $(VENV)/dev.stamp  ## Run every schedule on real histories, half an hour on two cores
	$(BIN)/python benchmarks/real.py --json

bench-freshness: $(VENV)/dev.stamp  ## Run every schedule on made-up worlds, a quarter of an hour on two cores
	$(BIN)/python benchmarks/freshness.py --json

docs: $(VENV)/dev.stamp  ## Write the generated tables of docs/reference anew
	$(BIN)/python tools/docs.py

simulations: $(VENV)/dev.stamp  ## Run the schedules on the synthetic worlds and write docs/reference/simulations.md
	$(BIN)/python tools/simulations.py

requirements: $(VENV)/dev.stamp  ## Resolve requirements/*.txt anew from pyproject.toml
	@sh tools/requirements.sh

clean:  ## Remove everything that these targets made
	rm -rf $(VENV) .venv-* build dist .coverage .coverage.* .pytest_cache .mypy_cache .ruff_cache \
	    .hypothesis
	find src tests benchmarks tools -name __pycache__ -type d -prune -exec rm -rf {} +
