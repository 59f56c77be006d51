#!/usr/bin/env bash
# Matrices larger than the allowed memory: their transposes by panels of columns, the advice after a failed
# allocation, and the output of explain.
. "$(dirname "$0")/helper.sh"
export TESELA_DEVICE=cpu
python=$(python_with resource)
[ -n "$python" ] || skip "needs Python 3"

# most MEBIBYTES COMMAND...: the command's memory stays below.
most() {
  local limit=$1
  shift
  run 0 "$python" -c 'import resource, subprocess, sys
code = subprocess.run(sys.argv[2:], stdout=subprocess.DEVNULL).returncode
used = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024
sys.exit(code if code else "%d MiB were used" % used if used > int(sys.argv[1]) else 0)' "$limit" "$@"
}

# A file of 61 MiB, row after row and in Fortran order, through 8 MiB. The tool itself takes 10.
matrix big.npy 4000x4000
most 40 "$TESELA" transpose big.npy -o t.npy --memory 8MiB
tesela 0 transpose big.npy -o whole.npy --json
json 'j["panels"] == 1'
same t.npy whole.npy
most 40 "$TESELA" transpose t.npy -o again.npy --memory 8MiB
same again.npy big.npy
if "$python" -c 'import numpy as np; np.save("again.npy", np.asfortranarray(np.load("big.npy")))' \
  2>/dev/null; then
  most 40 "$TESELA" transpose again.npy -o t.npy --memory 8MiB
  same t.npy whole.npy
fi
rm t.npy whole.npy again.npy
matrix thin.npy 4000x4
tesela 0 multiply big.npy thin.npy --transpose-a -o whole.npy --strategy host_packed
most 40 "$TESELA" multiply big.npy thin.npy --transpose-a -o parts.npy --memory 8MiB --strategy host_packed
same whole.npy parts.npy
# Text is read through for each panel, from a pipe as well; rows and columns that panels do not divide.
matrix text.npy 301x203 --type f64
for ending in csv txt; do
  tesela 0 transpose text.npy -o text.$ending
  tesela 0 transpose text.$ending -o back.npy --memory 100KiB --verify --expect text.npy --json
  json 'j["panels"] > 5'
  same back.npy text.npy
done
run 0 bash -c '"$TESELA" transpose - -o back.npy --memory 100KiB --quiet <text.csv &&
  gzip <text.csv >text.csv.gz'
same back.npy text.npy
tesela 0 transpose text.csv.gz -o back.npy --memory 100KiB
same back.npy text.npy
for device in $(kernel_devices); do
  tesela 0 transpose text.npy -o back.npy --memory 300KiB --device "$device" --verify --json
  json 'j["panels"] > 1'
done
# Matrix Market and pipes of packed arrays are held in memory or, where they do not fit, copied to a temporary
# file. Where the output cannot be written by blocks, they are refused. A transpose in place is held in
# memory.
tesela 0 transpose text.npy -o text.mtx
tesela 0 transpose text.mtx -o back.npy --memory 100KiB
same back.npy text.npy
tesela 0 transpose text.npy -o whole.npy
run 0 bash -c 'gzip <text.npy | "$TESELA" transpose - -o back.npy --memory 100KiB'
same back.npy whole.npy
rm whole.npy
tesela 3 transpose text.mtx -o back.csv --memory 100KiB
says 'held whole: A (text.mtx)' --memory
run 3 bash -c 'gzip <text.npy | "$TESELA" transpose - -o back.csv --memory 100KiB'
says 'held whole: A (standard input)'
matrix square.npy 200x200
tesela 3 transpose square.npy --in-place --memory 100KiB

# Memory of strategies counts in addition to the operands: the peak above a tiny product's stays within the
# limit plus a tenth.
peak() {
  run 0 "$python" -c 'import resource, subprocess, sys
code = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL).returncode
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
sys.exit(code)' "$TESELA" multiply "$@" --threads 2 -o c.npy
  kibibytes=$(cat "$out")
}
if [ -z "${TESELA_SANITIZED:-}" ]; then
  for type in f64 f32; do
    matrix tiny.npy 8x8 --type $type
    matrix left.npy 1000x1100 --type $type
    matrix right.npy 1100x1200 --type $type --seed 2
    for strategy in residue_int8 split_precision; do
      "$TESELA" multiply tiny.npy tiny.npy --strategy $strategy >/dev/null 2>&1 || continue
      peak tiny.npy tiny.npy --strategy $strategy
      tiny=$kibibytes
      for memory in 24 8; do
        peak left.npy right.npy --strategy $strategy --memory ${memory}MiB --verify
        [ $((kibibytes - tiny)) -le $((memory * 1126 + 1024)) ] ||
          fail "$strategy, $type: $((kibibytes - tiny)) KiB for $memory MiB"
      done
    done
  done
  rm c.npy
fi

# A limit of the process gives panels. An allocation that fails nevertheless: the hint, and following it.
limited() { (ulimit -v "$1" && shift && exec "$TESELA" multiply big.npy thin.npy --transpose-b "$@" \
  --threads 1 --strategy host_packed -o c.npy); }
matrix thin.npy 3000x4000
if [ -z "${TESELA_SANITIZED:-}" ]; then
  run 0 limited 110000
  rm c.npy
  run 3 limited 110000 --memory 1GiB
  one_sentence
  says 'cannot take' 'by panels of rows' '--memory '
  hint=$(sed 's/.*--memory \([0-9]*MiB\).*/\1/' "$err")
  tesela 0 multiply big.npy thin.npy --transpose-b --memory "$hint" --strategy host_packed -o parts.npy --json
  json 'j["panels"] > 2 and j["memory_bytes"] <= '"${hint%MiB}"' << 20'
  absent c.npy
fi

# explain: panels are promised where they help, not where B alone is too large.
tesela 0 explain 4000000000 100 100 --strategy sequential
prints ': tesela multiply works by panels of rows'
tesela 0 explain 100 4000000 4000000 --strategy sequential
prints 'B alone' 'panels of rows do not help'
