#!/usr/bin/env bash
# Builds and runs programs against an installed tesela:
#   consume.sh cmake|pkg-config INSTALLED_FOLDER SOURCE_FOLDER SCRATCH_FOLDER VERSION COMPILER [FLAG...]
set -euo pipefail
way=$1 installed=$2 source=$3 scratch=$4 version=$5 compiler=$6
flags=("${@:7}")
consumer=$source/tests/header/consumer
programs=(main blas cublas)
mpi=$(find "$installed" -name libtesela_mpi.so)
# No MPI is built for a sanitizer.
[ -z "$mpi" ] || [ ${#flags[@]} -gt 0 ] || programs+=(mpi scalapack)
fail() {
  echo "FAILED: $*" >&2
  exit 1
}
run_program() {
  if [ "$1" = mpi ]; then
    "$source/tests/mpi/run.sh" mpiexec 1 "$scratch/build/$1"
  else
    "$scratch/build/$1"
  fi
}

case $way in
cmake)
  # configure VERSION PROGRAMS
  configure() {
    cmake -S "$consumer" -B "$scratch/build" -DWANTED_VERSION="$1" -DPROGRAMS="$2" \
      -DCMAKE_C_COMPILER="$compiler" -DCMAKE_C_FLAGS="${flags[*]}" \
      -DCMAKE_PREFIX_PATH="$installed" -DCMAKE_FIND_USE_PACKAGE_REGISTRY=OFF
  }
  # refused WHAT VERSION PROGRAMS TEXT
  refused() {
    local status=0
    configure "$2" "$3" >"$scratch/refused.log" 2>&1 || status=$?
    [ $status != 0 ] || fail "find_package takes $1"
    tr -s " \n" " " <"$scratch/refused.log" | grep -q "$4" ||
      { cat "$scratch/refused.log"; fail "the refusal of $1 does not say '$4'"; }
  }
  configure "$version" "$(IFS=';'; echo "${programs[*]}")"
  cmake --build "$scratch/build"
  grep -q "^tesela_DIR:PATH=$installed/" "$scratch/build/CMakeCache.txt"
  refused "version 99 of tesela $version" 99 main 'compatible with requested version "99"'
  refused "the component gpu" "$version" 'main;gpu' \
    'has no component gpu; its components are blas, cublas, mpi and scalapack'
  [ -n "$mpi" ] ||
    refused "a component that is not installed" "$version" mpi 'installed without its component mpi'
  ;;
pkg-config)
  folder=$(dirname "$(find "$installed" -name tesela.pc)")
  export PKG_CONFIG_PATH=$folder PKG_CONFIG_LIBDIR=$folder
  mkdir -p "$scratch/build"
  for program in "${programs[@]}"; do
    package=tesela_$program wrapper=$compiler
    case $program in main) package=tesela ;; mpi) wrapper=mpicc ;; esac
    [ "$(pkg-config --modversion "$package")" = "$version" ] || fail "$package has another version"
    library=$(pkg-config --variable=libdir "$package")
    # Word splitting is how pkg-config's answer becomes arguments.
    "$wrapper" "${flags[@]}" "$consumer/$program.c" -o "$scratch/build/$program" $(pkg-config \
      --cflags --libs "$package") -Wl,-rpath,"$library"
  done
  ;;
*)
  echo "consume.sh: $way is neither cmake nor pkg-config" >&2
  exit 2
  ;;
esac
for program in "${programs[@]}"; do
  run_program "$program" || fail "$program, found by $way"
done
