#!/usr/bin/env bash
# tesela check --budget: checks the budget between compilations. Each strategy gets a turn before any gets a
# second one. The report says when it was cut short.
. "$(dirname "$0")/helper.sh"
export TESELA_CACHE_DIR=$scratch/cache POCL_CACHE_DIR=$scratch/pocl

# A budget for nothing is no success.
tesela 2 check --device cpu --strategy sequential --budget 0.000001s
says 'nothing was checked' 'budget'

# element has about twenty configs in two types, too many to compile in this time.
tesela 0 check --device opencl:0 --strategy element --budget 300ms
prints 'CUT SHORT by --budget'
grep -q '^0 of [0-9]* standard cases' "$out" || fail "a case counts though its configs were not all tried"
kernels=$(find "$TESELA_CACHE_DIR" -type f -name '*.cl' | wc -l)
[ "$kernels" -lt 30 ] || fail "$kernels kernels were compiled"

# The first case is no empty product, and the report names the strategies that were not tried.
tesela 0 check --device opencl:0 --strategy 'element columns=32 rows=4,row_private,tile_local,dot exact' \
  --budget 1ms --json
json 'j["cut_short"] and j["untried"] == 3 and j["right"] == 1 and j["standard_cases"] == 0'
json 'all(row["right"] + row["refused"] == 0 for row in j["rows"][1:])'
tesela 0 check --device opencl:0 --strategy 'element columns=32 rows=4,row_private' --budget 1ms
prints 'not tried: the budget was over' '1 strategy was not tried at all'

# Enough time is not cut short.
tesela 0 check --device cpu --strategy "dot exact" --type f32 --budget 20s --cases 3 --json
json 'not j["cut_short"] and j["untried"] == 0 and j["standard_cases"] == j["standard_cases_in_all"]
  and j["random_cases"] == 3'
echo "ok"
