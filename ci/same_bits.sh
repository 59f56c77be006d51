#!/usr/bin/env bash
# Compares two builds of tesela bit by bit: 500 products of every strategy, for each instruction set of the
# cpu and on each named device. Lists the products whose bits differ, or that only one build accepts.
#   ci/same_bits.sh OLD/libtesela.so NEW/libtesela.so [DEVICE...]     (cpu opencl:0)
# The program that draws and calls is build/release/bin/same_bits; SAME_BITS_OLD: one of OLD, if the interface
# has changed. Exit code 1: something differs.
set -euo pipefail
[ $# -ge 2 ] || { sed -n '2,6s/^# \{0,1\}//p' "$0" >&2; exit 2; }
root=$(cd "$(dirname "$0")/.." && pwd)
program=${SAME_BITS:-$root/build/release/bin/same_bits} old=$1 new=$2 differs=0
shift 2
[ $# -gt 0 ] || set -- cpu opencl:0
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export TESELA_WISDOM=none

# compare NAME ARGUMENT...: compares the lines of both builds.
compare() {
  local name=$1 status
  shift
  "${SAME_BITS_OLD:-$program}" --each "$@" "$old" >"$scratch/old" 2>"$scratch/old.why" || status=$?
  "$program" --each "$@" "$new" >"$scratch/new" 2>"$scratch/new.why" || status=$?
  if [ ! -s "$scratch/new" ]; then
    echo "$name: nothing was computed: $(head -n 1 "$scratch/new.why")" >&2
    differs=1
  elif diff "$scratch/old" "$scratch/new" >"$scratch/diff"; then
    echo "$name: $(grep -vc refused "$scratch/new") products, the same bits"
  else
    echo "$name: $(grep -c '^>' "$scratch/diff") of $(wc -l <"$scratch/new") products differ:"
    cat "$scratch/diff"
    differs=1
  fi
  [ "${status:-0}" = 0 ] || { sort "$scratch/old.why" "$scratch/new.why" | uniq -c | head >&2; differs=1; }
}

for device in "$@"; do
  if [ "$device" = cpu ]; then
    last=
    for isa in generic avx2 avx512 avx512_vnni avx512_bf16 amx neon neon_dot neon_bf16; do
      set=$(TESELA_ISA=$isa "$program" --only none --name 2>/dev/null) || continue # another processor's
      [ "$set" = "$last" ] || TESELA_ISA=$isa compare "cpu $set" --device cpu
      last=$set
    done
  else
    compare "$device" --device "$device"
  fi
done
exit $differs
