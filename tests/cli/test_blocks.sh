#!/usr/bin/env bash
# Files larger than memory: products and transposes by blocks have the bits of the results in memory. Tested
# for every type, order of bytes and order of elements, with C0, and with k in parts.
. "$(dirname "$0")/helper.sh"
export TESELA_DEVICE=cpu
python=$(python_with numpy)
[ -n "$python" ] || skip "needs NumPy"

# by_blocks MEMORY CONDITION ARGUMENTS...: multiply or transpose within MEMORY gives the result of a run
# without a limit. CONDITION is tested on its JSON.
by_blocks() {
  local memory=$1 condition=$2
  shift 2
  tesela 0 "$@" -o whole.npy --memory 1GiB --json
  json 'j["panels"] == 1'
  tesela 0 "$@" -o parts.npy --memory "$memory" --json
  json 'j["blocks"] and j["panels"] == j["blocks"]["count"] and j["memory_bytes"] <= 4 << 20'
  json "$condition"
  same whole.npy parts.npy
  rm whole.npy parts.npy
  absent whole.npy.tesela-part parts.npy.tesela-part parts.npy.tesela-journal
}

"$python" - <<'P'
import numpy as np
g = np.random.default_rng(1)
def save(name, array, order="C"):
    np.save(name, np.asarray(array, order=order))
a, b, c0 = g.standard_normal((301, 1700)), g.standard_normal((1700, 257)), g.standard_normal((301, 257))
save("a.npy", a); save("b.npy", b); save("c0.npy", c0)
save("af.npy", a, "F"); save("bf.npy", b, "F"); save("at.npy", a.T); save("bt.npy", b.T)
save("btf.npy", b.T, "F")
save("a_big.npy", a.astype(">f8")); save("c0_big.npy", np.asfortranarray(c0.astype(">f8")))
save("a4.npy", a.astype("<f4")); save("b4.npy", b.astype(">f4"))
save("ac.npy", (a + 1j * a[::-1]).astype("<c8")); save("bc.npy", (b - 2j * b[::-1]).astype("<c8"))
save("ai.npy", g.integers(-128, 128, a.shape).astype("i1"))
save("bi.npy", g.integers(-128, 128, b.shape).astype("i1"))
save("a2.npy", a.astype("<f2")); save("b2.npy", b.astype("<f2"))
save("long_a.npy", g.standard_normal((120, 20000))); save("long_b.npy", g.standard_normal((20000, 130)))
P

several='j["blocks"]["count"] > 1'
parts='j["blocks"]["depth"] < j["k"]'
# The order that products in memory have, of both files and transposed ones.
by_blocks 2MiB "$several and $parts" multiply a.npy b.npy --strategy "host_packed depth=256"
for files in "af.npy b.npy" "a.npy bf.npy" "at.npy b.npy --transpose-a" "a.npy btf.npy --transpose-b" "at.npy bt.npy --transpose-a --transpose-b"; do
  # shellcheck disable=SC2086
  by_blocks 2MiB "$several" multiply $files
done
# Panels of k of unequal depth, and not of the requested depth: 1700 = 4 x 340 + 340, 1699 is not.
"$python" -c 'import numpy as np; np.save("a1.npy", np.load("a.npy")[:, :1699]); np.save("b1.npy", np.load("b.npy")[:1699])'
for depth in 128 384 512; do
  by_blocks 2MiB "$several and $parts" multiply a1.npy b1.npy --strategy "host_packed depth=$depth"
done
# A small C and a long k, which one strategy sums in parts of its own: never split. Also strategies without
# parts.
by_blocks 4MiB "not $parts" multiply long_a.npy long_b.npy --strategy "host_packed depth=256 block=512"
by_blocks 2MiB "not $parts" multiply a.npy b.npy --strategy blocked
# C0, factors, types and orders of bytes.
by_blocks 2MiB "$several" multiply a.npy b.npy --add c0.npy --beta -0.5 --alpha 1.5
by_blocks 2MiB "$several" multiply a_big.npy b.npy --add c0_big.npy
by_blocks 1MiB "$several" multiply a4.npy b4.npy
by_blocks 2MiB "$several" multiply ac.npy bc.npy --conjugate-a --alpha 1-2i --strategy host_packed
by_blocks 256KiB "$several" multiply ai.npy bi.npy --type i8
by_blocks 512KiB "$several" multiply a2.npy b2.npy --type bf16
# Transposes, of either order, scaled or moved.
for file in a.npy af.npy a_big.npy ac.npy ai.npy; do
  by_blocks 300KiB "$several" transpose $file
done
by_blocks 300KiB "$several" transpose af.npy --alpha 0.5
# Files that cannot be read by blocks are copied to a temporary file, which needs disk space: text, compressed
# files, also in Fortran order, Matrix Market files of coordinates or symmetric, a pipe.
"$python" - <<'P'
import gzip, numpy as np
a, b = np.load("a.npy"), np.load("b.npy")
np.savetxt("b.csv", b, delimiter=",", fmt="%.17g")
with gzip.open("bf.npy.gz", "wb") as out: out.write(open("bf.npy", "rb").read())
g = np.random.default_rng(3)
entries = [(i, j, g.standard_normal()) for i in range(301) for j in g.integers(0, 1700, 30)]
with open("a.mtx", "w") as out:
    out.write("%%%%MatrixMarket matrix coordinate real general\n301 1700 %d\n" % len(entries))
    out.writelines("%d %d %.17g\n" % (i + 1, j + 1, x) for i, j, x in entries)
entries = [(i, j, g.standard_normal()) for i in range(300) for j in sorted(set(g.integers(0, i + 1, 5)))]
with open("s.mtx", "w") as out:
    out.write("%%%%MatrixMarket matrix coordinate real symmetric\n300 300 %d\n" % len(entries))
    out.writelines("%d %d %.17g\n" % (i + 1, j + 1, x) for i, j, x in entries)
P
by_blocks 2MiB "$several" multiply a.npy b.csv
by_blocks 2MiB "$several" multiply a.mtx bf.npy.gz
by_blocks 300KiB "$several" multiply s.mtx s.mtx
by_blocks 300KiB "$several" transpose a.mtx --type f32
tesela 0 multiply a.npy b.npy -o whole.npy
run 0 bash -c '"$TESELA" multiply a.npy - -o c.npy --memory 2MiB --quiet <b.csv'
same c.npy whole.npy
run 3 bash -c 'ulimit -f 2000; exec "$TESELA" multiply a.npy b.csv -o c.npy --memory 2MiB'
one_sentence
says 'b.csv: there is no room for a temporary file of its 3.33 MiB' TMPDIR
absent c.npy.tesela-part c.npy.tesela-journal
run 2 bash -c 'cat b.csv | "$TESELA" multiply a.npy - -o c.npy --memory 2MiB --resume'
says 'is a pipe'
rm whole.npy c.npy
# Verified, each step with C's content from before the step.
tesela 0 multiply a.npy b.npy --add c0.npy -o c.npy --memory 2MiB --verify --strategy "host_packed depth=128" --json
json "$several and $parts and j['verified']['right'] and j['verified']['elements_checked'] == 301 * 257"
tesela 0 transpose af.npy -o c.npy --memory 300KiB --verify --json
json "$several and j['verified']['right'] and j['verified']['elements_checked'] == 301 * 1700"

# Nothing written: multiplied all the same. And the processor by way of a driver, on copies.
tesela 0 multiply a.npy b.npy --memory 2MiB --json
json "$several and j['output'] is None"
for device in $(kernel_devices); do
  tesela 0 multiply a4.npy b4.npy --memory 1MiB --device "$device" -o c.npy --json
  json "$several"
  tesela 0 multiply a4.npy b4.npy --expect c.npy --device cpu
done
rm -f c.npy

# Shapes that do not fit, and memory for not even one block.
tesela 2 multiply a.npy a.npy -o c.npy --memory 2MiB
says 'inner sizes'
tesela 3 multiply a.npy b.npy -o c.npy --memory 4KiB
says 'not even one block fits into 4 KiB' --memory
absent c.npy c.npy.tesela-part c.npy.tesela-journal
