#!/usr/bin/env bash
# --expect: random results are rejected in every type, printed solutions are accepted, and the report names
# the deciding criterion.
. "$(dirname "$0")/helper.sh"
export TESELA_DEVICE=cpu
python=$(python_with numpy)
[ -n "$python" ] || skip "needs NumPy (Debian: python3-numpy)"
python() { run 0 "$python" -c "$1"; }

matrix a.npy 60x256
matrix b.npy 256x50 --seed 2
python 'import numpy as np
a, b = np.load("a.npy").astype(float), np.load("b.npy").astype(float)
c = a @ b
np.save("right.npy", c); np.save("right4.npy", c.astype("f4")); np.save("zero.npy", np.zeros((60, 50), "f4"))
for name, form in ("two", "%.2f"), ("three", "%.3e"), ("general", "%g"), ("whole", "%.0f"), ("full", "%.17g"):
    np.savetxt(name + ".csv", c, fmt=form, delimiter=",")
    with open(name + ".txt", "w") as file:
        file.write("60 50\n" + "\n".join(" ".join(form % x for x in row) for row in c))
    with open(name + ".mtx", "w") as file:
        file.write("%%MatrixMarket matrix array real general\n60 50\n" + "\n".join(form % x for x in c.T.ravel()))
c[3, 4] += 0.011
np.savetxt("off.csv", c, fmt="%.2f", delimiter=",")'

# A file of zeros is the product of nothing here, in any type.
for type in f64 f32 bf16 f16 bf16:f32 f16:f32; do
  tesela 1 multiply a.npy b.npy --type $type --expect zero.npy
  says 'differs from zero.npy' 'the file has 0 and rounding explains'
  prints 'DIFFERS from zero.npy' 'compared within what rounding explains'
done
# A right result agrees, in every type. So does the result of another strategy in the same type.
for type in f64 f32 bf16 f16; do
  tesela 0 multiply a.npy b.npy --type $type --expect right.npy
  prints 'agrees with right.npy' 'compared within what rounding explains'
  tesela 0 multiply a.npy b.npy --type $type --strategy sequential -o $type.npy
  tesela 0 multiply a.npy b.npy --type $type --expect $type.npy --verify
  tesela 0 multiply a.npy b.npy --type $type --strategy sequential -o $type.csv
  tesela 0 multiply a.npy b.npy --type $type --expect $type.csv
done
tesela 0 multiply a.npy b.npy --expect right4.npy

# As people print: two decimals, four digits, %g; in each format of text, at once and in panels.
for ending in csv txt mtx; do
  for form in two three; do
    tesela 0 multiply a.npy b.npy --expect $form.$ending
    prints "agrees with $form.$ending" 'elements were compared to the last printed digit'
    tesela 0 multiply a.npy b.npy --expect $form.$ending --memory 90KiB --json
    json 'j["panels"] > 1 and j["expected"]["agrees"] and j["expected"]["decided_by"] == "printed digits"'
  done
  for form in general full; do
    tesela 0 multiply a.npy b.npy --expect $form.$ending
    prints "agrees with $form.$ending" 'compared within what rounding explains'
  done
  # Whole numbers are compared exactly.
  tesela 1 multiply a.npy b.npy --expect whole.$ending
  tesela 0 multiply a.npy b.npy --expect whole.$ending --tolerance 0.51
  prints 'compared within --tolerance 0.51'
done
run 0 bash -c "\"\$TESELA\" multiply a.npy b.npy --expect - --format txt --memory 90KiB <two.txt"
prints 'agrees with standard input'

# One element off by more than its last digit.
tesela 1 multiply a.npy b.npy --expect off.csv --json
json 'j["expected"]["elements_that_differ"] == 1 and (j["expected"]["row"], j["expected"]["column"]) == (3, 4)'
json 'j["expected"]["decided_by"] == "printed digits" and j["expected"]["bound_of_printed_digits"] == 0.005'
tesela 1 multiply a.npy b.npy --expect off.csv
says 'rounding explains' 'its last printed digit 0.005'

# --tolerance alone decides, either way.
tesela 0 multiply a.npy b.npy --expect off.csv --tolerance 0.017
tesela 1 multiply a.npy b.npy --expect two.csv --tolerance 0.004
says '--tolerance is 0.004'
tesela 1 multiply a.npy b.npy --expect right.npy --tolerance 0
tesela 0 multiply a.npy b.npy --expect f32.npy --tolerance 0 --strategy sequential
tesela 2 multiply a.npy b.npy --tolerance 1
says '--expect'
for bad in -1 nan inf x; do
  tesela 2 multiply a.npy b.npy --expect two.csv --tolerance $bad
  says --tolerance
done

# Dots and transposes alike.
matrix x.npy 1x256
matrix y.npy 256x1 --seed 2
python 'import numpy as np
x, y = np.load("x.npy").astype(float), np.load("y.npy").astype(float)
np.savetxt("dot.csv", x @ y, fmt="%.1f"); np.savetxt("t.csv", np.load("a.npy").T, fmt="%.3f", delimiter=",")
np.savetxt("wrong.csv", x @ y + 0.2, fmt="%.1f")'
tesela 0 dot x.npy y.npy --expect dot.csv
prints 'compared to the last printed digit'
tesela 1 dot x.npy y.npy --expect wrong.csv
tesela 0 dot x.npy y.npy --expect wrong.csv --tolerance 0.3
tesela 0 transpose a.npy --expect t.csv
prints 'compared to the last printed digit'
tesela 1 transpose a.npy --expect t.csv --tolerance 0.0001
tesela 0 transpose a.npy --expect t.csv --tolerance 0.00051

# Sums whose error bound exceeds their value are reported as such.
matrix long.npy 1x3000000
matrix other.npy 1x3000000 --seed 2
python 'import numpy as np; np.save("nothing.npy", np.zeros((1, 1)))'
tesela 0 multiply long.npy other.npy --transpose-b --strategy sequential --expect nothing.npy
prints 'agree with any value'

# Text is read as f64, which is said where the product's type follows from it.
matrix small.txt 3x3
tesela 0 multiply small.txt small.txt
prints 'text is read as f64; add --type f32'
for words in "multiply small.txt small.txt --type f32" "multiply long.npy other.npy --transpose-b" \
  "transpose small.txt -o turned.txt"; do
  # shellcheck disable=SC2086
  tesela 0 $words
  if grep -q 'text is read' "$out"; then fail "a note about text"; fi
done
