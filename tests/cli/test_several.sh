#!/usr/bin/env bash
# Several devices by one name: a product on all devices, invalid names, and a failing device that another
# device replaces.
. "$(dirname "$0")/helper.sh"
matrix a.npy 300x200
matrix b.npy 200x100
tesela 0 multiply a.npy b.npy -o right.npy --device cpu --verify

tesela 2 multiply a.npy b.npy -o c.npy --device cpu,cpu
says '"cpu,cpu" names cpu twice'
tesela 2 multiply a.npy b.npy -o c.npy --device auto,cpu
says 'has auto among several devices'
tesela 2 multiply a.npy b.npy -o c.npy --device 'cpu,gpu:0'
absent c.npy

for device in $(kernel_devices); do
  tesela 0 multiply a.npy b.npy -o c.npy --device "$device,cpu" --verify
  prints 'gemm several' "device=$device,cpu" '2 devices together' 'verified  right'
  tesela 0 multiply a.npy b.npy --expect right.npy --device "$device,cpu" \
    --strategy 'several cut=2 part1=30 part2=70'
  prints 'cut=2 part1=30 part2=70' 'agrees with right.npy'
  tesela 2 multiply a.npy b.npy --device "$device,cpu" --strategy 'several cut=1 part1=30 part2=70'
  says 'the parts do not make up the 300 rows of C'
  tesela 0 explain 300 100 200 --device "$device,cpu" --json
  python3 -c 'import json, sys
shares = json.load(open(sys.argv[1]))["shares"]
assert sum(share["rows"] * share["cols"] for share in shares) == 300 * 100' "$out" ||
    fail "the shares are not all of C"
  # Its part is computed by the other one, and said.
  TESELA_SELFTEST=0 TESELA_FAKE=launch:1+ TESELA_FAKE_INNER=$device run 0 "$TESELA_WITH_FAKE" multiply a.npy \
    b.npy -o c.npy --verify \
    --device fake:0,cpu --strategy 'several cut=1 part1=100 part2=200'
  says 'fake:0 failed, and cpu computed its part of the product again'
  tesela 0 multiply a.npy b.npy --expect c.npy --device cpu
  break
done
