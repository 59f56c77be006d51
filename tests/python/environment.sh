#!/usr/bin/env bash
# environment.sh SOURCE BUILD: makes the environment for the tests of the Python package, once.
#     BUILD/python/venv   a Python with the packages of requirements.txt
#     BUILD/python/site   the package from the source tree, with the binding built against BUILD's library
set -euo pipefail
source=$1 build=$2
python=${TESELA_TEST_PYTHON:-/usr/bin/python3}
place=$build/python
wanted=$( { "$python" --version; cat "$source/tests/python/requirements.txt"; } | sha256sum)
mkdir -p "$place"
if [ "$(cat "$place/venv/made_of" 2>/dev/null)" != "$wanted" ]; then
  rm -rf "$place/venv" "$place/binding"
  "$python" -m venv "$place/venv"
  # Python compiles only imported modules, into the folder that PYTHONPYCACHEPREFIX names.
  "$place/venv/bin/pip" install --quiet --disable-pip-version-check \
    --no-compile -r "$source/tests/python/requirements.txt"
  echo "$wanted" >"$place/venv/made_of"
fi
cmake -S "$source/python" -B "$place/binding" -DPython_EXECUTABLE="$place/venv/bin/python" \
  -DTESELA_BUILT="$build" \
  -DTESELA_WERROR=ON "-DCMAKE_CXX_FLAGS_RELEASE=-O1 -DNDEBUG" >"$place/configure.log" ||
  { cat "$place/configure.log"; exit 1; }
cmake --build "$place/binding" --parallel "$(nproc)"
rm -rf "$place/site"
mkdir -p "$place/site/tesela/bin"
for file in "$source"/python/tesela/*.py* "$source"/python/tesela/py.typed "$place"/binding/_*.so; do
  ln -sf "$file" "$place/site/tesela/"
done
ln -s "$build/bin/tesela" "$place/site/tesela/bin/tesela"
