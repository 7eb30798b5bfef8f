# The two commands: `make serve` and `make test`. Each sets up what it needs; the second time it starts at once.
PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV := .venv
BIN := $(VENV)/bin
# Room for all engines in one process; configs/process.py tells why.
export GLIBC_TUNABLES ?= glibc.rtld.optional_static_tls=16384
KGLITE := $(shell sed -n 's/^ *"\(kglite~[^"]*\)",/\1/p' pyproject.toml)

.PHONY: serve test check format load load-wave bench evals domain lock clean

serve: $(VENV)/.ready
	@$(BIN)/frontline serve

test: $(VENV)/.ready-dev
	$(BIN)/python -m pytest

check: $(VENV)/.ready-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(VENV)/.ready-dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# Starts the service where none runs, puts the profile's load on it, and checks each reply against the data.
load: $(VENV)/.ready-dev
	$(BIN)/python -m loadtest

# Load that rises from 2 to 32 users and falls again: replicas must follow, and no turn may fail.
load-wave: $(VENV)/.ready-dev
	$(BIN)/python -m loadtest --wave

bench: $(VENV)/.ready-dev
	$(BIN)/python -m benchmarks

evals: $(VENV)/.ready-dev
	$(BIN)/python -m evals.understanding
	$(BIN)/python -m evals.retrieval
	$(BIN)/python -m evals.evidence

# The sample business, written anew from its seeded script.
domain: $(VENV)/.ready
	$(BIN)/python domains/shop/generate.py
	$(BIN)/frontline domain check domains/shop

lock: $(VENV)/.ready-dev
	requirements/lock.sh

clean:
	rm -rf $(VENV)

$(VENV)/.ready: requirements/cpu.lock pyproject.toml
	@$(call install,cpu)
	@touch $@

$(VENV)/.ready-dev: requirements/dev.lock pyproject.toml
	@$(call install,dev)
	@touch $(VENV)/.ready $@

# Hash-locked, but for kglite (requirements/lock.sh tells why).
define install
	echo "Setting up $(VENV) from requirements/$(1).lock (once; a few minutes) ..."; \
	"$(PYTHON)" -c 'import sys; sys.exit(sys.version_info[:2] != (3, 11))' || { echo "Python 3.11 is needed: make PYTHON=/path/to/python3.11 ..." >&2; exit 1; }; \
	test -x $(BIN)/python || "$(PYTHON)" -m venv $(VENV); \
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes -r requirements/$(1).lock && \
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps '$(KGLITE)' && \
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
endef
