#!/usr/bin/env bash
# scale.sh [DEVICE...]: prints a table of products of host memory. They run on one device, on one device
# limited to CAP bytes, and on 2, 4 and 8 devices together. Groups are also measured with distributed
# operands, and with operands in the first device's memory. With mpirun, as many ranks with a device each
# are measured, too. Default: all CUDA devices. Builds nothing: BIN has bench_scale, bench_ranks and tesela
# (build/release/bin).
#
#   bench/scale.sh                                  on a machine with GPUs
#   SIZES=1024 CAP=4MiB bench/scale.sh opencl:0 cpu without a GPU, as a test
#
# TYPES (f32 f64 bf16), SIZES (16384 32768), CAP (8GiB), REPEATS (2). LIMIT is the total time in seconds
# (540): later products are omitted, with a message. XT_BLOCK is cuBLASXt's block (8192). RANKS (2 4 8) are
# numbers of ranks, "" for none. CUDA has at most one rank a device; other ranks all use the first device.
set -uo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
bin=${BIN:-$root/build/release/bin}
export TESELA_WISDOM=${TESELA_WISDOM:-none}
devices=("$@")
if [ ${#devices[@]} = 0 ]; then
  mapfile -t devices < <("$bin/tesela" devices | grep -oE '^ *cuda:[0-9]+' | tr -d ' ')
  [ ${#devices[@]} -gt 0 ] || {
    echo "scale.sh: there is no CUDA device; name devices, such as: opencl:0 cpu" >&2
    exit 3
  }
fi
groups=()
for count in 2 4 8; do
  [ "$count" -le ${#devices[@]} ] && groups+=("$(IFS=,; echo "${devices[*]:0:count}")")
done
echo "devices: ${devices[*]}; groups: ${groups[*]:-none}; cap ${CAP:-8GiB}"
failed=0
# Ranks of MPI, on this host only.
mpi=()
if command -v mpirun >/dev/null && [ -x "$bin/bench_ranks" ]; then
  mpi=(mpirun --oversubscribe --bind-to none)
  [ "$(id -u)" != 0 ] || mpi+=(--allow-run-as-root)
fi
ranks() {
  local type=$1 size=$2 device=${devices[0]} count
  for count in ${RANKS-2 4 8}; do
    [ ${#mpi[@]} -gt 0 ] || continue
    case $device in cuda:*) [ "$count" -le ${#devices[@]} ] || continue ;; esac
    timeout $((${LIMIT:-540} + 60 - SECONDS)) "${mpi[@]}" -n "$count" "$bin/bench_ranks" \
      "$type" "$size" "$size" "$size" "${REPEATS:-2}" \
      "$(case $device in cuda:*) echo cuda ;; *) echo "$device" ;; esac)" || failed=1
  done
}
for type in ${TYPES:-f32 f64 bf16}; do
  for size in ${SIZES:-16384 32768}; do
    if [ $SECONDS -gt "${LIMIT:-540}" ]; then
      echo "$type $size: left out, $SECONDS s have passed"
      continue
    fi
    timeout $((${LIMIT:-540} + 60 - SECONDS)) "$bin/bench_scale" "$type" "$size" "${REPEATS:-2}" \
      "${CAP:-8GiB}" "${devices[0]}" "${groups[@]}" || failed=1
    ranks "$type" "$size"
  done
done
echo "$SECONDS s"
exit $failed
