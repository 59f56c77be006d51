#!/usr/bin/env bash
# Makes a package of a build, and says where it is and how to install it: ci/deb.sh BUILD_FOLDER
set -euo pipefail
build=$1
folder=$build/package
rm -rf "$folder"
# CPack makes root the owner of all files, for any user.
(cd "$build" && cpack -G DEB -B "$PWD/package") >"$build/package.log" 2>&1 ||
  { tail -n 20 "$build/package.log" >&2; exit 3; }
packages=("$folder"/*.deb)
for package in "${packages[@]}"; do
  printf '%s: %s files, %s KiB; to install it: sudo apt-get install ./%s\n' "$package" \
    "$(dpkg-deb -c "$package" | grep -c '^[-l]')" \
    $(($(stat -c %s "$package") / 1024)) "$package"
done
