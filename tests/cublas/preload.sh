#!/usr/bin/env bash
# Programs that know nothing of tesela: linked with cuBLAS, whose symbols have versions, and opening it.
# preload.sh TOOL LINKED OPENS CUBLAS
set -euo pipefail
tool=$1 linked=$2 opens=$3 cublas=$4

# expect LIBRARY COMMAND...: fails unless the command prints this library.
expect() {
  local who=$1 seen
  shift
  seen=$("$@") || { echo "$*: failed"; exit 1; }
  [ "$seen" = "$who" ] || { echo "$*: $seen computed, and not $who"; exit 1; }
}

expect cuBLAS "$linked"
expect cuBLAS "$opens" "$cublas"
expect tesela env TESELA_CUBLAS_CALLS=host "$tool" run --cublas -- "$linked"
expect tesela env TESELA_CUBLAS_CALLS=host "$tool" run --cublas -- "$opens" "$cublas"
expect cuBLAS env TESELA_CUBLAS_CALLS=other "$tool" run --cublas -- "$linked"
expect cuBLAS env TESELA_CUBLAS_CALLS=other "$tool" run --cublas -- "$opens" "$cublas"
# Without a GPU no call is tesela's, and none fails.
expect cuBLAS "$tool" run --cublas -- "$linked"

log=$(TESELA_CUBLAS_CALLS=host "$tool" run --cublas --log -- "$linked" 2>&1)
grep -q '^tesela calls: cublasSgemm_v2: 1 by tesela, 0 by cuBLAS$' <<<"$log" || { echo "$log"; exit 1; }
log=$("$tool" run --cublas --log -- true 2>&1)
[ "$log" = "tesela calls: no calls of cuBLAS's products" ] || { echo "$log"; exit 1; }
word=$(TESELA_CUBLAS_CALLS=hots LD_PRELOAD="${tool%/bin/*}/lib/libtesela_cublas.so.2" "$linked" 2>&1)
grep -q 'TESELA_CUBLAS_CALLS.*hots.*auto is taken' <<<"$word" || { echo "$word"; exit 1; }
! "$tool" run --cublas --device cpu -- "$linked" 2>/dev/null || { echo "--cublas takes --device"; exit 1; }
