#!/usr/bin/env bash
# The last step of make install, into a folder in place of /: the files, and the output.
. "$(dirname "$0")/helper.sh"
text=$(DESTDIR=$scratch/root "$source/ci/install.sh" "$binary")
(cd "$scratch/root$prefix" && find . -type f -o -type l | sed 's|^\./||') >"$scratch/files"
# Where there was an MPI.
mpi=()
[ ! -e "$binary/lib/libtesela_mpi.so" ] ||
  mpi=("$libraries/libtesela_mpi.so"{,.2,".$version"} "$libraries/libtesela_scalapack.so"{,.2,".$version"}
  "$libraries/pkgconfig/tesela_"{mpi,scalapack}.pc \
    "$libraries/cmake/tesela/teselaMpiTargets"{,"-$configuration"}.cmake)
expect_files "$scratch/files" share/doc/tesela/CHANGELOG.md share/doc/tesela/LICENSE \
  share/zsh/site-functions/_tesela "${mpi[@]}"
expect_text install "$text" "^installed in $scratch/root$prefix: $(wc -l <"$scratch/files") files"
for file in bin/tesela "$libraries/libtesela.so" "$libraries/libtesela_blas.so" include/tesela/tesela.h \
  sbin/tesela-system-blas; do
  expect_text install "$text" "^  $prefix/$file[.0-9]*   "
done
! grep -rlF -e "$scratch" -e "$binary" "$scratch/root$prefix"/{bin,sbin,"$libraries"} ||
  fail "these know where they were built"
python3 "$source/ci/document_links.py" "$scratch/root$prefix/share/doc/tesela" ||
  fail "links of installed documents lead nowhere"
"$scratch/root$prefix/bin/tesela" --version | grep -qF "$version" || fail "the tool does not run"

# tesela as a part of another project, which is configured and not built.
mkdir "$scratch/project"
cat >"$scratch/project/CMakeLists.txt" <<EOF
cmake_minimum_required(VERSION 3.21)
project(caller LANGUAGES C)
add_subdirectory("$source" tesela)
file(WRITE program.c "")
add_executable(program program.c)
target_link_libraries(program PRIVATE tesela::tesela tesela::blas tesela::cublas)
EOF
cmake -S "$scratch/project" -B "$scratch/project/build" >"$scratch/log" 2>&1 ||
  { cat "$scratch/log"; fail "another project cannot contain tesela"; }

# A place where nothing can be written: a file in the way.
touch "$scratch/file"
if text=$(DESTDIR=$scratch/file "$source/ci/install.sh" "$binary" 2>&1); then
  fail "it installs under a file"
fi
expect_text "a refusal" "$text" "^make install: $scratch/file cannot be written to: as root"
[ "$(wc -l <<<"$text")" = 1 ] || fail "more than a sentence: $text"
