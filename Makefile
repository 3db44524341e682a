# SPDX-License-Identifier: Apache-2.0
# A thin front over CMake presets and the scripts under tools/. "make help" lists the targets.
JOBS ?= $(shell nproc)
FUZZ_SECONDS ?= 60
RELEASE = build/release
DEV = build/dev

.PHONY: build run test check bench fuzz fmt deps nightly dev tsan slt crash docs help clean

build: deps ## build/release/millstream, optimized
	@cmake --preset release >/dev/null && cmake --build --preset release -j $(JOBS)

dev: deps ## the same with clang, ASan and UBSan
	@cmake --preset dev >/dev/null && cmake --build --preset dev -j $(JOBS)

run: build ## the main job on the embedded store
	@examples/run.sh $(RELEASE)/millstream

test: dev build ## all tests
	@tools/run_tests.sh

slt: dev ## the golden files only
	@ctest --test-dir $(DEV) -L slt --output-on-failure

crash: build ## kill and power-loss tests
	@tests/crash/run.sh

tsan: deps ## unit and golden tests under ThreadSanitizer, parallelism 2
	@cmake --preset tsan >/dev/null && cmake --build --preset tsan -j $(JOBS) && ctest --test-dir build/tsan -L tsan --output-on-failure

check: deps ## house rules, headers, generated files, formatting
	@tools/check.sh

bench: build ## ratios against the yardsticks, in one run
	@cmake --build --preset release -j $(JOBS) --target benches >/dev/null && tests/bench/run.sh

fuzz: deps ## each fuzz target for FUZZ_SECONDS (default 60)
	@cmake --preset fuzz >/dev/null && cmake --build --preset fuzz -j $(JOBS) && FUZZ_SECONDS=$(FUZZ_SECONDS) tests/fuzz/run.sh build/fuzz

nightly: test ## larger counts of everything random
	@MS_NIGHTLY=1 tools/run_tests.sh && $(MAKE) fuzz FUZZ_SECONDS=600

fmt: ## clang-format in place
	@git ls-files '*.c' '*.h' '*.cc' | xargs clang-format-14 -i

docs: ## pages generated from tables
	@python3 tools/gen_errors.py

deps: ## install the Debian packages that are missing
	@tools/deps.sh

help:
	@grep -E '^[a-z]+:.*##' Makefile | sed 's/:.*##/\t/'

clean:
	@rm -rf build
