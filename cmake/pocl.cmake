# PoCL with a short header, for the tests. Before each kernel PoCL's compiler reads declarations of all of
# OpenCL's functions, 18,000 lines: 0.12 of 0.15 s that a small kernel takes. The short header declares the
# functions that texts of this repository name. PoCL finds its files from the folder of its library. A folder
# here has links to them, and the short header.

# tesela_short_pocl(out folder): creates the folder, and returns the folder of the library. Returns nothing
# where PoCL is missing or has other files.
function(tesela_short_pocl out folder)
  set(${out} "" PARENT_SCOPE)
  file(GLOB icds /etc/OpenCL/vendors/pocl*.icd)
  if(NOT icds OR CMAKE_CROSSCOMPILING)
    return()
  endif()
  list(GET icds 0 icd)
  file(STRINGS ${icd} name LIMIT_COUNT 1)
  find_library(TESELA_POCL ${name})
  if(NOT TESELA_POCL)
    return()
  endif()
  get_filename_component(libraries ${TESELA_POCL} DIRECTORY)
  get_filename_component(files ${libraries}/../../share/pocl ABSOLUTE)
  if(NOT EXISTS ${files}/include/opencl-c.h)
    return()
  endif()
  file(MAKE_DIRECTORY ${folder}/lib/here ${folder}/share/pocl/include)
  file(GLOB shared ${files}/*)
  file(GLOB headers ${files}/include/*)
  list(REMOVE_ITEM shared ${files}/include)
  list(REMOVE_ITEM headers ${files}/include/opencl-c.h)
  foreach(pair "lib/here,${TESELA_POCL}" "lib/here,${libraries}/pocl" "share/pocl,${shared}"
          "share/pocl/include,${headers}")
    string(REGEX MATCH "^([^,]*),(.*)$" pair "${pair}")
    set(place ${folder}/${CMAKE_MATCH_1})
    foreach(file IN LISTS CMAKE_MATCH_2)
      get_filename_component(name ${file} NAME)
      file(CREATE_LINK ${file} ${place}/${name} SYMBOLIC)
    endforeach()
  endforeach()
  set(script ${PROJECT_SOURCE_DIR}/tests/opencl_header.sh)
  set(header ${folder}/share/pocl/include/opencl-c.h)
  set(command ${script} ${files}/include/opencl-c.h ${header})
  file(GLOB_RECURSE texts CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/*.cl ${PROJECT_SOURCE_DIR}/src/kernel/*.h
       ${PROJECT_SOURCE_DIR}/tools/*.cl ${PROJECT_SOURCE_DIR}/tests/*.cl
       ${PROJECT_SOURCE_DIR}/tests/cli/*.sh)
  if(NOT EXISTS ${header}) # for tests that are run before everything is built
    execute_process(COMMAND ${command} COMMAND_ERROR_IS_FATAL ANY)
  endif()
  add_custom_command(OUTPUT ${header} COMMAND ${command} DEPENDS ${script} ${texts}
                     COMMENT "Shortening PoCL's header" VERBATIM)
  add_custom_target(pocl_header ALL DEPENDS ${header})
  set(${out} ${folder}/lib/here PARENT_SCOPE)
endfunction()
