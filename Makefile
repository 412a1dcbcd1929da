# Two commands do everything on a machine with Python >= 3.11 and pip: `make demo` and `make test`.
# uv is installed into .uv/ where it is missing; nothing but the package index is asked for anything.

UV := sh .ci/uv
RUN := $(UV) run --frozen

ASSETS := src/agent_raw_rag/server/http/assets

.DEFAULT_GOAL := help
.PHONY: help demo test check fix docs bench audit web web-check clean

help:  ## Say what there is
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | sort | expand -t 10

demo:  ## Ingest the sample logs of all five agents into a throw-away home and run three searches
	@$(RUN) --no-dev raw-rag demo

test:  ## Run all tests
	@$(RUN) pytest

check:  ## Style, types, import contract, generated docs
	$(RUN) ruff check .
	$(RUN) ruff format --check .
	$(RUN) mypy
	$(RUN) mypy --platform win32
	$(RUN) lint-imports
	$(RUN) python docs/generate.py --check

fix:  ## Apply what the formatter and the linter can do by themselves
	$(RUN) ruff format .
	$(RUN) ruff check --fix .

docs:  ## Generate the reference pages again
	$(RUN) python docs/generate.py

bench:  ## Run the benchmarks; LOGS=folder of real logs, LOCOMO=locomo10.json for those that need them
	@for file in benchmarks/*.py; do \
	  usage=$$(grep -m1 "python $$file" $$file) || continue; \
	  case "$$usage" in *" LOGS"*) need=LOGS given="$(LOGS)";; *) need= given=;; esac; \
	  if [ -n "$$need" ] && [ -z "$$given" ]; then echo "== $$file: skipped, it needs $$need="; continue; fi; \
	  echo "== $$file"; $(RUN) python $$file $$given || exit 1; \
	done
	@if [ -z "$(LOCOMO)" ]; then echo "== raw-rag eval locomo: skipped, it needs LOCOMO="; else $(RUN) raw-rag eval locomo "$(LOCOMO)"; fi

audit:  ## Build wheel and sdist and look for private data in them
	rm -rf build/audit
	$(UV) build --quiet --out-dir build/audit
	$(RUN) python tools/audit.py build/audit

web:  ## Build the page from web/ into the package (needs Node.js >= 20 and npm; users need neither)
	cd web && npm ci --ignore-scripts --no-audit --no-fund --silent && npm run --silent build

web-check:  ## The page's types, and whether what is built from web/ is what is in the package
	rm -rf build/assets && mkdir -p build && cp -R $(ASSETS) build/assets
	cd web && npm ci --ignore-scripts --no-audit --no-fund --silent && npm run --silent types && npm run --silent build
	diff -r -x __pycache__ build/assets $(ASSETS)

clean:  ## Remove everything that was made here
	rm -rf .venv .uv build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .benchmarks .import_linter_cache web/node_modules
