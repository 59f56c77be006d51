#!/usr/bin/env bash
# Runs check.py with a Python that has NumPy and SciPy, or says that there is none.
set -euo pipefail
for python in python3 /usr/bin/python3; do
  if "$python" -c 'import numpy, scipy.io' 2>/dev/null; then
    exec "$python" "$(dirname "$0")/check.py" "$@"
  fi
done
echo "skipped: there is no python3 with NumPy and SciPy"
exit 77
