# `make demo` and `make test` work from a fresh clone: they set up .venv themselves.
# Nothing here needs root. PYTHON is any Python from 3.11 on.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip --disable-pip-version-check --quiet
DEMO   := build/demo
# The limit is no part of the failure: without one, candidates get a few times what the best file
# takes, and on a busy machine some would need more.
RUN    := reducekit smt2 input.smt2 --cmd './z3-4.8.5 model_validate=true' --timeout 10
TESTS  ?= tests
STEPS  ?= 20000
JOBS   ?= auto
SAMPLE ?= 40
# In the order of tests/conftest.py, which puts clusters last.
PYTEST  = $(BIN)/python -m pytest --numprocesses $(JOBS) --dist loadgroup --no-loadscope-reorder

.DELETE_ON_ERROR:
.PHONY: help demo test test-all nightly lint docs bench claims mutants papers papers-quick captures dist clean

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## /make \1\t/p' $(MAKEFILE_LIST) | expand -t 20

# ---- set-up: one stamp per set of packages, redone when pyproject.toml changes ----

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	    { echo "reducekit needs Python 3.11 or newer: make PYTHON=/path/to/python3.11"; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/base.stamp: pyproject.toml | $(BIN)/python
	@echo "installing reducekit into $(VENV) with pip: about a minute"
	@$(PIP) install -e .
	@touch $@

$(VENV)/test.stamp: pyproject.toml | $(BIN)/python
	@echo "installing reducekit and what its tests need into $(VENV) with pip: one to five minutes"
	@$(PIP) install -e '.[test]'
	@touch $@ $(VENV)/base.stamp

$(VENV)/lint.stamp: pyproject.toml | $(BIN)/python
	@echo "installing reducekit, its tests and linters into $(VENV) with pip: one to five minutes"
	@$(PIP) install -e '.[test,dev]'
	@touch $@ $(VENV)/base.stamp $(VENV)/test.stamp

# ---- what they are for ----

test: $(VENV)/test.stamp ## run the tests but the slow ones (TESTS=tests/frontends: some of them)
	@echo "the tests but the slow ones: all of them take 5 to 10 minutes on 2 cores"
	$(PYTEST) -m "not slow" $(TESTS)

test-all: $(VENV)/test.stamp ## run all tests (MARKS="slow or debian": those with these marks)
	@echo "all tests: about 40 minutes on 2 cores"
	$(PYTEST) --durations=25 $(if $(MARKS),-m "$(MARKS)") $(TESTS)

nightly: $(VENV)/test.stamp ## run the tests that CI leaves out, and the state machines (STEPS=N, SEED=N)
	$(PYTEST) -m nightly $(TESTS)
	$(BIN)/python -m tests.state_machine --steps $(STEPS) $(if $(SEED),--seed $(SEED))

lint: $(VENV)/lint.stamp ## ruff and mypy
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

docs: $(VENV)/lint.stamp ## build the documentation in build/docs, and check its links
	$(BIN)/python -m sphinx -q -W --keep-going -c docs -b html . build/docs
	@echo build/docs/docs/index.html

dist: docs ## build the wheel, the sdist and the documentation, and check them
	@rm -rf dist
	$(BIN)/python -m build --quiet
	$(BIN)/python -m twine check --strict dist/*

$(DEMO)/input.smt2: examples/mod_by_zero.py | $(BIN)/python
	@mkdir -p $(DEMO)
	@$(BIN)/python examples/mod_by_zero.py --seed 15 > $@

# Prints what README shows, which `python -m docs.demo` takes from here.
demo: $(VENV)/base.stamp $(DEMO)/input.smt2 ## reduce a generated 24 kB script on which z3 4.8.5 really fails
	@z3=$$($(BIN)/python tests/solvers.py z3-4.8.5.0) && ln -sf "$$z3" $(DEMO)/z3-4.8.5
	@rm -f $(DEMO)/input.reduced.smt2 $(DEMO)/input.reduced.smt2.journal
	@echo "in $(DEMO):"; echo
	@cd $(DEMO) && echo "\$$ $(RUN)" && PATH="$(abspath $(BIN)):$$PATH" $(RUN) && \
	    echo && echo "\$$ cat input.reduced.smt2" && cat input.reduced.smt2

bench: $(VENV)/base.stamp ## measure what a check costs; tables go to benchmarks/results/
	$(BIN)/python -m benchmarks.engine_cost

claims: $(VENV)/test.stamp ## make the tables that back README and docs, if they are of an older version
	nice $(BIN)/python -m benchmarks.claims $(PARTS)

mutants: $(VENV)/lint.stamp ## change the engine in 240 places: do tests notice? (SAMPLE=0: in all places)
	nice $(BIN)/python -m benchmarks.mutants --sample $(SAMPLE)

papers: $(VENV)/test.stamp ## make the tables of the papers in build/papers
	nice $(BIN)/python -m benchmarks.papers

papers-quick: $(VENV)/test.stamp ## the same with few and small cases
	nice $(BIN)/python -m benchmarks.papers --quick

captures: $(VENV)/test.stamp ## take the pictures in README and docs again (needs chromium, tmux and pngquant)
	$(BIN)/python -m docs.captures

clean: ## remove .venv, .cache and build
	rm -rf $(VENV) .cache build
