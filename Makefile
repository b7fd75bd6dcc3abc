# Everything a person or a machine does with this project. `make help` lists it.
# Needs only Python 3.11+ and the package registry: the first target that runs sets up .venv, later ones find it ready.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready
.DEFAULT_GOAL := help

help: ## Show this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-13s %s\n", $$1, $$2}'

setup: $(READY) ## Create .venv, install the package and its tools, compile and cache the kernels

$(READY): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "error: Python 3.11 or newer is needed, $(PYTHON) is older; try: make PYTHON=python3.12 ..." >&2; exit 1; }
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --prefer-binary --editable ".[dev,bench]"
	$(BIN)/python -m bayeslearn.kernels
	@touch $@

demo: $(READY) ## The main job on data that ships with the package
	$(BIN)/python -m bayeslearn demo

test: $(READY) ## Every test, and the tests of kernels a second time interpreted (not the slow ones)
	$(BIN)/python -m pytest -n auto --dist worksteal -m "not slow"
	$(BIN)/python -m tests.interpreted -n auto --dist worksteal

test-fast: $(READY) ## The quick tests, for the edit loop: all, or TESTS=tests/mixture
	HYPOTHESIS_PROFILE=quick $(BIN)/python -m pytest -n auto --dist worksteal -m "not slow and not thorough" $(or $(TESTS),tests)

test-all: $(READY) ## Every test and the slow ones too, properties with ten times as many examples
	HYPOTHESIS_PROFILE=deep $(BIN)/python -m pytest -n auto --dist worksteal
	HYPOTHESIS_PROFILE=deep $(BIN)/python -m tests.interpreted -n auto --dist worksteal

# pytest keeps the tests that it compiled: without them collecting takes twice as long
test test-fast test-all: export PYTHONDONTWRITEBYTECODE =

test-machines: $(READY) ## The tests as other processors run them: core types, CPU names, threads (an hour or more)
	$(BIN)/python -m tests.machines

check: $(READY) ## ruff, mypy strict, import-linter, codespell
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache
	$(BIN)/codespell

fmt: $(READY) ## Format the code and mend what can be mended by itself
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: $(READY) ## Measure against the peers (SUBJECT=counting by default)
	$(BIN)/python -m bench $(or $(SUBJECT),counting)

docs: $(READY) ## Build the documentation; warnings are errors
	$(BIN)/python -m sphinx -W --keep-going -q -b html docs docs/_build/html
	@echo "docs/_build/html/index.html"

clean: ## Remove .venv and every cache
	rm -rf $(VENV) docs/_build .mypy_cache .ruff_cache .pytest_cache .hypothesis

.PHONY: help setup demo test test-fast test-all test-machines check fmt bench docs clean
