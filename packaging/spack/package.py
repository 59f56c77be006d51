"""A package of Spack: copy this folder as packages/tesela of a repository of Spack's packages."""

import os

from spack_repo.builtin.build_systems.cmake import CMakePackage

from spack.package import *


class Tesela(CMakePackage):
    """Matrix products on every processor that a machine has."""

    license("BSD-3-Clause")

    # Nothing is fetched: TESELA_SOURCE names a checkout. A release has `url` and a checksum in place
    # of has_code.
    has_code = False
    version("0.3.0")

    variant("tool", default=True, description="Build the command-line tool")
    variant("mpi", default=False, description="Build the products of MPI's ranks")

    depends_on("c", type="build")
    depends_on("cmake@3.21:", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("opencl-c-headers", type="build")
    depends_on("zlib-api")
    depends_on("jansson", when="+tool")
    depends_on("mpi", when="+mpi")

    conflicts("platform=darwin")
    conflicts("platform=windows")

    @property
    def root_cmakelists_dir(self):
        if "TESELA_SOURCE" not in os.environ:
            raise InstallError("set TESELA_SOURCE to a checkout of tesela")
        return os.environ["TESELA_SOURCE"]

    def cmake_args(self):
        return [
            self.define("TESELA_TESTS", False),
            self.define_from_variant("TESELA_TOOL", "tool"),
            self.define_from_variant("TESELA_MPI", "mpi"),
        ]
