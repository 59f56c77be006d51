# A thin front for CMake: the two commands of the README, and shorthands for the presets.
#   make demo    install what is missing, build, multiply two real matrices, verify, compare the strategies
#   make test    install what is missing, build, run every test
.DEFAULT_GOAL := build
# compile is build without a look at what is installed.
.PHONY: help build compile demo test test-arm64 same-bits style asan tsan install clean

JOBS ?= $(shell nproc 2>/dev/null || echo 2)
PRESET ?= release
# Tests use all processors themselves; two at a time fill the gaps.
CTEST_JOBS ?= 2
TESELA := build/$(PRESET)/bin/tesela

help:
	@sed -n '2,3s/^# *//p' Makefile
	@echo 'make [build]  build the preset $(PRESET) (PRESET=release, debug, asan, tsan)'
	@echo 'make style    format, include graph, generated documents'
	@echo 'make asan, make tsan   the tests under a sanitizer'
	@echo 'make same-bits OLD=PATH/libtesela.so   every strategy, bit by bit, beside another build'
	@echo 'make test-arm64   the library for AArch64, and its tests by an emulator'

build:
	@ci/setup.sh build unit
	@$(MAKE) --no-print-directory compile

compile:
	@cmake --preset $(PRESET) $(CMAKE_ARGS) >build-configure.log 2>&1 || { cat build-configure.log; rm -f build-configure.log; exit 1; }
	@rm -f build-configure.log
	@cmake --build --preset $(PRESET) --parallel $(JOBS) $(addprefix --target ,$(TARGETS))

demo:
	@ci/setup.sh build run
	@$(MAKE) --no-print-directory compile CMAKE_ARGS="-DTESELA_TESTS=OFF $(CMAKE_ARGS)" TARGETS=tesela_tool
	@examples/demo.sh $(TESELA)

test:
	@ci/setup.sh build run unit test
	@$(MAKE) --no-print-directory compile CMAKE_ARGS="-DTESELA_TESTS=ON $(CMAKE_ARGS)"
	@ci/test.sh $(PRESET) --parallel $(CTEST_JOBS) $(CTEST_ARGS)

# The library for AArch64, whole, and what of the tests is of the host, by an emulator, which takes its time: the triple loop's cases alone are minutes.
test-arm64:
	@ci/setup.sh build unit arm64
	@$(MAKE) --no-print-directory compile PRESET=arm64 CMAKE_ARGS="-DTESELA_TESTS=ON $(CMAKE_ARGS)"
	@ci/test.sh arm64 --parallel $(CTEST_JOBS) -R '^(check_.*_cpu|test_(api.*|cpu|host_.*|packed|view|scalars|plan|dispatch))$$' $(CTEST_ARGS)

# Every strategy's results, bit by bit, beside those of another build: make same-bits OLD=PATH/libtesela.so
same-bits:
	@test -n "$(OLD)" || { echo 'make same-bits OLD=PATH/libtesela.so: the build to compare with' >&2; exit 2; }
	@ci/setup.sh build run unit
	@$(MAKE) --no-print-directory compile CMAKE_ARGS="-DTESELA_TESTS=ON $(CMAKE_ARGS)" TARGETS="tesela same_bits"
	@ci/same_bits.sh $(OLD) build/$(PRESET)/lib/libtesela.so

style:
	@ci/setup.sh build unit style
	@$(MAKE) --no-print-directory compile
	@ci/style.sh

asan tsan:
	@$(MAKE) --no-print-directory test PRESET=$@

install: build
	cmake --install build/$(PRESET)

clean:
	rm -rf build
