# A thin front for CMake: the two commands of the README, and shorthands for the presets.
#   make demo    install what is missing, build, multiply two real matrices, verify, compare the strategies
#   make test    install what is missing, build, run every test
.DEFAULT_GOAL := build
# compile builds without a check of the installed packages.
.PHONY: help build compile demo test test-mutants test-sweeps test-documents test-lapack test-arm64 test-arm64-all same-bits wheel style docs asan tsan install deb clean

# One job more than processors, since a compiler waits for its files.
JOBS ?= $(shell echo $$(($$(nproc 2>/dev/null || echo 2) + 1)))
PRESET ?= release
# Tests use all processors themselves; three at a time fill the gaps while a test waits.
CTEST_JOBS ?= 3
TESELA := build/$(PRESET)/bin/tesela

help:
	@sed -n '2,3s/^# *//p' Makefile
	@echo 'make [build]  build the preset $(PRESET) (PRESET=release, debug, asan, tsan)'
	@echo 'make test-sweeps   the long tests: kernels for older GPUs, every type with every shape'
	@echo 'make test-mutants [MUTANTS=PATTERN]   plants faults of one line in a copy and lists the unseen'
	@echo 'make test-documents   checks the printed output in docs/COURSES.md and the README'
	@echo 'make test-lapack LAPACK=FOLDER   LAPACK'"'"'s own test programs on the BLAS drop-in: minutes'
	@echo 'make style    format, include graph, generated documents'
	@echo 'make wheel    the Python package: built, repaired, and used where there is no compiler'
	@echo 'make docs     reference pages of the C interface, in build/docs/html'
	@echo 'make asan, make tsan   the tests under a sanitizer'
	@echo 'make install [PREFIX=/usr/local] [DESTDIR=folder], make deb   installs, or makes a package'
	@echo 'make same-bits OLD=PATH/libtesela.so   compares every strategy bit by bit with another build'
	@echo 'make test-arm64, make test-arm64-all   tests for AArch64 by an emulator: minutes, or an hour'

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
	@ci/setup.sh build run unit test mpi
	@$(MAKE) --no-print-directory compile CMAKE_ARGS="-DTESELA_TESTS=ON $(CMAKE_ARGS)"
	@ci/test.sh $(PRESET) --parallel $(CTEST_JOBS) $(or $(CTEST_ARGS),-LE 'sweep|documents')

# Tests that take minutes and seldom find more than `make test`.
test-sweeps:
	@$(MAKE) --no-print-directory test CTEST_ARGS="-L sweep"
# Plants faults of one line in a copy of the sources (tests/mutants/run.py); prints the score and the unseen.
test-mutants:
	@ci/setup.sh build run unit test mpi
	@MUTANTS='$(MUTANTS)' tests/mutants/run.py
# Compares the output in the documents with the output of the commands.
test-documents:
	@$(MAKE) --no-print-directory test CTEST_ARGS="-L documents"

# LAPACK's own test programs: Debian's liblapack-test and its dependencies, or a folder with their files.
test-lapack:
	@$(MAKE) --no-print-directory compile TARGETS=tesela_blas
	@tests/blas/lapack.sh build/$(PRESET)/lib/libtesela_blas.so build/lapack $(LAPACK)

# The library for AArch64 and its tests by an emulator (docs/TESTING.md has the times). The short form covers
# the parts that differ there: the judge's standard shapes for every strategy with vectors, bits, the API and
# the drop-in. The long form runs all tests that can run.
ARM64_TESTS := check_(gemm_(sequential_optimized|blocked|host_packed|host_small|host_thin|host_amx)|dot_(fixed_tree|exact)|transpose_.*)_cpu
ARM64_TESTS += check_gemm_host_amx_neon_dot same_bits_.* blas_(routines.*|starved_.*|beside_.*|stray|wide_.*|known|twice)
ARM64_TESTS += test_(api|api_ops|api_threads|batch|cpu|dispatch|dot_narrow|grids|host_small|host_thin|packed|plan|scalars|view)
# Left out under an emulator: tests that need a device with kernels; tests that start programs of this
# processor; forks of threads, which crash QEMU 7.2; tests of speed or with a time limit; and tests that take
# a quarter of an hour (test_fixed_tree).
ARM64_NOT := check_.*_(opencl|cuda|blis) test_api_(opencl|threads_opencl|vendor_.*)
ARM64_NOT += blas_(log|testers.*|threadpoolctl.*|numpy|device|octave|r) cli_.* header_.* include_graph.* symbol_graph.* formats_numpy
ARM64_NOT += blas_process test_(pool|api_stress) test_(threads|roofs|fixed_tree)
ARM64_NOT += test_(opencl.*|launch_text|link|named|planner|register_tile|thin_tile|trust|dialect|fake.*|trim|nvrtc|image_microtile|inject|page)
space := $(subst ,, )
any_of = $(subst $(space),|,$(strip $(1)))
test-arm64: ARM64_RUN = -R '^($(call any_of,$(ARM64_TESTS)))$$'
test-arm64-all: ARM64_RUN = -E '^($(call any_of,$(ARM64_NOT)))$$'
test-arm64 test-arm64-all:
	@ci/setup.sh build unit arm64
	@$(MAKE) --no-print-directory compile PRESET=arm64 CMAKE_ARGS="-DTESELA_TESTS=ON $(CMAKE_ARGS)"
	@ci/test.sh arm64 --parallel $(CTEST_JOBS) $(ARM64_RUN) $(CTEST_ARGS)

# Compares every strategy's results bit by bit with another build: make same-bits OLD=PATH/libtesela.so
same-bits:
	@test -n "$(OLD)" || { echo 'make same-bits OLD=PATH/libtesela.so: the build to compare with' >&2; exit 2; }
	@ci/setup.sh build run unit
	@$(MAKE) --no-print-directory compile CMAKE_ARGS="-DTESELA_TESTS=ON $(CMAKE_ARGS)" TARGETS="tesela same_bits"
	@ci/same_bits.sh $(OLD) build/$(PRESET)/lib/libtesela.so

style:
	@ci/setup.sh build unit style
	@$(MAKE) --no-print-directory compile
	@ci/style.sh

# Takes five minutes, mostly to build the library again. .ci/run leaves it out: make test tests the package.
wheel:
	@ci/setup.sh build test
	@ci/wheel.sh

# Reference pages of the public headers; a warning is a failure.
docs:
	@ci/setup.sh style
	@mkdir -p build && doxygen docs/Doxyfile && echo 'build/docs/html/index.html'

asan tsan:
	@$(MAKE) --no-print-directory test PRESET=$@

# make install [PREFIX=/usr/local] [DESTDIR=a folder that stands for /]
install:
	@ci/setup.sh build
	@$(MAKE) --no-print-directory compile CMAKE_ARGS="$(CMAKE_ARGS)$(if $(PREFIX), -DCMAKE_INSTALL_PREFIX=$(abspath $(PREFIX)))"
	@DESTDIR=$(DESTDIR) ci/install.sh build/$(PRESET)

deb:
	@ci/setup.sh build deb
	@$(MAKE) --no-print-directory compile PRESET=deb
	@ci/deb.sh build/deb

clean:
	rm -rf build
