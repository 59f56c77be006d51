#!/usr/bin/env bash
# tesela explore by several processes: each process judges every entry. A ScaLAPACK that is missing, belongs
# to another MPI, or is wrong, is reported. The machine's own one (the third argument, if there is one) has a
# row.
#   test_explore.sh MPIEXEC FAKE_PBLAS [SCALAPACK]
here=$(cd "$(dirname "$0")" && pwd)
source "$here/../cli/helper.sh"
mpiexec=$1 fake=$2 scalapack=${3:-}
export TESELA_PBLAS FAKE_PBLAS=
ranks=6
together() { # CODE ARGUMENTS...: as tesela CODE, by the ranks; mpirun adds words of its own to a failure
  local expected=$1
  shift
  run "$expected" "$here/run.sh" "$mpiexec" "$ranks" "$TESELA" "$@"
  [ "$expected" = 0 ] || [ "$(grep -c '^tesela' "$err")" = 1 ] || fail "not told once"
}
quick=(explore --seconds 0.01)

# Sizes that blocks do not divide, and fewer rows than ranks; each rank's elements are looked at.
TESELA_PBLAS=none together 0 "${quick[@]}" --sizes 1x1x1,300x517x129 --types f64,c64,bf16:f32,i8 --json
json 'j["ranks"]["count"] == 6 and j["ranks"]["grid"] == [2, 3] and len(j["entries"]) == 8'
json 'all(e["strategy"] == "tesela_mpi" and e["result"] == "right" and e["samples"] >= 3
  for e in j["entries"])'
json '[e["elements_checked"] for e in j["entries"]] == [1, 24 * 24 * 6] * 4'
TESELA_PBLAS=none together 0 "${quick[@]}" --sizes 100 --types f64 --peers --markdown
prints 'f64, 100 x 100 x 100' '| tesela_mpi' '| vendor_scalapack' 'rank 0: ScaLAPACK is switched off'
[ "$(grep -c 'tesela_mpi' "$out")" = 1 ] || fail "more than one process printed"

# A ScaLAPACK that computes nothing is wrong. A ScaLAPACK that cannot be called is left out with the reason.
TESELA_PBLAS=$fake
together 1 "${quick[@]}" --sizes 100 --types f64 --peers --json
says 'vendor_scalapack: '
json '[(e["strategy"], e["result"]) for e in j["entries"]] == [("tesela_mpi", "right"),
  ("vendor_scalapack", "wrong")]'
ranks=4
refused() { # FLAW REASON
  FAKE_PBLAS=$1 together 0 "${quick[@]}" --sizes 10 --types f64 --peers --json
  json '[e["result"] for e in j["entries"]] == ["right", "refused"]'
  prints "$2"
}
refused alone "another MPI's: its BLACS sees 1 processes where there are 4"
refused columns "its BLACS places this process at"
refused wide "its integers have 64 bits"

# Each process refuses options for one process before MPI begins.
for option in "--op dot" "--strategies host_packed" "--devices cpu" --csv "--html x.html" "--threads 1"; do
  # shellcheck disable=SC2086
  OMPI_COMM_WORLD_SIZE=2 OMPI_COMM_WORLD_RANK=0 tesela 2 explore $option
  says "${option%% *} is of one process: "
done
absent x.html

# The real one, on a grid of 2 x 3, in its four types; others it has not.
if [ -n "$scalapack" ]; then
  ranks=6
  TESELA_PBLAS=$scalapack
  together 0 "${quick[@]}" --sizes 300x517x129 --types f32,f64,c64,c128,bf16 --peers --json
  json '[e["result"] for e in j["entries"] if e["strategy"] == "vendor_scalapack"]
    == ["right"] * 4 + ["refused"]'
  json 'all("scalapack" in e["peer"] for e in j["entries"] if e["strategy"] == "vendor_scalapack")'
  json 'all(e["elements_checked"] == 24 * 24 * 6 and e["seconds"] > 0 for e in j["entries"]
    if e["result"] == "right")'
fi
