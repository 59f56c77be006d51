#!/usr/bin/env bash
# Demonstration of `make demo`: multiplies a photograph by a blur operator and verifies the result, then
# prints a small ladder table. Each command is printed, so that it can be typed again.
set -euo pipefail
tesela=$1
data=$(dirname "$0")/data
out=build/demo
mkdir -p "$out"

show() {
  printf '\n%s\n  %s\n\n' "$1" "${*:2}"
  "${@:2}"
}

show "A photograph (512 x 512 grey values) times a blur operator (512 x 512, Matrix Market):" \
  "$tesela" multiply "$data/ascent.npy" "$data/blur.mtx" -o "$out/blurred.npy" --type f32 --verify
show "The ladder so far, every entry verified before its time counts:" \
  "$tesela" explore --sizes 128,256 --types f32
