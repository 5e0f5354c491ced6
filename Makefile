# Frostglass. `make run` serves the application, `make test` runs all tests but the longest.
# Needs Python 3.11 or newer; everything else goes into .venv.

SHELL := /bin/sh
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

PYTHON ?= python3
PORT ?= 8501
ADDRESS ?= localhost
# Test processes side by side, one more than most machines have cores, as browsers are waited for; `make test WORKERS=0` runs them one after the other.
WORKERS ?= 3
# Further arguments of pytest, for example TESTS="tests/domain/test_schema.py".
TESTS ?=
# Which benchmark, and its arguments, for example SUITE=rules BENCH="--quick".
SUITE ?= rules
BENCH ?=
# What `make lock` may change, for example LOCK="--upgrade" or LOCK="--upgrade-package numpy".
LOCK ?=

VENV := .venv
PY := $(VENV)/bin/python
# Modules are compiled when first imported: most of what is installed never is.
PIP := $(PY) -m pip --quiet --disable-pip-version-check --no-input
LINTED := app.py pages dpcore tests benchmarks

export DEBIAN_FRONTEND := noninteractive
export PIP_ROOT_USER_ACTION := ignore

# $(call apt_install,packages,sentence for those who must install by hand)
define apt_install
if command -v apt-get >/dev/null 2>&1 && [ "$$(id -u)" = 0 ]; then \
	echo "Installing Debian's $(1) ..."; \
	apt-get update -qq && apt-get install -y -qq $(1) >/dev/null; \
elif command -v apt-get >/dev/null 2>&1 && sudo -n true 2>/dev/null; then \
	echo "Installing Debian's $(1) ..."; \
	sudo -n apt-get update -qq && \
	sudo -n env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq $(1) >/dev/null; \
else \
	echo "error: $(2)" >&2; exit 1; \
fi
endef

.PHONY: help setup setup-dev chromium run demo test-fast test test-slow lint format bench docs lock clean

help: ## Show what can be made
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' $(firstword $(MAKEFILE_LIST)) | \
		while IFS="$$(printf '\t')" read -r target text; do printf '  make %-10s %s\n' "$$target" "$$text"; done
	@echo "  Variables: PORT=$(PORT) ADDRESS=$(ADDRESS) PYTHON=$(PYTHON) WORKERS=$(WORKERS)"

$(VENV)/.stamp-venv:
	@command -v $(PYTHON) >/dev/null 2>&1 || \
		{ echo "error: $(PYTHON) was not found. Install Python 3.11 or newer (Debian: apt-get install python3 python3-venv)." >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "error: Frostglass needs Python 3.11 or newer; $(PYTHON) is $$($(PYTHON) --version 2>&1). Name another one: make PYTHON=python3.12 ..." >&2; exit 1; }
	@$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null || \
		{ $(call apt_install,python3-venv,this Python cannot make virtual environments. Install them first: apt-get install python3-venv); }
	@echo "Creating $(VENV) ..."
	@$(PYTHON) -m venv $(VENV) || \
		{ echo "error: $(PYTHON) could not create $(VENV). On Debian: apt-get install python3-venv" >&2; exit 1; }
	@touch $@

$(VENV)/.stamp-run: $(VENV)/.stamp-venv requirements.txt
	@echo "Installing what the application needs (a few minutes the first time) ..."
	@$(PIP) install --no-compile --require-hashes -r requirements.txt
	@touch $@

$(VENV)/.stamp-dev: $(VENV)/.stamp-run requirements-dev.txt
	@echo "Installing what the tests and linters need ..."
	@$(PIP) install --no-compile --require-hashes -r requirements-dev.txt
	@touch $@

$(VENV)/.stamp-docs: $(VENV)/.stamp-run requirements-docs.txt
	@echo "Installing what the documentation needs ..."
	@$(PIP) install --no-compile --require-hashes -r requirements-docs.txt
	@touch $@

setup: $(VENV)/.stamp-run ## Create .venv and install the pinned requirements; nothing else

setup-dev: $(VENV)/.stamp-dev

demo: setup ## Prepare the public demonstration data
	@$(PY) -m dpcore demo

run: demo ## Serve the application (PORT, ADDRESS)
	@echo "Frostglass is served at http://$(ADDRESS):$(PORT) (Ctrl-C stops it)"
	@exec $(PY) -m streamlit run app.py --server.port $(PORT) --server.address $(ADDRESS)

chromium:
	@for name in chromium-headless-shell chromium chromium-browser google-chrome; do \
		command -v $$name >/dev/null 2>&1 && exit 0; \
	done; \
	$(call apt_install,chromium-headless-shell,the browser tests need Chromium. Install it first: apt-get install chromium-headless-shell)

# What is put down to stay on a disk is waited for: tests put it into memory, where that has room enough.
IN_MEMORY = [ "$$(df -k --output=avail /dev/shm 2>/dev/null | tail -n 1)" -gt 4000000 ] 2>/dev/null && export PYTEST_DEBUG_TEMPROOT=/dev/shm;
PYTEST = $(IN_MEMORY) $(PY) -m pytest $(if $(filter-out 0,$(WORKERS)),-n $(WORKERS) --dist loadfile --no-loadscope-reorder)

test-fast: setup-dev ## Run what needs no page, server or program: a few minutes
	@$(PYTEST) -m "not slow and not heavy" $(TESTS)

test: setup-dev chromium ## Run the tests, those in a browser included
	@$(PYTEST) -m "not slow" $(TESTS)

test-slow: setup-dev chromium ## Run the long form of audits, of properties and of the checks in a browser
	@$(PYTEST) -m "slow or (hypothesis and not heavy)" --hypothesis-profile=thorough $(TESTS)

lint: setup-dev ## Run ruff, mypy and the import rules
	@$(PY) -m ruff check $(wildcard $(LINTED))
	@$(PY) -m ruff format --check $(wildcard $(LINTED))
	@$(PY) -m mypy --strict dpcore pages app.py
	@$(VENV)/bin/lint-imports --no-logo

format: setup-dev ## Rewrite the code in the house format
	@$(PY) -m ruff check --fix $(wildcard $(LINTED))
	@$(PY) -m ruff format $(wildcard $(LINTED))

bench: setup-dev ## Run a benchmark (SUITE, BENCH="--quick")
	@$(PY) -m benchmarks $(SUITE) $(BENCH)

docs: $(VENV)/.stamp-docs ## Build the documentation as a site in site/
	@$(PY) -m sphinx --quiet --fail-on-warning --keep-going docs site
	@echo "Open site/index.html"

COMPILE = $(VENV)/bin/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes \
	--no-annotate --custom-compile-command "make lock" $(LOCK) pyproject.toml --extra app

lock: $(VENV)/.stamp-venv ## Pin every requirement, with the hashes of its files (LOCK="--upgrade")
	@$(PIP) install uv==0.13.9
	@$(COMPILE) -o requirements.txt
	@for set in dev docs; do \
		$(COMPILE) requirements-$$set.in -c requirements.txt -o requirements-$$set.txt || exit 1; \
	done

clean: ## Remove .venv and caches (never data sets or ledgers)
	@rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis site
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +
