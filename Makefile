# Two commands matter: `make acceptance` shows the suite at work on a real two-node deployment made on this machine,
# `make test` proves the suite itself. Both do all their set-up; everything else is a part of them.

PYTHON ?= python3
VENV   := .venv
RUN    := $(VENV)/bin/python

.PHONY: help acceptance test proofs setup setup-engine lint selftests docs clean

help:
	@echo "make acceptance    bring up a real two-node vLLM + Ray deployment here, check it, ask it, time it, report"
	@echo "make test          lint, types, import contracts and the suite's own tests"
	@echo "make proofs        every proof that a check fires on its fault (long, resumable) -> docs/proofs.json, docs/claims.md"
	@echo "make setup         .venv only          make setup-engine   .venv-engine only (vLLM and Ray, about 4 GB)"
	@echo "make lint          ruff, mypy, import-linter          make docs   docs/claims.md, launches.md, faults.md"
	@echo "make clean         what was made here, running embedded deployments included"

acceptance: setup setup-engine
	$(RUN) -m shakedown acceptance

test: lint selftests

proofs: setup setup-engine
	$(RUN) -m selftests.proofs

selftests: setup setup-engine
	sh scripts/system-packages.sh test
	$(RUN) -m pytest selftests

lint: setup
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/mypy
	$(VENV)/bin/lint-imports
	$(RUN) -m selftests.proofs.claims --check
	$(RUN) -m selftests.proofs.launches.page --check
	$(RUN) -m selftests.faults.page --check

docs: setup
	$(RUN) -m selftests.proofs.claims
	$(RUN) -m selftests.proofs.launches.page
	$(RUN) -m selftests.faults.page

setup:
	sh scripts/system-packages.sh
	$(PYTHON) scripts/setup.py $(VENV)

# Nothing to do where another Python with vLLM and Ray was named.
setup-engine: setup
	[ -n "$$SHAKEDOWN_ENGINE_PYTHON" ] || $(PYTHON) -m shakedown.embedded.engine.install

clean:
	-[ ! -x $(RUN) ] || $(RUN) -m shakedown down --all
	rm -rf $(VENV) .venv-engine .mypy_cache .ruff_cache .import_linter_cache .hypothesis .pytest_cache .benchmarks reports/runs reports/latest reports/benchmarks *.egg-info
	find . -name __pycache__ -type d -not -path './.git/*' -prune -exec rm -rf {} +
