# Everything a developer does, on a machine with python3 (3.11 or newer), git and make. `make help` lists it.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Stamps: an installation is done again only when the locked files or the project's own metadata change.
RUNTIME := $(VENV)/.runtime-installed
DEV := $(VENV)/.dev-installed
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
# Commands that only look at the code get a home of their own, never the developer's.
SCRATCH := STUDIO_HOME=$(CURDIR)/$(VENV)/scratch-home

.DEFAULT_GOAL := help
.PHONY: help install run test lint bench contract lock clean

help:  ## show this list
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 18

install: $(DEV)  ## everything for development, in .venv

run: $(RUNTIME)  ## the daemon; on an empty home it plays the demo once
	$(BIN)/python manage.py serve --demo

test: $(DEV)  ## the suite on SQLite and, where a server answers, on PostgreSQL
	$(BIN)/python -m tests.run

lint: $(DEV)  ## style, types, import directions, migrations and contract drift
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(SCRATCH) $(BIN)/mypy
	$(BIN)/lint-imports
	$(SCRATCH) $(BIN)/python manage.py makemigrations --check --dry-run
	$(SCRATCH) $(BIN)/python manage.py contract check

bench: $(DEV)  ## the measurements (ARGS="--peer" beside lionagi[studio], in a virtualenv of its own)
	$(BIN)/python -m tests.benchmarks $(ARGS)

contract: $(RUNTIME)  ## write the published contract anew
	$(SCRATCH) $(BIN)/python manage.py contract export

lock: $(DEV)  ## resolve the dependencies anew (UPGRADE=1: to the newest versions)
	$(foreach set,runtime dev,CUSTOM_COMPILE_COMMAND="make lock" $(BIN)/pip-compile --quiet $(if $(UPGRADE),--upgrade) \
		--generate-hashes --strip-extras --allow-unsafe --no-emit-index-url --no-emit-find-links \
		--no-emit-trusted-host --output-file=requirements/$(set).txt requirements/$(set).in &&) true

clean:  ## remove everything that was made
	rm -rf $(VENV) build *.egg-info .mypy_cache .pytest_cache .ruff_cache .hypothesis .import_linter_cache .coverage
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit("Python 3.11 or newer is needed" if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv $(VENV)

$(RUNTIME): requirements/runtime.txt pyproject.toml | $(BIN)/python
	@echo "Installing what Studio runs on into $(VENV); this happens once and takes about a minute."
	$(PIP) install --require-hashes -r requirements/runtime.txt
	$(PIP) install --no-deps --no-build-isolation --editable .
	touch $@

$(DEV): requirements/dev.txt $(RUNTIME)
	@echo "Installing what the checks need into $(VENV); this happens once."
	$(PIP) install --require-hashes -r requirements/dev.txt
	mkdir -p $(VENV)/scratch-home
	touch $@
