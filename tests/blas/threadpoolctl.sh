#!/usr/bin/env bash
# threadpoolctl.sh LIBRARY SOURCE_FOLDER follow|control: NumPy with the drop-in, limited by threadpoolctl.
# TESELA_TEST_PYTHON: a Python with NumPy and a newer threadpoolctl than the distribution's.
set -euo pipefail
library=$1 source=$2 way=$3
unset OMP_NUM_THREADS OPENBLAS_NUM_THREADS MKL_NUM_THREADS BLIS_NUM_THREADS TESELA_THREADS
PYTHONPATH=$source/examples LD_LIBRARY_PATH=$(dirname "$library") LD_PRELOAD=$library \
  exec "${TESELA_TEST_PYTHON:-/usr/bin/python3}" "$source/tests/blas/limits.py" "$way"
