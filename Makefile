.DEFAULT_GOAL := help
.PHONY: help venv example report test slow test-libraries soundness coverage mutants check versions lowest bench docs gallery pictures notebook pyright clean

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
TESTS_READY := $(VENV)/.ready-tests
DOCS_READY := $(VENV)/.ready-docs
LIBRARIES_VENV ?= .venv-libraries
LIBRARIES_READY := $(LIBRARIES_VENV)/.ready
LOWEST_VENV ?= .venv-lowest
VERSIONS ?= 3.11 3.12 3.13 3.14
OUT ?= out
PROGRAMS ?= 10000
MODULES ?=
MUTANTS ?= 14
WORKERS ?= 2
SUPPORTED := import sys; sys.exit(sys.version_info < (3, 11))

help: ## Show this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-16s %s\n", $$1, $$2}'

venv: $(READY) ## Create the virtual environment .venv and install dpest into it (tests, linters and documents: when first asked for)

example: $(READY) ## Print the exact privacy loss of above-threshold, with its witness
	@$(BIN)/dpest estimate SVT1

report: $(READY) ## The main job: the exact loss of an example, then the report of all 21 algorithms as out/report.html
	@$(BIN)/dpest estimate SVT1
	@mkdir -p $(OUT)
	@$(BIN)/dpest report --html $(OUT)/report.html

test: $(TESTS_READY) ## Run the tests
	$(BIN)/pytest -q -n auto

slow: $(TESTS_READY) ## Run the slow statistical tests
	$(BIN)/pytest -q -n auto -m slow

test-libraries: $(LIBRARIES_READY) ## Audit other projects' libraries (an environment of its own)
	$(LIBRARIES_VENV)/bin/pytest -q -m libraries

soundness: $(TESTS_READY) ## Run 10,000 random programs against their oracles and write docs/soundness.md (WORKERS=2 processes; minutes on 16 cores)
	$(BIN)/python benchmarks/soundness.py --programs $(PROGRAMS) --seed 1 --workers $(WORKERS) --shrink 30 --write

coverage: $(TESTS_READY) ## Ask about published mechanisms as they stand and write docs/coverage.md (minutes)
	$(BIN)/python -m benchmarks.coverage --write

mutants: $(TESTS_READY) ## Mutation testing of the modules that decide, integrate and bound (MODULES=..., MUTANTS=14 each, WORKERS=2; hours)
	$(BIN)/python benchmarks/mutants.py $(MODULES) --sample $(MUTANTS) --workers $(WORKERS) --out $(OUT)

check: $(TESTS_READY) ## Lint, type-check and check the layers
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache

versions: ## Run the tests on every installed Python of the classifiers, each in an environment of its own
	@for v in $(VERSIONS); do command -v python$$v > /dev/null || { echo "python$$v is not installed: skipped"; continue; }; \
		echo "== python$$v"; $(MAKE) --no-print-directory test PYTHON=python$$v VENV=.venv-$$v || exit 1; done

lowest: ## Run the tests once with the lowest versions of the dependencies that pyproject.toml allows
	@test -x $(LOWEST_VENV)/bin/python || $(PYTHON) -m venv $(LOWEST_VENV)
	$(LOWEST_VENV)/bin/python -m pip install -q --disable-pip-version-check uv
	VIRTUAL_ENV=$(LOWEST_VENV) $(LOWEST_VENV)/bin/uv pip install -q --resolution lowest-direct -e '.[report,audit,dask,test]'
	$(LOWEST_VENV)/bin/python -m pytest -q -n auto

bench: $(TESTS_READY) ## Run the benchmarks
	@for b in benchmarks/bench_*.py; do echo "== $$b"; $(BIN)/python $$b || exit 1; done

docs: $(DOCS_READY) ## Build the documentation into docs/_build/html
	$(BIN)/sphinx-build -q -W -b html docs docs/_build/html
	@echo docs/_build/html/index.html

gallery: $(TESTS_READY) ## Write docs/gallery.md and its pictures anew (screenshots too where there is a Chromium)
	$(BIN)/python docs/make_gallery.py

pictures: $(TESTS_READY) ## Draw the pictures of the documentation anew, from the examples of its pages, and the badges
	$(BIN)/python docs/make_badges.py
	$(BIN)/python docs/make_pictures.py

notebook: $(READY) ## Execute the example notebook and write it as out/first_steps.html
	$(BIN)/python -m pip install -q --disable-pip-version-check -e '.[notebook]'
	@mkdir -p $(OUT)
	$(BIN)/python -m nbconvert --to html --execute --output-dir $(OUT) examples/first_steps.ipynb
	@echo $(OUT)/first_steps.html

pyright: $(TESTS_READY) ## Check the typed sample project with pyright
	$(BIN)/python -m pip install -q --disable-pip-version-check 'pyright[nodejs]'
	PATH="$(abspath $(BIN)):$$PATH" $(BIN)/pytest -q tests/architecture/test_types.py

clean: ## Remove what the other targets made
	rm -rf $(VENV) $(LIBRARIES_VENV) $(OUT) docs/_build

$(READY): pyproject.toml
	@$(PYTHON) -c '$(SUPPORTED)' || { echo "dpest needs Python 3.11 or newer: make PYTHON=python3.12 ..." >&2; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install -q --disable-pip-version-check -e '.[report]' pytest
	@touch $@

$(TESTS_READY): $(READY)
	$(BIN)/python -m pip install -q --disable-pip-version-check -e '.[all]'
	@touch $@

$(DOCS_READY): $(READY)
	$(BIN)/python -m pip install -q --disable-pip-version-check -e '.[docs]'
	@touch $@

$(LIBRARIES_READY): pyproject.toml
	@test -x $(LIBRARIES_VENV)/bin/python || $(PYTHON) -m venv $(LIBRARIES_VENV)
	$(LIBRARIES_VENV)/bin/python -m pip install -q --disable-pip-version-check -e '.[report,audit,test,libraries]'
	@touch $@
