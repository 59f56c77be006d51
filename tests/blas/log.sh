#!/usr/bin/env bash
# The table of calls: log.sh CALLS
# The log changes neither the computing library nor a bit of the results. The table names the library of each
# size.
set -euo pipefail
calls=$1
unset TESELA_LOG TESELA_RUN
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
fail() { echo "FAILED: $1"; cat with.txt table.txt; exit 1; }

words=(dgemm:4x4x4 dgemm:4x4x4 dgemm:64x64x64 dgemm:110x100x120 dgemm:300x290x280 dgemm:260x300x300
  dgemm:9x400x400
  dgemm:12x200x200 zgemm:3x3x3 zgemm:64x64x64 zgemm:200x150x170 zgemmt:8x8 zgemmt:300x200 ddot:100 ddot:90)
for request in auto tesela other; do
  TESELA_BLAS=$request "$calls" "${words[@]}" >without.txt
  TESELA_BLAS=$request TESELA_LOG=calls "$calls" "${words[@]}" >with.txt 2>table.txt
  cmp without.txt with.txt ||
    { echo "TESELA_BLAS=$request:"; cat without.txt; fail "listening changes results"; }
  # Calls that the table gives to tesela, and calls without a mark of the other library.
  seen=$(awk '/ tesela /{for (i = 1; i < NF; i++) if ($i == "tesela") sum += $(i - 1)} END {print sum + 0}' \
    table.txt)
  [ "$seen" = "$(grep -c ' tesela ' with.txt || true)" ] || fail "TESELA_BLAS=$request: $seen calls by tesela"
done

TESELA_BLAS=auto TESELA_LOG=calls "$calls" "${words[@]}" >with.txt 2>table.txt
has() { grep -qE "^$1 *$" table.txt || fail "the table lacks: $1"; }
time=' +[0-9.]+ +[0-9.e+-]+'
has "cblas_dgemm +4 x 4 x 4 +2  tesela host_small cpu$time"
has "cblas_dgemm +260\.\.300 x 290\.\.300 x 280\.\.300 +2  tesela host_[a-z]+ cpu$time"
has "cblas_zgemmt +300 x 300 x 200 +1  libblas_other\.so$time"
has "cblas_zgemmt +8 x 8 x 8 +1  libblas_other\.so$time"
has "cblas_ddot +90\.\.100 +2  tesela$time"

# An unknown word is auto. One line says so, whatever the size of the first call.
TESELA_BLAS=auto "$calls" "${words[@]}" >without.txt
for first in dgemm:4x4x4 dgemm:300x290x280 ddot:100; do
  TESELA_BLAS=teseal "$calls" "$first" "${words[@]}" >with.txt 2>table.txt
  [ "$(grep -c '^tesela: TESELA_BLAS is "teseal"; it can be auto, tesela, other or loops.*; auto is taken$' \
    table.txt) of $(wc -l <table.txt)" = "1 of 1" ] || fail "a wrong word is not told once"
  tail -n +2 with.txt | cmp - without.txt || fail "a wrong word changes results"
done

# Without calls, only the process says so that was asked for.
TESELA_LOG=calls "$calls" 2>table.txt
[ ! -s table.txt ] || fail "a table without calls"
sh -c 'TESELA_RUN=$$ TESELA_LOG=calls exec "$1"' sh "$calls" 2>table.txt
grep -qE '^tesela: no BLAS calls of blas_calls \(process [0-9]+\)$' table.txt || fail "that there were none"
