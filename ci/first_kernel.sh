#!/usr/bin/env bash
# From an empty folder to the first judged kernel of one's own: runs the commands of docs/LAB.md.
# Prints the time of each command. Fails over 600 seconds or over five commands.
#   ci/first_kernel.sh           clones into an empty folder
#   ci/first_kernel.sh --here    takes this checkout for the clone, if it has no build yet; later stages of CI
#                                then find the compiled files
set -euo pipefail
limit=600 commands_max=5
root=$(cd "$(dirname "$0")/.." && pwd)
mapfile -t commands < <(sed -n '/^```console first kernel$/,/^```$/s/^\$ //p' "$root/docs/LAB.md")
[ ${#commands[@]} -gt 0 ] ||
  { echo "ci/first_kernel.sh: docs/LAB.md has no block of these commands" >&2; exit 2; }
[ ${#commands[@]} -le $commands_max ] ||
  { echo "ci/first_kernel.sh: docs/LAB.md has ${#commands[@]} commands, at most $commands_max" >&2; exit 1; }

scratch=$(mktemp -d)
clones=yes
if [ "${1:-}" = --here ] && [ ! -e "$root/build/release" ]; then
  clones=no
  trap 'rm -rf "$scratch" "$root/mine"' EXIT
  cd "$root"
else
  trap 'rm -rf "$scratch"' EXIT
  cd "$scratch"
fi
# A student's machine has no GPU, no cache of compilers and no compiled kernels.
unset CMAKE_C_COMPILER_LAUNCHER CMAKE_CXX_COMPILER_LAUNCHER ${!TESELA_*}
export TESELA_CUDA=none TESELA_CACHE_DIR=$scratch/cache POCL_CACHE_DIR=$scratch/pocl TESELA_WISDOM=none
seconds() { printf '%d.%d' $(($1 / 1000000)) $(($1 % 1000000 / 100000)); }

report=
total=0
for command in "${commands[@]}"; do
  command=${command%%  #*}
  printf '\n$ %s\n' "$command"
  begin=${EPOCHREALTIME/./}
  case $clones:$command in
    no:git\ clone\ * | no:cd\ *) echo "(this checkout is the clone)" ;;
    *) eval "${command/ADDRESS/"$root"}" 2>&1 | tee "$scratch/log" ;;
  esac
  # The pipe runs cd in a process of its own.
  case $clones:$command in yes:cd\ *) eval "$command" ;; esac
  took=$((${EPOCHREALTIME/./} - begin))
  total=$((total + took))
  report+=$(printf '%8s s  %s' "$(seconds $took)" "$command")$'\n'
done
printf '\n%s%8s s  in all, by %d commands\n' "$report" "$(seconds $total)" ${#commands[@]}
grep -q '^  judged    right: all' "$scratch/log" ||
  { echo "ci/first_kernel.sh: the last command judged no kernel" >&2; exit 1; }
[ $total -le $((limit * 1000000)) ] ||
  { echo "ci/first_kernel.sh: more than $limit seconds" >&2; exit 1; }
