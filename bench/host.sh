#!/usr/bin/env bash
# host.sh FOLDER NAME=LIBRARY... [-- ADAPTER...]: measures products of f32 and f64 on one core, compared
# with CBLAS libraries given by path. Writes into FOLDER (bench/results/<machine>): host-f32.json,
# host-f64.json and host-avx2.json. The drop-in and adapters of code generators (bench/small.c) give
# host-small.json. With PARTS=threads, squares on more and more cores give host-threads-<number>.json. The
# script ci/result_tables.py makes the tables of README.md and docs/lab/results.md from these files.
#
#   bench/host.sh bench/results/my-machine openblas=/path/libopenblas.so.0 mkl=/path/libmkl_rt.so.3 -- x=a.so
#
# All libraries run in turn in one process on one pinned core. The caller sets OPENBLAS_CORETYPE and the
# like for libraries that do not know the processor. For host-avx2.json the libraries are limited to AVX2.
#
#   BIN      folder of the programs (build/release/bin)
#   DROP_IN  the drop-in (build/release/lib/libtesela_blas.so)
#   ROUNDS   rounds (5)
#   CORE     number of the processor (0)
#   PARTS    measurements (f32 f64 avx2 small)
#   THREADS  numbers of threads (1 2 4 8 12 16)
#
# Takes about three minutes, and one more for threads.
set -uo pipefail
[ $# -ge 2 ] || { sed -n '2,/^set/s/^# \{0,1\}//p' "$0" | head -n -1; exit 2; }
root=$(cd "$(dirname "$0")/.." && pwd)
bin=${BIN:-$root/build/release/bin} drop_in=${DROP_IN:-$root/build/release/lib/libtesela_blas.so}
rounds=${ROUNDS:-5} parts=${PARTS:-f32 f64 avx2 small} folder=$1 failed=0
shift
libraries=() adapters=()
while [ $# -gt 0 ] && [ "$1" != -- ]; do libraries+=("$1"); shift; done
[ $# -gt 0 ] && { shift; adapters=("$@"); }
mkdir -p "$folder"
export TESELA_WISDOM=none MKL_THREADING_LAYER=${MKL_THREADING_LAYER:-SEQUENTIAL}
export MKL_INTERFACE_LAYER=${MKL_INTERFACE_LAYER:-LP64}

squares=(128x128x128 256x256x256 512x512x512 1000x1000x1000 1024x1024x1024 2048x2048x2048)
thick=(64x64x16384 128x128x65536 4096x4096x64 64x4096x4096
  4096x64x4096 128x4096x4096 16x4096x4096 127x513x255)
thin=(1x4096x4096 4096x1x4096 1x1000x1000 1000x1x1000 1x300x300 300x1x300 4x300x300 1000x1000x4 1000x1000x1)
curve=(1024x1024x1024 2048x2048x2048 4096x4096x4096)
cubes=(4x4x4 8x8x8 16x16x16 23x23x23 32x32x32 48x48x48 64x64x64)

# keep FILE COMMAND...: replaces FILE by the command's JSON if the command succeeds.
keep() {
  local file=$1 begin=$SECONDS
  shift
  if taskset -c "$cores" "$1" --rounds "$rounds" --json "$folder/$file.new" "${@:2}"; then
    mv "$folder/$file.new" "$folder/$file"
    echo "$((SECONDS - begin)) s  $file"
  else
    echo "FAILED ($?): $*" >&2
    rm -f "$folder/$file.new"
    failed=1
  fi
}

for part in $parts; do
  cores=${CORE:-0}
  case $part in
  f32 | f64) keep "host-$part.json" "$bin/bench_host_peers" --types "$part" "${squares[@]}" "${thick[@]}" \
    "${thin[@]}" "${libraries[@]}" ;;
  avx2) TESELA_ISA=avx2 OPENBLAS_CORETYPE=Haswell MKL_ENABLE_INSTRUCTIONS=AVX2 BLIS_ARCH_TYPE=haswell \
    keep host-avx2.json "$bin/bench_host_peers" "${squares[@]:2}" "${thick[@]:0:7}" "${thin[@]:0:2}" \
    "${libraries[@]}" ;;
  threads) cores=0-$(($(nproc) - 1))
    for count in ${THREADS:-1 2 4 8 12 16}; do
      MKL_THREADING_LAYER=GNU keep "host-threads-$count.json" "$bin/bench_host_peers" --threads "$count" \
        "${curve[@]}" "${libraries[@]}"
    done ;;
  small) rounds=$((rounds * 10)) keep host-small.json "$bin/bench_small" "${cubes[@]}" -- "$drop_in" \
    "${libraries[@]}" "${adapters[@]}" ;;
  esac
done
exit $failed
