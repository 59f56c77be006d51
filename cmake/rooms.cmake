# Rooms are folders of src/; a new file or a new strategy's folder is found by itself.

# All C files of the named rooms, except kernels, which cmake/isa.cmake compiles for each instruction set, and
# except files that need MPI.
function(tesela_room_sources out)
  set(files)
  foreach(room IN LISTS ARGN)
    # Relative, so that a checkout may itself lie in a folder named kernels.
    file(GLOB_RECURSE found CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}
         ${PROJECT_SOURCE_DIR}/src/${room}/*.c)
    list(FILTER found EXCLUDE REGEX "/kernels/|/comm/mpi/")
    list(TRANSFORM found PREPEND ${PROJECT_SOURCE_DIR}/)
    list(APPEND files ${found})
  endforeach()
  list(SORT files)
  set(${out} ${files} PARENT_SCOPE)
endfunction()

# A folder with compiler flags of its own has a flags.cmake, which sets them and names the folder's kernels.
function(tesela_folder_flags)
  file(GLOB files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/strategy/*/flags.cmake
       ${PROJECT_SOURCE_DIR}/src/strategy/*/*/*/flags.cmake
       ${PROJECT_SOURCE_DIR}/src/tune/*/flags.cmake ${PROJECT_SOURCE_DIR}/src/vector/flags.cmake
       ${PROJECT_SOURCE_DIR}/src/judge/flags.cmake)
  foreach(file IN LISTS files)
    include(${file})
  endforeach()
endfunction()
