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

# A folder that needs compiler flags of its own has a flags.cmake, which sets them for its files only.
function(tesela_folder_flags)
  file(GLOB files CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/strategy/*/*/flags.cmake
       ${CMAKE_SOURCE_DIR}/src/plan/*/flags.cmake)
  foreach(file IN LISTS files)
    include(${file})
  endforeach()
endfunction()
