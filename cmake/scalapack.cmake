# libtesela_scalapack: tesela under ScaLAPACK's names, complete in one file, so that LD_PRELOAD needs no
# other. Only these names are visible. It links no ScaLAPACK: the program has one. It is not built without
# MPI.
if(TESELA_HAS_MPI)
  tesela_room_sources(TESELA_SCALAPACK_SOURCES scalapack interpose)
  add_library(tesela_mpi_inside STATIC src/comm/mpi/mpi.c)
  target_include_directories(tesela_mpi_inside PRIVATE src)
  target_link_libraries(tesela_mpi_inside PUBLIC tesela_internal MPI::MPI_C)
  add_library(tesela_scalapack SHARED ${TESELA_SCALAPACK_SOURCES})
  target_link_libraries(tesela_scalapack PRIVATE tesela_mpi_inside)
  target_compile_definitions(tesela_scalapack PRIVATE TSL_INTERPOSE_COPY=tesela_scalapack_copy)
  # Each caller declares these functions itself.
  set_source_files_properties(src/scalapack/entries/pblas.c PROPERTIES
                              COMPILE_OPTIONS -Wno-missing-prototypes)
  target_link_options(tesela_scalapack PRIVATE -Wl,--exclude-libs,ALL -Wl,-Bsymbolic -Wl,-z,nodelete)
  set_target_properties(tesela_scalapack PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION ${TESELA_ABI})
endif()
# The program's own, for tests and benchmarks.
find_library(TESELA_SCALAPACK_PEER NAMES scalapack-openmpi scalapack)
