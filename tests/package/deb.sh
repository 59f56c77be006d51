#!/usr/bin/env bash
# The package of make deb, from this build: its files, its metadata, and that its programs run where it is
# unpacked.
. "$(dirname "$0")/helper.sh"
for program in dpkg-deb dpkg-shlibdeps file; do
  command -v $program >/dev/null || { echo "skipped: there is no $program"; exit 77; }
done
# The package is built without a second check of every target: Makefiles would take four times as long as
# packing. The modes are the usual ones for any umask.
(umask 002 && cd "$binary" && cpack -G DEB -D CPACK_DEBIAN_COMPRESSION_TYPE=gzip \
  -D CPACK_CMAKE_GENERATOR=Ninja -B "$scratch/made") >"$scratch/log" 2>&1 ||
  { tail "$scratch/log"; fail "cpack"; }
package=$(ls "$scratch"/made/*.deb)
expect_text "the name" "$(basename "$package")" "^tesela_$version-1_$(dpkg --print-architecture)\.deb$"
dpkg-deb -c "$package" | grep -v '^d' | sed "s/ -> .*//; s|.* \.$prefix/||" >"$scratch/packed"
sed 's|\(share/man/.*\)\.gz$|\1|' "$scratch/packed" >"$scratch/files"
expect_files "$scratch/files" share/doc/tesela/{changelog,changelog.Debian}.gz share/doc/tesela/copyright \
  share/zsh/vendor-completions/_tesela \
  share/lintian/overrides/tesela
[ "$(grep -c '^share/man/.*\.gz$' "$scratch/packed")" = 2 ] || fail "manual pages are not packed"
! dpkg-deb -c "$package" | grep -v ' root/root ' || fail "these are not root's"
usual='^(l|drwxr-xr-x|-rwxr-xr-x.*/(s?bin|libexec/tesela)/|-rw-r--r--.*/(include|lib|share)/)'
! dpkg-deb -c "$package" | grep -vE "$usual" ||
  fail "these have wrong permissions"

field() { dpkg-deb -f "$package" "$1"; }
expect_text Depends "$(field Depends)" 'libc6 .*libjansson4 .*zlib1g'
expect_text Version "$(field Version)" "^$version-1$"
expect_text Suggests "$(field Suggests)" 'libblas3 \| libblas\.so\.3'
dpkg-deb -e "$package" "$scratch/control"
for script in postinst prerm postrm; do
  sh -n "$scratch/control/$script"
  [ -x "$scratch/control/$script" ] || fail "$script cannot be run"
done
expect_text prerm "$(cat "$scratch/control/prerm")" 'tesela-system-blas remove'
expect_text postinst "$(cat "$scratch/control/postinst")" 'tesela-system-blas refresh'
expect_text triggers "$(cat "$scratch/control/triggers")" '^activate-noawait ldconfig$'
expect_text triggers "$(cat "$scratch/control/triggers")" '^interest-noawait /usr/lib/.*/openblas-pthread$'
! grep -r '@[A-Z_]*@' "$scratch/control" || fail "these were not filled in"

dpkg-deb -x "$package" "$scratch/root"
(cd "$scratch/root" && md5sum --quiet -c "$scratch/control/md5sums")
top=$scratch/root$prefix
for file in "$top/bin/tesela" "$top/$libraries/libtesela.so.$version" \
  "$top/$libraries/libtesela_blas.so.$version"; do
  ! readelf -S "$file" | grep -q '\.debug_info\|\.symtab' || fail "$file is not stripped"
done
python3 "$source/ci/document_links.py" "$top/share/doc/tesela" ||
  fail "links of the package's documents lead nowhere"
# Programs find the unpacked libraries, but no libraries for MPI: each of these is built for one MPI.
for way in cmake pkg-config; do
  "$source/tests/header/consume.sh" $way "$top" "$source" "$scratch/$way" "$version" \
    "$(cached CMAKE_C_COMPILER)" >"$scratch/consume.log" 2>&1 ||
    { cat "$scratch/consume.log"; fail "programs do not find the package's libraries by $way"; }
done
cd "$scratch"
data=$top/share/doc/tesela/examples/data
text=$("$top/bin/tesela" multiply "$data/ascent.npy" "$data/blur.mtx" -o blurred.npy --device cpu \
  --verify 2>&1) || fail "$text"
expect_text multiply "$text" 'verified +right'
