#!/usr/bin/env bash
# Installs the build into a scratch folder, moves it, and builds and runs programs against it:
#     installed.sh cmake|pkg-config SOURCE_FOLDER BINARY_FOLDER SCRATCH_FOLDER VERSION COMPILER [FLAG...]
# The installed files must not depend on the place of the build or of the first folder.
set -euo pipefail
way=$1 source=$2 binary=$3 scratch=$4 version=$5 compiler=$6
flags=("${@:7}")
if [ "$way" = pkg-config ] && ! command -v pkg-config >/dev/null; then
  echo "skipped: there is no pkg-config"
  exit 77
fi
rm -rf "$scratch"
mkdir -p "$scratch"
cmake --install "$binary" --prefix "$scratch/first" >"$scratch/install.log" ||
  { cat "$scratch/install.log"; exit 1; }
mv "$scratch/first" "$scratch/installed"
# Files that the help and the manual page name: documents, licence, examples. Also the completion of three
# shells.
for file in doc/tesela/LICENSE doc/tesela/README.md doc/tesela/docs/JSON.md doc/tesela/examples/hello.c \
  bash-completion/completions/tesela \
  zsh/site-functions/_tesela fish/vendor_completions.d/tesela.fish man/man1/tesela.1; do
  [ -s "$scratch/installed/share/$file" ] || { echo "share/$file is not installed" >&2; exit 1; }
done

"$source/tests/header/consume.sh" "$way" "$scratch/installed" "$source" "$scratch" "$version" "$compiler" \
  "${flags[@]}"
