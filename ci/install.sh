#!/usr/bin/env bash
# Installs a build and prints a summary: ci/install.sh BUILD_FOLDER. DESTDIR works as in CMake.
set -euo pipefail
build=$1
prefix=$(sed -n 's/^CMAKE_INSTALL_PREFIX:PATH=//p' "$build/CMakeCache.txt")
libraries=$(sed -n 's/^CMAKE_INSTALL_LIBDIR:PATH=//p' "$build/CMakeCache.txt")
top=${DESTDIR:-}$prefix
# The nearest existing folder must be writable.
folder=$top
while [ ! -e "$folder" ]; do folder=$(dirname "$folder"); done
if [ ! -d "$folder" ] || [ ! -w "$folder" ]; then
  echo "make install: $folder cannot be written to: as root (sudo make install)," \
    "or elsewhere (make install PREFIX=\$HOME/.local)" >&2
  exit 3
fi
cmake --install "$build" >"$build/install.log" 2>&1 || { tail -n 5 "$build/install.log" >&2; exit 3; }
files=$(grep -c "" "$build/install_manifest.txt")
# A line of the list has no DESTDIR.
where() { sed -n "s|^\($prefix\(/.*\)\?$1\)\$|  \1|p" "$build/install_manifest.txt" | head -n 1; }
cat <<END
installed in $top: $files files, which $build/install_manifest.txt names
$(where '/bin/tesela')   the tool
$(where '/libtesela\.so')   the library
$(where '/libtesela_blas\.so')   for programs that call BLAS
$(where '/tesela/tesela\.h')   the header (pkg-config tesela, find_package(tesela))
$(where '/tesela-system-blas')   makes it the system's libblas.so.3
END
if [ -z "${DESTDIR:-}" ]; then
  if [ "$(id -u)" = 0 ] && command -v ldconfig >/dev/null; then
    ldconfig
  fi
  # Lists the parts that programs will find.
  if ! ldconfig -p 2>/dev/null | grep -qF "=> $prefix/$libraries/libtesela.so."; then
    echo "the loader does not search $prefix/$libraries: set LD_LIBRARY_PATH=$prefix/$libraries," \
      "or link with -Wl,-rpath,$prefix/$libraries"
  fi
  case ":$PATH:" in *":$prefix/bin:"*) ;; *) echo "$prefix/bin is not in PATH" ;; esac
fi
