#!/usr/bin/env bash
# The Python package on a machine with a GPU and PyTorch: tests, then times: ci/gpu_python.sh
# PYTHONPATH has the package (an installed one needs none).
set -uo pipefail
cd "$(dirname "$0")/.."
timeout "${TESTS_SECONDS:-300}" python3 -m pytest -q -p no:cacheprovider -rfE --tb=short tests/python/test_gpu.py tests/python/test_libraries.py
status=$?
timeout 60 python3 bench/python_device.py 1024 bfloat16 || status=1
timeout 60 python3 bench/python_device.py 1024 float32 || status=1
exit $status
