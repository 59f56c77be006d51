#!/usr/bin/env bash
# The demonstration behind `make demo`: a photograph times a blur operator, verified; then a small ladder table.
set -euo pipefail
tesela=$1
data=$(dirname "$0")/data
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT

echo
echo "A photograph (512 x 512 grey values) times a blur operator (512 x 512, Matrix Market):"
echo "  tesela multiply ascent.npy blur.mtx -o blurred.npy --type f32 --verify"
echo
"$tesela" multiply "$data/ascent.npy" "$data/blur.mtx" -o "$out/blurred.npy" --type f32 --verify
echo
echo "The ladder so far, every entry verified before its time counts:"
echo "  tesela explore --sizes 128,256 --types f32"
echo
"$tesela" explore --sizes 128,256 --types f32
