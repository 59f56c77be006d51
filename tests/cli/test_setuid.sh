#!/usr/bin/env bash
# A program with more rights than its caller takes no library, kernel, file or device from the caller's
# environment.
. "$(dirname "$0")/helper.sh"
[ -z "${TESELA_SANITIZED:-}" ] || skip "a sanitizer's runtime does not start with raised rights"
cp "$TESELA" ./raised
if [ "$(id -u)" = 0 ]; then
  chown 65534 raised && chmod 4755 raised
else
  group=$(id -G | tr ' ' '\n' | grep -vx "$(id -g)" | head -n 1)
  [ -n "$group" ] || skip "no other group to be: needs root, or a user with two groups"
  chgrp "$group" raised && chmod 2755 raised
fi
chmod 755 "$scratch" "$scratch/work"

# The C library shows whether rights are raised at all: it then ignores its own variables too.
LD_DEBUG=statistics ./raised --version >"$out" 2>"$err"
[ ! -s "$err" ] || skip "rights cannot be raised here (a file system mounted nosuid)"

# Each of these variables stops the tool or changes its output, but not with raised rights.
export TESELA_DEVICE=nonsense:1
tesela 2 explain 8 8 8
run 0 ./raised explain 8 8 8 --json
unset TESELA_DEVICE
for variable in TESELA_OPENCL TESELA_CUDA TESELA_CBLAS TESELA_NVRTC; do
  printf 'int tesela_planted = 1;\n__attribute__((constructor)) static void plant(void) { __builtin_printf("planted\\n"); }\n' >planted.c
  cc -shared -fPIC planted.c -o planted.so
  chmod 755 planted.so
  run 0 env "$variable=$PWD/planted.so" ./raised devices
  ! grep -q planted "$out" || fail "$variable loads the caller's code"
done
run 0 env TESELA_OPENCL="$PWD/planted.so" "$TESELA" devices
grep -q planted "$out" || fail "the planted library shows nothing, so that this test could not fail"

mkdir kernels cache
chmod 777 cache
echo 'gemm nonsense' >wisdom
run 0 env TESELA_CACHE_DIR="$PWD/cache" TESELA_KERNEL_DIR="$PWD/kernels" TESELA_WISDOM="$PWD/wisdom" \
  TESELA_LOG=all HOME="$PWD" XDG_CACHE_HOME="$PWD" \
  ./raised explain 8 8 8
[ ! -s "$err" ] || fail "the log is on"
[ -z "$(ls cache)" ] || fail "the caller's folder is used"
run 3 env TESELA_WISDOM="$PWD/wisdom" HOME="$PWD" ./raised wisdom list
