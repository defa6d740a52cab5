# Everything runs in .venv, which scripts/set_up.py makes from pyproject.toml and constraints.txt, with the page's
# libraries from package-lock.json and the generated client: `setup` for running, `tools` for tests and checks too.

ifndef PYTHON
PYTHON := $(shell for each in python3 python3.14 python3.13 python3.12 python3.11; do \
	$$each -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$each && break; done)
endif
VENV   ?= .venv
BIN    := $(VENV)/bin
STATIC := $(shell find src/moot/web/static src/moot/extensions -name '*.js')
MODEL  ?= smollm2-135m
LEAGUE := docs/leagues/local-models

MOTION ?= Should AI development be regulated by government?
# The motion reaches the shell through the environment, as written: quotes and $ are safe in it.
override MOTION := $(value MOTION)
export MOTION

SET_UP = $(PYTHON) scripts/set_up.py --venv $(VENV)

# More arguments for the tool behind a target: make test ARGS='-k pause'
ARGS ?=
# The number of processes that run tests in parallel. Many tests wait for processes, so two for each core.
WORKERS ?= $(shell echo $$((2 * $$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2))))

# The pinned pyright is the one we want; its hint that there is a newer one is noise.
export PYRIGHT_PYTHON_IGNORE_WARNINGS := 1
# Some machines forbid it by default; then each of a thousand processes compiles the whole program again.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help run debate cluster test coverage check format bench chaos simulate league screenshots wheel lock clean setup tools python pythons peers inspect

help: ## list these targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "  make %-11s %s\n", $$1, $$2}' Makefile

run: python ## start the server and open the page; ARGS='--port 9000'
	@$(SET_UP) run --model $(MODEL)
	@echo "Starting the server ..."
	@$(BIN)/moot serve --open $(ARGS)

debate: setup ## hold a debate in this terminal; MOTION='...' sets the motion
	@$(BIN)/moot "$$MOTION" $(ARGS)

cluster: tools ## try a cluster on this machine: two nodes, two workers; ARGS='--workers 4'
	@$(BIN)/python -m tests.cluster $(ARGS)

test: tools ## run the tests; ARGS='-k pause' selects some
	@$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal $(ARGS)

coverage: tools ## run the tests and report lines that they do not reach
	@$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal --cov --cov-report= $(ARGS)
	@$(BIN)/coverage report

check: tools ## lint, format, types and the direction of imports
	$(BIN)/ruff check -q
	$(BIN)/ruff format --check -q
	$(BIN)/pyright --threads 2
	$(BIN)/lint-imports --no-logo
	@printf '%s\n' $(STATIC) scripts/vendor.js | xargs -P 2 -n 1 node --check

format: tools ## format the code
	@$(BIN)/ruff check -q --fix-only
	@$(BIN)/ruff format

bench: tools $(VENV)/.bench ## measure speed; ARGS='tokens viewers --runs 3 --json FILE'
	@$(BIN)/python -m tests.bench $(ARGS)

chaos: tools ## long failure tests: killed processes, cut connections, faulty services in pairs
	@$(BIN)/python -m pytest tests -m chaos $(ARGS)

pythons: python ## try every Python on this machine as a newcomer would: set-up, doctor, a debate, page and manual
	@$(PYTHON) scripts/every_python.py $(ARGS)

peers: tools ## let Inspect, datasets, DuckDB and polars read what we export; installs them (1.6 GB) beside .venv
	@$(PYTHON) -m venv build/peers
	@build/peers/bin/python -m pip install -qq inspect-ai datasets duckdb polars -e '.[experiments,parquet,testing,dev]'
	@HF_HUB_OFFLINE=1 build/peers/bin/python -m pytest -m peers tests/extensions/experiments/test_stored_tables.py tests/extensions/experiments/behaviour/test_table_readers.py $(ARGS)

inspect: peers # as this was called before

simulate: tools ## how often the intervals of ratings hold the truth; ARGS='--runs 100'
	@$(BIN)/python -m tests.extensions.experiments.planted_judges
	@$(BIN)/python -m tests.extensions.experiments $(ARGS)

league: tools ## hold the league of the local models again and write docs/leagues; 15 to 30 minutes
	@MOOT_SCRIPTED=1 MOOT_DATA=build/league $(BIN)/moot experiment run $(LEAGUE).toml
	@MOOT_DATA=build/league $(BIN)/moot experiment export local-models -o $(LEAGUE)
	@for ending in html md; do MOOT_DATA=build/league $(BIN)/moot experiment report local-models --manifest $(LEAGUE) -o $(LEAGUE)/report.$$ending; done

screenshots: python ## take the pictures in docs/images; ARGS=all takes every state into build/screenshots
	@$(SET_UP) pictures
	@$(BIN)/python -m tests.page.screenshots $(ARGS)
	@[ "$(firstword $(ARGS))" = all ] || $(BIN)/python -m tests.page.moving_picture

wheel: tools ## build the wheel into dist/
	@$(BIN)/python -m build --wheel --no-isolation

lock: ## pin the newest versions of all dependencies in constraints.txt
	@echo "resolving every dependency ..."
	@$(PYTHON) scripts/lock.py

clean: ## remove build results and caches (.venv stays)
	@rm -rf dist build .coverage .coverage.* htmlcov .pytest_cache .ruff_cache .hypothesis .import_linter_cache
	@find src tests scripts -name __pycache__ -type d -prune -exec rm -rf {} +

setup: python ## set up .venv for running; `make run` does this first
	@$(SET_UP) run

tools: python ## set up .venv for tests and checks too; the targets that need it do this first
	@$(SET_UP) tests

python:
	@[ -n "$(PYTHON)" ] || { echo "Moot needs Python 3.11 or newer: make PYTHON=/path/to/python3.11" >&2; exit 1; }

# Benchmarks that need a peer which cannot be installed are left out, and say so.
$(VENV)/.bench: tools
	@echo "installing the peers that we are measured against ..."
	@$(BIN)/python -m pip install -qq -c constraints.txt --no-build-isolation -e '.[bench]' && touch $@ || exit 0
