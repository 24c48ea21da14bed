# Two commands do everything: `make conformance` and `make test`. `make help` lists the others.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
KAFKA ?= newest
BACKEND ?= auto
RUNS ?= runs
ARGS ?=
# How many searches of `make guarantees` run side by side.
LANES ?= 2
# Where `make test` leaves the JUnit files of its parts; nowhere if it is empty.
JUNIT ?=
junit = $(if $(JUNIT),--junitxml=$(JUNIT)/$(1).xml)
# What tests start says their marker. Those that start something run in two lanes, a file's in one of them, and mostly
# wait: beside them, with what processor time they leave, run those that start nothing. After both,
# in two lanes, those that nothing else may run beside.
STARTS := broker or docker or spark
# The files of tests/ that have such a mark in their text, one in five: the others need not be imported for the lanes.
starting = $(shell grep -rlE 'mark\.($(subst $() or $(),|,$(STARTS)))\b' tests --include='test_*.py' | grep -v '^tests/oracle/' | LC_ALL=C sort)
by_day = $(if $(filter no,$(NIGHTLY)), and not nightly)
# The model's longest searches are marked slow and no_cover (what they reach by chance counts for no coverage), and are
# half of its tests' time; to count branches makes the others three times as long. NIGHTLY=no leaves both to
# `make test-oracle`, and what else is marked nightly to `make test-nightly`, as .ci/run does: the nightly has a job for each.
LONGEST := slow and no_cover
NIGHTLY ?= yes
PYTEST := $(BIN)/python -m pytest --dist loadfile
export PYTHONDONTWRITEBYTECODE = 1

.PHONY: help setup setup-dev pins lock conformance soak test check test-aside test-oracle test-nightly test-pure test-lanes test-alone lint guarantees docs site jre-image image clean

help:
	@echo "make conformance [KAFKA=4.4.0] [BACKEND=auto|docker|process] [ARGS='--metadata zookeeper']"
	@echo "                   set up, run the quick profile on real brokers, write the HTML report"
	@echo "make test        set up, run the whole test suite [JUNIT=DIRECTORY] [NIGHTLY=no: without the next two]"
	@echo "make test-oracle    the model's tests, its longest searches among them, with every branch of it reached"
	@echo "make test-nightly   other releases, backends and whole runs, the like of which the rest of the tests has too"
	@echo "make soak        10^6 records under faults for about a minute, each predicted from the wire and reconciled [KAFKA=4.4.0]"
	@echo "make check       lint, and every test that starts no broker, container, Spark, zsh or browser, without the longest searches"
	@echo "make lint        ruff, mypy strict, import contracts"
	@echo "make guarantees  search the guarantee table anew and choose EL-03's power failures from it; compare them with those kept [LANES=2]"
	@echo "make docs        write what documents take from data anew: the track record, the states of a replica"
	@echo "make site        a page for every requirement, known defect and setting: build/site/index.html [ARGS='--runs runs']"
	@echo "make jre-image   build the docker backend's base image without a registry (debootstrap)"
	@echo "make image       build the tester's own image, kafka-conformance/tester, and try it (docs/installation.md)"
	@echo "make lock        choose the Python packages anew: requirements.lock (run time), requirements-dev.lock (all)"
	@echo "make pins        note the SHA-256 of the jars of releases that have none yet [PINS_OF=4.5.0]"
	@echo "make clean       remove the environment and caches of this checkout"

setup: $(VENV)/.ready
setup-dev: $(VENV)/.ready-dev

# What is not the file that the lock file names by its hash is refused. A lock file is complete: nothing else is resolved.
INSTALL = $(BIN)/pip install --quiet --disable-pip-version-check

$(VENV)/.ready: pyproject.toml requirements.lock
	@$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11, 4) else "Python 3.11.4 or newer is needed; set PYTHON=")'
	@echo "setting up $(VENV) (once; pyspark is large)"
	@$(PYTHON) -m venv $(VENV)
	@$(INSTALL) --no-deps --require-hashes -r requirements.lock
	@$(INSTALL) --no-deps --editable .
	@touch $@

$(VENV)/.ready-dev: $(VENV)/.ready requirements-dev.lock
	@echo "adding what the tests need"
	@$(INSTALL) --no-deps --require-hashes -r requirements-dev.lock
	@touch $@

COMPILE := pip-compile --quiet --generate-hashes --strip-extras --no-header --no-annotate --no-emit-index-url \
  --no-emit-trusted-host --no-emit-find-links --extra spark --extra docker --extra cross-check

# PINS_OF='4.5.0' for one release; without it, every release of the table. What is pinned already stays as it is.
pins: setup
	@$(BIN)/python -c 'import sys; from fault_injection.releases.jars import pin_releases; pin_releases(sys.argv[1:])' $(PINS_OF)

lock:
	@$(PYTHON) -m venv build/locking
	@build/locking/bin/pip install --quiet --disable-pip-version-check 'pip-tools>=7.6,<8'
	@build/locking/bin/$(COMPILE) --output-file requirements.lock pyproject.toml
	@build/locking/bin/$(COMPILE) --extra dev --constraint requirements.lock --output-file requirements-dev.lock pyproject.toml

conformance: setup
	@$(BIN)/kafka-conformance run --kafka $(KAFKA) --backend $(BACKEND) --runs-dir $(RUNS) $(ARGS)

soak: setup
	@$(BIN)/kafka-conformance soak --kafka $(KAFKA) --backend $(BACKEND) --duration 60s --rate 17000 --every 10s --runs-dir $(RUNS)/soaks $(ARGS)

test: lint
	@$(MAKE) --no-print-directory --jobs=2 test-aside test-lanes
	@$(MAKE) --no-print-directory test-alone

check: lint
	@$(PYTEST) -q -n auto -m "not ($(STARTS) or shells or browser or slow)"

test-oracle: setup-dev
	@$(PYTEST) -q -n auto tests/oracle $(call junit,oracle) $(if $(filter no,$(NIGHTLY)),-m "not ($(LONGEST)) and not nightly", \
	  --cov=oracle --cov-branch --cov-report=term:skip-covered --cov-fail-under=100)

test-pure: setup-dev
	@$(PYTEST) -q -n auto --ignore=tests/oracle -m "not ($(STARTS))$(by_day)" $(call junit,pure)

# Its output comes in one piece, when it ends.
test-aside: setup-dev
	@told=$$(mktemp); nice -n 10 $(MAKE) --no-print-directory --jobs=1 test-oracle test-pure >$$told 2>&1; \
	  code=$$?; cat $$told; rm $$told; exit $$code

test-lanes: setup-dev
	@$(PYTEST) -n 2 --durations=15 $(starting) -m "($(STARTS)) and not alone$(by_day)" $(call junit,lanes)

test-nightly: setup-dev
	@$(PYTEST) -n 2 --durations=15 --ignore=tests/oracle -m "nightly and not alone" $(call junit,nightly)
	@$(PYTEST) -n 2 --durations=5 --ignore=tests/oracle -m "nightly and alone" $(call junit,nightly-alone)

test-alone: setup-dev
	@$(PYTEST) -n 2 --durations=5 $(starting) -m "($(STARTS)) and alone$(by_day)" $(call junit,alone)

lint: setup-dev
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports

guarantees: setup
	@mkdir -p build
	@$(BIN)/kafka-conformance guarantees --regenerate --lanes $(LANES) --quiet --out build/guarantee_table.json >/dev/null
	@diff -q oracle/brokers/guarantee_table.json build/guarantee_table.json && echo "the guarantee table is what the explorer finds"
	@$(BIN)/python -m conformance.commands.worst_schedules build/power_failures.json
	@diff -q conformance/scenarios/election/power_failures.json build/power_failures.json && echo "so are the schedules of EL-03's power failures"

site: setup
	@$(BIN)/kafka-conformance site build/site $(ARGS)

# What a test compares, it writes where it is asked to; it then fails once, where something has changed.
docs: setup-dev
	-@REWRITE_GOLDEN=1 $(PYTEST) -q tests/oracle/test_diagram.py tests/conformance/catalogue/test_documented_record.py >/dev/null
	@$(PYTEST) -q tests/oracle/test_diagram.py tests/conformance/catalogue/test_documented_record.py

jre-image: setup
	@$(BIN)/python -m fault_injection.cluster.backends.container_image

image:
	@PYTHON=$(PYTHON) .ci/image

clean:
	rm -rf $(VENV) build *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache .coverage
