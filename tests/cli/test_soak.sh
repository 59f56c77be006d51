#!/usr/bin/env bash
# tesela check --soak verifies products until the time is over. With a wrong result it names the device, its
# clock and its temperature. multiply --checksums does not write a wrong result, or computes it again.
. "$(dirname "$0")/helper.sh"

tesela 0 check --device cpu --soak 1 --json
json 'j["wrong"] == 0 and j["faults"] == [] and j["seconds"] >= 1'
json 'j["products"][0]["products"] > 0 and j["products"][0]["wrong"] == 0
  and j["products"][0]["verified"] >= 256 ** 2 * j["products"][0]["products"]'
tesela 0 check --device cpu --soak 0.5
prints '0 wrong results in '
tesela 2 check --device cpu --soak never

matrix a.npy 60x70
matrix b.npy 70x50
matrix c0.npy 60x50
tesela 0 multiply a.npy b.npy --device cpu --checksums all -o right.npy
prints 'checksums' '3000 elements verified; errors up to '
tesela 0 multiply a.npy b.npy --device cpu --checksums all --json
json 'j["checksums"]["verified"] == 3000 and j["checksums"]["unverified"] == 0
  and j["checksums"]["hidden_error"] > 0 and j["seconds"]["verify"] >= j["checksums"]["seconds"] > 0'
tesela 0 multiply a.npy b.npy --device cpu --json
json 'j["checksums"] is None'
TESELA_VERIFY=all tesela 0 multiply a.npy b.npy --device cpu --memory 60KiB --json
json 'j["checksums"]["verified"] == 3000'
tesela 2 multiply a.npy b.npy --checksums most
says 'none, all, memory or repair'
TESELA_VERIFY=most tesela 2 multiply a.npy b.npy
says 'TESELA_VERIFY'

[ -x "${TESELA_WITH_FAKE:-}" ] || skip "the tool with the fake device was not built"
device=$(kernel_devices | head -1)
[ -n "$device" ] || skip "needs a device that compiles kernels (Debian: pocl-opencl-icd)"
export TESELA_FAKE_INNER=$device TESELA_SELFTEST=0
TESELA_FAKE=flip:2 run 1 "$TESELA_WITH_FAKE" check --device fake:0 --type f32 --soak 3
prints 'WRONG after ' ' on fake:0 (fake over ' 'a result of '
says '1 results are wrong'
echo old >old.npy
TESELA_FAKE=flip:1+ run 1 "$TESELA_WITH_FAKE" multiply a.npy b.npy --device fake:0 --strategy element \
  --checksums all -o old.npy
says 'C(0, 0) is '
[ "$(cat old.npy)" = old ] || fail "a wrong product replaced the older file"
TESELA_FAKE=flip:1 run 0 "$TESELA_WITH_FAKE" multiply a.npy b.npy --device fake:0 --strategy element \
  --checksums repair -o repaired.npy
prints 'wrong tiles of C, computed again by sequential: 1, the first one in rows 0 to 0 and columns 0 to 49'
tesela 0 multiply a.npy b.npy --device cpu --expect repaired.npy
TESELA_FAKE=flip:1 run 1 "$TESELA_WITH_FAKE" multiply a.npy b.npy --device fake:0 --strategy element \
  --add c0.npy --checksums all
says 'row 0 of C, columns 0 to 49'
TESELA_FAKE=flip:1 run 0 "$TESELA_WITH_FAKE" multiply a.npy b.npy --device fake:0 --strategy element \
  --add c0.npy --checksums repair -o repaired_sum.npy
prints 'computed again by sequential'
tesela 0 multiply a.npy b.npy --device cpu --add c0.npy --expect repaired_sum.npy
