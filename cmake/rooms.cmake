# Rooms are folders of src/; a new file or a new strategy's folder is found by itself.

# All C files of the named rooms.
function(tesela_room_sources out)
  set(files)
  foreach(room IN LISTS ARGN)
    file(GLOB_RECURSE found CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/${room}/*.c)
    list(APPEND files ${found})
  endforeach()
  list(SORT files)
  set(${out} ${files} PARENT_SCOPE)
endfunction()

# What flags.cmake asks for where speed is all: a sanitizer's checks, in every tile of every size, take a compiler minutes
# to optimise fully.
set(TESELA_FULL_OPTIMISATION -O3)
if(TESELA_SANITIZE)
  set(TESELA_FULL_OPTIMISATION -O1)
endif()

# The flags of instruction sets for texts that are compiled once for each. They are empty where there is no x86-64: the
# device does not offer the capability there, and the file is never chosen.
set(TESELA_FOR_generic)
set(TESELA_FOR_avx2)
set(TESELA_FOR_avx512)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  set(TESELA_FOR_avx2 -mavx2 -mfma)
  set(TESELA_FOR_avx512 -mavx512f -mavx512bw -mavx512dq -mavx512vl -mavx2 -mfma -mprefer-vector-width=512)
endif()

# A folder that needs compiler flags of its own has a flags.cmake, which sets them for its files only.
function(tesela_folder_flags)
  file(GLOB files CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/strategy/*/*/flags.cmake
       ${CMAKE_SOURCE_DIR}/src/plan/*/flags.cmake)
  foreach(file IN LISTS files)
    include(${file})
  endforeach()
endfunction()
