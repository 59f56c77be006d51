# libtesela_cublas: tesela under cuBLAS's names, complete in one file, for LD_PRELOAD. It links no cuBLAS: the
# program has one. Only these names, and dlsym, are visible.
tesela_room_sources(TESELA_CUBLAS_SOURCES cublas interpose)
add_library(tesela_cublas SHARED ${TESELA_CUBLAS_SOURCES})
target_link_libraries(tesela_cublas PRIVATE tesela_internal)
target_compile_definitions(tesela_cublas PRIVATE TSL_INTERPOSE_COPY=tesela_cublas_copy)
# Callers have cuBLAS's headers.
file(GLOB TESELA_CUBLAS_ENTRIES CONFIGURE_DEPENDS src/cublas/entries/*.c)
set_source_files_properties(${TESELA_CUBLAS_ENTRIES} PROPERTIES COMPILE_OPTIONS -Wno-missing-prototypes)
target_link_options(tesela_cublas PRIVATE -Wl,--exclude-libs,ALL -Wl,-Bsymbolic -Wl,-z,nodelete)
if(NOT TESELA_SANITIZE) # sanitizers find the C library's functions by dlsym
  target_link_options(tesela_cublas PRIVATE -Wl,--defsym=dlsym=tsl_cublas_dlsym)
endif()
set_target_properties(tesela_cublas PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION ${TESELA_ABI})
