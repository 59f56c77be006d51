# PoCL with short files, for the tests. Before each kernel PoCL's compiler reads a header with all of OpenCL's
# functions, in 0.12 s. In each process that compiles, it reads a library of 20,000 functions, in 0.5 s. The
# short files have the functions that texts of this repository name. PoCL finds its files from the folder of
# its library. A folder of the build has links to them, and the short files.

# tesela_short_pocl(out folder): creates the folder, and returns the folder of the library. Returns nothing
# where PoCL is missing or is not PoCL 3.1: other versions keep their files.
function(tesela_short_pocl out folder)
  set(${out} "" PARENT_SCOPE)
  file(GLOB icds /etc/OpenCL/vendors/pocl*.icd)
  if(NOT icds OR CMAKE_CROSSCOMPILING)
    return()
  endif()
  list(GET icds 0 icd)
  file(STRINGS ${icd} name LIMIT_COUNT 1)
  find_library(TESELA_POCL ${name} DOC "PoCL's library")
  if(NOT TESELA_POCL OR NOT name MATCHES "^libpocl[.]so[.]2[.]10[.]")
    return()
  endif()
  get_filename_component(libraries ${TESELA_POCL} DIRECTORY)
  get_filename_component(files ${libraries}/../../share/pocl ABSOLUTE)
  if(NOT EXISTS ${files}/include/opencl-c.h)
    return()
  endif()
  file(GLOB shared RELATIVE ${files} ${files}/*.bc ${files}/include/*)
  file(MAKE_DIRECTORY ${folder}/lib/here ${folder}/share/pocl/include)
  file(CREATE_LINK ${TESELA_POCL} ${folder}/lib/here/${name} SYMBOLIC)
  file(CREATE_LINK ${libraries}/pocl ${folder}/lib/here/pocl SYMBOLIC)
  foreach(file IN LISTS shared)
    if(NOT EXISTS ${folder}/share/pocl/${file})
      file(CREATE_LINK ${files}/${file} ${folder}/share/pocl/${file} SYMBOLIC)
    endif()
  endforeach()
  set(sources ${PROJECT_SOURCE_DIR}/tests/pocl)
  set(root ${PROJECT_SOURCE_DIR})
  file(GLOB_RECURSE texts CONFIGURE_DEPENDS ${root}/src/*.cl ${root}/src/kernel/*.h ${root}/tools/*.cl
       ${root}/tests/*.cl ${root}/tests/cli/*.sh)
  add_executable(shorten ${sources}/shorten.c)
  target_link_libraries(shorten PRIVATE ${CMAKE_DL_LIBS})
  add_custom_command(OUTPUT ${folder}/shortened
                     COMMAND ${sources}/shorten.sh $<TARGET_FILE:shorten> ${TESELA_POCL} ${files}
                             ${folder}/share/pocl
                     COMMAND ${CMAKE_COMMAND} -E touch ${folder}/shortened
                     DEPENDS shorten ${sources}/shorten.sh ${texts}
                     COMMENT "Shortening PoCL's files" VERBATIM)
  add_custom_target(short_pocl ALL DEPENDS ${folder}/shortened)
  set(${out} ${folder}/lib/here PARENT_SCOPE)
endfunction()
