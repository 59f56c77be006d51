#!/usr/bin/env bash
# Vendors' libraries as peers: only when asked for, their absence is a reason, their version is in the row.
. "$(dirname "$0")/helper.sh"
matrix a.npy 5x4
matrix b.npy 4x3

# They have a group of their own, whatever is installed.
tesela 0 strategies
prints vendor_openblas vendor_clblast vendor_cublas vendor_cublaslt
cp "$out" here
TESELA_CBLAS=none TESELA_CLBLAST=none TESELA_CUBLAS=none TESELA_CUBLASLT=none tesela 0 strategies
same "$out" here
tesela 0 strategies --json
json 'all(s["vendor"] == s["name"].startswith("vendor_") for s in j["strategies"])'
json 'all(s["rung"] is None and s["partner"] is None for s in j["strategies"] if s["vendor"])'

# Vendor libraries are shown only on request.
not_printed() { ! grep -q "$1" "$out" || fail "stdout has: $1"; }
tesela 0 explain 100 100 100
not_printed vendor_
tesela 0 explore --sizes 16 --types f32 --devices cpu --csv
not_printed vendor_
tesela 0 check --device cpu --type f32 --case standard:3
not_printed vendor_
TESELA_VENDORS=1 tesela 0 explain 100 100 100 --json
json 'len([c for c in j["candidates"] if c["strategy"] == "vendor_openblas"]) >= 1'
TESELA_VENDORS=yes tesela 2 explain 100 100 100
says 'TESELA_VENDORS is "yes"; it can be 0 or 1'

# --peers adds them to whatever is named.
TESELA_CBLAS=none tesela 0 check --peers --strategy sequential --device cpu --type f32 --case standard:3 \
  --json
json 'sorted(set(r["strategy"] for r in j["rows"])) == ["sequential", "vendor_clblast", "vendor_cublas",
  "vendor_cublaslt", "vendor_openblas"]'
json '[r["peer"] for r in j["rows"] if r["strategy"] == "vendor_openblas"] == [None]'
TESELA_CBLAS=none tesela 0 explore --peers --strategies sequential --sizes 16 --types f32 --devices cpu --csv
prints vendor_openblas vendor_cublaslt

# Reasons for an absent library: switched off, missing, no library, another kind of library, missing symbols.
absent_because() {
  local library=$1 reason=$2
  TESELA_CBLAS=$library run 2 "$TESELA" multiply a.npy b.npy --strategy vendor_openblas
  one_sentence
  says "$reason" "(TESELA_CBLAS names it)"
  TESELA_CBLAS=$library tesela 2 check --strategy vendor_openblas --device cpu --case standard:3
  prints "$reason"
  TESELA_CBLAS=$library tesela 0 explore --strategies sequential,vendor_openblas --sizes 16 --types f32 \
    --devices cpu
  prints "$reason"
}
echo 'no library' >text.so
absent_because none 'a CBLAS library is switched off: the library chosen is "none"'
absent_because /nowhere/libblas.so \
  'a CBLAS library is not at the path that was set: tried /nowhere/libblas.so'
absent_because "$PWD/text.so" 'a CBLAS library does not load: tried'
absent_because libm.so.6 'a CBLAS library does not load: tried libm.so.6 (it has no cblas_sgemm)'
