# A package for Debian and its relatives, by CPack: make deb. cmake/deb adds files to the installed ones.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME tesela)
set(CPACK_PACKAGE_VENDOR "the tesela authors")
set(CPACK_PACKAGE_CONTACT "The tesela authors <packages@tesela.invalid>"
    CACHE STRING "Who makes the package, with an address")
set(CPACK_PACKAGING_INSTALL_PREFIX ${CMAKE_INSTALL_PREFIX})
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "matrix products on every processor that a machine has")
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION
    "tesela multiplies matrices, and adds dots and transposes to that, on the
processor, on OpenCL devices and on CUDA devices, by the strategy that is
fastest there; every strategy can be named, explained, checked and timed.

The package has the library, what is needed to build programs with it, the
command-line tool, and a drop-in for programs that call BLAS, which can stand
as the system's libblas.so.3 in front of another one.")
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_SECTION math)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
# No package owns the link to the BLAS that the drop-in forwards to: the script makes it.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${PROJECT_BINARY_DIR}/tools/system_blas
    ${PROJECT_BINARY_DIR}/lib)
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "ocl-icd-libopencl1")
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "libc6-dev, libblas3 | libblas.so.3, pocl-opencl-icd")
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)

foreach(file IN ITEMS postinst prerm postrm shlibs triggers)
  configure_file(cmake/deb/${file}.in deb/${file} @ONLY FILE_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE
                 GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
  list(APPEND CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA ${PROJECT_BINARY_DIR}/deb/${file})
endforeach()
file(READ LICENSE text)
string(REGEX REPLACE "\n+$" "" text "${text}")
string(REGEX REPLACE "\n(\n+)" "\n.\n" text "${text}")
string(REPLACE "\n" "\n " text "${text}")
file(CONFIGURE OUTPUT deb/copyright CONTENT
     "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\nUpstream-Name: tesela\n\nFiles: *\nCopyright: 2026, the tesela authors\nLicense: BSD-3-Clause\n ${text}\n"
     @ONLY)
string(TIMESTAMP now "%a, %d %b %Y %H:%M:%S +0000" UTC)
set(change "tesela (${PROJECT_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE}) stable; urgency=medium")
file(CONFIGURE OUTPUT deb/changelog CONTENT
     "${change}\n\n  * changelog.gz tells what is new.\n\n -- ${CPACK_PACKAGE_CONTACT}  ${now}\n" @ONLY)
set(CPACK_PRE_BUILD_SCRIPTS ${PROJECT_SOURCE_DIR}/cmake/deb/tree.cmake)
set(CPACK_TESELA_SOURCE ${PROJECT_SOURCE_DIR})
set(CPACK_TESELA_BINARY ${PROJECT_BINARY_DIR})
# Without libtesela_mpi, a component of its own: it works only with the MPI that it was built for.
set(CPACK_INSTALL_CMAKE_PROJECTS "${PROJECT_BINARY_DIR};tesela;Unspecified;/")
include(CPack)
