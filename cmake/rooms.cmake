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

# A strategy that needs compiler flags of its own has a flags.cmake in its folder, which sets them for its files only.
function(tesela_strategy_flags)
  file(GLOB files CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/strategy/*/*/flags.cmake)
  foreach(file IN LISTS files)
    include(${file})
  endforeach()
endfunction()
