#!/usr/bin/env bash
# bits=devices: one SHA-256 of each product on the cpu, for any instruction set and number of threads, and on
# devices with kernels.
. "$(dirname "$0")/helper.sh"
run 0 "$TESELA_SOURCE/ci/device_bits.sh" "$TESELA" $(kernel_devices | head -1)
prints '22 results'
