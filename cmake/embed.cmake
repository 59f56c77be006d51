# Kernel sources become one generated C file, sorted by path: see src/device/source.h. This file is also the
# script that writes it when the library is built, so an edited kernel makes it again.

# tesela_embed(out file [EXTRA files...]): makes `file` from every kernel text under src/, the library's
# wisdom, and the extra files. A header that kernels share with C files is named *_shared.h. Paths are
# relative to src/. From the main C file of each strategy without kernels it takes the opening comment only,
# which describes the strategy.
function(tesela_embed out file)
  cmake_parse_arguments(arg "" "" "EXTRA" ${ARGN})
  set(root ${CMAKE_CURRENT_SOURCE_DIR}/src)
  file(GLOB_RECURSE found RELATIVE ${root} CONFIGURE_DEPENDS
       ${root}/strategy/*.cl ${root}/strategy/*.cu ${root}/strategy/*_shared.h ${root}/kernel/*.h
       ${root}/kernel/*.cl
       ${root}/tune/*.cl ${root}/judge/*.cl ${root}/judge/*_shared.h ${root}/planner/wisdom.txt)
  file(GLOB device_headers RELATIVE ${root} CONFIGURE_DEPENDS ${root}/device/*/include/*.h)
  list(APPEND found ${device_headers})
  foreach(extra IN LISTS arg_EXTRA)
    file(RELATIVE_PATH path ${root} ${CMAKE_CURRENT_SOURCE_DIR}/${extra})
    list(APPEND found ${path})
  endforeach()
  file(GLOB folders RELATIVE ${root} CONFIGURE_DEPENDS ${root}/strategy/*/*/*)
  foreach(folder IN LISTS folders)
    get_filename_component(name ${folder} NAME)
    string(REGEX REPLACE "^strategy/([a-z]+)/.*" "\\1" op ${folder})
    foreach(file ${name} ${op}_${name}) # the second where strategies of two operations share a name
      if(EXISTS ${root}/${folder}/${file}.c AND NOT EXISTS ${root}/${folder}/${file}.cl AND
         NOT EXISTS ${root}/${folder}/${file}.cu)
        list(APPEND found ${folder}/${file}.c)
      endif()
    endforeach()
  endforeach()
  list(REMOVE_DUPLICATES found)
  list(SORT found COMPARE STRING CASE SENSITIVE)

  # The list is a file of its own, written only when it changes, so a removed kernel is noticed, too.
  string(REPLACE ";" "\n" lines "${found}")
  file(CONFIGURE OUTPUT ${file}.list CONTENT "${lines}\n" @ONLY)
  list(TRANSFORM found PREPEND ${root}/ OUTPUT_VARIABLE inputs)
  add_custom_command(
    OUTPUT ${file}
    COMMAND ${CMAKE_COMMAND} -DROOT=${root} -DLIST=${file}.list -DOUTPUT=${file}
            -P ${CMAKE_CURRENT_FUNCTION_LIST_FILE}
    DEPENDS ${inputs} ${file}.list ${CMAKE_CURRENT_FUNCTION_LIST_FILE}
    COMMENT "Embedding kernel sources"
    VERBATIM)
  set(${out} ${file} PARENT_SCOPE)
endfunction()

# Writes OUTPUT from the files that LIST names, one a line, below ROOT.
function(tesela_embed_write)
  file(STRINGS ${LIST} paths)
  string(REPEAT "." 64 row) # hexadecimal digits of a line: 32 bytes
  set(index 0)
  set(texts)
  set(table)
  foreach(path IN LISTS paths)
    set(most)
    if(path MATCHES "[.]c$")
      file(READ ${ROOT}/${path} text)
      string(FIND "${text}" "*/" end)
      math(EXPR end "${end} + 3")
      set(most LIMIT ${end})
    endif()
    file(READ ${ROOT}/${path} text ${most} HEX)
    string(REGEX REPLACE "(${row})" "\\1\n  " text "${text}")
    string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," text "${text}")
    string(APPEND texts "static const unsigned char text_${index}[] = {\n  ${text}0};\n")
    string(APPEND table "  {\"${path}\", text_${index}, sizeof text_${index} - 1},\n")
    math(EXPR index "${index} + 1")
  endforeach()
  file(WRITE ${OUTPUT} "\
/* Made by cmake/embed.cmake. Each text ends with a NUL that its length leaves out. */
#include \"device/source.h\"

${texts}
static const tsl_source_file files[] = {
${table}  {NULL, NULL, 0},
};

const tsl_source_file *tsl_source_at(int index) {
  return index >= 0 && index < ${index} ? &files[index] : NULL;
}
")
endfunction()

if(CMAKE_SCRIPT_MODE_FILE)
  cmake_minimum_required(VERSION 3.21)
  tesela_embed_write()
endif()
