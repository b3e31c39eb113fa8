# The commands of this repository. CMake presets do the work; see CMakePresets.json.
JOBS ?= $(shell nproc)
PREFIX ?= /usr/local
FUZZ_SECONDS ?= 60
# Of the campaigns: cases, and what they are drawn from; each has its own default.
N ?=
SEED ?=
LINT_BASE ?=
# Virtual environments of make launch-check.
FRAMEWORKS ?= build/frameworks
DEV_TARGET ?= plan
CROSS_VALIDATION = tests/fidelity/cross_validation.json
HOST_BOUND = tests/fidelity/host_bound.json
BEFORE = tests/fidelity/before.json
OUTSIDE = tests/fidelity/outside.json
# vTrain's single-node runs in the format of docs/rows.md, which do not ship; from the environment or the command line.
HOST_BOUND_ROWS ?=
NEEDS_HOST_BOUND_ROWS = if [ ! -f "$(HOST_BOUND_ROWS)" ]; then \
  echo "HOST_BOUND_ROWS names no file of rows, and the fit takes them too: nothing was done"; exit 1; fi
DEMO = build/bin/plan search --model llama-3-70b --machine dgx-h100 --gpus 64 --seq-len 8192 --global-batch 512 \
       --top 10 --out plan.json

export CTEST_PARALLEL_LEVEL = $(JOBS)
export CMAKE_BUILD_PARALLEL_LEVEL = $(JOBS)

.DEFAULT_GOAL := help
.PHONY: help setup build gui cuda wheel demo test fidelity calibrations cross-validation host-bound published-layouts bench fuzz campaign-faults campaign-plans \
  campaign-strategies launch-check one-program format format-check lint lint-changed install deb package dev asan tsan headless clean

help: ## this list
	@echo "plumbline: make <target>"
	@sed -nE 's/^([a-z-]+):[^#]*## (.*)/  \1\t\2/p' Makefile | expand -t 18

setup: ## install what is missing with apt-get (Debian 12, 13, Ubuntu 24.04)
	@scripts/setup_debian.sh

build: ## release build; binaries in build/bin (WERROR=ON: warnings are errors)
	@cmake --preset release $(if $(WERROR),-DPLUMBLINE_WERROR=$(WERROR))
	@cmake --build --preset release

gui: ## install Qt 6 where it is missing, build the window and open it
	@scripts/setup_debian.sh gui
	@cmake --preset release -DPLUMBLINE_GUI=ON
	@cmake --build --preset release --target plumbline plan
	@build/bin/plumbline

cuda: ## build libplumbline-cuda.so beside the command, with a CUDA toolkit of 12 or later, which is installed where there is none
	@toolkit=$$(scripts/setup_cuda.sh) && cmake --preset release -DPLUMBLINE_CUDA=ON -DPLUMBLINE_BENCH=ON $$toolkit
	@cmake --build --preset release --target plumbline_cuda plan \
	  $$(for one in device_kernels_bench kernels_gpu_tests; do ninja -C build -t query $$one >/dev/null 2>&1 && echo $$one; done; true)

wheel: ## build/plumbline-*.whl, the Python module for pip install; it needs no compiler where it is installed
	@scripts/setup_debian.sh python
	@cmake --preset release -DPLUMBLINE_PYTHON=ON
	@cmake --build --preset release --target wheel

demo: setup ## rank the configurations of Llama-3 70B on 64 H100 and write plan.json
	@cmake --preset release
	@cmake --build --preset release --target plan
	@echo
	@echo '$$ $(DEMO)' | tr -s ' '
	@$(DEMO)

test: setup build ## build and run every test
	@ctest --preset release

fidelity: ## predict the published measurements anew: docs/fidelity.md, its picture, the numbers that a test holds
	@cmake --preset release
	@cmake --build --preset release --target plan
	@build/bin/plan validate --report docs/fidelity.md --plot docs/images/fidelity.svg --benchmark-plot docs/images/official-benchmarks.svg >/dev/null
	@python3 tests/fidelity/outside.py build/bin/plan models/measurements/plumbline-h200.json tests/fidelity/plumbline-h200-compiled.json $(OUTSIDE) --regenerate
	@python3 tests/fidelity/fidelity_tables.py $(CROSS_VALIDATION) $(HOST_BOUND) $(BEFORE) $(OUTSIDE) docs/fidelity.md
	@python3 tests/fidelity/check_fidelity.py build/bin/plan tests/fidelity/fidelity.json --regenerate
	@git --no-pager diff --stat -- docs/fidelity.md tests/fidelity

calibrations: ## fit the calibrations that ship anew, with HOST_BOUND_ROWS=FILE: models/calibrations
	@$(NEEDS_HOST_BOUND_ROWS)
	@cmake --preset release
	@cmake --build --preset release --target plan
	@build/bin/plan calibrate --all --rows "$(HOST_BOUND_ROWS)" --out models/calibrations
	@git --no-pager diff --stat -- models/calibrations

cross-validation: ## predict rows by fits that never saw them (minutes), with HOST_BOUND_ROWS=FILE: tests/fidelity/cross_validation.json
	@$(NEEDS_HOST_BOUND_ROWS)
	@cmake --preset release
	@cmake --build --preset release --target plan
	@build/bin/plan calibrate --cross-validate --rows "$(HOST_BOUND_ROWS)" >build/cross_validation.json
	@build/bin/plan calibrate --cross-validate --fold 1 >build/fold.json
	@python3 tests/fidelity/cross_validation.py build/cross_validation.json build/cross_validation_summary.json build/fold.json
	@python3 tests/fidelity/check_fidelity.py --cross-validated $(CROSS_VALIDATION) build/cross_validation_summary.json || \
	  echo "worse than what was committed: see above"
	@cp build/cross_validation_summary.json $(CROSS_VALIDATION)
	@git --no-pager diff --stat -- $(CROSS_VALIDATION)
	@$(MAKE) --no-print-directory host-bound

published-layouts: ## compare layouts that vendors published with our best plans: docs/published-layouts.md
	@cmake --preset release
	@cmake --build --preset release --target plan
	@python3 tests/fidelity/published_layouts.py build/bin/plan docs/published-layouts.md
	@git --no-pager diff --stat -- docs/published-layouts.md

host-bound: ## predict vTrain's host-bound runs question by question, with HOST_BOUND_ROWS=FILE: tests/fidelity/host_bound.json
	@if [ ! -f "$(HOST_BOUND_ROWS)" ]; then echo "skipped: host-bound runs; HOST_BOUND_ROWS names no file of rows"; else \
	  cmake --preset release && cmake --build --preset release --target plan && \
	  build/bin/plan calibrate --cross-validate --by-question --rows "$(HOST_BOUND_ROWS)" >build/host_bound.json && \
	  build/bin/plan validate --rows "$(HOST_BOUND_ROWS)" --json >build/host_bound_shipped.json && \
	  python3 tests/fidelity/cross_validation.py --host-bound build/host_bound.json build/host_bound_shipped.json build/host_bound_summary.json && \
	  { python3 tests/fidelity/check_fidelity.py --host-bound $(HOST_BOUND) build/host_bound_summary.json || \
	    echo "worse than what was committed: see above"; } && \
	  cp build/host_bound_summary.json $(HOST_BOUND) && git --no-pager diff --stat -- $(HOST_BOUND); fi

bench: ## run the benchmarks
	@scripts/setup_debian.sh bench
	@cmake --preset release -DPLUMBLINE_BENCH=ON
	@cmake --build --preset release --target bench_all
	@for program in build/bin/*_bench; do echo "== $$program"; "$$program" $(BENCH_ARGS) || exit 1; done

fuzz: ## fuzz the readers, FUZZ_SECONDS (60) in all
	@scripts/setup_debian.sh fuzz
	@cmake --preset fuzz
	@cmake --build --preset fuzz
	@scripts/fuzz.sh build/asan $(FUZZ_SECONDS)

campaign-strategies: build ## run N (1000) random strategies, from SEED (1), run FIRST (0) on, against one rank and the prediction
	@N=$(or $(N),1000) SEED=$(or $(SEED),1) FIRST=$(or $(FIRST),0) build/bin/runtime_tests "a campaign of strategies*"
one-program: build ## read N (1000) random plans four times, from SEED (1), run FIRST (0) on: instructions, simulation, execution, closed form
	@N=$(or $(N),1000) SEED=$(or $(SEED),1) FIRST=$(or $(FIRST),0) build/bin/runtime_tests "a campaign of random plans read*"
campaign-plans: ## hold N (1 000 000) random plans against every law, from SEED (today), case FIRST (0) on; broken cases in build/campaign
	@cmake --preset release
	@cmake --build --preset release --target campaign_plans
	@nice build/bin/campaign_plans --cases $(or $(N),1000000) --seed $(or $(SEED),$(shell date +%Y%m%d)) --first $(or $(FIRST),0) --threads $(JOBS) --folder build/campaign
campaign-faults: ## kill, stop, starve and damage N runs (N=200 SEED=1) and count how they end (docs/reliability.md)
	@cmake --preset release
	@cmake --build --preset release --target plan
	@python3 tests/integration/fault_campaign.py build/bin/plan "$$(command -v mpirun)" --rounds $(or $(N),200) --seed $(or $(SEED),1)

launch-check: ## let installed frameworks read the files of a hundred drawn plans each (FRAMEWORKS: build/frameworks, made from PyPI, gigabytes)
	@cmake --preset release
	@cmake --build --preset release --target plan
	@tests/launch_check/setup_frameworks.sh $(FRAMEWORKS)
	@python3 tests/launch_check/launch_check.py build/bin/plan $(FRAMEWORKS) --write
	@git --no-pager diff --stat -- tests/launch_check/verdicts.json

format: ## clang-format every source
	@scripts/format.sh

format-check: ## fail where clang-format would change something
	@scripts/format.sh --check

lint: ## clang-tidy over everything
	@scripts/lint.py

lint-changed: ## clang-tidy over what changed since LINT_BASE (default: where this branch left main; on main: six hours before its newest)
	@scripts/lint.py --changed $(LINT_BASE)

install: build ## install under PREFIX (/usr/local)
	@cmake --install build --prefix $(PREFIX)

deb: ## build/plumbline_VERSION_ARCH.deb: the command with manual pages and completions, and the window where Qt 6 is
	@scripts/setup_debian.sh deb
	@cmake --preset release
	@cmake --build --preset release --target plan \
	  $$(if ninja -C build -t query plumbline >/dev/null 2>&1; then echo plumbline; fi)
	@rm -f build/plumbline_*.deb  # of other versions
	@cd build && cpack -G DEB >/dev/null && ls $$PWD/plumbline_*.deb

package: setup ## build-archive/plumbline-VERSION-linux-ARCH.tar.gz: the command, which runs where there is no compiler
	@rm -f build-archive/plumbline-*.tar.gz  # of other versions
	@cmake --preset archive $(if $(WERROR),-DPLUMBLINE_WERROR=$(WERROR))
	@cmake --build --preset archive
	@python3 tests/package/archive_test.py build-archive

dev: ## incremental build, file by file, warnings as errors: build/dev, whose compile_commands.json editors read
	@cmake --preset dev
	@cmake --build --preset dev --target $(DEV_TARGET)

headless: ## warnings as errors, every header alone; no CUDA, Qt, MPI: the command, and its golden answers
	@cmake --preset headless
	@cmake --build --preset headless --target plan headers_alone
	@ctest --preset headless

asan: ## tests labelled sanitize under the address and undefined-behaviour sanitizers
	@scripts/setup_debian.sh fuzz
	@cmake --preset asan
	@cmake --build --preset asan
	@ctest --preset asan

tsan: ## the same as headless, under the thread sanitizer, and the tests labelled threads
	@cmake --preset tsan
	@cmake --build --preset tsan
	@ctest --preset tsan

clean: ## remove build/, build-cuda/ and build-archive/
	@rm -rf build build-cuda build-archive
