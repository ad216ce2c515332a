# Every target sets up what it needs in .venv; nothing has to be installed before but Python.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
# Python compiles the modules that it imports: pip would compile all, which takes a third of its time
PIP := --quiet --disable-pip-version-check --no-compile
# tests start hundreds of processes: each would compile the modules again that no other one has left compiled
export PYTHONDONTWRITEBYTECODE :=

# the pages of the studio: Node (20.19 or later) makes them, and only whoever changes them needs it
PAGES := src/occurs/studio/static/index.html
PAGES_FROM := $(shell find studio-ui -type f -not -path '*/node_modules/*' -not -path '*/.vite/*')

.PHONY: demo demo-ships studio studio-ui test for-tests test-plain test-pages kernels spark-classes lint docs pictures dist hooks \
  bench bench-report clean

demo: $(READY)  ## run the rules over real flights, on Spark
	$(BIN)/python examples/flights/run.py

demo-ships: $(READY)  ## states and intervals: ships off a coast, with a timeline of some
	$(BIN)/python examples/maritime/run.py

studio: $(READY) $(PAGES)  ## rules over real flights in the browser: edit them, run them, ask why
	@if [ -d out/studio/flights ]; then $(BIN)/occurs studio out/studio/flights; \
	else mkdir -p out/studio && $(BIN)/occurs studio out/studio --example flights; fi

studio-ui: $(PAGES)  ## build the pages of the studio, if their sources have changed

$(PAGES): $(PAGES_FROM) studio-ui/node_modules/.package-lock.json
	cd studio-ui && npm run --silent build

studio-ui/node_modules/.package-lock.json: studio-ui/package-lock.json
	@command -v npm > /dev/null || { \
	  echo "The pages of the studio are built by npm, which is not there: install Node 20.19 or later." >&2; exit 1; }
	cd studio-ui && npm ci --silent --no-audit --no-fund
	@touch $@

test:  ## run all tests; the slow ones too if CI=true
	@$(MAKE) --no-print-directory -j2 for-tests
	$(BIN)/python -m pytest -n 3 --dist loadgroup

# two cores have work: npm builds the pages while pip installs.  The archive pays where many Javas start
for-tests: $(READY) $(if $(CI),spark-classes) $(if $(shell command -v npm 2> /dev/null),studio-ui)

# what calls no kernel is left out: parsers, checks, printers, reference semantics, nets, pictures.  One case in three
# of every test: `make test` takes more of them, with plain kernels too
NO_KERNELS := parser checks render semantics explain residual rule_text epl_graph nets_golden nets_extended nets_translate \
  nets_origins epl_random esql_random logic_random trees pipes_plots pipes_values pipes_kinds pipes_documents pipes_surfaces pipes_stubs
test-plain: $(READY)  ## run the tests of kernels as plain Python, which notices an index beyond an array; no slow ones
	CI= OCCURS_KERNELS=plain $(BIN)/python -m pytest -n 3 --dist loadgroup -m "not spark and not slow" --one-in 3 \
	  tests/operators tests/languages tests/pipes tests/model/test_labels.py $(NO_KERNELS:%=--ignore-glob='*test_*%*.py')

spark-classes: $(READY)  ## an archive of Spark's classes, with which the Java of all later tests starts in half the CPU
	@$(BIN)/python tests/sparkclasses.py

test-pages: studio-ui/node_modules/.package-lock.json  ## style, types and tests of the sources of the pages
	cd studio-ui && npm run --silent lint && npm run --silent types && npm test --silent

kernels: $(READY)  ## compile all kernels in advance
	@$(BIN)/python -m occurs.cli warm

lint: $(READY)  ## style, types and prose
	$(BIN)/python -m ruff check --no-cache src tests benchmarks examples tools docs
	$(BIN)/python -m mypy
	$(BIN)/python tools/prose.py

docs: $(READY)  ## the documentation as a site in build/site; a broken link or a missing page fails
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --quiet --clean --strict

dist: $(READY) $(PAGES)  ## sdist and wheel in dist/, checked in a fresh environment
	rm -rf dist
	$(BIN)/python -m build --outdir dist .
	$(BIN)/python tools/check_dist.py

hooks: $(READY)  ## check every change before it is committed: style, types, prose, large files
	$(BIN)/python -m pre_commit install

bench: $(READY)  ## a table of ratios: against Spark doing nothing, against bare NumPy, growth
	$(BIN)/python -m benchmarks --json out/benchmarks/tables.json

bench-report: $(READY)  ## write the tables of `make bench` into the page of the documentation
	$(BIN)/python -m benchmarks.page out/benchmarks/tables.json

pictures: $(READY) $(PAGES)  ## draw the pictures of the documentation into docs/pictures
	$(BIN)/python docs/pictures
	$(BIN)/python docs/pictures/studio.py

$(READY): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "Occurs needs Python 3.11 or later, and \`$(PYTHON)\` is `$(PYTHON) --version 2>&1`." >&2; \
	  echo "Name another one: make $(MAKECMDGOALS) PYTHON=python3.12" >&2; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV) || { \
	  echo "This Python cannot make virtual environments (Debian, Ubuntu: apt install python3-venv)." >&2; exit 1; }
	$(BIN)/python -m pip install $(PIP) -e '.[all,dev,docs,examples]'
	@touch $(READY)

# Delta Lake and Iceberg have no release for the newest Spark: the tests of tables run with one that both support, in
# front of the packages of $(VENV)
.venv-tables/.ready: $(READY)
	$(BIN)/python -m pip install $(PIP) --upgrade --no-deps --target .venv-tables/site \
	  'pyspark==4.1.*'
	@touch $@

clean:
	rm -rf $(VENV) .venv-tables studio-ui/node_modules src/occurs/studio/static build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis spark-warehouse
