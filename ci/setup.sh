#!/usr/bin/env bash
# Installs the distribution's packages that the named groups need and that are missing:
#   ci/setup.sh build run unit test style
#   ci/setup.sh --list build run     prints the names of the groups' packages and installs nothing
# Prints the packages and the reason before it installs. Uses sudo unless root. Does nothing if none is
# missing.
set -euo pipefail

header() { printf '#include <%s>\n' "$1" | "${CC:-cc}" -E -x c - >/dev/null 2>&1; }
cmake_is_new() {
  command -v cmake >/dev/null &&
    [ "$(printf '3.21\n%s\n' "$(cmake --version | sed -n '1s/[^0-9]*//p')" | sort -V | head -n 1)" = 3.21 ]
}
python_has() { /usr/bin/python3 -c "import $1" 2>/dev/null; }
python3_header() {
  test -e "$(/usr/bin/python3 -c 'import sysconfig; print(sysconfig.get_paths()["include"])')/Python.h"
}
shared_library() { /sbin/ldconfig -p 2>/dev/null | grep -F "$1" >/dev/null; }
arm64_library() { test -e "/usr/lib/aarch64-linux-gnu/$1" || test -e "/lib/aarch64-linux-gnu/$1"; }
pocl() { grep -qsi pocl /etc/OpenCL/vendors/*.icd; }
exists() { test -e "$1"; }

# group | package | command that succeeds when it is installed | purpose
table() {
  cat <<'END'
build|gcc|command -v cc|the C11 compiler
build|libc6-dev|header stdlib.h|the C library's headers
build|make|command -v make|running the build
build|cmake|cmake_is_new|configuring the build (3.21 or newer)
build|pkg-config|command -v pkg-config|finding libraries
build|libjansson-dev|pkg-config --exists jansson|the JSON that the tool writes
build|zlib1g-dev|header zlib.h|matrix files that are packed with gzip, read by the tool
build|opencl-headers|header CL/cl.h|OpenCL's types (nothing links against OpenCL)
run|ocl-icd-libopencl1|shared_library libOpenCL.so.1|finding OpenCL devices
run|pocl-opencl-icd|pocl|an OpenCL device on every machine: the processor
test|ninja-build|command -v ninja|building the tests with less work than make does
unit|libcmocka-dev|pkg-config --exists cmocka|unit tests
unit|libmpfr-dev|pkg-config --exists mpfr|the exact dot compared with arbitrary precision
python|g++|command -v c++|the Python package's binding
python|python3-dev|python3_header|Python's headers
python|python3-venv|exists /usr/lib/python3*/ensurepip/__init__.py|an environment into which pip installs
test|g++|command -v c++|the public header as C++
test|python3|test -x /usr/bin/python3|checks of JSON output
test|python3-venv|exists /usr/lib/python3*/ensurepip/__init__.py|an environment for Python tests, filled from PyPI
test|python3-dev|python3_header|the Python package's binding
test|python3-numpy|python_has numpy|products and files compared with NumPy's
test|python3-threadpoolctl|python_has threadpoolctl|limits of the drop-in's threads
test|python3-pyopencl|python_has pyopencl|an example that shares a queue with another library
test|python3-scipy|python_has scipy|files compared with SciPy's
test|libopenblas0-pthread|shared_library libopenblas.so.0|the peer vendor_openblas
test|libblas-test|exists /usr/lib/*/blas/xblat3s|the reference's testers of BLAS, for libtesela_blas.so
test|libclblast1|shared_library libclblast.so.1|the peer vendor_clblast
mpi|libopenmpi-dev|command -v mpicc|building libtesela_mpi
mpi|openmpi-bin|command -v mpirun|its tests, by ranks that are processes
mpi|libscalapack-openmpi-dev|exists /usr/lib/*/libscalapack-openmpi.so|a ScaLAPACK for libtesela_scalapack
mpi|scalapack-mpi-test|exists /usr/lib/*/scalapack/openmpi-tests/PBLAS/dpb3tst|ScaLAPACK's own testers
test|dpkg-dev|command -v dpkg-shlibdeps|the package, and what it depends on
test|file|command -v file|what of the package is a program
browser|chromium|command -v chromium|the pages that tesela explore writes, as a browser draws them (80 MB)
test|zsh|command -v zsh|the completion for zsh
test|fish|command -v fish|the completion for fish
test|abigail-tools|command -v abidiff|the binary interface compared with the committed one
deb|dpkg-dev|command -v dpkg-shlibdeps|what a package depends on
deb|file|command -v file|what of a package is a program
style|clang-format|command -v clang-format|the format of the sources
style|clang-tidy|command -v clang-tidy|common mistakes
style|git|command -v git|the list of files
style|gettext|command -v xgettext|the catalogues of translations
style|doxygen|command -v doxygen|the reference pages without a warning
site|python3|test -x /usr/bin/python3|building the manual as a web site
site|python3-venv|exists /usr/lib/python3*/ensurepip/__init__.py|an environment for mkdocs, filled from PyPI
picture|python3-matplotlib|python_has matplotlib|drawing docs/rates.svg again
style|python3|test -x /usr/bin/python3|the include graph
arm64|gcc-aarch64-linux-gnu|command -v aarch64-linux-gnu-gcc|the compiler for AArch64
arm64|qemu-user|command -v qemu-aarch64|an emulator that runs its programs
arm64|libc6:arm64|arm64_library ld-linux-aarch64.so.1|the C library there
arm64|libcmocka-dev:arm64|arm64_library libcmocka.so|unit tests there
arm64|libjansson-dev:arm64|arm64_library libjansson.so|JSON there
arm64|zlib1g-dev:arm64|arm64_library libz.so|packed matrix files there
arm64|libmpfr-dev:arm64|arm64_library libmpfr.so|arbitrary precision there
END
}

if [ "${1:-}" = --list ]; then
  shift
  for group in "$@"; do table | sed -n "s/^$group|\\([^|]*\\)|.*/\\1/p"; done | sort -u
  exit
fi
missing=()
for group in "$@"; do
  while IFS='|' read -r row package probe reason; do
    if [ "$row" = "$group" ] && ! eval "$probe" >/dev/null 2>&1; then
      missing+=("$package")
      printf 'missing: %-20s %s\n' "$package" "$reason"
    fi
  done < <(table)
done
[ ${#missing[@]} -gt 0 ] || exit 0

if ! command -v apt-get >/dev/null; then
  echo "ci/setup.sh: there is no apt-get here: please install the packages that match these of Debian" >&2
  exit 2
fi
as_root=()
if [ "$(id -u)" != 0 ]; then
  if ! command -v sudo >/dev/null; then
    echo "ci/setup.sh: only root can install packages, and there is no sudo; as root:" \
      "apt-get install ${missing[*]}" >&2
    exit 3
  fi
  as_root=(sudo)
fi
echo "installing these with: ${as_root[*]:+${as_root[*]} }apt-get install (a minute or two)"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
# Packages of another processor are there once the distribution's tools know of it.
foreign=true
case " ${missing[*]} " in *:arm64*) foreign="${as_root[*]} dpkg --add-architecture arm64" ;; esac
if ! { $foreign && "${as_root[@]}" apt-get update && "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
        apt-get install -y --no-install-recommends "${missing[@]}"; } >"$log" 2>&1; then
  tail -n 20 "$log" >&2
  echo "ci/setup.sh: the packages could not be installed; apt-get's last lines are above" >&2
  exit 3
fi
