# Everything runs in .venv, made from pyproject.toml and constraints.txt. What the page builds on comes from
# package-lock.json and is put into src/moot/web/vendor.

PYTHON ?= python3
EXTRAS := local,cluster,mcp,experiments,parquet,dev
BIN    := .venv/bin
STATIC := $(shell find src/moot/web/static -name '*.js')
STYLES := $(shell find src/moot/web/static -name '*.css')
MODEL  ?= smollm2-135m
LEAGUE := docs/leagues/local-models

MOTION ?= Should AI development be regulated by government?
# The motion reaches the shell through the environment, as written: quotes and $ are safe in it.
override MOTION := $(value MOTION)
export MOTION

# More arguments for the tool behind a target: make test ARGS='-k pause'
ARGS ?=
# The number of processes that run tests in parallel. Many tests wait for processes, so two for each core.
WORKERS ?= $(shell echo $$((2 * $$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2))))

export PIP_DISABLE_PIP_VERSION_CHECK := 1
# The pinned pyright is the one we want; its hint that there is a newer one is noise.
export PYRIGHT_PYTHON_IGNORE_WARNINGS := 1
# Some machines forbid it by default; then each of a thousand processes compiles the whole program again.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help run debate cluster test coverage check format bench chaos simulate league screenshots wheel lock clean setup

help: ## list these targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "  make %-11s %s\n", $$1, $$2}' Makefile

run: setup ## start the server and open the page; ARGS='--port 9000'
	@$(BIN)/moot models install $(MODEL)
	@echo "Starting the server ..."
	@$(BIN)/moot serve --open $(ARGS)

debate: setup ## hold a debate in this terminal; MOTION='...' sets the motion
	@$(BIN)/moot "$$MOTION" $(ARGS)

cluster: setup ## try a cluster on this machine: two nodes, two workers; ARGS='--workers 4'
	@$(BIN)/python -m tests.cluster $(ARGS)

test: setup .venv/.debian ## run the tests; ARGS='-k pause' selects some
	@$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal $(ARGS)

coverage: setup .venv/.debian ## run the tests and report lines that they do not reach
	@$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal --cov --cov-report= $(ARGS)
	@$(BIN)/coverage report

check: setup ## lint, format, types and the direction of imports
	$(BIN)/ruff check -q
	$(BIN)/ruff format --check -q
	$(BIN)/python scripts/sync_client.py --check
	$(BIN)/pyright --threads 2
	$(BIN)/lint-imports --no-logo
	@printf '%s\n' $(STATIC) scripts/vendor.js | xargs -P 2 -n 1 node --check

format: setup ## format the code and generate the blocking client
	@$(BIN)/python scripts/sync_client.py
	@$(BIN)/ruff check -q --fix-only
	@$(BIN)/ruff format

bench: setup .venv/.bench ## measure speed; ARGS='tokens viewers --runs 3 --json FILE'
	@$(BIN)/python -m tests.bench $(ARGS)

chaos: setup .venv/.debian ## long failure tests: killed processes, cut connections, faulty services in pairs
	@$(BIN)/python -m pytest tests -m chaos $(ARGS)

simulate: setup ## how often the intervals of ratings hold the truth; ARGS='--runs 100'
	@$(BIN)/python -m tests.experiments $(ARGS)

league: setup ## hold the league of the local models again and write docs/leagues; 15 to 30 minutes
	@MOOT_SCRIPTED=1 MOOT_DATA=build/league $(BIN)/moot experiment run $(LEAGUE).toml
	@for ending in html md; do MOOT_DATA=build/league $(BIN)/moot experiment report local-models -o $(LEAGUE)/report.$$ending; done
	@MOOT_DATA=build/league $(BIN)/moot experiment export local-models -o $(LEAGUE)

screenshots: setup .venv/.debian .venv/.fonts ## take the pictures in docs/images; ARGS=all takes every state into build/screenshots
	@$(BIN)/python -m tests.page.screenshots $(ARGS)
	@[ "$(firstword $(ARGS))" = all ] || $(BIN)/python -m tests.page.moving_picture

wheel: setup ## build the wheel into dist/
	@$(BIN)/python -m build --wheel --no-isolation

lock: ## pin the newest versions of all dependencies in constraints.txt
	@echo "resolving every dependency ..."
	@$(PYTHON) scripts/lock.py

clean: ## remove build results and caches (.venv stays)
	@rm -rf dist build .coverage .coverage.* htmlcov .pytest_cache .ruff_cache .hypothesis .import_linter_cache
	@find src tests scripts -name __pycache__ -type d -prune -exec rm -rf {} +

setup: .venv/.stamp .venv/.page ## set up .venv; the other targets run this first

.venv/.stamp: pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "Moot needs Python 3.11 or newer: make PYTHON=/path/to/python3.11" >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip' 2>/dev/null || scripts/debian.sh python3-venv
	@echo "Installing Moot and its Python packages into .venv (once, about a minute) ..."
	@$(PYTHON) -m venv .venv
	@$(BIN)/python -m pip install -qq -c constraints.txt pip hatchling editables
	@$(BIN)/python -m pip install -qq -c constraints.txt --no-build-isolation -e '.[$(EXTRAS)]'
	@touch $@

.venv/.npm: .venv/.stamp package-lock.json
	@command -v npm >/dev/null || \
		{ echo "The page is put together with Node.js and npm: please install them." >&2; exit 1; }
	@echo "Fetching the libraries of the page with npm ..."
	@npm ci --silent --no-audit --no-fund --ignore-scripts
	@touch $@

.venv/.page: .venv/.npm scripts/vendor.js $(STATIC) $(STYLES)
	@echo "Building the page ..."
	@node scripts/vendor.js
	@touch $@

.venv/.fonts: .venv/.stamp
	@scripts/debian.sh fonts-noto-core fonts-noto-cjk fonts-noto-color-emoji
	@touch $@

# A browser and nginx. If they cannot be installed, the tests that need them are skipped with a reason.
.venv/.debian: .venv/.stamp
	@scripts/debian.sh nginx chromium-headless-shell || scripts/debian.sh nginx chromium || exit 0
	@touch $@

# Benchmarks that need a peer which cannot be installed are left out, and say so.
.venv/.bench: .venv/.stamp
	@echo "installing the peers that we are measured against ..."
	@$(BIN)/python -m pip install -qq -c constraints.txt --no-build-isolation -e '.[bench]' && touch $@ || exit 0
