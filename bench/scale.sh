#!/usr/bin/env bash
# scale.sh [DEVICE...]: products of host memory on one device, limited to CAP, and on 2, 4 and 8 together, there also with operands in
# pieces on all of them and in the first one's memory, and where there is mpirun, by as many ranks with a device each, as a table on stdout.
# Without DEVICE: all of CUDA's, as many as there are. Builds nothing: BIN is where bench_scale, bench_ranks and tesela are (build/release/bin).
#
#   bench/scale.sh                                  on a machine with GPUs
#   SIZES=1024 CAP=4MiB bench/scale.sh opencl:0 cpu where there is none, to see that it runs
#
# TYPES (bf16 f32 f64), SIZES (16384 32768), CAP (8GiB), REPEATS (2), and LIMIT, the seconds that all of it may take (540): what
# would begin later is left out and said so. XT_BLOCK is cuBLASXt's block (8192). RANKS (2 4 8) are numbers of ranks, "" for none; on CUDA's
# devices no more than there are, elsewhere all on the first one.
set -uo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
bin=${BIN:-$root/build/release/bin}
export TESELA_WISDOM=${TESELA_WISDOM:-none}
devices=("$@")
if [ ${#devices[@]} = 0 ]; then
  mapfile -t devices < <("$bin/tesela" devices | grep -oE '^ *cuda:[0-9]+' | tr -d ' ')
  [ ${#devices[@]} -gt 0 ] || { echo "scale.sh: there is no CUDA device; name devices, such as: opencl:0 cpu" >&2; exit 3; }
fi
groups=()
for count in 2 4 8; do
  [ "$count" -le ${#devices[@]} ] && groups+=("$(IFS=,; echo "${devices[*]:0:count}")")
done
echo "devices: ${devices[*]}; groups: ${groups[*]:-none}; cap ${CAP:-8GiB}"
failed=0
# By MPI's ranks, of this host alone.
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
    timeout $((${LIMIT:-540} + 60 - SECONDS)) "${mpi[@]}" -n "$count" "$bin/bench_ranks" "$type" "$size" "$size" "$size" "${REPEATS:-2}" \
      "$(case $device in cuda:*) echo cuda ;; *) echo "$device" ;; esac)" || failed=1
  done
}
for type in ${TYPES:-f32 f64 bf16}; do
  for size in ${SIZES:-16384 32768}; do
    if [ $SECONDS -gt "${LIMIT:-540}" ]; then
      echo "$type $size: left out, $SECONDS s have passed"
      continue
    fi
    timeout $((${LIMIT:-540} + 60 - SECONDS)) "$bin/bench_scale" "$type" "$size" "${REPEATS:-2}" "${CAP:-8GiB}" "${devices[0]}" "${groups[@]}" || failed=1
    ranks "$type" "$size"
  done
done
echo "$SECONDS s"
exit $failed
