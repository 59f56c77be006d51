#!/usr/bin/env bash
# Tests and times the Python package on a machine with a GPU and PyTorch. PYTHONPATH has the package.
#   ci/gpu_python.sh
set -uo pipefail
cd "$(dirname "$0")/.."
timeout "${TESTS_SECONDS:-300}" python3 -m pytest -q -p no:cacheprovider -rfE \
  --tb=short tests/python/test_gpu.py tests/python/test_libraries.py
status=$?
XLA_PYTHON_CLIENT_PREALLOCATE=false timeout 150 python3 -m pytest -q -p no:cacheprovider -rsfE \
  --tb=short tests/python/test_jax.py || status=1
timeout 60 python3 bench/python_device.py 1024 bfloat16 || status=1
timeout 60 python3 bench/python_device.py 1024 float32 || status=1
exit $status
