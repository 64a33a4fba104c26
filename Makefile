# Thin on purpose: Meson builds, tools/ and tests/ do, this file only names it all. "make help" lists the targets.
PREFIX ?= /usr/local
DESTDIR ?=
FUZZ_SECONDS ?= 60
BENCH_MIB ?= 1024
PAGE ?= yes
# without the page there is no culprit serve, and no need for Node.js
page_set := $(if $(filter no,$(PAGE)),,page)
page_option := $(if $(filter no,$(PAGE)),-Dpage=disabled,-Dpage=enabled)

.DEFAULT_GOAL := all
.PHONY: all help setup demo test test-live test-tsan bench fuzz lint format install clean

all: ## release build at build/culprit (PAGE=no: without the page, which needs Node.js)
	@tools/setup --check build $(page_set)
	@tools/build build $(page_option) -Dtests=false

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 20

setup: ## install what is missing to build and to test
	@tools/setup build $(page_set) test

demo: ## install what is missing, build, analyze the sample data (SERVE=yes: and open the page)
	@tools/setup build $(page_set)
	@tools/build build $(page_option) -Dtests=false
	@tools/demo $(if $(filter yes,$(SERVE)),--serve) build/culprit

test: ## install what is missing, build with sanitizers, run every test
	@tools/setup build $(page_set) test
	@tools/build build-test $(page_option) -Dsanitize=address,undefined -Dbuildtype=debugoptimized
	@tests/run build-test

test-live: ## only the live tests, the slow ones too
	@tools/setup build $(page_set) test live
	@tools/build build-test $(page_option) -Dsanitize=address,undefined -Dbuildtype=debugoptimized
	@LIVE=all tests/run build-test live

test-tsan: ## the tests of what runs on several threads, under the thread sanitizer
	@tools/setup build $(page_set) test
	@tools/build build-tsan $(page_option) -Dsanitize=thread -Dbuildtype=debugoptimized
	@tests/run build-tsan unit cases fuzz

bench: ## speed and memory on generated input (BENCH_MIB=1024)
	@tools/setup build $(page_set)
	@tools/build build $(page_option) -Dtests=false
	@BENCH_MIB=$(BENCH_MIB) tests/bench/run build

fuzz: ## every fuzz target for FUZZ_SECONDS=60, what it finds is saved
	@tools/setup build $(page_set) fuzz
	@CC=clang-19 CXX=clang++-19 tools/build build-fuzz $(page_option) -Dfuzzers=true -Dbuildtype=debugoptimized \
		-Dsanitize=address,undefined,fuzzer-no-link
	@FUZZ_SECONDS=$(FUZZ_SECONDS) tests/fuzz/run build-fuzz

lint: ## warnings as errors, format, layers, clang-tidy, shellcheck
	@tools/setup build $(page_set) lint
	@tools/build build-lint $(page_option) -Dwerror=true
	@tools/lint build-lint

format: ## put every C file into the form that lint checks
	@git ls-files -z '*.c' '*.h' '*.cpp' | xargs -0 clang-format-19 -i

install: all ## install program, manual and completions (PREFIX=/usr/local DESTDIR=)
	@meson configure build -Dprefix=$(PREFIX)
	@DESTDIR=$(DESTDIR) meson install -C build

clean: ## remove every build directory
	rm -rf build build-test build-tsan build-fuzz build-lint
