#!/bin/bash
# `tesela lab`: from an empty folder to a judged kernel of one's own, a class, and a file to hand in.
. "$(dirname "$0")/helper.sh"
command -v cc >/dev/null || skip "needs cc"

# new
tesela 0 lab new mine --language c
prints mine/kernel.c mine/parameters mine/README.md
for file in kernel.c parameters README.md; do [ -s "mine/$file" ] || fail "mine/$file is empty"; done
tesela 2 lab new mine
says "mine" "a new name would be right"
tesela 2 lab new other --language fortran
says "opencl, cuda and c"
tesela 2 lab new other --from host_packed
says "host_packed" "tile_local" "dot block_tree"
tesela 2 lab new other --type bf16
says "f32 or f64"
tesela 2 lab new
says "tesela lab new NAME"
absent other

# run: right, with times; JSON
tesela 0 lab run mine --size 96
prints "judged    right: all" "no fault found" "mine (yours)" host_packed "loads from global memory"
tesela 0 lab run mine --size 64 --json
json 'j["verdict"] == "right" and j["shapes"] == j["shapes_right"] > 200 and j["rates"][0]["seconds"] > 0'
json 'j["counted"]["global_reads"] * 8 == j["counted"]["multiply_adds"]'
json 'len(j["hash"]) == 32 and j["language"] == "c" and j["faults"] == []'

# Why: compared with the rung that it began as, by the kernel's own counts.
# A rung that the race lacks gives no reason.
json 'j["why"] is None'
rm -rf began
tesela 0 lab new began --from blocked --language c
tesela 0 lab run began --size 64
prints "why       over blocked: loads" measured
tesela 0 lab run began --size 64 --json
json 'j["why"]["partner"] == "blocked"'
json 'abs(j["why"]["measured_factor"] / ([r for r in j["rates"] if r["name"] == "blocked"][0]["seconds"] /
  j["rates"][0]["seconds"]) - 1) < 1e-6'
json '0 < j["why"]["predicted_factor"] < 1'
json 'j["why"]["agreement"] in ("agrees", "noise") or "the model is wrong here" in j["why"]["comparison"]'

# A page with the same data. A page that cannot be written is reported first.
python=$(python_with html.parser)
tesela 0 lab run mine --size 64 --html mine.html
page mine.html verdict rates counts kernel
tesela 3 lab run mine --html nowhere/mine.html
says "nowhere/mine.html"
tesela 2 lab new another --html another.html
says "--html"
absent another another.html
tesela 2 lab run mine --output mine.json
says "--output is for tesela lab pack"
tesela 2 lab pack mine --times 2
says "--times is for tesela lab watch"
tesela 2 lab run mine --markdown
says "--markdown is for tesela lab grade"

# Kernels of `lab new` in C are right and have no fault; the long form has every rung.
rungs=(host_packed "dot sequential")
is_long && rungs+=(sequential sequential_optimized blocked threads "transpose element")
for rung in "${rungs[@]}"; do
  rm -rf model
  tesela 0 lab new model --from "$rung" --language c --type f64
  tesela 0 lab run model --no-race
  prints "no fault found" "judged    right"
done

# A kernel without leading dimensions, alpha and beta, with the names of a course, in f64.
mkdir course
cat >course/kernel.c <<'C'
void mat_mul(const int Mdim, const int Ndim, const int Pdim, const double *A, const double *B, double *C) {
  for (int i = 0; i < Ndim; i++)
    for (int j = 0; j < Mdim; j++) {
      double sum = 0;
      for (int l = 0; l < Pdim; l++)
        sum += A[i * Pdim + l] * B[l * Mdim + j];
      C[i * Mdim + j] = sum;
    }
}
C
echo 'type = f64' >course/parameters
tesela 2 lab run course --no-race
says "Mdim" "course/parameters"
printf '%s\n' 'Mdim = n' 'Ndim = m' 'Pdim = k  # the depth' >>course/parameters
tesela 0 lab run course --no-race
prints "judged    right" "f64"
# The listing's fault: Mdim for Pdim.
sed -i 's/A\[i \* Pdim/A[i * Mdim/' course/kernel.c
tesela 1 lab run course --no-race
prints "wrong stride: the rows of a are taken to be n =" "wrong result: C(1, 0) is" "would be right"

# Messages have a place: file, line, and what would be right.
echo 'type = f16' >>course/parameters
tesela 2 lab run course
says "course/parameters:5" "f32 and f64"
sed -i '5s/.*/nonsense/' course/parameters
tesela 2 lab run course
says "course/parameters:5" 'write a name, "=" and a value'
tesela 2 lab run nowhere
says "nowhere" "kernel.c"
cp -r mine typo
sed -i 's/sums.y..x. = 0/sum[y][x] = 0/' typo/kernel.c
run 3 "$TESELA" lab run typo
prints "broken" "kernel.c:" "|           sum[y][x] = 0;"
grep -q "^tesela lab: typo/kernel.c does not compile: .*kernel.c:[0-9]*:[0-9]*: error: " "$err" ||
  fail "no line of the compile error"
tesela 2 lab run mine --device opencl:0
says "cpu would be right"

# Parameters that cannot be right are refused by their line.
rm -rf typo other
tesela 0 lab new typo --language c
echo 'itmes = n m' >>typo/parameters
tesela 2 lab run typo
says "typo/parameters:6" "no such argument" "items"
sed -i '$s/.*/from = tile_locale/' typo/parameters
run 2 "$TESELA" lab run typo
prints "typo/parameters" "from = tile_locale" "no such strategy"
sed -i '$d; s/f32/f64/' typo/parameters
tesela 2 lab run typo
says 'argument "a"' "floats" "type = f32"

# Folders of any name; a header in the folder; a helper and a comment before it; a byte order mark.
odd=$'a "b\\c\n\xff'
mkdir "$odd"
printf '\xef\xbb\xbf/* avoid void (really) */\n#include <string.h>\n#include "zero.h"\n' >"$odd/kernel.c"
cat >>"$odd/kernel.c" <<'C'
static void clear(float *p, int count) {
  memset(p, ZERO, sizeof *p * count);
}
void gemm(int m, int n, int k, const float *a, const float *b, float *c) {
  for (int i = 0; i < m; i++) {
    float row[n > 0 ? n : 1];
    clear(row, n);
    for (int l = 0; l < k; l++)
      for (int j = 0; j < n; j++)
        row[j] += a[i * k + l] * b[l * n + j];
    memcpy(c + i * n, row, sizeof *c * n);
  }
}
C
echo '#define ZERO 0' >"$odd/zero.h"
: >"$odd/parameters"
tesela 0 lab run "$odd" --no-race --json
json 'j["verdict"] == "right" and j["faults"] == [] and j["undetected"] == ""'

# A file to hand in has the kernel's exact text, so that a text that is not UTF-8 is refused.
cp -r "$odd" latin
printf '/* \xe8 */\n' >>latin/kernel.c
tesela 2 lab pack latin --no-race
says "latin/kernel.c" "UTF-8"
absent latin.lab.json

# A pipe is no kernel. Processes that a kernel leaves behind do not stop the lab.
mkdir pipe
mkfifo pipe/kernel.c
: >pipe/parameters
tesela 2 lab run pipe
says "this is no text file"
cp -r "$odd" forks
sed -i '2i #include <unistd.h>' forks/kernel.c
sed -i 's/^  for (int i = 0; i < m/  if (m == 3 \&\& fork() == 0)\n    pause();\n&/' forks/kernel.c
run 0 timeout 15 "$TESELA" lab run forks --no-race
prints "no fault found"
rm "$odd/zero.h"
run 3 "$TESELA" lab run "$odd" --no-race --json
json 'j["verdict"] == "broken" and "zero.h" in j["failure"]'

# A null pointer is named.
tesela 0 lab new null --language c --from sequential
sed -i 's/float sum = 0;/float sum = *(volatile float *)0;/' null/kernel.c
run 3 "$TESELA" lab run null --no-race
prints "crash: kernel.c:6: a null pointer is used by item 0"

# An interrupt leaves no temporary file.
mkdir "a temporary folder with a name of more than forty bytes"
tesela 0 lab new slow --language c --from sequential
sed -i 's/float sum = 0;/float sum = 0; while (*(volatile int *)\&m) ;/' slow/kernel.c
for words in "lab run slow --seconds 20" "explain 8 8 8 --strategy host_packed --trace"; do
  code=0
  # shellcheck disable=SC2086 # several words
  TMPDIR="$PWD/a temporary folder with a name of more than forty bytes" timeout -s TERM 0.2 "$TESELA" $words \
    >"$out" 2>"$err" || code=$?
  # A fast compiler may have made the trace before.
  [ "$code" = 124 ] || [ "$code$words" = "0${words/#lab*/}" ] || fail "$words is not interrupted: $code"
  rmdir "a temporary folder with a name of more than forty bytes" || fail "$words leaves temporary files"
  mkdir "a temporary folder with a name of more than forty bytes"
done

# watch: runs again when the file is saved
(
  while ! grep -q "waiting for" watched 2>/dev/null; do sleep 0.1; done
  echo "/* saved */" >>mine/kernel.c
) &
"$TESELA" lab watch mine --no-race --times 2 >watched
wait
[ "$(grep -c "judged    right" watched)" = 2 ] || fail "watch did not run twice: $(cat watched)"

# pack: one file with kernel, machine, verdict and rates
tesela 0 lab pack mine --size 64
prints "packed    mine.lab.json"
cp mine.lab.json "$out"
json 'j["verdict"] == "right" and "gemm(" in j["kernel"] and j["machine"] and j["date"] and j["rates"]'

# grade: a class. Crashes, endless loops and a folder without a kernel do not stop it.
mkdir class
cp -r mine class/ada
tesela 0 lab new class/bob --language c --from blocked
tesela 0 lab new class/crash --language c --from sequential
sed -i 's/float sum = 0;/float sum = *(volatile float *)(long)(row + 1);/' class/crash/kernel.c
tesela 0 lab new class/endless --language c --from sequential
sed -i 's/float sum = 0;/float sum = 0; while (*(volatile int *)\&m) ;/' class/endless/kernel.c
tesela 0 lab new class/exits --language c --from sequential
sed -i '1i #include <stdlib.h>' class/exits/kernel.c
sed -i 's/float sum = 0;/float sum = 0; exit(0);/' class/exits/kernel.c
mkdir class/empty
tesela 0 lab grade class --seconds 2 --size 64
grep -Eq "^ *[12] +ada +c +right" "$out" || fail "ada is not ranked"
grep -Eq "^ *[12] +bob +c +right" "$out" || fail "bob is not ranked"
for name in crash endless exits empty; do
  grep -Eq "^ *- +$name .*(broken|wrong)" "$out" || fail "$name is not told"
done
tesela 0 lab grade class --seconds 2 --no-race --json
json 'len(j["kernels"]) == 6'
json '[k["name"] for k in j["kernels"] if k["verdict"] == "right"] == ["ada", "bob"]'
tesela 0 lab grade class --seconds 2 --no-race --markdown --html class.html
prints '| name |' '|---' 'ada'
page class.html ranking kernels
tesela 2 lab grade mine
says "no folders with kernels"
mkdir many && (cd many && seq 513 | xargs mkdir)
tesela 2 lab grade many
says "more than 512 folders"
