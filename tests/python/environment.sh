#!/usr/bin/env bash
# environment.sh SOURCE BUILD: makes the environment for the tests of the Python package, once.
#     BUILD/python/venv   a Python with the packages of requirements.txt
#     BUILD/python/wheel  the package's wheel with BUILD's library
#     BUILD/python/site   this wheel, installed
set -euo pipefail
source=$1 build=$2
python=${TESELA_TEST_PYTHON:-/usr/bin/python3}
place=$build/python
wanted=$( { "$python" --version; cat "$source/tests/python/requirements.txt"; } | sha256sum)
mkdir -p "$place"
if [ "$(cat "$place/venv/made_of" 2>/dev/null)" != "$wanted" ]; then
  rm -rf "$place/venv" "$place/build"
  "$python" -m venv "$place/venv"
  # Python compiles only imported modules, into the folder that PYTHONPYCACHEPREFIX names.
  "$place/venv/bin/pip" install --quiet --disable-pip-version-check \
    --no-compile -r "$source/tests/python/requirements.txt"
  echo "$wanted" >"$place/venv/made_of"
fi
rm -rf "$place/wheel"
# The wheel of pyproject.toml, with the existing library, and a binding that is compiled quickly.
"$place/venv/bin/pip" wheel --quiet --disable-pip-version-check --no-index --no-deps --no-build-isolation \
  --wheel-dir "$place/wheel" --config-settings=cmake.source-dir=python \
  --config-settings="build-dir=$place/build" --config-settings=build.targets=tesela_python \
  --config-settings="cmake.define.TESELA_BUILT=$build" --config-settings=cmake.define.TESELA_WERROR=ON \
  --config-settings="cmake.define.CMAKE_CXX_FLAGS_RELEASE=-O0 -DNDEBUG" "$source"
rm -rf "$place/site"
"$place/venv/bin/pip" install --quiet --disable-pip-version-check --no-index --no-deps --no-compile \
  --target "$place/site" "$place"/wheel/*.whl
