# make demo   run the main job: a dry-stone wall that stands, and is then struck by a ball
# make check  every day: style, types and the quick tests
# make test   style, types and all tests; the site is built by one of them
# make lint   style and types alone
# make docs   build the documentation site into out/site
# make test-versions  the compiler's hooks with the oldest and newest Numba and NumPy; by hand
# make bench  time the fixed scenes; PEERS=1 beside the engines of the bench extra
# make clean  remove the virtual environment and what the demo wrote
#
# Every target sets itself up in .venv; nothing is needed but Python 3.11 or newer and make.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
OUT ?= out

.PHONY: demo check test test-versions lint docs bench clean

demo: $(VENV)/.demo
	@mkdir -p $(OUT)
	$(BIN)/drystone run wall --record $(OUT)/wall.h5 --picture $(OUT)/wall.png
	@$(BIN)/drystone export $(OUT)/wall.h5 $(OUT)/wall.html
	@echo "Look at it: open $(OUT)/wall.html (a double click will do), or: $(BIN)/drystone view $(OUT)/wall.h5"

check: lint
	$(BIN)/pytest -m "not slow"

test: lint
	$(BIN)/pytest

# Each in a throw-away environment with a cache of its own: the engine is compiled twice. What needs
# extras is not tested here.
VERSIONS_TESTS := tests/jit tests/test_timestep.py tests/verification/test_standing.py \
    tests/verification/test_bouncing.py

test-versions: $(addprefix $(OUT)/versions/,oldest newest)
	@for pins in $^; do \
	    echo "Testing $$pins ..."; \
	    NUMBA_CACHE_DIR=$(abspath $(OUT))/versions/cache $$pins/bin/python -m pytest -n 2 $(VERSIONS_TESTS) \
	        || exit 1; \
	done

$(OUT)/versions/%: constraints/%.txt pyproject.toml
	$(PYTHON) -m venv --clear $@
	$@/bin/pip install --quiet --disable-pip-version-check --constraint $< \
	    --editable . "pytest>=9" "pytest-xdist>=3.5" "hypothesis>=6.100"
	@touch $@

lint: $(VENV)/.test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

docs: $(VENV)/.docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet --site-dir $(OUT)/site
	@echo "The site: $(OUT)/site/index.html"

bench: $(VENV)/.$(if $(PEERS),bench,test)
	@mkdir -p $(OUT)
	$(BIN)/drystone bench $(if $(PEERS),--peers) --json $(OUT)/bench.jsonl

clean:
	rm -rf $(VENV) $(OUT)

# A stamp per extra: made once, again only when the dependencies change.
$(VENV)/.%: pyproject.toml | $(VENV)/bin/pip
	@echo "Installing drystone[$*] into $(VENV) ..."
	$(BIN)/pip install --quiet --disable-pip-version-check --editable ".[$*]"
	@touch $@

$(VENV)/bin/pip:
	@$(PYTHON) -c 'import sys; sys.version_info >= (3, 11) or sys.exit("Python 3.11 or newer is needed; set PYTHON=")'
	$(PYTHON) -m venv $(VENV)
