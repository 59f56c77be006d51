#!/usr/bin/env bash
# Installs the build into a scratch folder, moves it, and builds and runs a consumer against it:
#   installed.sh cmake|pkg-config SOURCE_FOLDER BINARY_FOLDER SCRATCH_FOLDER VERSION COMPILER [FLAG...]
# What is installed must not depend on where the build or the first folder was.
set -euo pipefail
way=$1 source=$2 binary=$3 scratch=$4 version=$5 compiler=$6
flags=("${@:7}")
consumer=$source/tests/header/consumer
if [ "$way" = pkg-config ] && ! command -v pkg-config >/dev/null; then
  echo "skipped: there is no pkg-config"
  exit 77
fi
rm -rf "$scratch"
mkdir -p "$scratch"
cmake --install "$binary" --prefix "$scratch/first" >"$scratch/install.log" || { cat "$scratch/install.log"; exit 1; }
mv "$scratch/first" "$scratch/installed"
# What help and the manual page name is there, too: documents, licence, examples; and the completion of three shells.
for file in doc/tesela/LICENSE doc/tesela/README.md doc/tesela/docs/JSON.md doc/tesela/examples/hello.c bash-completion/completions/tesela \
  zsh/site-functions/_tesela fish/vendor_completions.d/tesela.fish man/man1/tesela.1; do
  [ -s "$scratch/installed/share/$file" ] || { echo "share/$file is not installed" >&2; exit 1; }
done

case $way in
cmake)
  configure=(cmake -S "$consumer" -DCMAKE_C_COMPILER="$compiler" -DCMAKE_C_FLAGS="${flags[*]}"
             -DCMAKE_PREFIX_PATH="$scratch/installed" -DCMAKE_FIND_USE_PACKAGE_REGISTRY=OFF)
  "${configure[@]}" -B "$scratch/build" -DWANTED_VERSION="$version"
  cmake --build "$scratch/build"
  grep -q "^tesela_DIR:PATH=$scratch/installed/" "$scratch/build/CMakeCache.txt"
  "$scratch/build/consumer"
  if "${configure[@]}" -B "$scratch/wrong" -DWANTED_VERSION=99 >/dev/null 2>&1; then
    echo "find_package takes tesela $version for version 99" >&2
    exit 1
  fi
  ;;
pkg-config)
  folder=$(dirname "$(find "$scratch/installed" -name tesela.pc)")
  export PKG_CONFIG_PATH=$folder PKG_CONFIG_LIBDIR=$folder
  [ "$(pkg-config --modversion tesela)" = "$version" ]
  library=$(pkg-config --variable=libdir tesela)
  # Word splitting is how pkg-config's answer becomes arguments.
  "$compiler" "${flags[@]}" "$consumer/main.c" -o "$scratch/consumer" $(pkg-config --cflags --libs tesela) -Wl,-rpath,"$library"
  "$scratch/consumer"
  ;;
*)
  echo "installed.sh: $way is neither cmake nor pkg-config" >&2
  exit 2
  ;;
esac
