# Two commands do everything: `make conformance` and `make test`. `make help` lists the others.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
KAFKA ?= newest
BACKEND ?= auto
RUNS ?= runs
ARGS ?=
# Where `make test` leaves the JUnit files of its parts; nowhere if it is empty.
JUNIT ?=
junit = $(if $(JUNIT),--junitxml=$(JUNIT)/$(1).xml)
# What tests start says their marker. Those that start something run in two lanes, a file's in one of them; after
# them, one after the other, those that need the machine to themselves.
STARTS := broker or docker or spark
PYTEST := $(BIN)/python -m pytest --dist loadfile
export PYTHONDONTWRITEBYTECODE = 1

.PHONY: help setup conformance test check test-oracle test-pure test-started lint guarantees jre-image clean

help:
	@echo "make conformance [KAFKA=4.4.0] [BACKEND=auto|docker|process] [ARGS='--metadata zookeeper']"
	@echo "                   set up, run the quick profile on real brokers, write the HTML report"
	@echo "make test        set up, run the whole test suite [JUNIT=DIRECTORY]"
	@echo "make check       lint, and every test that starts no broker, container or Spark, without the longest searches"
	@echo "make lint        ruff, mypy strict, import contracts"
	@echo "make guarantees  search the whole guarantee table anew and compare it with the one that is kept (about 10 minutes)"
	@echo "make jre-image   build the docker backend's base image without a registry (debootstrap)"
	@echo "make clean       remove the environment and caches of this checkout"

setup: $(VENV)/.ready

$(VENV)/.ready: pyproject.toml requirements.lock
	@$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "Python 3.11 or newer is needed; set PYTHON=")'
	@echo "setting up $(VENV) (once; pyspark is large)"
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/pip install --quiet --disable-pip-version-check -r requirements.lock
	@$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --editable .
	@touch $@

conformance: setup
	@$(BIN)/kafka-conformance run --kafka $(KAFKA) --backend $(BACKEND) --runs-dir $(RUNS) $(ARGS)

test: lint test-oracle test-pure test-started

check: lint
	@$(PYTEST) -q -n auto -m "not ($(STARTS) or slow)"

test-oracle: setup
	@$(PYTEST) -q -n auto tests/oracle $(call junit,oracle) \
	  --cov=oracle --cov-branch --cov-report=term:skip-covered --cov-fail-under=100

test-pure: setup
	@$(PYTEST) -q -n auto --ignore=tests/oracle -m "not ($(STARTS))" $(call junit,pure)

test-started: setup
	@$(PYTEST) -n 2 --ignore=tests/oracle -m "($(STARTS)) and not alone" $(call junit,lanes)
	@$(PYTEST) --ignore=tests/oracle -m "($(STARTS)) and alone" $(call junit,alone)

lint: setup
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports

guarantees: setup
	@mkdir -p build
	@$(BIN)/kafka-conformance guarantees --regenerate --quiet --out build/guarantee_table.json >/dev/null
	@diff -q oracle/brokers/guarantee_table.json build/guarantee_table.json && echo "the guarantee table is what the explorer finds"

jre-image: setup
	@$(BIN)/python -m fault_injection.cluster.backends.jre_image

clean:
	rm -rf $(VENV) build *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache .coverage
