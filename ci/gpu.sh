#!/usr/bin/env bash
# What to run on a machine with a GPU, beyond the test suite's own choice of devices: every device test, every strategy through the judge, products
# against NumPy, and the start-up times that the kernel cache is for.
#   ci/gpu.sh [BUILD]     BUILD is the build folder, build/release by default
set -uo pipefail
cd "$(dirname "$0")/.."
build=${1:-build/release}
bin=$build/bin
cache=$(mktemp -d)
export TESELA_CACHE_DIR=$cache TESELA_WISDOM=none
trap 'rm -rf "$cache"' EXIT
failed=0

run() {
  local log status
  log=$(mktemp)
  "$@" >"$log" 2>&1
  status=$?
  case $status in
    0) echo "passed   $*" ;;
    77) echo "skipped  $*: $(tail -n 1 "$log")" ;;
    *) echo "FAILED   $* ($status)"; tail -n 30 "$log"; failed=1 ;;
  esac
  rm -f "$log"
}

"$bin/tesela" devices
for test in test_cuda test_cuda_device test_opencl test_opencl_kernels test_device_conformance test_device_kernels test_dialect test_nvrtc \
            test_inject test_api_opencl; do
  [ -x "$bin/$test" ] && run "$bin/$test"
done
while read -r op strategy; do
  for kind in opencl cuda; do
    [ -f "src/strategy/$op/$strategy/$strategy.cl" ] && run "$bin/check_strategy" "$op" "$strategy" "$kind"
  done
done < <(sed -n 's/^ *X(\([a-z]*\), \([a-z0-9_]*\)).*/\1 \2/p' src/strategy/list.h)
for peer in vendor_clblast:opencl vendor_cublas:cuda vendor_cublaslt:cuda; do
  run "$bin/check_strategy" gemm "${peer%:*}" "${peer#*:}"
  run "$bin/test_api_vendor" "${peer%:*}" "${peer#*:}:0"
done
devices=$("$bin/tesela" devices --json | python3 -c 'import json, sys; print(*[d["name"] for d in json.load(sys.stdin)["devices"]])')
python3 ci/compare_numpy.py "$bin/tesela" $devices || failed=1

# What opening the device and getting the kernel take, without a cache entry and with one.
for device in $devices; do
  [ "$device" = cpu ] && continue
  rm -rf "$cache"
  for start in cold warm warm; do
    echo "$start start on $device:"
    TESELA_LOG=cache,device "$bin/tesela" multiply examples/data/ascent.npy examples/data/blur.mtx --type f32 --device "$device" \
      --strategy "tile_local tile=16" 2>&1 | grep -E '^tesela .* (open|compiled|loaded)|^  total' || failed=1
  done
done
exit $failed
