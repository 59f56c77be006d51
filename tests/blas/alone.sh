#!/usr/bin/env bash
# The drop-in as libblas.so.3 without another BLAS: alone.sh LIBRARY SCRATCH
# The drop-in has every name of the reference. Where they are installed, the reference's own testers, NumPy,
# Octave and R run on it, and their processes contain no other BLAS. They get a folder in which libblas.so.3
# is the drop-in, and Netlib's LAPACK, which loads libblas.so.3. The test fails if a program loads another
# BLAS.
set -euo pipefail
library=$1 scratch=$2 here=$(dirname "$(realpath "$0")")
reference=$(ls -d /usr/lib/*/blas/libblas.so.3 2>/dev/null | head -n 1)
[ -n "$reference" ] ||
  { echo "skipped: needs the reference's BLAS to compare with (Debian: libblas3)"; exit 77; }
testers=$(dirname "$reference") lapack=$(dirname "$(dirname "$reference")")/lapack
rm -rf "$scratch"
mkdir -p "$scratch/lib"
cd "$scratch"
ln -s "$library" lib/libblas.so.3
alone=$scratch/lib:$lapack
failed=0 ran=
complain() { echo "FAILED: $*"; failed=1; }

# --- names ---
names() { nm -D --defined-only "$1" | awk '$2 ~ /[TWBDRVi]/ { sub(/@.*/, "", $3); print $3 }' | sort -u; }
# The reference's CBLAS calls its own Fortran by dasumsub_ and similar names, which no header declares.
names "$reference" | grep -vE '^(s|d|c|z|i|sc|dz|sds|ds)[a-z0-9]*sub_$' >reference.txt || true
names "$library" >own.txt
sort -u reference.txt | comm -23 - own.txt >missing.txt
[ "$(wc -l <reference.txt)" -gt 280 ] || complain "the reference has $(wc -l <reference.txt) names only"
[ ! -s missing.txt ] || complain "names that the reference has: $(tr '\n' ' ' <missing.txt)"

# --- thread-local memory ---
# Programs load a BLAS at run time, and the loader reserves few bytes of each thread for all such libraries.
bytes=$(($(readelf -lW "$library" | awk '$1 == "TLS" { print $6 }')))
[ "$bytes" -le 192 ] ||
  complain "$bytes bytes of each thread's own, which may be more than the loader has left"

# --- who is there ---
# only_ours PROGRAM: of libraries that it loads, libblas.so.3 is ours, and none is another BLAS.
only_ours() {
  LD_LIBRARY_PATH=$alone ldd "$1" >loaded.txt
  grep -q "libblas.so.3 => $scratch/lib/" loaded.txt ||
    complain "$1 does not load our libblas.so.3: $(grep -i blas loaded.txt)"
  ! grep -qiE 'openblas|blis|mkl|atlas|flexiblas' loaded.txt ||
    complain "$1 loads another BLAS: $(grep -iE 'blas|mkl' loaded.txt)"
}

# --- the reference's testers ---
if [ -x "$testers/xblat3d" ]; then
  for type in s d c z; do
    case $type in s | d) two=16 three=12 ;; *) two=17 three=18 ;; esac
    while read -r program input report passes; do
      only_ours "$testers/$program"
      code=0
      LD_LIBRARY_PATH=$alone "$testers/$program" <"$input" >"$program.out" 2>&1 || code=$?
      if [ $code != 0 ] || grep -qiE 'fail|fatal|wrong|suspect|\*\*\*' "$report" ||
        [ "$(grep -c PASS "$report")" -lt "$passes" ]; then
        complain "$program, exit code $code: $(tail -n 3 "$report")"
      fi
    done <<END
xblat1$type /dev/null xblat1$type.out 5
xblat2$type $testers/${type}blat2.in ${type}blat2.out $two
xblat3$type $testers/${type}blat3.in ${type}blat3.out $three
x${type}cblat1 /dev/null x${type}cblat1.out 10
END
  done
  ran="$ran testers"
fi

# --- NumPy ---
if [ -e "$lapack/liblapack.so.3" ] && /usr/bin/python3 -c 'import numpy' 2>/dev/null; then
  /usr/bin/python3 "$here/numpy_results.py" without.npz
  LD_LIBRARY_PATH=$alone TESELA_LOG=calls /usr/bin/python3 "$here/numpy_results.py" with.npz 2>calls.txt
  /usr/bin/python3 "$here/numpy_results.py" --compare without.npz with.npz || complain "NumPy's results"
  grep -qE '^cblas_dgemm .* tesela ' calls.txt ||
    complain "NumPy's products were not ours: $(head -n 5 calls.txt)"
  ! grep -qE ' (libopenblas|libblas|libblis)' calls.txt ||
    complain "another BLAS computed: $(grep -E ' lib[a-z]*blas' calls.txt | head -n 3)"
  LD_LIBRARY_PATH=$alone /usr/bin/python3 -c '
import numpy, sys
numpy.linalg.svd(numpy.eye(3) @ numpy.eye(3))
maps = {line.split()[-1] for line in open("/proc/self/maps") if "blas" in line or "blis" in line or "mkl" in line}
others = [name for name in maps if "libtesela_blas" not in name]
sys.exit("there is another BLAS: " + ", ".join(others) if others or not maps else 0)' ||
  complain "NumPy's process"
  ran="$ran NumPy"
fi

# --- Octave and R ---
r_home=$(R RHOME 2>/dev/null || true) # R puts a path of its own in front
# run_program NAME SCRIPT INTERPRETER [ARGUMENTS]
run_program() {
  local name=$1 script=$2
  shift 2
  command -v "$1" >/dev/null && [ -e "$lapack/liblapack.so.3" ] || return 0
  "$@" "$script" >without.txt
  LD_LIBRARY_PATH=$alone R_LD_LIBRARY_PATH=$alone:$r_home/lib TESELA_LOG=calls "$@" "$script" >with.txt \
    2>calls.txt
  awk -f "$here/agree.awk" without.txt with.txt || complain "$name's results"
  grep -qE '^dgemm_ .* tesela ' calls.txt || complain "$name's products were not ours: $(head -n 5 calls.txt)"
  ! grep -qE ' (libopenblas|libblas|libblis)' calls.txt ||
    complain "$name: another BLAS computed: $(grep -E ' lib[a-z]*bl[ai]s' calls.txt | head -n 3)"
  ran="$ran $name"
}
run_program Octave "$here/programs/results.m" octave-cli --no-init-file
run_program R "$here/programs/results.R" Rscript --vanilla

[ $failed = 0 ] && echo "alone: $(wc -l <reference.txt) names;$ran"
exit $failed
