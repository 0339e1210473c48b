# Every target sets itself up in .venv; `make help` lists them. PYTHON=/path/to/python chooses the interpreter, and
# SPARK=4.0.3 a version of PySpark, in an environment of its own (.venv-4.0.3).
.DEFAULT_GOAL := help
SHELL := /bin/bash -o pipefail
MAKEFLAGS += --no-print-directory
# Hundreds of processes of the tests import the package: each would compile it again.
export PYTHONDONTWRITEBYTECODE :=

SPARK ?=
OLDEST_SPARK := 3.5.3
VENV := .venv$(if $(SPARK),-$(SPARK))
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check
# A constraint and not a requirement: pip would first fetch each newer version, of 400 MB.
PYSPARK := $(if $(SPARK),--constraint $(VENV)/spark-version.txt)
# What the extra kerberos is compiled with: without these headers its tests are skipped.
KERBEROS := $(if $(shell command -v krb5-config),$(VENV)/.installed-kerberos)
# Each worker is one Spark process of up to 3 GB. In `make test-ci` one of them waits for Hive most of its time.
WORKERS ?= 3
PYTEST_ARGS ?=
# What the tests' markers mean is in pyproject.toml, and which tests have which marker in CONTRIBUTING.md.
SELECTED := not (ci or nightly or hive or soak or cluster)
OF_CI := not (nightly or soak or cluster)
PYTEST = $(BIN)/python -m pytest -n $(WORKERS) --dist loadscope --no-loadscope-reorder -q

.PHONY: help
help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/make \1\t\2/p' Makefile | expand -t 20

.PHONY: demo
demo: $(VENV)/.installed java ## install acidsql and run the employee story in a temporary warehouse
	@warehouse=$$(mktemp -d) && trap 'rm -rf "$$warehouse"' EXIT && \
	$(BIN)/acidsql shell --warehouse "$$warehouse" --output table -v -f notebooks/employee.sql 2>&1 | \
	  grep --line-buffered -v -e 'jdk.incubator.vector' -e 'log level' && \
	echo && echo "What lies in the table's directory now:" && \
	(cd "$$warehouse" && find employee -name 'bucket_*' | sort)

.PHONY: shell
shell: $(VENV)/.installed java ## a shell on ./warehouse
	@$(BIN)/acidsql shell

.PHONY: test
test: $(VENV)/.installed-test java ## run the core of the tests, in six minutes (PYTEST_ARGS='-k merge' for some, SPARK=4.0.3 for another Spark)
	@$(PYTEST) -m '$(SELECTED)' $(PYTEST_ARGS)

.PHONY: test-ci
test-ci: ## run what CI runs on the newest Spark: the core, processes, random histories, and a real Hive
	@$(MAKE) test SELECTED='$(OF_CI)'

# The files whose code calls private classes of Spark, directly or through the plans that they test.
SPARK_VERSION_TESTS := $(addprefix tests/,$(addsuffix .py,spark/test_private_names spark/test_direct_writes \
  spark/test_spark_connect spark/test_oldest_spark \
  spark/test_plan_shape spark/test_counted spark/test_skipping spark/test_narrowing spark/test_spread dml/test_dml \
  dml/test_multi_insert writing/test_driver_writes queries/test_qualify))

.PHONY: prepare
prepare: $(VENV)/.installed-test java ## get what test-oldest-spark and test-ci need, so that it can be done beside other work
	@$(BIN)/python -m tests.interop.prepare
	@$(MAKE) SPARK=$(OLDEST_SPARK) .venv-$(OLDEST_SPARK)/.installed-test

.PHONY: test-oldest-spark
test-oldest-spark: ## run the tests that depend on Spark's version on the oldest version that acidsql supports
	@$(MAKE) test SPARK=$(OLDEST_SPARK) SELECTED='$(OF_CI)' PYTEST_ARGS="$(SPARK_VERSION_TESTS) $(PYTEST_ARGS)"

.PHONY: test-all
test-all: $(VENV)/.installed-test $(KERBEROS) java ## run all tests but those of `make soak`, each night: other examples each time
	@$(PYTEST) --hypothesis-profile=nightly $(PYTEST_ARGS)

.PHONY: test-cluster
test-cluster: $(VENV)/.installed-test java ## run the tests of a standalone cluster of Spark, and the DML on golden tables on one
	@$(BIN)/python -m pytest -m cluster -q $(PYTEST_ARGS)
	@$(BIN)/python -m tests.cluster -q -m 'not soak' tests/spark/test_golden_tables.py tests/dml/test_dml.py $(PYTEST_ARGS)

.PHONY: scale
scale: $(VENV)/.installed-test java ## 20 million rows on a cluster of two workers (STORE=s3, hdfs or disk): times and memory
	@$(BIN)/python -m tests.cluster.scale $(or $(STORE),s3) --rows $(or $(ROWS),20000000)

.PHONY: check
check: $(VENV)/.installed-dev ## lint, format, spelling, types and the direction of imports
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/codespell
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache

.PHONY: format
format: $(VENV)/.installed-dev ## let ruff mend what it can
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

.PHONY: lock
lock: $(VENV)/.installed-dev $(VENV)/.installed-docs ## write requirements/ci.txt: the versions that .ci/run has passed with
	@{ sed -n '/^#/p' requirements/ci.txt && $(PIP) freeze --exclude-editable; } >requirements/ci.txt.new
	@mv requirements/ci.txt.new requirements/ci.txt

.PHONY: sqlalchemy-suite
sqlalchemy-suite: $(VENV)/.installed-test java ## SQLAlchemy's own tests for dialects, in a temporary warehouse (PYTEST_ARGS='-k CTE' for some)
	@warehouse=$$(mktemp -d) && trap 'rm -rf "$$warehouse"' EXIT && bin=$$(realpath $(BIN)) && \
	  cd integrations/sqlalchemy_suite && \
	  $$bin/python -m pytest -c setup.cfg --rootdir . -q -rfE --tb=short --dburi "acidsql:///$$warehouse" $(PYTEST_ARGS)

# dbt's packages share the namespace `dbt`, so the adapter is installed anew after each change of its files.
DBT_ADAPTER := integrations/dbt/pyproject.toml $(shell find integrations/dbt/dbt -type f -not -name '*.pyc')
.venv-dbt/.installed: pyproject.toml $(DBT_ADAPTER) | java
	@$(if $(PYTHON),$(PYTHON),python3) -m venv .venv-dbt
	@.venv-dbt/bin/python -m pip --disable-pip-version-check install -q -e . 'integrations/dbt[test]' 'pandas>=2.2,<3'
	@touch $@

.PHONY: dbt-suite
dbt-suite: .venv-dbt/.installed ## dbt's own tests for adapters, in an environment of their own (PYTEST_ARGS='-k Merge' for some)
	@cd integrations/dbt && PYTHONPATH=. ../../.venv-dbt/bin/python -m pytest -q -rfE $(PYTEST_ARGS)

.PHONY: soak
soak: $(VENV)/.installed-test java ## the tests that take long: processes on one warehouse, histories, turns with Hive
	@$(BIN)/python -m pytest -m soak -q $(PYTEST_ARGS)

MINUTES ?= 60
FUZZ_ARGS ?=

.PHONY: fuzz
fuzz: $(VENV)/.installed-test java ## random tables, changes and queries for MINUTES=60 (FUZZ_ARGS='--seed 5' for one)
	@$(BIN)/python -m tests.fuzz --minutes $(MINUTES) $(FUZZ_ARGS)

.PHONY: faults
faults: $(VENV)/.installed-test java ## put hand-made faults into a copy of the checkout, each in turn: which test of CI finds it?
	@$(BIN)/python -m tests.faults $(FAULTS)

.PHONY: bench
bench: $(VENV)/.installed-bench $(if $(STORE),$(VENV)/.installed-test) java ## time acidsql beside plain ORC, Delta and Iceberg (BENCH_ARGS='--size full'; STORE=s3 or hdfs, LATENCY=20 ms)
	@$(BIN)/python -m benchmarks$(if $(STORE),.stores $(STORE) --latency $(or $(LATENCY),0)) $(BENCH_ARGS)

.PHONY: docs
docs: docs-pages $(VENV)/.installed-docs ## build the documentation in build/docs; needs no network
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict
	@echo "The documentation is in build/docs/index.html"

.PHONY: docs-pages
docs-pages: $(VENV)/.installed ## write what is generated: the pages of settings, errors and tests, and the layers on ARCHITECTURE.md
	@$(BIN)/python -m docs.scripts.settings_page
	@$(BIN)/python -m docs.scripts.store_settings_page
	@$(BIN)/python -m docs.scripts.errors_page
	@$(BIN)/python -m docs.scripts.tested_page
	@$(BIN)/python -m docs.scripts.statement_syntax
	@$(BIN)/python -m docs.scripts.layers

.PHONY: docs-picture
docs-picture: $(VENV)/.installed-docs java ## draw docs/terminal.svg from a session in a real shell
	@$(BIN)/python -m docs.scripts.terminal_picture

.PHONY: notebooks
notebooks: $(VENV)/.installed java ## run the notebooks and store them with their outputs (NOTEBOOKS='merge streaming' for some)
	@$(BIN)/python -m tests.frontends.notebook_runs $(NOTEBOOKS)

.PHONY: clean
clean: ## remove what the other targets made; tables stay
	rm -rf .venv .venv-* benchmarks/jars build dist *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find acidsql grammar planner tests benchmarks docs -name __pycache__ -type d -prune -exec rm -rf {} +

.PHONY: java
java:
	@.ci/find java

# A stamp for what is installed, as old as the pyproject.toml that it was installed from. The install is editable: the
# command runs the checkout.
$(VENV)/.installed: pyproject.toml | $(VENV)/.made $(if $(SPARK),$(VENV)/spark-version.txt)
	$(PIP) install --quiet --editable . $(PYSPARK)
	@touch $@

$(VENV)/.installed-%: pyproject.toml | $(VENV)/.made $(if $(SPARK),$(VENV)/spark-version.txt)
	$(PIP) install --quiet --editable '.[$*]' $(PYSPARK)
	@touch $(VENV)/.installed $(if $(filter dev,$*),$(VENV)/.installed-test) $@

$(VENV)/.made:
	@python=$$(.ci/find python) && echo "Making $(VENV) with $$python" && "$$python" -m venv --clear $(VENV)
	@touch $@

$(VENV)/spark-version.txt: | $(VENV)/.made
	@echo 'pyspark==$(SPARK)' >$@
