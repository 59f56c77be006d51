# Functions that the tool's tests share. A test sources this file, which changes to an empty folder of its
# own.
set -euo pipefail
: "${TESELA:?the tool}" "${TESELA_SOURCE:?the source tree}"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
trap 'echo "FAILED: ${BASH_SOURCE[0]}, line $LINENO: $BASH_COMMAND" >&2' ERR
mkdir "$scratch/work"
cd "$scratch/work"
unset TESELA_DEVICE TESELA_THREADS TESELA_LOG TESELA_KERNEL_DIR TESELA_ISA TESELA_CUDA TESELA_OPENCL \
  TESELA_NVRTC \
  TESELA_CACHE TESELA_JIT TESELA_VENDORS TESELA_EXCLUDE TESELA_CBLAS TESELA_PBLAS TESELA_CLBLAST \
  TESELA_CUBLAS TESELA_CUBLASLT
out=$scratch/out err=$scratch/err last=
: >"$out" >"$err"

fail() {
  echo "FAILED: $*" >&2
  echo "  command: $last" >&2
  sed 's/^/  stdout: /' "$out" >&2 || true
  sed 's/^/  stderr: /' "$err" >&2 || true
  exit 1
}

skip() {
  echo "skipped: $*"
  exit 77
}

# is_long: true in the long form of a test (make test-long).
is_long() { [ -n "${TESELA_LONG_TESTS:-}" ]; }

# Lines of progress, which a slow machine has time for, are no message. Without sed: a test may have no PATH.
drop_progress() {
  local line kept=()
  [[ $(<"$err") =~ tesela:\ *[0-9]+% ]] || return 0
  while IFS= read -r line; do
    [[ $line =~ ^tesela:\ *[0-9]+% ]] || kept+=("$line")
  done <"$err"
  : >"$err"
  [ "${#kept[@]}" = 0 ] || printf '%s\n' "${kept[@]}" >"$err"
}

# run CODE COMMAND...: the command ends with this exit code.
run() {
  local expected=$1 code=0
  shift
  last=$*
  "$@" >"$out" 2>"$err" || code=$?
  drop_progress
  [ "$code" = "$expected" ] || fail "exit code $code instead of $expected"
}

# tesela CODE ARGUMENTS...: as run; and stderr is silent after 0 and one sentence of the tool's otherwise.
tesela() {
  local expected=$1
  shift
  run "$expected" "$TESELA" "$@"
  if [ "$expected" = 0 ]; then
    [ ! -s "$err" ] || fail "stderr is not silent"
  else
    one_sentence
  fi
}

one_sentence() {
  [ "$(wc -l <"$err")" = 1 ] || fail "stderr is not one line"
  grep -q '^tesela' "$err" || fail "the sentence does not start with the tool's name"
}

# says WORDS...: each is in the sentence on stderr. prints WORDS...: each is in the report on stdout.
says() {
  local words
  for words in "$@"; do grep -qiF -- "$words" "$err" || fail "stderr lacks: $words"; done
}
prints() {
  local words
  for words in "$@"; do grep -qF -- "$words" "$out" || fail "stdout lacks: $words"; done
}

# No file of these names, and no temporary file anywhere here.
absent() {
  local file
  for file in "$@"; do [ ! -e "$file" ] || fail "$file was left behind"; done
  [ -z "$(find . -name '.*.tmp')" ] || fail "a temporary file was left behind: $(find . -name '.*.tmp')"
}

same() { cmp -s "$1" "$2" || fail "$1 and $2 differ"; }

# matrix FILE ROWSxCOLS [options]: a seeded one.
matrix() {
  local file=$1 size=$2
  shift 2
  tesela 0 generate "$size" -o "$file" "$@"
}

# Prints a Python that has the given module ("numpy", or none), or an empty line.
python_with() {
  local python
  for python in /usr/bin/python3 python3; do
    if "$python" -c "${1:+import $1}" >/dev/null 2>&1; then
      echo "$python"
      return
    fi
  done
}

# Expects that the output is JSON, and that the Python expression over it, `j`, is true.
json() {
  [ -n "${json_python:=$(python_with json)}" ] || skip "needs Python 3"
  "$json_python" -c 'import json, sys
j = json.load(open(sys.argv[1]))
if not eval(f"({sys.argv[2]})"): sys.exit("not true: " + sys.argv[2])' "$out" "$1" 2>>"$err" || fail "JSON: $1"
}

# Names of the devices with kernels that are here.
kernel_devices() { "$TESELA" devices --names | grep -v '^cpu$' || true; }

# page FILE SECTIONS...: the text of a page is right, and a browser draws these sections. Needs $python.
page() {
  local file=$1 code=0
  shift
  last="the page $file"
  "$python" "$TESELA_SOURCE/tests/cli/page.py" "$file" >"$out" 2>"$err" || fail "the page $file"
  "$python" "$TESELA_SOURCE/tests/page/browser.py" "$file" >"$out" 2>"$err" || code=$?
  case $code in
    0) [ "$(cat "$out")" = "$*" ] || fail "the page $file has the sections $(cat "$out"), not $*" ;;
    77) [ -n "${told:-}" ] || echo "not tried: pages as a browser draws them: $(cat "$out")"; told=yes ;;
    *) fail "the page $file in the browser" ;;
  esac
}
