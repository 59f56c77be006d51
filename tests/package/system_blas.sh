#!/usr/bin/env bash
# tesela-system-blas, with alternatives of the test's own and the system's libraries: installed once, twice,
# with one library gone, removed. And the library that computes for programs linked to libblas.so.3 alone.
. "$(dirname "$0")/helper.sh"
architecture=$(cached CMAKE_LIBRARY_ARCHITECTURE)
[ -n "$architecture" ] || architecture=$(gcc -print-multiarch 2>/dev/null || true)
for file in "$(command -v update-alternatives)" "/usr/lib/$architecture/blas/libblas.so.3" \
  "/usr/lib/$architecture/blas/xblat3d"; do
  [ -e "$file" ] || { echo "skipped: no ${file:-update-alternatives}"; exit 77; }
done
root=$scratch/root slot=libblas.so.3-$architecture link=$scratch/root/usr/lib/$architecture/libblas.so.3
reference=/usr/lib/$architecture/blas/libblas.so.3 second=$scratch/second/libblas.so.3
export TESELA_SYSTEM_ROOT=$root
cmake --install "$binary" --prefix "$root/usr" >"$scratch/install.log"
mkdir -p "$root"/{etc/alternatives,alternatives,usr/lib/"$architecture"} "$scratch/second"
cp "$reference" "$second"
whole=$root/usr/$libraries/tesela/libblas.so.3
script=$root/usr/sbin/tesela-system-blas
alternatives() {
  update-alternatives --quiet --altdir "$root/etc/alternatives" --admindir "$root/alternatives" \
    --log "$scratch/alternatives.log" "$@"
}

# says STATUS PATTERN ARGUMENTS...: the script exits so and says so, in one sentence.
says() {
  local status=0 text wanted=$1 pattern=$2
  shift 2
  text=$("$script" "$@" 2>&1) || status=$?
  [ "$status" = "$wanted" ] || fail "'$*' exits with $status: $text"
  expect_text "'$*'" "$text" "^(tesela-system-blas|usage): .*$pattern"
  [ "$(grep -cE '^[^ ]' <<<"$text")" = 1 ] || fail "'$*' says more than a sentence: $text"
}
# slot_is FILE: expects that libblas.so.3 leads to FILE.
slot_is() { [ "$(readlink -f "$link")" = "$(readlink -f "$1")" ] ||
  fail "libblas.so.3 is $(readlink -f "$link"), not $1"; }

says 2 'install \[--rest FILE . --alone\]' instal
says 2 '' install --alone now
says 2 '' install --rest
says 1 'libblas\.so\.3 is not there' status
says 1 'no other BLAS .* nothing was changed' install
says 0 'nothing was changed' remove
alternatives --install "$link" "$slot" "$second" 20
alternatives --install "$link" "$slot" "$reference" 10
slot_is "$second"

# Files that are no complete BLAS.
says 1 'is not there: nothing was changed' install --rest /nowhere/libblas.so.3
says 1 'no whole|not a whole BLAS: it has no [a-z]*_: nothing' install --rest "$binary/lib/libtesela.so"
says 1 "is tesela's own" install --rest "$root/usr/$libraries/libtesela_blas.so"
says 1 'invalid ELF header|file too short: nothing' install --rest "$binary/CMakeCache.txt"
slot_is "$second"
[ ! -L "$root/usr/$libraries/tesela/libtesela_blas_rest.so.3" ] || fail "a refusal leaves a link behind"

# A tree that is not where it was to be cannot be the system's.
alternatives --set "$slot" "$reference"
if [ ! -e "$prefix/$libraries/tesela" ]; then
  says 1 'libtesela_blas(_rest)?\.so\.[03]: cannot open shared object file.*nothing was changed' install
  slot_is "$reference"
fi
# Installed, and installed again. The earlier library is remembered.
export LD_LIBRARY_PATH=$root/usr/$libraries:$root/usr/$libraries/tesela
says 0 "in front of $reference;" install
slot_is "$whole"
says 0 'already, .* nothing was changed' install
says 0 'tesela is libblas\.so\.3' status
text=$("$script" status)
expect_text status "$text" "^  products .*/libtesela_blas\.so\.$version$"
expect_text status "$text" "^  rest /usr/lib/$architecture/blas/libblas\.so\.3"

# A program that knows nothing of it: the reference's own tester of products, which also calls what tesela
# does not have.
cp "/usr/lib/$architecture/blas/dblat3.in" "$scratch"
(cd "$scratch" &&
  TESELA_LOG=calls \
  LD_LIBRARY_PATH=$root/usr/lib/$architecture:$root/usr/$libraries:$root/usr/$libraries/tesela \
  "/usr/lib/$architecture/blas/xblat3d" <dblat3.in >xblat3d.out 2>calls.txt) ||
  fail "$(tail -n 3 "$scratch/calls.txt")"
expect_text calls "$(cat "$scratch/calls.txt")" '^dgemm_ .* tesela '
results=$(grep -c 'PASSED THE COMPUTATIONAL TESTS' "$scratch/dblat3.out")
[ "$results" -ge 6 ] || fail "the reference's tester passes $results routines"

# Without another library.
says 0 'from now on, alone; ' install --alone
says 0 'already, alone: nothing was changed' install --alone
slot_is "$whole"
expect_text status "$("$script" status)" "^  rest .*/libtesela_blas\.so\.$version$"
mkdir "$scratch/alone"
(cd "$scratch/alone" && cp ../dblat3.in . &&
  LD_LIBRARY_PATH=$root/usr/lib/$architecture:$root/usr/$libraries:$root/usr/$libraries/tesela \
  "/usr/lib/$architecture/blas/xblat3d" <dblat3.in >xblat3d.out 2>&1) ||
  fail "$(tail -n 3 "$scratch/alone/xblat3d.out")"
results=$(grep -c 'PASSED THE COMPUTATIONAL TESTS' "$scratch/alone/dblat3.out")
[ "$results" -ge 6 ] || fail "alone, the reference's tester passes $results routines"

# The rest changes, and goes.
says 0 "in front of $second;" install --rest "$second"
rm "$second"
says 1 "$second, which is gone" status
says 0 "$second is gone: the rest of BLAS is $reference now" refresh
says 0 'tesela is libblas\.so\.3' status
[ -z "$("$script" refresh)" ] || fail "refresh says something where nothing is gone"
slot_is "$whole"

# A user without permission.
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
  nobody=(setpriv --reuid=65534 --regid=65534 --clear-groups)
  if "${nobody[@]}" test -x "$script"; then
    text=$("${nobody[@]}" "$script" remove 2>&1) && fail "anybody can remove it"
    expect_text "'remove' by nobody" "$text" 'only root .* nothing was changed'
    slot_is "$whole"
  fi
fi

# Away: the reference was chosen by hand before, and is again.
says 0 "libblas\.so\.3 is $reference" remove
slot_is "$reference"
expect_text "the slot" "$(alternatives --query "$slot")" '^Status: manual'
[ ! -e "$root/var/lib/tesela" ] || fail "it leaves its record behind"
says 0 'nothing was changed' remove

# The last other BLAS goes while tesela stands before it.
says 0 "in front of $reference;" install
alternatives --remove "$slot" "$reference"
ln -sfn /nowhere/libblas.so.3 "$root/usr/$libraries/tesela/libtesela_blas_rest.so.3"
text=$("$script" refresh)
expect_text refresh "$text" 'there is no other BLAS$'
[ ! -e "$link" ] || fail "libblas.so.3 is left without a rest"
