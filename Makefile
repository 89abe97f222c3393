# The only task runner. Every target sets up what it needs; nothing has to be
# installed or activated by hand first.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready
PRESS  := .work/docs

SEEDS   ?= 200
SECONDS ?= 5
CYCLES  ?= 2000
PART    ?= pure
SAMPLE  ?= 60
SEED    ?= 0
MODULES ?=
RELEASE ?=
TRIPS   ?= 50
MINUTES ?= 3
HOURS   ?=

.DEFAULT_GOAL := help
.PHONY: help setup criu run test scenarios relay-check move-check soak chaos capsule-cycles thorough check format sim mutants mutation fuzz bench web web-check acceptance generated docs changelog lock dist clean

help:  ## this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

setup: $(READY)  ## make .venv; afterwards .venv/bin/holdfast is the command

$(READY): requirements/dev.txt pyproject.toml tools/bootstrap
	@sh tools/bootstrap "$(PYTHON)" "$(VENV)"
	@touch $@

criu: $(READY)  ## set up CRIU in .venv, where the system has none that is new enough; it changes nothing else
	@$(BIN)/python -m tools.set_up_criu

run: $(READY)  ## open a live session, and attach to it if there is a terminal
	@sh tools/run "$(BIN)"

test: $(READY)  ## all tests but scenarios, with full branch coverage of the pure packages; the web page by Node
	@sh tools/system-packages
	@$(BIN)/python -m tools.set_up_criu >/dev/null || echo 'skipped without it: what dumps and restores processes'
	@$(BIN)/python -m tools.run_tests

scenarios: $(READY)  ## real processes, killed in every way, and the page in a browser; one file for each promise
	@sh tools/system-packages
	@$(BIN)/python -m tools.set_up_criu >/dev/null || echo 'skipped without it: what dumps and restores processes'
	@$(BIN)/python -m tools.run_scenarios
	@$(BIN)/python -m tools.run_tests --browser

move-check: $(READY)  ## a session moved there and back TRIPS times (50) under somebody attached, and with kills (root)
	@TRIPS=$(TRIPS) $(BIN)/python -m pytest -q tests/scenarios/test_a_session_moves.py

relay-check: $(READY)  ## two hosts that reach only a relay, while everything breaks in turn (root)
	@sh tools/system-packages
	@$(BIN)/python -m tests.scenarios.relay_check

soak: $(READY)  ## create, attach, detach, end, forget; CYCLES=2000 or HOURS=8; then count what is left
	@$(BIN)/python -m tests.scenarios.soak $(if $(HOURS),--hours $(HOURS),--cycles $(CYCLES))

chaos: $(READY)  ## people and agents work while everything is broken on purpose; MINUTES=3 SEED=0; KEEP=folder for the history
	@$(BIN)/python -m tools.set_up_criu >/dev/null || echo 'without CRIU nothing is moved or put to disk'
	@$(BIN)/python -m tests.chaos.run --minutes $(MINUTES) --seed $(SEED) $(if $(KEEP),--keep $(KEEP))

capsule-cycles: $(READY)  ## put ten programs to disk and bring them back; CYCLES=100; as USER_ID=65534 too
	@$(BIN)/python -m tests.scenarios.capsule_cycles --cycles $(if $(filter file,$(origin CYCLES)),100,$(CYCLES)) $(if $(USER_ID),--user $(USER_ID))

thorough: $(READY)  ## the property tests with many more examples
	@$(BIN)/python -m pytest -q -n 2 --hypothesis-profile=thorough --timeout=1800 -k "properties or fuzz"

check: $(READY)  ## format, lint, layers, types; the SDK's types by a second checker, which needs Node.js
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@$(BIN)/lint-imports
	@$(BIN)/mypy
	@sh tools/build-web --tools >/dev/null
	@web/node_modules/.bin/pyright

format: $(READY)  ## rewrite the code in the house format; the page's too where `make web` has run
	@$(BIN)/ruff format .
	@$(BIN)/ruff check --fix .
	@if [ -d web/node_modules ]; then npm --prefix web run --silent format; fi

sim: $(READY)  ## run the simulated world; SEEDS=200
	@$(BIN)/python -m holdfast.testing.sim --seeds $(SEEDS)

mutants: $(READY)  ## plant known bugs; the simulator or a test must find every one
	@$(BIN)/python -m tools.mutants

mutation: $(READY)  ## small mistakes anywhere, drawn by chance; PART=pure or processes, SAMPLE=60, SEED=0
	@$(BIN)/python -m tools.mutation --part $(PART) --sample $(SAMPLE) --seed $(SEED) $(MODULES)

fuzz: $(READY)  ## throw bytes at every parser; SECONDS=5 for each
	@$(BIN)/python -m tests.fuzz.run --seconds $(SECONDS)

bench: $(READY)  ## measure what the budgets speak of, beside tmux; BENCH="--only echo"
	@sh tools/system-packages
	@$(BIN)/python -m bench.run $(BENCH)

web:  ## build the web page, which the relay serves
	@sh tools/build-web

web-check: $(READY)  ## the page alone: built, by Node, and in a browser at the size of a desk and of a phone
	@sh tools/system-packages
	@$(BIN)/python -m tools.run_tests --page

acceptance: $(READY) web  ## one build and five kinds of client, and a machine that loses all; a human takes over from an agent; three agents and a human
	@sh tools/system-packages
	@$(BIN)/python -m tools.set_up_criu >/dev/null
	@$(BIN)/python -m pytest -q -n0 tests/acceptance

generated: $(READY)  ## rewrite what is generated: schema, vectors, error reference
	@$(BIN)/python -m tools.write_schema
	@$(BIN)/python -m tools.write_vectors
	@$(BIN)/python -m tools.write_relay_vectors
	@$(BIN)/python -m tools.write_channel_vectors
	@$(BIN)/python -m tools.write_input_vectors
	@$(BIN)/python -m tools.write_reference
	@$(BIN)/python -m tools.write_web_protocol
	@$(BIN)/python -m tools.write_sdk_reference
	@$(BIN)/python -m tools.write_cli_reference
	@$(BIN)/python -m tools.write_mcp_reference
	@$(BIN)/python -m tools.write_policy_reference
	@$(BIN)/python -m tools.write_agent_reference

docs: $(PRESS)/.ready  ## build the documentation site into site/, with search; a broken link fails
	@$(PRESS)/bin/python -m tools.site gather .work/pages
	@NO_MKDOCS_2_WARNING=1 $(PRESS)/bin/mkdocs build --strict --config-file .work/pages/mkdocs.yml
	@$(PRESS)/bin/python -m tools.site check site

$(PRESS)/.ready: requirements/docs.txt
	@echo 'setting up $(PRESS) (once)'
	@$$(sh tools/choose-python "$(PYTHON)") -m venv --clear $(PRESS)
	@$(PRESS)/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/docs.txt
	@touch $@

dist: $(READY)  ## build the page, an sdist that has it, a wheel from that sdist, and a Debian package, into dist/
	@sh tools/build-web --if-needed
	@rm -rf dist && $(BIN)/hatchling build -t sdist
	@$(BIN)/python -m pip wheel --quiet --no-deps --no-build-isolation -w dist dist/*.tar.gz
	@$(BIN)/python -m tools.build_deb dist/*.whl dist || [ $$? = 69 ]

changelog: $(READY)  ## gather changes/ into CHANGELOG.md; RELEASE=1.2.3 names and dates the section
	@$(BIN)/python -m tools.changelog $(if $(RELEASE),--release $(RELEASE))

lock: $(READY)  ## choose the newest dependencies and pin them with hashes
	@$(BIN)/python tools/lock.py

clean:  ## remove what the targets made
	rm -rf $(VENV) dist site src/holdfast/webpage web/node_modules .work .hypothesis .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .coverage*
