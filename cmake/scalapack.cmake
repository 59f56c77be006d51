# libtesela_scalapack: tesela behind ScaLAPACK's names, whole in one file, so that LD_PRELOAD needs no other; only those names are visible. It
# knows nothing of a ScaLAPACK: the program has one. Where there is no MPI it is not built.
if(TESELA_HAS_MPI)
  tesela_room_sources(TESELA_SCALAPACK_SOURCES scalapack)
  add_library(tesela_mpi_inside STATIC src/comm/mpi/mpi.c)
  target_include_directories(tesela_mpi_inside PRIVATE src)
  target_link_libraries(tesela_mpi_inside PUBLIC tesela_internal MPI::MPI_C)
  add_library(tesela_scalapack SHARED ${TESELA_SCALAPACK_SOURCES})
  target_link_libraries(tesela_scalapack PRIVATE tesela_mpi_inside)
  # Its functions are declared by their callers, each for himself.
  set_source_files_properties(src/scalapack/entries/pblas.c PROPERTIES COMPILE_OPTIONS -Wno-missing-prototypes)
  target_link_options(tesela_scalapack PRIVATE -Wl,--exclude-libs,ALL -Wl,-Bsymbolic -Wl,-z,nodelete)
  set_target_properties(tesela_scalapack PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION ${TESELA_ABI})
endif()
# The program's own, for tests and benchmarks.
find_library(TESELA_SCALAPACK_PEER NAMES scalapack-openmpi scalapack)
