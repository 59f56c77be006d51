# A derivation for nixpkgs: nix-build -E '(import <nixpkgs> {}).callPackage ./packaging/nix/package.nix {}'
{ lib, stdenv, cmake, pkg-config, jansson, zlib, opencl-headers, ocl-icd }:

stdenv.mkDerivation {
  pname = "tesela";
  version = "0.3.0";
  src = lib.cleanSource ../..; # the checkout around this folder; a release has fetchurl instead

  nativeBuildInputs = [ cmake pkg-config ];
  buildInputs = [ jansson zlib opencl-headers ocl-icd ];
  cmakeFlags = [ "-DTESELA_TESTS=OFF" "-DTESELA_MPI=OFF" ];

  doInstallCheck = true;
  installCheckPhase = ''
    $out/bin/tesela check --strategy host_packed --device cpu --type f64 --cases 2
  '';

  meta = {
    description = "Matrix products on every processor that a machine has";
    license = lib.licenses.bsd3;
    platforms = [ "x86_64-linux" "aarch64-linux" ];
    mainProgram = "tesela";
  };
}
