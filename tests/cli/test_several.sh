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
j = json.load(open(sys.argv[1]))
assert sum(share["rows"] * share["cols"] for share in j["shares"]) == 300 * 100
assert j["predicted_seconds"] == max(share["predicted_seconds"] for share in j["shares"])' "$out" ||
    fail "the shares are not all of C, or slower than the plan"
  tesela 0 explain 300 100 200 --device "$device,cpu" --resident
  prints 'cut=3' 'place=pieces' "150 x 100 from (0, 0)" "150 x 100 from (150, 0)" "on devices like $device" \
    'of linear' 'links of' ' between devices'
  tesela 0 explain 300 100 200 --device "$device,cpu" --resident --transpose-b --json
  python3 -c 'import json, sys
j = json.load(open(sys.argv[1]))
assert [share["links"][0]["device"] for share in j["shares"]] == ["cpu", sys.argv[2]], j["shares"]
# Each device brings half of B.
assert [share["in_bytes"] for share in j["shares"]] == [200 * 50 * 4] * 2, j["shares"]
assert [row["devices"] for row in j["scaling"]] == [1, 2, 4, 8], j["scaling"]
assert j["scaling"][0]["of_linear"] == 1 and all(row["predicted_seconds"] > 0 for row in j["scaling"])
assert all(row["bytes_per_second"] == j["shares"][0]["links"][0]["bytes_per_second"] for row in j["scaling"])
assert j["predicted_seconds"] == max(share["predicted_seconds"] for share in j["shares"])
' "$out" "$device" || fail "the scaling is not as documented"
  # Its part is computed by the other one, and said.
  TESELA_SELFTEST=0 TESELA_FAKE=launch:1+ TESELA_FAKE_INNER=$device run 0 "$TESELA_WITH_FAKE" multiply a.npy \
    b.npy -o c.npy --verify \
    --device fake:0,cpu --strategy 'several cut=1 part1=100 part2=200'
  says 'fake:0 failed, and cpu computed its part of the product again'
  tesela 0 multiply a.npy b.npy --expect c.npy --device cpu
  break
done
