# Everything a person or a machine does with this project. `make help` lists it.
# Needs only Python 3.11+ and the package registry. A target installs what it needs into .venv when it first runs.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
# without compiled kernels: an editable install compiles what is used, into the cache folder of the user
PIP    := BAYESLEARN_COMPILE=0 $(BIN)/python -m pip install --quiet --disable-pip-version-check --prefer-binary --no-compile
.DEFAULT_GOAL := help

help: ## Show this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-13s %s\n", $$1, $$2}'

# ---------------------------------------------------------------- what targets need
# $(VENV)/.NAME marks that the extras of NAME are installed; it is made anew when pyproject.toml changes

EXTRAS_demo  := plot
EXTRAS_test  := test
EXTRAS_check := check
EXTRAS_docs  := docs
EXTRAS_bench := bench
EXTRAS_dev   := dev
ABOUT_demo   := the package with pictures (about 0.7 GB, half a minute)
ABOUT_test   := the package, test tools and peers that tests compare with (about 1.3 GB, a minute)
ABOUT_check  := ruff, mypy, import-linter and codespell (about 0.1 GB, 15 seconds)
ABOUT_docs   := Sphinx (about 0.1 GB, 15 seconds)
ABOUT_bench  := peers to measure against (about 0.4 GB, half a minute)
ABOUT_dev    := everything that any target needs (about 1.6 GB, a minute and a half)

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "error: Python 3.11 or newer is needed, $(PYTHON) is older; try: make PYTHON=python3.12 ..." >&2; exit 1; }
	@$(PYTHON) -m venv $(VENV)

$(VENV)/.%: pyproject.toml | $(BIN)/python
	@echo "installing into $(VENV): $(ABOUT_$*)"
	@$(PIP) --editable ".[$(EXTRAS_$*)]"
	@touch $@

setup: $(VENV)/.dev ## Install everything that the targets need, and compile all kernels
	@touch $(VENV)/.demo $(VENV)/.test $(VENV)/.check $(VENV)/.docs $(VENV)/.bench
	@$(BIN)/python -m bayeslearn.kernels

# ---------------------------------------------------------------- use

demo: $(VENV)/.demo ## The main job on data that ships with the package
	$(BIN)/python -m bayeslearn demo

# ---------------------------------------------------------------- tests

test: $(VENV)/.test ## Every test, and the tests of kernels a second time interpreted (not the slow ones)
	@$(BIN)/python -m bayeslearn.kernels
	$(BIN)/python -m pytest -n auto --dist worksteal -m "not slow"
	$(BIN)/python -m tests.interpreted -n auto --dist worksteal

test-fast: $(VENV)/.test ## The quick tests, for the edit loop: all, or TESTS=tests/mixture
	HYPOTHESIS_PROFILE=quick $(BIN)/python -m pytest -n auto --dist worksteal -m "not slow and not thorough" $(or $(TESTS),tests)

test-all: $(VENV)/.test ## Every test and the slow ones too, ten times as many examples, and kernels that check indexes
	@$(BIN)/python -m bayeslearn.kernels
	HYPOTHESIS_PROFILE=deep $(BIN)/python -m pytest -n auto --dist worksteal
	HYPOTHESIS_PROFILE=deep $(BIN)/python -m tests.interpreted -n auto --dist worksteal
	@NUMBA_BOUNDSCHECK=1 $(BIN)/python -m bayeslearn.kernels
	NUMBA_BOUNDSCHECK=1 $(BIN)/python -m pytest -n auto --dist worksteal

# pytest keeps the tests that it compiled: without them collecting takes twice as long
test test-fast test-all: export PYTHONDONTWRITEBYTECODE =

fuzz: $(VENV)/.test ## Hostile files, numbers and arguments for MINUTES=5: no crash, no foreign error, no swelling
	@$(BIN)/python -m bayeslearn.kernels
	$(BIN)/python -m tests.fuzz --minutes $(or $(MINUTES),5) $(if $(SEED),--seed $(SEED)) $(TARGETS)

fuzz-guided: $(VENV)/.test ## One target guided by coverage, TARGETS=networks/bif for MINUTES=5, where atheris can be installed
	@$(PIP) --editable ".[fuzz]" || echo "atheris cannot be installed here: skipped"
	@! $(BIN)/python -c "import atheris" 2>/dev/null || \
	  $(BIN)/python -m tests.fuzz.guided $(or $(TARGETS),networks/bif) --minutes $(or $(MINUTES),5)

test-wheel: $(VENV)/.test ## Build a wheel, install it into an empty environment, and see that verbs compile nothing
	$(BIN)/python -m tests.wheel

test-machines: $(VENV)/.test ## The tests as other processors run them: core types, CPU names, threads (an hour or more)
	$(BIN)/python -m tests.machines

test-pythons: $(VENV)/.test ## The tests with every Python from 3.11 to 3.14 that is on this machine
	$(BIN)/python -m tests.pythons

# ---------------------------------------------------------------- development

check: $(VENV)/.check ## ruff, mypy strict, import-linter, codespell
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache
	$(BIN)/codespell

fmt: $(VENV)/.check ## Format the code and mend what can be mended by itself
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: $(VENV)/.bench ## Measure against the peers (SUBJECT=counting by default)
	@$(BIN)/python -m bayeslearn.kernels
	$(BIN)/python -m bench $(or $(SUBJECT),counting)

docs: $(VENV)/.docs ## Build the documentation; warnings are errors
	$(BIN)/python -m sphinx -W --keep-going -q -b html docs docs/_build/html
	@echo "docs/_build/html/index.html"

clean: ## Remove .venv and every cache of this folder
	rm -rf $(VENV) docs/_build .mypy_cache .ruff_cache .pytest_cache .hypothesis

.PHONY: help setup demo test test-fast test-all fuzz fuzz-guided test-wheel test-machines test-pythons check fmt bench docs clean
