# A thin front for CMake: the two commands of the README, and shorthands for the presets.
#   make demo    install what is missing, build, multiply two real matrices, verify, compare the strategies
#   make test    install what is missing, build, run every test
.DEFAULT_GOAL := build
# The target compile builds without a check for missing packages.
.PHONY: help build compile demo test test-long test-packages test-mutants test-sweeps test-documents \
        test-lapack test-arm64 test-arm64-all same-bits wheel style docs site asan tsan install deb clean

# One job more than processors, since compilers wait for their files.
JOBS ?= $(shell echo $$(($$(nproc 2>/dev/null || echo 2) + 1)))
PRESET ?= release
# Each test uses all processors; three at a time use the processors while one test waits.
CTEST_JOBS ?= 3
TESELA := build/$(PRESET)/bin/tesela
# A new build folder is Ninja's if it is installed: make starts several processes for each of 300 tests.
GENERATOR = $${CMAKE_GENERATOR:-$$(command -v ninja >/dev/null && echo Ninja || echo 'Unix Makefiles')}

help:
	@sed -n '2,3s/^# *//p' Makefile
	@echo 'make [build]  build the preset $(PRESET) (PRESET=release, debug, asan, tsan)'
	@echo 'make test-long     long forms of tests that make test has in a short form; more ranks'
	@echo 'make test-packages the Python package, and installed files'
	@echo 'make test-sweeps   long tests that make test omits: kernels of old GPUs, all types with all shapes'
	@echo 'make test-mutants [MUTANTS=PATTERN]   plants faults of one line in a copy: do the tests find each?'
	@echo 'make test-documents   commands of docs/COURSES.md and README.md print the output in these pages'
	@echo 'make test-lapack LAPACK=FOLDER   LAPACK'"'"'s own test programs on the BLAS drop-in: minutes'
	@echo 'make style    format, include graph, generated documents'
	@echo 'make wheel    the Python package: built, repaired, and tested without a compiler'
	@echo 'make docs     reference pages of the C interface, in build/docs/html'
	@echo 'make site     the manual as a web site with search, in build/site/html'
	@echo 'make asan, make tsan   the tests under a sanitizer'
	@echo 'make install [PREFIX=/usr/local] [DESTDIR=folder], make deb   installs; makes a Debian package'
	@echo 'make same-bits OLD=PATH/libtesela.so   compares every strategy with another build, bit by bit'
	@echo 'make test-arm64, make test-arm64-all   builds for AArch64, tests in an emulator: minutes, or an hour'

build:
	@ci/setup.sh build unit
	@$(MAKE) --no-print-directory compile

compile:
	@CMAKE_GENERATOR="$(GENERATOR)" cmake --preset $(PRESET) $(CMAKE_ARGS) >build-configure.log 2>&1 || \
	  { cat build-configure.log; rm -f build-configure.log; exit 1; }
	@rm -f build-configure.log
	@cmake --build --preset $(PRESET) --parallel $(JOBS) $(addprefix --target ,$(TARGETS))

demo:
	@ci/setup.sh build run
	@$(MAKE) --no-print-directory compile CMAKE_ARGS="-DTESELA_TESTS=OFF $(CMAKE_ARGS)" TARGETS=tesela_tool
	@examples/demo.sh $(TESELA)

# value: a dollar sign in CTEST_ARGS ends a regular expression, and is no reference of make.
test:
	@ci/setup.sh build run unit test mpi
	@$(MAKE) --no-print-directory compile CMAKE_ARGS="-DTESELA_TESTS=ON $(CMAKE_ARGS)"
	@ci/test.sh $(PRESET) --parallel $(CTEST_JOBS) $(or $(value CTEST_ARGS),-LE 'sweep|documents|packages|long')

# Long forms of tests, more ranks, and more instruction sets. .ci/run has the long tests of the tool.
test-long:
	@$(MAKE) --no-print-directory test CTEST_ARGS="-L long"
# The Python package and the installed files.
test-packages:
	@$(MAKE) --no-print-directory test CTEST_ARGS="-L packages"
# Tests that take minutes and seldom find a fault that `make test` does not find.
test-sweeps:
	@$(MAKE) --no-print-directory test CTEST_ARGS="-L sweep"
# Faults of one line, each in turn in a copy of the sources (tests/mutants/run.py). Prints the score, and the
# faults that no test finds.
test-mutants:
	@ci/setup.sh build run unit test mpi
	@MUTANTS='$(value MUTANTS)' tests/mutants/run.py
# Tests that commands print the output that the documents show.
test-documents:
	@$(MAKE) --no-print-directory test CTEST_ARGS="-L documents"

# LAPACK's own test programs (Debian: liblapack-test and its dependencies, or a folder with these packages
# unpacked).
test-lapack:
	@$(MAKE) --no-print-directory compile TARGETS=tesela_blas
	@tests/blas/lapack.sh build/$(PRESET)/lib/libtesela_blas.so build/lapack $(LAPACK)

# The library for AArch64, and its tests in an emulator (docs/TESTING.md has the time of each test). The short
# form has the tests that differ on AArch64: the judge's standard shapes for every strategy with vectors,
# bits, the API, the drop-in. The long form has all tests that can run.
ARM64_TESTS := check_gemm_(sequential_optimized|blocked|host_packed|host_small|host_skinny|host_amx)_cpu
ARM64_TESTS += check_(dot_(fixed_tree|exact)|transpose_.*)_cpu check_gemm_host_amx_neon_dot same_bits_.*
ARM64_TESTS += blas_(routines|beside_.*|stray|wide_.*|known|twice)
ARM64_TESTS += test_(api|api_ops|api_threads|batch|cpu|dispatch|dot_narrow|grids|host_small|host_skinny)
ARM64_TESTS += test_(packed|plan|scalars|view)
# Programs that these tests start, and the tool.
ARM64_TARGETS := tesela_tool check_strategy same_bits tests_unit tests_api tests_blas tests_blas_known
ARM64_TARGETS += tests_blas_beside_linked tests_blas_wide_linked blas_stray
# Tests that an emulator cannot run: they need a device with kernels; run other programs, built for this
# processor; or fork with threads, which ends QEMU 7.2. Others measure speed or need an end within seconds.
# A single test takes a quarter of an hour (test_fixed_tree).
ARM64_NOT := check_.*_(opencl|cuda|blis) test_api_(opencl|threads_opencl|vendor_.*)
ARM64_NOT += blas_(log|testers.*|threadpoolctl.*|numpy|device|octave|r) cli_.* header_.* formats_numpy
ARM64_NOT += include_graph.* symbol_graph.* blas_process
ARM64_NOT += test_(pool|api_stress) test_(threads|roofs|fixed_tree)
ARM64_NOT += test_(opencl.*|launch_text|link|named|planner|register_tile|thin_tile|trust|dialect|fake.*|trim)
ARM64_NOT += test_(few_rows|outer_product|nvrtc|image_microtile|inject|page)
space := $(subst ,, )
any_of = $(subst $(space),|,$(strip $(1)))
test-arm64: ARM64_RUN = -R '^($(call any_of,$(ARM64_TESTS)))$$'
test-arm64: ARM64_BUILD = '-DTESELA_TESTS_ONLY=^($(call any_of,$(ARM64_TESTS)))'
test-arm64: TARGETS = $(ARM64_TARGETS)
test-arm64-all: ARM64_RUN = -E '^($(call any_of,$(ARM64_NOT)))$$'
test-arm64 test-arm64-all:
	@ci/setup.sh build unit arm64
	@$(MAKE) --no-print-directory compile PRESET=arm64 TARGETS="$(TARGETS)" \
	  CMAKE_ARGS="-DTESELA_TESTS=ON $(or $(ARM64_BUILD),-DTESELA_TESTS_ONLY=.) $(CMAKE_ARGS)"
	@ci/test.sh arm64 --parallel $(CTEST_JOBS) $(ARM64_RUN) $(value CTEST_ARGS)

# Compares every strategy's results with another build, bit by bit: make same-bits OLD=PATH/libtesela.so
same-bits:
	@test -n "$(OLD)" || { echo 'make same-bits OLD=PATH/libtesela.so: the build to compare with' >&2; exit 2; }
	@ci/setup.sh build run unit
	@$(MAKE) --no-print-directory compile CMAKE_ARGS="-DTESELA_TESTS=ON $(CMAKE_ARGS)" TARGETS="tesela same_bits"
	@ci/same_bits.sh $(OLD) build/$(PRESET)/lib/libtesela.so

style:
	@ci/setup.sh build unit style
	@$(MAKE) --no-print-directory compile
	@ci/style.sh

# Takes five minutes: it builds the library once more. Not part of .ci/run, which has make test-packages.
wheel:
	@ci/setup.sh build test
	@ci/wheel.sh

# Reference pages of the public headers; a warning is a failure.
docs:
	@ci/setup.sh style
	@mkdir -p build && doxygen docs/Doxyfile && echo 'build/docs/html/index.html'

# The manual as a web site: every page, the lab pages and the C reference. A warning is a failure.
site: docs
	@ci/setup.sh build site
	@ci/site.py

asan tsan:
	@$(MAKE) --no-print-directory test PRESET=$@

# make install [PREFIX=/usr/local] [DESTDIR=a folder that stands for /]
install:
	@ci/setup.sh build
	@$(MAKE) --no-print-directory compile \
	  CMAKE_ARGS="$(CMAKE_ARGS)$(if $(PREFIX), -DCMAKE_INSTALL_PREFIX=$(abspath $(PREFIX)))"
	@DESTDIR=$(DESTDIR) ci/install.sh build/$(PRESET)

deb:
	@ci/setup.sh build deb
	@$(MAKE) --no-print-directory compile PRESET=deb
	@ci/deb.sh build/deb

clean:
	rm -rf build
