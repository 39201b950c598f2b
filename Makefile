# Two commands for everybody, `make demo` and `make test`: each sets up all it needs first.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready
WARM   := $(VENV)/.warm
JOBS   ?= 2

# numpy's own threads only get in the way of two processes on two cores
export OMP_NUM_THREADS ?= 1
export OPENBLAS_NUM_THREADS ?= 1
# tests start some eighty processes: the first one makes bytecode, and the others read it
export PYTHONDONTWRITEBYTECODE :=

.PHONY: demo test test-all test-timing fuzz campaigns lint format warmup wheel figures docs clean

demo: $(READY)
	$(BIN)/python -m spacy decoders demo

test: lint $(WARM)
	$(BIN)/python -m pytest -n $(JOBS) --dist loadgroup

# with what takes minutes: compiling everything from nothing, wheels, read-only installations
test-all: test
	$(BIN)/python -m pytest -m slow -n $(JOBS) --dist loadgroup

# budgets in seconds are kept: on a machine at rest
test-timing: $(READY)
	$(BIN)/python -m pytest -m timing

# FUZZ="chain --examples 1000" for one core or fewer problems
fuzz: $(READY)
	$(BIN)/python -m tests.fuzz $(FUZZ)

# CAMPAIGNS="--trials 1000" for more damaged files of each kind
campaigns: $(READY)
	$(BIN)/python -m tests.campaigns $(CAMPAIGNS)

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(READY)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

warmup: $(WARM)

wheel:
	PYTHON=$(PYTHON) .ci/wheel

# all figures of docs/benchmarks.md, from data beside the repository; QUICK=--quick for less
FIGURES := english parser "parser --speed" fast_lane linking_component false_links chain tree headlines \
	representatives price_and_cut path ablations
figures: $(READY)
	$(BIN)/python -m pip install --quiet --editable ".[benchmarks]"
	for figure in $(FIGURES); do \
	  set -- $$figure; script=$$1; shift; \
	  $(BIN)/python benchmarks/$$script.py $$@ $(QUICK) || exit 1; \
	done

docs: $(READY)
	$(BIN)/python -m pip install --quiet --editable ".[docs]"
	$(BIN)/mkdocs build --strict

# bytecode is made of what is imported: to make it of all that is installed takes a while
$(READY): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --no-compile --editable ".[dev]"
	@touch $@

# each function is compiled once: two processes of tests would compile many of them twice
$(WARM): $(READY) $(shell find spacy_decoders -name '*.py')
	$(BIN)/python -m spacy decoders warmup
	@touch $@

clean:
	rm -rf $(VENV) build site *.egg-info .mypy_cache .ruff_cache .pytest_cache
