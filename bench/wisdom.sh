#!/usr/bin/env bash
# wisdom.sh DEVICE BUDGET TYPES MxNxK...: measures a device's records for the library. Merges them into the
# file src/planner/wisdom.txt, which the next build embeds.
#
#   bench/wisdom.sh cuda:0 2min f32,f64 256x256x256 1024x1024x1024 4096x4096x4096 16x4096x4096 128x128x65536
#
# Tunes each shape in each type for BUDGET. The measurements are kept in build/wisdom-DEVICE.txt. A second
# call continues after the first, and costs only the last race of each shape. New records replace a device's
# old records as in any merge: the faster record stays. BUDGET 0s does not search, and only races earlier
# measurements.
set -euo pipefail
[ $# -ge 4 ] || { sed -n '2,/^set/s/^# \{0,1\}//p' "$0" | head -n -1; exit 2; }
root=$(cd "$(dirname "$0")/.." && pwd)
tool=${TESELA:-$root/build/release/bin/tesela}
device=$1 budget=$2 types=$3
shift 3
measured=$root/build/wisdom-${device//:/-}.txt
own=$(mktemp)
trap 'rm -f "$own"' EXIT
export TESELA_WISDOM=$own
search=(--budget "$budget")
[ "$budget" != 0s ] || search=(--budget 1h --points 1)
for shape in "$@"; do
  for type in ${types//,/ }; do
    echo "== $shape $type on $device"
    "$tool" tune ${shape//x/ } --type "$type" --device "$device" "${search[@]}" --cache "$measured" |
      sed -n '1,/^$/p'
  done
done
"$tool" wisdom export "$root/src/planner/wisdom.txt" --device "$device"
